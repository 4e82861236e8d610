"""Compiled kernels give what numpy gives, and refuse indices that are none."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.analysis.arrays import intervals, nesting
from torch_tb_profiler.analysis.critical_path import host
from torch_tb_profiler.native import kernels
from torch_tb_profiler.native.library import library, why_not

pytestmark = pytest.mark.skipif(library() is None, reason=f"nothing compiled: {why_not()}")

TYPES = st.sampled_from([np.int32, np.int64])


@st.composite
def forests(draw: st.DrawFn) -> np.ndarray[Any, Any]:
    """Parents that come before their children, -1 none."""
    n = draw(st.integers(0, 40))
    return np.array([draw(st.integers(-1, i - 1)) for i in range(n)], draw(TYPES))


@st.composite
def threads(draw: st.DrawFn) -> tuple[Any, Any, Any, Any]:
    """``(rows, start, end, parent)`` of spans in order of their start, not all of them of the thread, many of equal times."""
    drawn = draw(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), min_size=1))
    listed = sorted(drawn, key=lambda item: (item[0], -item[1]))
    start = np.array([begin for begin, _ in listed], np.int64)
    end = start + np.array([dur for _, dur in listed], np.int64)
    track = np.array(draw(st.lists(st.integers(0, 1), min_size=len(listed), max_size=len(listed))))
    parent = nesting.nest(track, start, end).parent.astype(draw(TYPES))
    return np.flatnonzero(track == track[0]), start, end, parent


def masks(n: int) -> st.SearchStrategy[np.ndarray[Any, Any]]:
    """Of so many rows."""
    listed = st.lists(st.booleans(), min_size=n, max_size=n)
    return listed.map(lambda values: np.array(values, np.bool_))


def same(found: Any, function: Any, *arguments: Any) -> None:
    """Assert that a kernel did the work, and gave what numpy does, to the type."""
    assert found is not None
    right = inspect.unwrap(function)(*[np.array(a) if isinstance(a, np.ndarray) else a for a in arguments])  # fmt: skip
    for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, right)), strict=True):  # fmt: skip
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()


@given(parent=forests(), data=st.data())
def test_walks_over_forests(parent: Any, data: st.DataObject) -> None:
    wanted = data.draw(masks(len(parent)))
    rows = st.lists(st.integers(-1, len(parent) - 1))
    begin = np.array(data.draw(rows), data.draw(TYPES))
    same(kernels.climb(parent, begin, wanted), nesting._climb, parent, begin, wanted)
    same(kernels.nearest(parent, wanted), nesting.nearest, parent, wanted)
    same(kernels.with_ancestors(parent, wanted), nesting.with_ancestors, parent, wanted)
    same(kernels.depths(parent), nesting.depths, parent)


@given(thread=threads(), data=st.data())
def test_what_is_open(thread: tuple[Any, Any, Any, Any], data: st.DataObject) -> None:
    rows, start, end, parent = thread
    same(kernels.segments(*thread), host._of_track, *thread)
    time = np.array(data.draw(st.lists(st.integers(0, 45))), np.int64)
    begun = np.searchsorted(start[rows], time, side="right")
    span = np.append(-1, rows)[begun]
    same(kernels.still_open(span, time, end, parent), nesting.still_open, span, time, end, parent)


@given(spans=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 12), st.integers(-1, 2))))
def test_innermost_spans(spans: list[tuple[int, int, int]]) -> None:
    listed = sorted(spans, key=lambda item: (item[0], -item[1]))
    start, dur, track = (np.array([item[k] for item in listed], np.int64) for k in range(3))
    thread, end = track.astype(np.int32), start + dur
    if (track < 0).any():
        assert kernels.nested(thread, start, end) is None
    else:
        same(kernels.nested(thread, start, end), nesting._nested, thread, start, end)


@given(edges=st.lists(st.integers(-50, 50), unique=True), time=st.lists(st.integers(-60, 60)))
def test_lengths_of_intervals(edges: list[int], time: list[int]) -> None:
    edges = sorted(edges)[: len(edges) // 2 * 2]
    points = intervals.Intervals(np.array(edges[::2], np.int64), np.array(edges[1::2], np.int64))
    total, times = intervals.totals(points), np.array(time, np.int64)
    same(kernels.length_before(points, total, times), intervals.length_before, points, total, times)


@given(
    parent=st.lists(
        st.one_of(st.integers(-3, 12), st.sampled_from([-(1 << 31), (1 << 31) - 1])), min_size=1
    ),
    kind=TYPES,
    data=st.data(),
)
def test_hostile_parents_end_every_walk(parent: list[int], kind: Any, data: st.DataObject) -> None:
    """A column of a cache that somebody wrote: cycles, itself, children, rows that are not there."""
    column, n = np.array(parent, kind), len(parent)
    wanted = data.draw(masks(n))
    sound = all(-1 <= p < i for i, p in enumerate(parent))
    for found in (
        kernels.nearest(column, wanted),
        kernels.with_ancestors(column, wanted),
        kernels.depths(column),
    ):
        assert (found is not None) == sound
    anywhere = st.lists(st.integers(-3, n + 3), min_size=n, max_size=n)
    rows, start, end = (np.array(data.draw(anywhere), np.int64) for _ in range(3))
    for found in (
        kernels.climb(column, rows, wanted),
        kernels.still_open(rows, start, end, column),
    ):
        assert found is None or (found.min() >= -1 and found.max() < n)
    parts = kernels.segments(rows, start, end, column)
    assert parts is None or all(-1 <= row < n for row in parts[1].tolist())


def test_other_arrays_are_left_to_numpy() -> None:
    parent, wanted = np.array([-1, 0, 1, 2]), np.ones(4, np.bool_)
    assert kernels.nearest(parent[::2], wanted[::2]) is None
    assert kernels.nearest(parent, wanted[:3]) is None
    assert kernels.nearest(parent, wanted.astype(np.uint8)) is None
    assert kernels.depths(parent.astype(np.int16)) is None
    assert kernels.depths(parent.astype(">i8")) is None
    assert kernels.still_open(parent, parent[:3], parent, parent) is None
    assert nesting.depths(parent.astype(np.int16)).tolist() == [0, 1, 2, 3]
