"""Which slices a tile holds: stored levels are read, the others are merged on request from the
finest level that is needed.

Tile k of level L covers ``k · 2^(L+9)`` to ``(k+1) · 2^(L+9)`` ns: 512 buckets. A slice that
reaches into a tile from before belongs to it, too, so that a tile can be drawn without its
neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import expand_ranges
from torch_tb_profiler.analysis.timeline.pyramid import Slices, merge
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.timeline import Timeline

TILE_BITS = 9


@dataclass(frozen=True)
class TileSlices:
    """The slices of one tile, by lane and time; ``slices.lane`` holds positions in the asked lanes.
    ``t0`` in ns.
    """

    k: int
    t0: int
    slices: Slices


def highest_level(span_ns: int) -> int:
    """The level on which the whole span fits half a tile: coarser ones would show nothing."""
    return max(0, (span_ns >> (TILE_BITS - 1)).bit_length())


def read_tiles(
    timeline: Timeline, level: int, numbers: Sequence[int], lanes: Sequence[int]
) -> list[TileSlices]:
    """The tiles of some lanes (ascending), by number."""
    wanted = np.array(lanes, np.int64)
    found: list[TileSlices] = []
    for first, last in _runs(sorted(numbers)):
        found += _split(_run(timeline, level, first, last, wanted), level, range(first, last + 1))
    return found


def _runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Neighbouring numbers as (first, last)."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def _run(timeline: Timeline, level: int, first: int, last: int, lanes: Ints) -> Slices:
    """What touches tiles ``first`` to ``last``."""
    width = 1 << (level + TILE_BITS)
    t0, t1 = first * width, (last + 1) * width
    stored = timeline["levels"]["level"]
    place = int(np.searchsorted(stored, level, side="right")) - 1
    exact = place >= 0 and int(stored[place]) == level
    table, edges = _base(timeline, place)
    start, dur = table["start"], table["dur"]
    rows = [
        _touching(start, dur, int(edges[lane]), int(edges[lane + 1]), t0, t1, 0 if exact else level)
        for lane in lanes.tolist()
    ]
    begin, stop = np.array(rows, np.int64).reshape(-1, 2).T
    count = stop - begin
    slices = _gather(
        table, expand_ranges(begin, count), np.repeat(np.arange(len(lanes)), count), place >= 0
    )
    if exact:
        return slices
    merged = merge(slices, level)
    end = merged.start + merged.dur
    # Of the bucket before the first tile only a summary that reaches into it stays.
    keep = (merged.start >= t0) | (end > t0)
    return merged if keep.all() else merged.take(keep)


def _base(timeline: Timeline, place: int) -> tuple[dict[str, Array], Array]:
    """(columns of a stored level, or of the events with ``place`` −1; where each lane begins and
    the last one ends).
    """
    if place < 0:
        lanes, table = timeline["lanes"], timeline["slices"]
        return {name: table[name] for name in table}, np.append(lanes["first"], table.n)
    lanes, table = timeline["lanes"], timeline["summaries"]
    per = lanes.n + 1
    return {name: table[name] for name in table}, timeline["level_lanes"]["first"][
        place * per : (place + 1) * per
    ]


def _touching(
    start: Array, dur: Array, begin: int, stop: int, t0: int, t1: int, level: int
) -> tuple[int, int]:
    """Rows of a lane from ``begin`` to ``stop`` that touch t0 … t1, and with a level whole buckets
    of it.
    """
    lane = start[begin:stop]
    low = begin + int(np.searchsorted(lane, t0))
    high = begin + int(np.searchsorted(lane, t1))
    if low > begin:
        earlier = int(start[low - 1])
        # A slice of no length just before the tile does not reach into it; with its bucket's others
        # it may.
        bucket = earlier >> level << level
        reaches = earlier + int(dur[low - 1]) > t0
        if reaches:
            low = begin + int(np.searchsorted(lane, bucket)) if level else low - 1
    return low, high


def _gather(table: dict[str, Array], row: Ints, lane: Ints, summaries: bool) -> Slices:
    start, dur, event = table["start"][row], table["dur"][row], table["event"][row]
    if not summaries:
        return Slices(lane, start, dur, dur, np.ones(len(row), np.int64), event, dur)
    return Slices(
        lane,
        start,
        dur,
        table["busy"][row],
        table["count"][row].astype(np.int64),
        event,
        table["longest"][row],
    )


def _split(slices: Slices, level: int, numbers: range) -> list[TileSlices]:
    width = 1 << (level + TILE_BITS)
    first = slices.start // width
    last = np.maximum(slices.start + slices.dur - 1, slices.start) // width
    found = []
    for k in numbers:
        rows = np.flatnonzero((first <= k) & (last >= k))
        found.append(TileSlices(k, k * width, slices.take(rows)))
    return found
