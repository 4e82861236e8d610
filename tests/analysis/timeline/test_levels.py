"""Levels of detail and tiles: whatever the zoom, every event is counted once and its time is kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import public
from tests.analysis.figures import trace_files
from tests.analysis.timeline.charts import Chart, chart_of_file, disjoint, of_spans
from tests.conftest import REAL_TRACES, REPOSITORY
from tests.examples import examples
from torch_tb_profiler.analysis.timeline import pyramid
from torch_tb_profiler.analysis.timeline.pyramid import Slices, merge
from torch_tb_profiler.analysis.timeline.tiles import (
    TILE_BITS,
    TileSlices,
    highest_level,
    read_tiles,
)
from torch_tb_profiler.store.timeline import Timeline

SPANS = st.lists(
    st.tuples(
        st.sampled_from(["cpu_op", "kernel"]),
        st.integers(1, 2),
        st.integers(0, 5000),
        st.integers(0, 900),
    ),
    min_size=1,
    max_size=60,
)
MOST_TILES = 200
"""Levels with more tiles than this are read in stretches: the whole of a minute at 1 ns would be a
hundred million tiles.
"""


def slices_of(rows: list[tuple[int, int, int]]) -> Slices:
    """Slices of (lane, start, dur), in that order."""
    lane, start, dur = (np.array([row[i] for row in rows], np.int64) for i in range(3))
    return Slices(
        lane,
        start,
        dur,
        dur,
        np.ones(len(rows), np.int64),
        np.arange(len(rows), dtype=np.int32),
        dur,
    )


def one_by_one(slices: Slices, level: int) -> list[tuple[int, int, int, int, int, int]]:
    """The rule, slice by slice: (lane, start, end, count, busy, longest event)."""
    found: list[list[int]] = []
    open_bucket: tuple[int, int] | None = None
    longest = 0
    for i in range(len(slices)):
        lane, start, dur = int(slices.lane[i]), int(slices.start[i]), int(slices.dur[i])
        bucket = (lane, start >> level) if dur < 1 << level else None
        if bucket is not None and bucket == open_bucket:
            last = found[-1]
            last[2], last[3], last[4] = start + dur, last[3] + 1, last[4] + dur
            if dur > longest:
                last[5], longest = i, dur
        else:
            found.append([lane, start, start + dur, 1, dur, i])
            longest = dur
        open_bucket = bucket
    return [tuple(row) for row in found]  # type: ignore[misc]


def rows_of(slices: Slices) -> list[tuple[int, ...]]:
    columns = (
        slices.lane,
        slices.start,
        slices.start + slices.dur,
        slices.count,
        slices.busy,
        slices.event,
    )
    return [tuple(int(c[i]) for c in columns) for i in range(len(slices))]


def totals(tiles: list[TileSlices]) -> tuple[int, int]:
    """(events, busy ns) of the slices that begin in one of the tiles."""
    own = [
        (t.slices.count[begun], t.slices.busy[begun])
        for t in tiles
        for begun in [t.slices.start >= t.t0]
    ]
    return sum(int(count.sum()) for count, _ in own), sum(int(busy.sum()) for _, busy in own)


def read_level(timeline: Timeline, level: int) -> list[TileSlices]:
    """All tiles of a level, or those of the first, a middle and the last stretch."""
    last = timeline.about["span_ns"] >> (level + TILE_BITS)
    everything = range(timeline["lanes"].n)
    if last < MOST_TILES:
        return read_tiles(timeline, level, range(last + 1), everything)
    return [
        t
        for first in (0, last // 2, last - 9)
        for t in read_tiles(timeline, level, range(first, first + 10), everything)
    ]


def events_of(timeline: Timeline) -> Slices:
    """All its events, as slices."""
    lanes, table = timeline["lanes"], timeline["slices"]
    return slices_of(
        list(
            zip(
                np.repeat(np.arange(lanes.n), lanes["count"]).tolist(),
                table["start"].tolist(),
                table["dur"].tolist(),
                strict=True,
            )
        )
    )


@examples(200)
@given(SPANS, st.integers(0, 12))
def test_merging_is_the_rule(spans: list[tuple[str, int, int, int]], level: int) -> None:
    timeline = of_spans(spans)[2]
    events = events_of(timeline)
    assert rows_of(merge(events, level)) == one_by_one(events, level)


@examples(100)
@given(SPANS)
def test_step_by_step_is_at_once(spans: list[tuple[str, int, int, int]]) -> None:
    timeline = of_spans(spans)[2]
    events = events_of(timeline)
    stepwise = events
    for level in range(13):
        stepwise = merge(stepwise, level)
        assert rows_of(stepwise) == rows_of(merge(events, level))


@examples(100)
@given(SPANS, st.integers(0, 12))
def test_tiles_hold_what_touches_them(spans: list[tuple[str, int, int, int]], level: int) -> None:
    timeline = of_spans(spans)[2]
    events = events_of(timeline)
    whole = one_by_one(events, level)
    last = timeline.about["span_ns"] >> (level + TILE_BITS)
    for tile in read_tiles(timeline, level, range(last + 1), range(timeline["lanes"].n)):
        t1 = tile.t0 + (1 << (level + TILE_BITS))
        expected = [
            row[:5] for row in whole if row[1] < t1 and (row[2] > tile.t0 or row[1] >= tile.t0)
        ]
        assert [row[:5] for row in rows_of(tile.slices)] == expected


@pytest.mark.slow
def test_stored_levels_give_the_same_tiles_as_the_events(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)
    start = np.cumsum(generator.integers(1, 40, 40_000))
    spans = [
        ("kernel", 1, int(at), int(d))
        for at, d in zip(start, generator.integers(1, 60, 40_000), strict=True)
    ]
    stored = of_spans(spans)[2]
    assert stored["levels"].n > 2
    monkeypatch.setattr(pyramid, "FEW", 1 << 30)
    bare = of_spans(spans)[2]
    assert bare["levels"].n == 0
    for level in range(highest_level(stored.about["span_ns"]) + 1):
        numbers = range((stored.about["span_ns"] >> (level + TILE_BITS)) + 1)
        for a, b in zip(
            read_tiles(stored, level, numbers, range(2)),
            read_tiles(bare, level, numbers, range(2)),
            strict=True,
        ):
            assert rows_of(a.slices) == rows_of(b.slices)


def test_a_minute_and_a_nanosecond() -> None:
    """60 s on 1,280 px is level 25: events of 1 ns, 1 ns apart, and one that runs through all of
    it.
    """
    spans = [
        ("kernel", 1, 0, 60_000_000_000),
        *(("kernel", 2, 30_000_000_000 + 2 * i, 1) for i in range(3000)),
    ]
    timeline = of_spans(spans)[2]
    top = highest_level(timeline.about["span_ns"])
    assert top >= 27
    for level in range(24, top + 1):
        assert totals(read_level(timeline, level)) == (3001, 60_000_003_000)
    k = 30_000_000_000 >> TILE_BITS
    finest = read_tiles(timeline, 0, [k], range(timeline["lanes"].n))[0].slices
    assert finest.count.tolist() == [1] * len(finest)
    assert (np.diff(finest.start[finest.lane == 1]) == 2).all()


def conserved(found: Chart) -> None:
    trace, _, timeline = found
    instants = trace["instants"]
    events = trace["spans"].n + int((instants["phase"] != ord("C")).sum())
    busy = int(trace["spans"]["dur"].sum())
    assert timeline["slices"].n == events
    assert disjoint(timeline)
    whole = 0
    for level in range(highest_level(timeline.about["span_ns"]) + 1):
        tiles = read_level(timeline, level)
        if len(tiles) > timeline.about["span_ns"] >> (level + TILE_BITS):
            assert totals(tiles) == (events, busy), f"level {level}"
            whole += 1
        else:
            assert totals(tiles) == begun_in(timeline, tiles, level), f"level {level}"
    assert whole > 5 or timeline.about["span_ns"] < 1 << 14


def begun_in(timeline: Timeline, tiles: list[TileSlices], level: int) -> tuple[int, int]:
    """(events, ns) of the events that begin in some tiles, counted without any level."""
    start, dur = timeline["slices"]["start"], timeline["slices"]["dur"]
    inside = np.isin(start >> (level + TILE_BITS), [t.k for t in tiles])
    return int(inside.sum()), int(dur[inside].sum())


@pytest.mark.parametrize("path", public.asked(trace_files(REAL_TRACES)))
def test_every_event_of_a_real_trace_is_reached_on_every_level(
    path: Path, real_traces: Path
) -> None:
    conserved(chart_of_file(path))


@pytest.mark.parametrize(
    "path",
    trace_files(REPOSITORY / "samples"),
    ids=lambda path: f"{path.parent.name}-{path.name[:24]}",
)
def test_every_event_of_a_sample_is_reached_on_every_level(path: Path) -> None:
    conserved(chart_of_file(path))
