"""The routes of the Memory view: curve, blocks, statistics, what is alive, the map, changes."""

from __future__ import annotations

from typing import Annotated

from torch_tb_profiler.runs.model import OpenedInsight
from torch_tb_profiler.runs.program_files import ProgramFiles
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.memory import wire as memory_wire
from torch_tb_profiler.views.memory.devices import chosen_device, same_device
from torch_tb_profiler.views.memory.map import memory_changes_payload, memory_map_payload
from torch_tb_profiler.views.memory.payload import (
    memory_curve_payload,
    memory_payload,
    whole_window,
)
from torch_tb_profiler.views.memory.tables import (
    memory_alive_payload,
    memory_blocks_payload,
    memory_source_payload,
    memory_statistics_payload,
)
from torch_tb_profiler.views.source import SourcePayload
from torch_tb_profiler.web.parameters import (
    EARLIER_FIRST,
    LARGEST_NS,
    OneOf,
    Text,
    Time,
    Whole,
    Window,
)
from torch_tb_profiler.web.route import Pair, route

MOST_BLOCKS = 20_000
"""Blocks of one reply, the largest ones: two megabytes gzipped. Narrower windows list smaller ones."""
_DEVICE = "The `key` of a device of `/memory`; 404 where there is none. Default: the first."
Device = Annotated[int | None, Whole(_DEVICE, 0, 1 << 16)]


@route("/memory", report="trace")
def memory(insight: OpenedInsight) -> memory_wire.MemoryPayload:
    """What each device with allocator records held before, at the peak and at the end; steps; notes on
    defects of the records. Without records ``missing`` says how to record them.
    """
    return memory_payload(insight.opened.trace, insight.opened.facts, insight.insight)


@route("/memory/curve", report="device")
def curve(
    insight: OpenedInsight,
    device: Device = None,
    window: Window | None = None,
    n: Annotated[int, Whole("About how many points.", 8, 4096, page=1024)] = 2048,
) -> memory_wire.MemoryCurvePayload:
    """Allocated and reserved bytes over time. ``peak_bytes`` is the exact peak of the window."""
    row = chosen_device(insight.insight, device)
    whole = window or whole_window(insight.opened.trace, insight.opened.facts)
    return memory_curve_payload(insight.insight, row, whole, n)


@route("/memory/blocks", report="device")
def blocks(
    insight: OpenedInsight, settings: Settings, device: Device = None, window: Window | None = None
) -> memory_wire.MemoryBlocksPayload:
    """Blocks in the window, at most ``max_table_rows`` (a setting). ``event`` is the call of the
    allocating operator.
    """
    row, most = chosen_device(insight.insight, device), min(settings.max_table_rows, MOST_BLOCKS)
    return memory_blocks_payload(insight.insight, row, window, most)


@route("/memory/statistics", report="device")
def statistics(
    insight: OpenedInsight,
    settings: Settings,
    device: Device = None,
    window: Window | None = None,
    group: Annotated[memory_wire.MemoryGroup, OneOf("What a row is one of.")] = "operator",
) -> memory_wire.MemoryStatisticsPayload:
    """Calls, allocations, bytes allocated, and allocated less released, as self and total."""
    opened, row = insight.opened, chosen_device(insight.insight, device)
    return memory_statistics_payload(
        opened.trace, opened.facts, insight.insight, row, window, group, settings.max_table_rows
    )


@route("/memory/alive", report="device")
def alive(
    insight: OpenedInsight,
    settings: Settings,
    device: Device = None,
    t: Annotated[int | None, Time("When. Default: at the device's peak.")] = None,
) -> memory_wire.MemoryAlivePayload:
    """Blocks by operator, parent, module, line and category, and by the calls that lead to them."""
    row, facts = chosen_device(insight.insight, device), insight.opened.facts
    return memory_alive_payload(facts, insight.insight, row, t, settings.max_table_rows)


@route("/memory/source", kept=False)
def memory_source(
    insight: OpenedInsight,
    settings: Settings,
    device: Device = None,
    t: Annotated[int | None, Time("When. Default: at the device's peak.")] = None,
) -> SourcePayload:
    """Functions that lead to what is held, as they stand in the folders of the setting ``SOURCE_FOLDERS``, with the bytes of each, of a
    snapshot of each line; nothing is read without it.
    """
    row, opened = chosen_device(insight.insight, device), insight.opened
    read = ProgramFiles.of(settings.source_folders).reader
    return memory_source_payload(opened.trace, opened.facts, insight.insight, row, t, read)


@route("/memory/map")
def memory_map(
    insight: OpenedInsight,
    device: Device = None,
    t: Annotated[int | None, Time("When. Default: when the snapshot was written.")] = None,
    stream: Annotated[int | None, Whole("Segments of this stream.", 0, LARGEST_NS)] = None,
    pool: Annotated[str | None, Text("Segments of this pool, as `pools` names it.")] = None,
    b0: Annotated[int | None, Whole("From this byte of all segments.", 0, LARGEST_NS)] = None,
    b1: Annotated[int | None, Whole("To this byte.", 0, LARGEST_NS)] = None,
    n: Annotated[int, Whole("About how many cells.", 16, 32768, page=12288)] = 12288,
) -> memory_wire.MemoryMapPayload:
    """How blocks divide the segments of a memory snapshot, laid end to end by pool, stream and address:
    bytes in use, rounded up, released but still in use, and free, per cell; the largest blocks with their
    stacks. 404 where the file has no segments.
    """
    row, trace = chosen_device(insight.insight, device), insight.opened.trace
    return memory_map_payload(trace, insight.insight, row, t, stream, pool, (b0, b1), n)


@route("/memory/changes")
def changes(
    pair: Pair,
    settings: Settings,
    device: Device = None,
    t: Annotated[int | None, Time("The first moment, in A. Default: at the device's peak.")] = None,
    t2: Annotated[
        int | None, Time("The second moment, in B. Default: at the device's peak.")
    ] = None,
    by: Annotated[memory_wire.MemoryBy, OneOf("What a row is one of.")] = "line",
    earlier_first: Annotated[bool, EARLIER_FIRST] = False,
) -> memory_wire.MemoryChangesPayload:
    """What grew between two moments of a trace, or of two traces A and B: held before and after, and of one
    trace also what was allocated and released between.
    """
    row = chosen_device(pair.a.insight, device)
    other = same_device(pair.a.insight, row, pair.b.insight)
    before, after = (pair.a.insight, row, t), (pair.b.insight, other, t2)
    if earlier_first and pair.is_later_first():
        before, after = after, before
    return memory_changes_payload(before, after, by, settings.max_table_rows)
