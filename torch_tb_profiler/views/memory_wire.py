"""Wire types of the Memory view. Units as in ``wire.py``; times are after the first event of the
trace.
"""

from __future__ import annotations

from typing import Literal

from torch_tb_profiler.views.wire import Missing, StepItem, Wire

MemorySource = Literal["records", "snapshot", "timeline", ""]
MemoryGroup = Literal["operator", "module"]


class MemoryDevice(Wire, frozen=True, kw_only=True):
    """A device with allocator records. ``key`` goes into URLs. ``begin_bytes``: allocated before
    the first record; where not ``begin_known`` the least that
    the records allow. ``blocks``: how many can be listed; 0 where the records give no addresses."""

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


class MemoryPayload(Wire, frozen=True, kw_only=True):
    """Route ``/memory``: devices, the one with the most allocated bytes at its peak first, the CPU
    last. ``categories``: those of the file, the unknown one
    last; empty where it has none."""

    source: MemorySource
    span_ns: int
    devices: list[MemoryDevice]
    categories: list[str]
    has_modules: bool
    has_stacks: bool
    steps: list[StepItem]
    notes: list[str]
    missing: list[Missing]


class MemoryCurvePayload(Wire, frozen=True, kw_only=True):
    """Route ``/memory/curve``: a staircase. Point i holds from ``time_ns[i]`` to the next one.

    Thinned to about ``n`` parts: of each the first, lowest, highest and last value stay at their
    own times, so no peak is lost. ``thinned``: whether it was.
    ``categories_bytes``: one list per category where the file says them (then they add up to
        ``allocated_bytes``), else empty.
    """

    device: int
    time_ns: list[int]
    allocated_bytes: list[int]
    reserved_bytes: list[int | None]
    categories_bytes: list[list[int]]
    thinned: bool
    peak_bytes: int
    peak_ns: int


class BlockColumns(Wire, frozen=True, kw_only=True):
    """Blocks of memory, one entry per row. ``allocated_ns`` null: before the recording;
    ``released_ns`` null: not within it. ``event``: the allocating call.

    ``operator`` is the one that allocated, ``parent`` the one around it; of ``aten::empty`` and its
    like the parent says more.
    """

    operator: list[str | None]
    parent: list[str | None]
    module: list[str | None]
    line: list[str | None]
    category: list[str | None]
    bytes: list[int]
    allocated_ns: list[int | None]
    released_ns: list[int | None]
    event: list[int | None]


class MemoryBlocksPayload(Wire, frozen=True, kw_only=True):
    """Route ``/memory/blocks``: blocks that were allocated or released in the window, the largest
    first; ``pooled`` more, of
    ``pooled_bytes``, are not listed."""

    device: int
    rows: BlockColumns
    pooled: int
    pooled_bytes: int


class MemoryStatisticsColumns(Wire, frozen=True, kw_only=True):
    """Per operator or module. ``increase`` is allocated less released, ``allocation`` what was
    allocated; ``self`` without the operators or modules beneath.

    A total counts a recursion once. ``calls``: all calls of that name that share time with the
    window, whether or not they allocated; null unknown.
    """

    name: list[str]
    calls: list[int | None]
    increase_bytes: list[int]
    self_increase_bytes: list[int]
    allocations: list[int]
    self_allocations: list[int]
    allocation_bytes: list[int]
    self_allocation_bytes: list[int]


class MemoryStatisticsPayload(Wire, frozen=True, kw_only=True):
    """Route ``/memory/statistics``. ``pooled`` rows beyond the limit stand together in the last
    row, named ``other``, by their own figures only.

    ``outside_bytes``, ``outside_increase_bytes``: allocated, and allocated less released, by no
    known operator or module; the latter and the self increase of all rows add up to what the
    records of the window change.
    """

    device: int
    group: MemoryGroup
    rows: MemoryStatisticsColumns
    outside_bytes: int
    outside_increase_bytes: int
    pooled: int


class AliveColumns(Wire, frozen=True, kw_only=True):
    """What is alive, blocks of one origin together, the largest first. ``oldest_ns``: begin of the
    oldest; null: before the recording.

    ``count`` and ``largest_bytes`` are null where the file gives sums only.
    """

    operator: list[str | None]
    parent: list[str | None]
    module: list[str | None]
    line: list[str | None]
    category: list[str | None]
    bytes: list[int]
    count: list[int | None]
    largest_bytes: list[int | None]
    oldest_ns: list[int | None]


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
    rows: AliveColumns
    pooled: int
    pooled_bytes: int
