"""Wire types of the Memory view. Units as in ``wire.py``; times are after the first event of the
trace.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from torch_tb_profiler.analysis.memory.changes import MEMORY_CHANGES, MemoryBy
from torch_tb_profiler.analysis.memory.map_table import MEMORY_MAP_BLOCKS, MEMORY_POOLS
from torch_tb_profiler.analysis.memory.table import (
    MEMORY,
    MEMORY_ALIVE,
    MEMORY_BLOCKS,
    MEMORY_STATISTICS,
)
from torch_tb_profiler.views.display_wire import table_of
from torch_tb_profiler.views.wire import Missing, StepsTable, Wire

__all__ = ["MemoryBy"]

MemorySource = Literal["records", "snapshot", "timeline", ""]
MemoryGroup = Literal["operator", "module"]
Knowledge = Literal["recorded", "inferred", "recorded or inferred", ""]


class MemoryDevice(Wire, frozen=True, kw_only=True):
    """A device with allocator records. ``key`` goes into URLs. ``blocks``: how many can be listed; 0 where the records give no
    addresses. ``headline``: its peak, and how near that is to what the device has.
    """

    key: int
    name: str
    peak_bytes: int
    peak_ns: int
    blocks: int
    has_map: bool
    headline: list[str]


class MemoryFailure(Wire, frozen=True, kw_only=True):
    """An allocation that failed for lack of memory: ``sentence`` what was asked for and free, ``why`` what held the rest and
    whether fragmentation is why. ``device``: its key, where the file says it.
    ``allocated_bytes``: what the device held.
    ``unused_bytes``: reserved and in no block, in so many ``pieces``; ``pieces_bytes``: the largest, in order; null where the file does not
    tell them.
    """

    time_ns: int
    device: int | None
    sentence: str
    why: list[str]
    requested_bytes: int | None
    free_bytes: int | None
    allocated_bytes: int | None
    unused_bytes: int | None
    pieces_bytes: list[int] | None
    pieces: int


class MemoryPayload(Wire, frozen=True, kw_only=True):
    """Route ``/memory``: devices, that of the first failure first, then the one with the most allocated bytes at
    its peak, the CPU last. ``categories``: what blocks are for, then what was there before the recording, and what is
    unknown; empty where no category is known. ``categories_known``: of each how it is known.
    ``failures``: the first allocations that failed.
    """

    source: MemorySource
    span_ns: int
    devices: list[MemoryDevice]
    categories: list[str]
    categories_known: list[Knowledge]
    failures: list[MemoryFailure]
    has_modules: bool
    has_stacks: bool
    steps: StepsTable
    notes: list[str]
    missing: list[Missing]


class MemoryCurvePayload(Wire, frozen=True, kw_only=True):
    """Route ``/memory/curve``: a staircase. Row i holds from its time to the next one.

    Thinned to about ``n`` parts: of each the first, lowest, highest and last value stay at their
    own times, so no peak is lost. ``thinned``: whether it was.
    ``categories_bytes``: one list per category of ``/memory``; at each point they add up to
        ``allocated_bytes``. Empty where no category is known.
    """

    rows: Annotated[dict[str, Any], table_of(MEMORY)]
    categories_bytes: list[list[int]]
    thinned: bool
    peak_bytes: int
    peak_ns: int


class MemoryBlocksPayload(Wire, frozen=True, kw_only=True):
    """Route ``/memory/blocks``: blocks that were allocated or released in the window, the largest
    first; ``pooled`` more, of ``pooled_bytes``, are not listed."""

    rows: Annotated[dict[str, Any], table_of(MEMORY_BLOCKS)]
    pooled: int
    pooled_bytes: int


class MemoryStatisticsPayload(Wire, frozen=True, kw_only=True):
    """Route ``/memory/statistics``. ``pooled`` rows beyond the limit stand together in the last
    row, named ``other``, by their own figures only.

    ``outside_bytes``, ``outside_increase_bytes``: allocated, and allocated less released, by no
    known operator or module; the latter and the self increase of all rows add up to what the
    records of the window change.
    """

    group: MemoryGroup
    rows: Annotated[dict[str, Any], table_of(MEMORY_STATISTICS)]
    outside_bytes: int
    outside_increase_bytes: int
    pooled: int


class HeldFrames(Wire, frozen=True, kw_only=True):
    """Columns of the frames of a flame graph, parents first: ``parent`` −1 outermost; ``kind`` as in ``flame``, ``rest`` of what no call is
    known of; ``bytes`` with all beneath. The outermost add up to what is allocated.
    """

    parent: list[int]
    name: list[str]
    kind: list[str]
    bytes: list[int]


class MemoryAlivePayload(Wire, frozen=True, kw_only=True):
    """Route ``/memory/alive``: the blocks alive at a moment. Listed + ``pooled_bytes`` +
    ``unknown_bytes`` = ``allocated_bytes``.

    ``unknown_bytes``: allocated before the recording, of which only the sum is known; below 0 where
        the records contradict each other.
    ``fragmented_bytes``: reserved less allocated; null unknown. ``frames``: all of it by the calls that lead there.
    """

    time_ns: int
    allocated_bytes: int
    reserved_bytes: int | None
    fragmented_bytes: int | None
    unknown_bytes: int
    frames: HeldFrames
    rows: Annotated[dict[str, Any], table_of(MEMORY_ALIVE)]
    pooled: int
    pooled_bytes: int


class MemoryChangesPayload(Wire, frozen=True, kw_only=True):
    """Route ``/memory/changes``: before and after, the largest change first; ``pooled`` more rows, of
    ``pooled_delta_bytes``, are not listed. ``before_bytes``, ``after_bytes``: allocated at the moments.
    """

    before_ns: int
    after_ns: int
    before_bytes: int
    after_bytes: int
    rows: Annotated[dict[str, Any], table_of(MEMORY_CHANGES)]
    pooled: int
    pooled_delta_bytes: int


class MemoryMapCells(Wire, frozen=True, kw_only=True):
    """Per cell its bytes; what is left of ``reserved`` is free. ``rounding`` and ``pending`` are parts
    of ``allocated``.
    """

    reserved: list[int]
    allocated: list[int]
    rounding: list[int]
    pending: list[int]


class MemoryMapPayload(Wire, frozen=True, kw_only=True):
    """Route ``/memory/map``: segments laid end to end and cut into cells of ``cell_bytes``.

    ``reserved_bytes`` … ``split_bytes``: of the chosen
        segments; ``pools``: of all. ``begin_bytes``, ``end_bytes``: the part that is shown.
    ``starts``: cells in which a segment begins.
    ``blocks``: the largest in it; ``stacks``: theirs, innermost frame first.
    """

    reserved_bytes: int
    allocated_bytes: int
    rounding_bytes: int
    free_bytes: int
    largest_free_bytes: int
    split_bytes: int
    fragmentation: float | None
    segments: int
    begin_bytes: int
    end_bytes: int
    cell_bytes: int
    cells: MemoryMapCells
    starts: list[int]
    pools: Annotated[dict[str, Any], table_of(MEMORY_POOLS)]
    blocks: Annotated[dict[str, Any], table_of(MEMORY_MAP_BLOCKS)]
    stacks: list[str]
