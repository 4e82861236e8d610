"""Wire types of the Memory view. Units as in ``wire.py``; times are after the first event of the
trace.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from torch_tb_profiler.analysis.memory.table import (
    MEMORY,
    MEMORY_ALIVE,
    MEMORY_BLOCKS,
    MEMORY_STATISTICS,
)
from torch_tb_profiler.views.display_wire import table_of
from torch_tb_profiler.views.wire import Missing, StepsTable, Wire

MemorySource = Literal["records", "snapshot", "timeline", ""]
MemoryGroup = Literal["operator", "module"]


class MemoryDevice(Wire, frozen=True, kw_only=True):
    """A device with allocator records. ``key`` goes into URLs. ``begin_bytes``: allocated before
    the first record; where not ``begin_known`` the least that
    the records allow. ``blocks``: how many can be listed; 0 where the records give no addresses.
    ``headline``: its peak, and how near that is to what the device has.
    """

    key: int
    name: str
    records: int
    begin_bytes: int
    begin_known: bool
    end_bytes: int
    peak_bytes: int
    peak_ns: int
    peak_reserved_bytes: int | None
    capacity_bytes: int | None
    blocks: int
    headline: list[str]


class MemoryPayload(Wire, frozen=True, kw_only=True):
    """Route ``/memory``: devices, the one with the most allocated bytes at its peak first, the CPU
    last. ``categories``: those of the file, the unknown one last; empty where it has none."""

    source: MemorySource
    span_ns: int
    devices: list[MemoryDevice]
    categories: list[str]
    has_modules: bool
    has_stacks: bool
    steps: StepsTable
    notes: list[str]
    missing: list[Missing]


class MemoryCurvePayload(Wire, frozen=True, kw_only=True):
    """Route ``/memory/curve``: a staircase. Row i holds from its time to the next one.

    Thinned to about ``n`` parts: of each the first, lowest, highest and last value stay at their
    own times, so no peak is lost. ``thinned``: whether it was.
    ``categories_bytes``: one list per category where the file says them (then they add up to
        ``allocated_bytes``), else empty.
    """

    device: int
    rows: Annotated[dict[str, Any], table_of(MEMORY)]
    categories_bytes: list[list[int]]
    thinned: bool
    peak_bytes: int
    peak_ns: int


class MemoryBlocksPayload(Wire, frozen=True, kw_only=True):
    """Route ``/memory/blocks``: blocks that were allocated or released in the window, the largest
    first; ``pooled`` more, of ``pooled_bytes``, are not listed."""

    device: int
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

    device: int
    group: MemoryGroup
    rows: Annotated[dict[str, Any], table_of(MEMORY_STATISTICS)]
    outside_bytes: int
    outside_increase_bytes: int
    pooled: int


class MemoryAlivePayload(Wire, frozen=True, kw_only=True):
    """Route ``/memory/alive``: the blocks alive at a moment. Listed + ``pooled_bytes`` +
    ``unknown_bytes`` = ``allocated_bytes``.

    ``unknown_bytes``: allocated before the recording, of which only the sum is known; below 0 where
        the records contradict each other.
    ``fragmented_bytes``: reserved less allocated; null unknown.
    """

    device: int
    time_ns: int
    allocated_bytes: int
    reserved_bytes: int | None
    fragmented_bytes: int | None
    unknown_bytes: int
    rows: Annotated[dict[str, Any], table_of(MEMORY_ALIVE)]
    pooled: int
    pooled_bytes: int
