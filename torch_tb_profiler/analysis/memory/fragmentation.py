"""How the blocks of a device divide its segments: figures per segment, and sums per cell of a map.

::

    segments  [aaa..bb.....]  [........]      a, b in use, . free
    free      2 + 5 inactive split, 8 releasable; largest free 8; fragmentation 1 - 8/15
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import extreme_by, group_rows, sum_by
from torch_tb_profiler.analysis.memory.allocator_state import AllocatorState
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.schema import BlockState


@dataclass(frozen=True)
class Fill:
    """Per segment, or per group of them: int64 bytes and counts of shape (segments,).

    allocated: of blocks in use as rounded, ``pending`` among them; ``rounding``: of that what nobody
        asked for.
    largest: the largest free stretch. split: free beside blocks in use, which cannot be given back.
    """

    segments: Ints
    reserved: Ints
    allocated: Ints
    pending: Ints
    rounding: Ints
    free: Ints
    largest: Ints
    split: Ints
    blocks: Ints


def fill_of(held: AllocatorState) -> Fill:
    """How much of each segment is in use."""
    n = len(held.bytes)
    allocated, blocks = sum_by(held.segment, n, held.size), np.bincount(held.segment, minlength=n)
    segment, gap = free_pieces(held)
    free = held.bytes - allocated
    pending = held.state == BlockState.PENDING
    return Fill(
        segments=np.ones(n, np.int64),
        reserved=held.bytes,
        allocated=allocated,
        pending=sum_by(held.segment[pending], n, held.size[pending]),
        rounding=sum_by(held.segment, n, rounding_of(held)),
        free=free,
        largest=np.maximum(extreme_by(np.maximum, segment, n, gap), 0),
        split=np.where(blocks > 0, free, 0),
        blocks=blocks.astype(np.int64),
    )


def free_pieces(held: AllocatorState) -> tuple[Ints, Ints]:
    """``(segment, bytes)`` of the free stretches: they begin with a segment or behind a block, and end at the next block."""
    n, begin = len(held.bytes), held.begin
    start = np.concatenate((begin[:-1], held.offset + held.size))
    segment = np.concatenate((np.arange(n), held.segment))
    following = np.append(held.offset, begin[-1])[np.searchsorted(held.offset, start, side="left")]
    size = np.maximum(np.minimum(following, begin[1:][segment]) - start, 0) if n else start
    return segment[size > 0], size[size > 0]


def rounding_of(held: AllocatorState) -> Ints:
    """Per block its bytes that were not asked for; 0 where that is unknown."""
    asked = np.where(held.requested >= 0, held.requested, held.size)
    return np.maximum(held.size - asked, 0)


def pooled(fill: Fill, keys: list[Array]) -> tuple[Ints, Fill]:
    """``(first, sums)`` of segments with equal keys; without keys of all, which may be none."""
    n = len(fill.reserved)
    first, group = group_rows(keys) if keys else (np.zeros(1, np.int64), np.zeros(n, np.int64))
    sums = {name: sum_by(group, len(first), values) for name, values in vars(fill).items()}
    largest = np.maximum(extreme_by(np.maximum, group, len(first), fill.largest), 0)
    return first, Fill(**{**sums, "largest": largest})


@dataclass(frozen=True)
class Cells:
    """Bytes of each cell; int64 of shape (cells,). The rest of ``reserved`` is free."""

    reserved: Ints
    allocated: Ints
    rounding: Ints
    pending: Ints


def cells(held: AllocatorState, begin: int, end: int, count: int) -> tuple[int, Cells]:
    """``(bytes of a cell, sums)`` of [begin, end) of all segments laid end to end."""
    width = max(1, -(-(end - begin) // count))
    edges = np.minimum(np.arange(begin, end + width, width, dtype=np.int64), end)
    pending = held.state == BlockState.PENDING
    used = _within(held.offset, held.size, edges)
    asked = held.size - rounding_of(held)
    late = _within(held.offset[pending], held.size[pending], edges)
    return width, Cells(np.diff(edges), used, used - _within(held.offset, asked, edges), late)


def _within(offset: Ints, size: Ints, edges: Ints) -> Ints:
    """Bytes of disjoint stretches, by ascending offset, between edges."""
    before = np.append(0, np.cumsum(size))
    last = np.searchsorted(offset, edges, side="right")
    inside = np.append(0, size)[last]
    begun = np.append(0, offset)[last]
    return np.asarray(np.diff(before[last] - inside + np.minimum(edges - begun, inside)))
