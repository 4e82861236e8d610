"""Routes ``/memory/map`` and ``/memory/changes``."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.memory.allocator_state import AllocatorState, allocator_state_at
from torch_tb_profiler.analysis.memory.changes import MemoryBy, Moment, changes_table
from torch_tb_profiler.analysis.memory.fragmentation import cells
from torch_tb_profiler.analysis.memory.live_memory import last_record
from torch_tb_profiler.analysis.memory.map_table import (
    fragmentation,
    map_blocks,
    pool_names,
    pools_table,
)
from torch_tb_profiler.analysis.memory.window import of_device
from torch_tb_profiler.errors import NotFound
from torch_tb_profiler.store.columns import unique_values
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.views.display_wire import wire_columns
from torch_tb_profiler.views.memory.wire import (
    MemoryChangesPayload,
    MemoryMapCells,
    MemoryMapPayload,
)

MOST_BLOCKS, MOST_POOLS = 2_000, 200
STACK_FRAMES, STACK_CHARACTERS = 12, 1_000_000


def memory_map_payload(
    trace: Trace,
    insight: Insight,
    device: int,
    time: int | None,
    stream: int | None,
    pool: str | None,
    part: tuple[int | None, int | None],
    count: int,
) -> MemoryMapPayload:
    """How the blocks of a device divide its segments; see ``MemoryMapPayload``.

    Raises:
        NotFound: the file does not tell its segments, or not those of that time.
    """
    whole = allocator_state_at(trace, insight, device, time)
    if whole is None:
        raise NotFound(
            "The file does not tell the segments of this device"
            f"{'' if time is None else ' at that time'}.",
            "Open a memory snapshot (torch.cuda.memory._dump_snapshot)"
            f"{'.' if time is None else ', or ask for its final state.'}",
        )
    pools = pools_table(trace, whole)[0]
    held = whole.only(stream, pool, np.array(pool_names(trace, whole.pool), object))
    total = pools_table(trace, held)[1]
    end = min(part[1] if part[1] is not None else held.bytes.sum(), int(held.bytes.sum()))
    begin = min(part[0] or 0, int(end))
    width, sums = cells(held, begin, int(end), count)
    starts = held.begin[:-1]
    starts = starts[(starts >= begin) & (starts < end)]
    blocks, stacks = _blocks(trace, insight, held, begin, int(end))
    share = float(fragmentation(total)[0])
    return MemoryMapPayload(
        reserved_bytes=int(total.reserved[0]),
        allocated_bytes=int(total.allocated[0]),
        rounding_bytes=int(total.rounding[0]),
        free_bytes=int(total.free[0]),
        largest_free_bytes=int(total.largest[0]),
        split_bytes=int(total.split[0]),
        fragmentation=share if np.isfinite(share) else None,
        segments=len(held.bytes),
        begin_bytes=begin,
        end_bytes=int(end),
        cell_bytes=width,
        cells=MemoryMapCells(**{name: values.tolist() for name, values in vars(sums).items()}),
        starts=unique_values((starts - begin) // width).tolist(),
        pools=wire_columns(pools.take(np.arange(pools.n)[:MOST_POOLS])),
        blocks=blocks,
        stacks=stacks,
    )


def _blocks(
    trace: Trace, insight: Insight, held: AllocatorState, begin: int, end: int
) -> tuple[dict[str, object], list[str]]:
    rows = np.flatnonzero((held.offset < end) & (held.offset + held.size > begin))
    largest = np.sort(rows[np.argsort(-held.size[rows], kind="stable")[:MOST_BLOCKS]])
    table, stacks = map_blocks(trace, insight, held, largest, STACK_FRAMES, STACK_CHARACTERS)
    return wire_columns(table), stacks


def memory_changes_payload(
    before: tuple[Insight, int, int | None],
    after: tuple[Insight, int, int | None],
    by: MemoryBy,
    limit: int,
) -> MemoryChangesPayload:
    """What grew from one moment to another, each an insight, a device and a time (None: its peak); the
    ``limit`` largest changes are listed.
    """
    first, second = Moment(*before), Moment(*after)
    table = changes_table(first, second, by)
    rest = table["delta_bytes"][limit:]
    return MemoryChangesPayload(
        before_ns=_time(first),
        after_ns=_time(second),
        before_bytes=_allocated(first),
        after_bytes=_allocated(second),
        rows=wire_columns(table.take(np.arange(table.n)[:limit])),
        pooled=len(rest),
        pooled_delta_bytes=int(rest.sum()),
    )


def _time(moment: Moment) -> int:
    peak = moment.insight["memory_devices"]["peak_time"][moment.device]
    return int(peak) if moment.time is None else moment.time


def _allocated(moment: Moment) -> int:
    insight, device, time = moment
    last = last_record(insight, device, time)
    if last < of_device(insight["memory_curve"], device).start:
        return int(insight["memory_devices"]["begin"][device])
    return int(insight["memory_curve"]["allocated"][last])
