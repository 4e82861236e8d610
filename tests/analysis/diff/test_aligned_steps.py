"""Two steps on one axis: known delays are found where they are, with their size to the nanosecond, and nothing else; of any
two steps the gaps add up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tests.analysis.diff.test_any_pair import LISTED
from tests.builders.delays import delayed
from tests.builders.drawn import trace_of
from tests.builders.listed import listed
from tests.builders.pairs import CHANGES, NO_CHANGE, recording
from tests.examples import examples
from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS
from torch_tb_profiler.analysis.diff.aligned_rows import aligned_rows, drawn_ties
from torch_tb_profiler.analysis.diff.aligned_steps import AlignedSteps, DrawnStep, align, ties
from torch_tb_profiler.analysis.diff.step_path import GroupTimes, group_changes, step_path
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight

Events = list[dict[str, Any]]
PARTS = 1200


def drawn_step(events: Events, step: int = 0) -> DrawnStep | None:
    """A step of a recording; None where it has none."""
    trace = trace_of(events)
    facts = derive(trace)
    if not facts["steps"].n:
        return None
    path = step_path(facts, build_insight(trace, facts), step, facts.summary.has_device)
    return DrawnStep.of(trace, path)


def step_of(events: Events, step: int = 0) -> DrawnStep:
    """A step of a recording that has some."""
    found = drawn_step(events, step)
    assert found is not None
    return found


def gaps_of(steps: AlignedSteps) -> list[tuple[int, int]]:
    """Where each gap ends on the clock of the first side, and its size."""
    assert steps.gaps is not None
    return list(zip(steps.gaps.before.tolist(), steps.gaps.size.tolist(), strict=True))


def keeps_together(steps: AlignedSteps, parts: int) -> None:
    """What holds of any two steps."""
    before, after = steps.before.path, steps.after.path
    changes = group_changes(before, after)
    assert sum(one.change for one in changes) == after.length - before.length
    rows = aligned_rows(steps, parts)
    if steps.gaps is None:
        assert rows == ([], [])
        return
    gaps = steps.gaps
    assert int(gaps.size.sum()) == after.length - before.length
    assert (gaps.groups.sum(axis=1) == gaps.size).all()
    # Behind the last gap groups may have taken time from each other: what moves nothing is no gap.
    rest = [
        path.times - GroupTimes.of(path).between(np.array([0]), np.append(0, last)[-1:])[0]
        for path, last in ((before, gaps.before), (after, gaps.after))
    ]
    assert (gaps.groups.sum(axis=0) + rest[1] - rest[0]).tolist() == (
        after.times - before.times
    ).tolist()
    assert int(rest[1].sum()) == int(rest[0].sum())
    assert (gaps.size != 0).all()
    for side, path in ((0, before), (1, after)):
        moments = np.arange(0, path.length + 1, max(1, path.length // 50))
        assert (np.diff(gaps.on_axis(side, moments)) >= np.diff(moments)).all()
        assert gaps.on_axis(side, np.array([path.length])).tolist() == [steps.length]
        for row in rows[side]:
            assert (row.start < row.end).all()
            assert (row.end[:-1] <= row.start[1:]).all()
            assert ((row.start >= 0) & (row.end <= steps.length)).all()
            assert len(row.start) <= parts
    found = drawn_ties(steps, max(1, steps.length // 48))
    assert (np.diff(found.before) >= 0).all()


def delays_in(step: DrawnStep, drawn: list[tuple[float, int]]) -> list[tuple[int, int]]:
    """Delays at parts of a step, never where an event begins or ends; moments since the first event."""
    spans, steps = step.trace["spans"], step.path.facts["steps"]
    edges = set(spans["start"].tolist()) | set((spans["start"] + spans["dur"]).tolist())
    begin, end = (int(steps[key][step.path.step]) for key in ("start", "end"))
    found: dict[int, int] = {}
    for part, length in drawn:
        moment = begin + 1 + int(part * (end - begin - 2))
        while moment in edges:
            moment += 1
        if moment < end:
            found[moment] = found.get(moment, 0) + length
    return sorted(found.items())


def found_exactly(events: Events, step: int, drawn: list[tuple[float, int]]) -> None:
    """Delays in a step of a copy are found, each before the next tie, and nothing else is."""
    before = step_of(events, step)
    delays = delays_in(before, drawn)
    after = step_of(delayed(events, delays), step)
    steps = align(before, after)
    assert steps.matched.share == 1
    assert gaps_of(align(before, before)) == []
    x, _ = ties(before, after, steps.matched)
    expected: dict[int, int] = {}
    begin = int(before.path.facts["steps"]["start"][step])
    for moment, length in delays:
        tie = int(x[np.searchsorted(x, moment - begin, side="right")])
        expected[tie] = expected.get(tie, 0) + length
        # It is found within the innermost call that it is in.
        row = before.events.host[before.events.track == np.bincount(before.events.track).argmax()]
        edges = np.concatenate(before.times(row))
        assert tie <= edges[edges > moment - begin].min(initial=before.path.length)
    assert gaps_of(steps) == sorted(expected.items())
    keeps_together(steps, PARTS)
    back = align(after, before)
    assert back.gaps is not None
    assert list(zip(back.gaps.after.tolist(), (-back.gaps.size).tolist(), strict=True)) == gaps_of(
        steps
    )


DELAYS = st.lists(st.tuples(st.floats(0, 0.999), st.integers(1, 3_000_000)), min_size=1, max_size=6)


# Operations of two threads, the later one's first.
@example(NO_CHANGE, 0, [(0.03125, 78646)])
@examples(60)
@given(
    st.sampled_from([NO_CHANGE, "extra_copy", "new_sync", "missing_overlap"]),
    st.integers(0, 3),
    DELAYS,
)
def test_known_delays_are_found(name: str, step: int, drawn: list[tuple[float, int]]) -> None:
    found_exactly(recording(CHANGES[name], 1, 4), step, drawn)


def module(start: int, duration: int) -> dict[str, object]:
    name = "nn.Module: Net_0"
    place = {"pid": 0, "tid": 0, "ts": start, "dur": duration, "args": {}}
    return {"ph": "X", "cat": "python_function", "name": name, **place}


MARK = {**module(0, 0), "cat": "user_annotation", "name": "aten::mm"}
# Where one calls on, nothing is recorded in the other: as long, and no moment of either has moved.
WHOLE = [module(0, 0), module(0, 0), module(0, 17), MARK]
PARTED = [module(0, 0), module(0, 0), module(0, 1), module(2, 15), MARK]


@examples(100)
@given(LISTED, LISTED, st.sampled_from([0, 1, 7, PARTS]))
@example(WHOLE, PARTED, 0)
def test_gaps_of_any_two_steps_add_up(left: Events, right: Events, parts: int) -> None:
    sides = drawn_step(left), drawn_step(right)
    if sides[0] is not None and sides[1] is not None:
        steps = align(sides[0], sides[1], parts)
        keeps_together(steps, max(parts, 1))
        if parts and steps.gaps is not None:
            longer = max(side.path.length for side in (steps.before, steps.after))
            # All but the last, which has what is left.
            assert (np.abs(steps.gaps.size[:-1]) >= longer // parts).all()


def test_data_that_is_ready_is_a_gap_of_its_own() -> None:
    def step(wait: int, add: int) -> Events:
        at = wait + 40
        return listed(
            f"1 note ProfilerStep#1@0+{at + 60 + add}\n"
            f"1 op enumerate(DataLoader)#_Iter.__next__@0+{wait}\n"
            f"1 op aten::mm@{at}+{20 + add}\n"
            f"1 op aten::add@{at + 30 + add}+20"
        )

    steps = align(step_of(step(900, 0)), step_of(step(100, 7)))
    assert steps.gaps is not None
    told = [
        (list(GROUPS)[group], size)
        for group, size in zip(steps.gaps.group, steps.gaps.size.tolist(), strict=True)
    ]
    assert told == [("data_loading", -800_000), ("compute", 7_000)]


def test_operations_of_other_shapes_or_names_have_no_partner() -> None:
    text = (
        '1 note ProfilerStep#{0}@0+900\n1 op aten::mm@10+100 {{"Input Dims": [[{1}, 4]]}}\n'
        '1 op aten::relu@200+100 {{"Input Dims": [[8, 4]]}}\n1 op aten::{2}@400+100 {{"Input Dims": [[8, 4]]}}'
    )
    before = step_of(listed(text.format(1, 8, "add")))
    same = align(before, step_of(listed(text.format(5, 8, "add"))))
    assert same.matched.operations == (3, 3)
    shapes = align(before, step_of(listed(text.format(5, 16, "add"))))
    assert shapes.matched.operations == (2, 3)
    assert shapes.gaps is not None
    few = align(before, step_of(listed(text.format(5, 16, "sub"))))
    assert few.matched.operations == (1, 3)
    assert few.gaps is None


def test_device_work_goes_with_its_launch() -> None:
    text = (
        "1 note ProfilerStep#1@0+900\n1 op aten::mm@10+100 e1\n1 call cudaLaunchKernel@20+10 e1 c1\n"
        "1 op aten::mm@200+100 e2\n1 call cudaLaunchKernel@220+10 e2 c2\n"
        "gpu 0:7 kernel {}@{}+60 e1 c1\ngpu 0:7 kernel {}@400+60 e2 c2"
    )
    steps = align(
        step_of(listed(text.format("gemm_a", 40, "gemm_b"))),
        step_of(listed(text.format("gemm_b", 60, "other"))),
    )
    assert [own.tolist() for own in steps.matched.device] == [[0, 1], [0, 1]]
