"""The slices of tiles: read from stored levels, or merged from the next finer level on request.

Tile k of level L covers ``k · 2^(L+9)`` to ``(k+1) · 2^(L+9)`` ns, 512 buckets, and includes slices
that reach into it, so that it can be drawn without its neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import consecutive, expand_ranges
from torch_tb_profiler.analysis.timeline.pyramid import Slices, merge, single_events
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.timeline import Timeline

TILE_BITS = 9
LAST_NS = np.iinfo(np.int64).max
"""Where the last tile of a trace of centuries ends."""


class TileSlices(msgspec.Struct, frozen=True):
    """The slices of one tile, by lane and time; ``slices.lane`` indexes the requested lanes."""

    k: int
    t0: int
    slices: Slices


def highest_level(span_ns: int) -> int:
    """The level on which the whole span fits half a tile; coarser ones would show nothing."""
    return max(0, (span_ns >> (TILE_BITS - 1)).bit_length())


def read_tiles(
    timeline: Timeline, level: int, numbers: Sequence[int], lanes: Sequence[int]
) -> list[TileSlices]:
    """The tiles of some lanes (ascending), by number."""
    wanted = np.array(lanes, np.int64)
    tiles: list[TileSlices] = []
    for first, last in consecutive(sorted(numbers)):
        tiles += _split(_run(timeline, level, first, last, wanted), level, range(first, last + 1))
    return tiles


def _run(timeline: Timeline, level: int, first: int, last: int, lanes: Ints) -> Slices:
    """The slices that touch tiles ``first`` to ``last``."""
    width = 1 << (level + TILE_BITS)
    t0, t1 = first * width, min((last + 1) * width, LAST_NS)
    stored = timeline["levels"]["level"]
    index = int(np.searchsorted(stored, level, side="right")) - 1
    exact = index >= 0 and int(stored[index]) == level
    table, edges = _base(timeline, index)
    start, dur = table["start"], table["dur"]
    rows = [
        _touching(start, dur, int(edges[lane]), int(edges[lane + 1]), t0, t1, 0 if exact else level)
        for lane in lanes.tolist()
    ]
    begin, stop = np.array(rows, np.int64).reshape(-1, 2).T
    count = stop - begin
    slices = _gather(table, expand_ranges(begin, count), np.repeat(np.arange(len(lanes)), count))
    if exact:
        return slices
    merged = merge(slices, level)
    end = merged.start + merged.dur
    # Of the bucket before the first tile only summaries that reach into it stay.
    keep = (merged.start >= t0) | (end > t0)
    return merged if keep.all() else merged.take(keep)


def _base(timeline: Timeline, index: int) -> tuple[Table, Array]:
    """``(table, edges)`` of a stored level, or with index −1 of the events; lane i has rows
    ``edges[i]:edges[i + 1]``.
    """
    if index < 0:
        table = timeline["slices"]
        return table, np.append(timeline["lanes"]["first"], table.n)
    per = timeline["lanes"].n + 1
    edges = timeline["level_lanes"]["first"][index * per : (index + 1) * per]
    return timeline["summaries"], edges


def _touching(
    start: Array, dur: Array, begin: int, stop: int, t0: int, t1: int, level: int
) -> tuple[int, int]:
    """Rows of a lane in [begin, stop) that touch [t0, t1), with a level extended to whole buckets."""
    lane = start[begin:stop]
    low = begin + int(np.searchsorted(lane, t0))
    high = begin + int(np.searchsorted(lane, t1))
    if low > begin:
        earlier = int(start[low - 1])
        # A zero-length slice before the tile may reach into it as part of its bucket's summary.
        bucket = earlier >> level << level
        if earlier + int(dur[low - 1]) > t0:
            low = begin + int(np.searchsorted(lane, bucket)) if level else low - 1
    return low, high


def _gather(table: Table, row: Ints, lane: Ints) -> Slices:
    """Rows of a table of ``_base`` as slices."""
    rows = table.take(row)
    if "busy" not in rows:
        return single_events(lane, rows["start"], rows["dur"], rows["event"])
    return Slices(lane, **{**rows, "count": rows["count"].astype(np.int64)})


def _split(slices: Slices, level: int, numbers: range) -> list[TileSlices]:
    bits = level + TILE_BITS
    first = slices.start >> bits
    last = np.maximum(slices.start + slices.dur - 1, slices.start) >> bits
    return [
        TileSlices(k, k << bits, slices.take(np.flatnonzero((first <= k) & (last >= k))))
        for k in numbers
    ]
