"""Two whole recordings on one axis: known delays are found where they are, and nothing else; of any two recordings and of any part of
the axis the gaps add up and time goes on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.diff.test_any_pair import LISTED
from tests.builders.delays import delayed
from tests.builders.drawn import trace_of
from tests.builders.listed import listed
from tests.builders.pairs import CHANGES, NO_CHANGE, recording
from tests.examples import examples
from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS
from torch_tb_profiler.analysis.diff.aligned_recordings import (
    AlignedRecordings,
    Pieces,
    RecordedSide,
    align_recordings,
)
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight

Events = list[dict[str, Any]]
MS = 1_000_000


def side_of(events: Events, steps: list[int] | None = None) -> RecordedSide:
    """A recording with all of its steps, or some."""
    trace = trace_of(events)
    facts = derive(trace)
    rows = np.arange(facts["steps"].n) if steps is None else np.array(steps, np.int64)
    return RecordedSide(trace, facts, build_insight(trace, facts), rows)


def end_of(side: RecordedSide) -> int:
    """The last moment of a recording or of a step of it."""
    spans = side.trace["spans"]
    ends = side.facts["steps"]["end"][side.steps]
    return max(int((spans["start"] + spans["dur"]).max(initial=0)), int(ends.max(initial=0)))


def keeps_together(aligned: AlignedRecordings, ends: tuple[int, int], pieces: Pieces) -> None:
    """What holds of any part of the axis."""
    assert pieces.axis[0] == pieces.before[0] == pieces.after[0] == 0
    assert (int(pieces.before[-1]), int(pieces.after[-1])) == ends
    assert int(pieces.axis[-1]) == aligned.length
    steps = [np.diff(column) for column in (pieces.axis, pieces.before, pieces.after)]
    assert all((step >= 0).all() for step in steps)
    assert (steps[0] >= np.maximum(steps[1], steps[2])).all()
    gap = pieces.group[1:] >= 0
    # One side stands still in a gap, and outside of gaps both go on alike.
    assert (np.minimum(steps[1], steps[2])[gap] == 0).all()
    assert (np.maximum(steps[1], steps[2])[gap] == steps[0][gap]).all()
    assert (steps[1] == steps[2])[~gap].all()
    assert int((steps[2] - steps[1])[gap].sum()) == ends[1] - ends[0]


def gaps_of(pieces: Pieces) -> list[tuple[int, int]]:
    """Where each gap ends on the clock of the first side, and its size: above 0 lost."""
    end = np.flatnonzero(pieces.group >= 0)
    size = (pieces.after[end] - pieces.after[end - 1]) - (
        pieces.before[end] - pieces.before[end - 1]
    )
    return list(zip(pieces.before[end].tolist(), size.tolist(), strict=True))


WINDOWS = st.tuples(st.floats(0, 1), st.floats(0, 1), st.sampled_from([1, 3, 50, 2000]))


@examples(100)
@given(LISTED, LISTED, WINDOWS)
def test_any_two_recordings(left: Events, right: Events, drawn: tuple[float, float, int]) -> None:
    sides = side_of(left), side_of(right)
    aligned = align_recordings(*sides)
    begin, end = sorted(int(part * aligned.length) for part in drawn[:2])
    for window in ((begin, end), (0, aligned.length)):
        keeps_together(
            aligned, (end_of(sides[0]), end_of(sides[1])), aligned.pieces(*window, drawn[2])
        )


DELAYS = st.lists(st.tuples(st.floats(0, 0.999), st.integers(1, 3 * MS)), min_size=1, max_size=6)


@examples(40)
@given(st.sampled_from([NO_CHANGE, "extra_copy", "new_sync", "missing_overlap"]), DELAYS)
@pytest.mark.slow
def test_known_delays_are_found(name: str, drawn: list[tuple[float, int]]) -> None:
    events = recording(CHANGES[name], 1, 4)
    before = side_of(events)
    spans, length = before.trace["spans"], end_of(before)
    edges = set(spans["start"].tolist()) | set((spans["start"] + spans["dur"]).tolist())
    delays: dict[int, int] = {}
    for part, size in drawn:
        moment = 1 + int(part * (length - 2))
        while moment in edges:
            moment += 1
        if moment < length:
            delays[moment] = delays.get(moment, 0) + size
    after = side_of(delayed(events, sorted(delays.items())))
    aligned = align_recordings(before, after)
    assert aligned.together
    found = dict(gaps_of(aligned.pieces(0, aligned.length, 1 << 20)))
    assert sum(found.values()) == sum(delays.values())
    told = np.array(sorted(found))
    for moment in delays:
        # Each stands at the next tie, which is no later than what ends or begins next on the thread of the loop.
        assert told[np.searchsorted(told, moment, side="right")] <= length
    assert len(found) <= len(delays)
    back = align_recordings(after, before)
    assert (back.before.tolist(), back.after.tolist()) == (
        aligned.after.tolist(),
        aligned.before.tolist(),
    )
    assert gaps_of(align_recordings(before, before).pieces(0, length, 100)) == []


def steps(*lengths: int, add: int = 0) -> Events:
    """Steps of an operation each, so many µs long, ``add`` of them at the end without a partner."""
    lines, at = [], 0
    for number, length in enumerate(lengths):
        lines += [
            f"1 note ProfilerStep#{number}@{at}+{length}",
            f"1 op aten::mm@{at + 1}+{length - 2}",
        ]
        at += length
    return listed("\n".join(lines))


def test_steps_stand_above_each_other_in_order() -> None:
    aligned = align_recordings(side_of(steps(100, 100, 100)), side_of(steps(100, 150, 80)))
    assert aligned.steps == 3
    assert gaps_of(aligned.pieces(0, aligned.length, 1000)) == [
        (199_000, 50_000),
        (299_000, -20_000),
    ]


def test_chosen_steps_alone_stand_above_each_other() -> None:
    events = steps(100, 300, 100)
    aligned = align_recordings(side_of(events, [0]), side_of(events, [1]))
    assert (aligned.steps, aligned.begin) == (1, (0, 100_000))
    pieces = aligned.pieces(0, aligned.length, 1000)
    at = pieces.after.tolist().index(100_000)
    assert (int(pieces.before[at]), int(pieces.axis[at])) == (0, 100_000)


def test_other_work_leaves_only_the_steps() -> None:
    other = [
        {**event, "name": "aten::sort"} if event["name"] == "aten::mm" else event
        for event in steps(100, 150)
    ]
    aligned = align_recordings(side_of(steps(100, 100)), side_of(other))
    assert not aligned.together
    assert gaps_of(aligned.pieces(0, aligned.length, 100)) == [(200_000, 50_000)]


def test_a_gap_is_of_what_takes_its_time() -> None:
    def loop(wait: int) -> Events:
        at = wait + 40
        return listed(
            f"1 note ProfilerStep#1@0+{at + 60}\n1 op enumerate(DataLoader)#_Iter.__next__@0+{wait}\n1 op aten::mm@{at}+20"
        )

    pieces = align_recordings(side_of(loop(900)), side_of(loop(100))).pieces(0, MS, 1000)
    [group] = pieces.group[pieces.group >= 0].tolist()
    assert list(GROUPS)[group] == "data_loading"


@pytest.mark.parametrize("parts", [10, 1000])
def test_a_closer_look_moves_nothing(parts: int) -> None:
    aligned = align_recordings(
        side_of(recording(CHANGES[NO_CHANGE], 0, 3)),
        side_of(recording(CHANGES["slower_kernel"], 1, 3)),
    )
    whole = aligned.pieces(0, aligned.length, parts)
    begin, end = aligned.length // 3, aligned.length // 2
    close = aligned.pieces(begin, end, parts)
    moments = np.linspace(begin, end, 50)
    for side in ("before", "after"):
        away = np.interp(moments, whole.axis, getattr(whole, side)) - np.interp(
            moments, close.axis, getattr(close, side)
        )
        assert np.abs(away).max() <= 4 * max(1, aligned.length // parts)
