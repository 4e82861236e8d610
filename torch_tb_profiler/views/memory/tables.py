"""Routes ``/memory/blocks``, ``/memory/statistics``, ``/memory/alive`` and ``/memory/source``."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.memory.held_frames import held_frames
from torch_tb_profiler.analysis.memory.live_memory import live_memory_at
from torch_tb_profiler.analysis.memory.table import (
    alive_table,
    block_table,
    statistics_table,
)
from torch_tb_profiler.analysis.memory.usage import calls_in, usage
from torch_tb_profiler.analysis.memory.window import Window, blocks_in
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.views.display_wire import wire_columns
from torch_tb_profiler.views.memory.wire import (
    HeldFrames,
    MemoryAlivePayload,
    MemoryBlocksPayload,
    MemoryGroup,
    MemoryStatisticsPayload,
)
from torch_tb_profiler.views.source import (
    Calls,
    Read,
    SourcePayload,
    recorded_lines,
    source_payload,
)

_EXACT = 1 << 40
"""Part of all from which on a frame is told: lines that hold little add up."""


def memory_blocks_payload(
    insight: Insight, device: int, window: Window | None, limit: int
) -> MemoryBlocksPayload:
    """Blocks that were allocated or released in a window (None: all), the ``limit`` largest listed."""
    rows = blocks_in(insight, device, window)
    kept, rest = rows[:limit], rows[limit:]
    return MemoryBlocksPayload(
        rows=wire_columns(block_table(insight, kept)),
        pooled=len(rest),
        pooled_bytes=int(insight["allocations"]["bytes"][rest].sum()),
    )


def memory_statistics_payload(
    trace: Trace,
    facts: Facts,
    insight: Insight,
    device: int,
    window: Window | None,
    group: MemoryGroup,
    limit: int,
) -> MemoryStatisticsPayload:
    """Sums per operator or module in a window; None: all."""
    sums = usage(insight, device, window, group)
    calls = calls_in(trace, facts, insight, window, group)
    return MemoryStatisticsPayload(
        group=group,
        pooled=max(0, len(sums.name) - limit),
        outside_bytes=sums.outside,
        outside_increase_bytes=sums.outside_increase,
        rows=wire_columns(statistics_table(insight, sums, calls, limit)),
    )


def memory_alive_payload(
    facts: Facts, insight: Insight, device: int, time: int | None, limit: int
) -> MemoryAlivePayload:
    """What is alive at a time, ns; None: at the device's peak. The ``limit`` largest origins are
    listed.
    """
    found = live_memory_at(insight, device, time)
    table = alive_table(insight, found)
    rest = table["bytes"][limit:]
    frames = held_frames(facts, insight, device, found)
    return MemoryAlivePayload(
        time_ns=found.time,
        allocated_bytes=found.allocated,
        reserved_bytes=found.reserved if found.reserved >= 0 else None,
        fragmented_bytes=found.reserved - found.allocated if found.reserved >= 0 else None,
        unknown_bytes=found.unknown,
        frames=HeldFrames(
            **{key: [getattr(one, key) for one in frames] for key in HeldFrames.__struct_fields__}
        ),
        rows=wire_columns(table.take(np.arange(table.n)[:limit])),
        pooled=len(rest),
        pooled_bytes=int(rest.sum()),
    )


def memory_source_payload(
    trace: Trace, facts: Facts, insight: Insight, device: int, time: int | None, read: Read | None
) -> SourcePayload:
    """The functions whose calls hold most at a time, ns, None at the device's peak; of a snapshot each of their lines. ``read``: None
    where no folder is named.
    """
    found = live_memory_at(insight, device, time)
    frames = held_frames(facts, insight, device, found, _EXACT)
    exact = insight.about["memory_source"] == "snapshot"
    calls = Calls(
        [frame.name for frame in frames],
        [frame.parent for frame in frames],
        [frame.bytes for frame in frames],
        {} if exact else recorded_lines(trace),
        exact,
    )
    return source_payload(calls, found.allocated, "bytes", read)
