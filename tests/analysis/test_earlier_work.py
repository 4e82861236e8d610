"""Work from before the recording and silent starts: where each is found, where not, and which figures count it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.figures import opened
from tests.builders.backlog import BusyLoop
from tests.builders.listed import facts_listed
from tests.examples import examples
from torch_tb_profiler.analysis.arrays.intervals import intersect, measure, subtract, union
from torch_tb_profiler.analysis.facts.earlier_work import (
    LEAST_NS,
    left_out,
    step_lengths,
    stretches,
)
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.figures.devices import device_use
from torch_tb_profiler.analysis.figures.iterations import iteration_table
from torch_tb_profiler.analysis.figures.selection import Selection, select
from torch_tb_profiler.store.categories import CATEGORIES
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.overview.payload import RankInJob, overview_payload

NAMES = (
    "step[DECODE bs=8]",
    "execute_context_0(0)_generation_8(8)",
    "ProfilerStep#{}",
)
LEAST_US = LEAST_NS // 1000
"""Drawn backlogs end together or apart, so that none is taken to wait for another's recorded work."""
APART_US = 5_000


@st.composite
def loops(draw: st.DrawFn, backlogs: st.SearchStrategy[int]) -> BusyLoop:
    """Iterations that launch onto each stream, and may wait for the first one at the end."""
    streams = draw(st.integers(1, 3))
    ends = draw(st.lists(backlogs, min_size=streams, max_size=streams))
    return _run(
        BusyLoop({7 + stream: end * APART_US for stream, end in enumerate(ends)}),
        name=draw(st.sampled_from(NAMES)),
        iterations=draw(st.integers(1, 5)),
        kernels=draw(st.integers(1, 4)),
        host=draw(st.integers(1, 40)),
        blocks=draw(st.booleans()),
    )


def _run(
    loop: BusyLoop, *, name: str, iterations: int, kernels: int, host: int, blocks: bool
) -> BusyLoop:
    for number in range(iterations):
        begin = loop.now
        loop.host(host)
        for stream in loop.free:
            for kernel in range(kernels):
                loop.launch(stream, 20 + kernel)
        if blocks:
            loop.fetch(next(iter(loop.free)), 4)
        loop.marked(name.format(number), begin)
        loop.now += 3
    return loop


def derived(loop: BusyLoop) -> Facts:
    return facts_listed("\n".join(loop.lines))


def expected(loop: BusyLoop) -> int:
    """How long nothing was recorded, ns: of the long waits what no recorded work covers."""
    waits = np.array([w for w in loop.waits if w[1] - w[0] > LEAST_US], np.int64).reshape(-1, 2)
    work = np.array(loop.work, np.int64)
    return 1000 * subtract(union(*waits.T), union(*work.T)).length


def unrecorded(facts: Facts) -> list[int]:
    """Of each step, ns."""
    return [int(time) for time in facts["steps"]["earlier"] + facts["steps"]["silent"]]


def check(facts: Facts) -> None:
    """Laws of every trace."""
    steps, work = facts["steps"], left_out(facts)
    silent = stretches(facts["earlier_work"], silent=True)
    assert (measure(silent, steps["start"], steps["end"]) == steps["silent"]).all()
    assert not intersect(silent, work).length
    part = (steps["flags"] & (StepFlag.INCOMPLETE | StepFlag.WHOLE)) == StepFlag.INCOMPLETE
    more = 2 * (steps["earlier"] + steps["silent"]) > steps["end"] - steps["start"]
    assert (part == (more & ((steps["flags"] & StepFlag.WHOLE) == 0))).all()
    lengths = step_lengths(steps)
    assert (lengths > 0).all()
    assert np.array_equal(sum(steps[key] for key in CATEGORIES), lengths)
    assert (measure(work, steps["start"], steps["end"]) == steps["earlier"]).all()
    assert work.length == steps["earlier"].sum()
    for device in device_use(facts, select(facts)):
        assert device.utilization is None or 0 <= device.utilization <= 1


@given(loops(st.integers(0, 60)))
def test_first_work_that_waits_is_a_start_without_device_work(loop: BusyLoop) -> None:
    facts = derived(loop)
    check(facts)
    # The first iteration launched it all.
    assert unrecorded(facts) == [expected(loop)] + [0] * (facts["steps"].n - 1)


@examples(20)
@given(st.integers(5, 400), st.integers(1, 4), st.integers(1, 4), st.sampled_from(NAMES))
def test_a_start_counts_unless_the_host_is_blocked(
    backlog: int, iterations: int, host: int, name: str
) -> None:
    for blocks in (False, True):
        loop = BusyLoop({7: backlog * 1000})
        _run(loop, name=name, iterations=iterations, kernels=3, host=host, blocks=blocks)
        facts = derived(loop)
        check(facts)
        steps = facts["steps"]
        left = expected(loop) if blocks else 0
        assert int(steps["earlier"][0]) == left
        assert int(steps["silent"][0]) == expected(loop) - left
        busy = device_use(facts, Selection(np.arange(1), False))[0].utilization
        work = sum(end - begin for begin, end in loop.work[: 4 if blocks else 3])
        assert busy == pytest.approx(work * 1000 / int(step_lengths(steps)[0]), rel=0.2)


@examples(20)
@given(st.integers(2, 50), st.floats(0.05, 0.95))
def test_host_work_beside_a_blocked_start_counts(wait: int, works: float) -> None:
    loop = BusyLoop({7: wait * 10_000})
    loop.host(5)
    loop.launch(7, 50)
    loop.host(int(works * wait * 10_000))
    begin = loop.now
    loop.fetch(7, 4)
    loop.marked(NAMES[0], 0)
    facts = derived(loop)
    check(facts)
    blocked = (wait * 10_000 - begin) * 1000
    most = 2 * blocked > expected(loop)
    assert int(facts["steps"]["earlier"][0]) == (blocked if most else 0)
    assert unrecorded(facts) == [expected(loop)]


@given(loops(st.just(0)))
def test_without_a_backlog_all_counts(loop: BusyLoop) -> None:
    facts = derived(loop)
    check(facts)
    assert facts["earlier_work"].n == 0


@given(st.integers(5, 100), st.integers(101, 10_000), st.sampled_from(NAMES), st.integers(1, 4))
def test_iterations_do_not_depend_on_how_long_the_backlog_is(
    short: int, long: int, name: str, iterations: int
) -> None:
    found = []
    for backlog in (short, long):
        loop = BusyLoop({7: backlog * 1000})
        found.append(
            derived(_run(loop, name=name, iterations=iterations, kernels=3, host=30, blocks=True))
        )
    a, b = found
    assert step_lengths(a["steps"]).tolist() == step_lengths(b["steps"]).tolist()
    for key in CATEGORIES:
        assert a["steps"][key].tolist() == b["steps"][key].tolist()
    tables = [iteration_table(facts, select(facts)) for facts in found]
    for key in ("wall_ns", "host_ns", "interval_ns", "gap_ns", "tokens_per_second"):
        assert tables[0][key].tolist() == tables[1][key].tolist()
    assert device_use(a, select(a)) == device_use(b, select(b))


@given(st.integers(1, 1_000), st.integers(1, 4), st.booleans())
def test_the_host_waits_before_it_launches_anything(
    backlog: int, iterations: int, blocks: bool
) -> None:
    loop = BusyLoop({7: backlog * 1000})
    loop.host(10)
    loop.synchronise(7)
    loop.lines.append(f"1 note {NAMES[0]}@0+{loop.now}")
    loop.now += 5
    _run(loop, name=NAMES[0], iterations=iterations, kernels=2, host=10, blocks=blocks)
    facts = derived(loop)
    check(facts)
    assert int(facts["steps"]["earlier"][0]) == expected(loop) > 0


def _late_in_every_step(loop: BusyLoop) -> None:
    for number in range(4):
        begin = loop.now
        loop.host(10)
        loop.launch(7, 50, late=4_000 + 10 * number)
        loop.now = loop.work[-1][1]
        loop.marked(f"ProfilerStep#{number}", begin)


def _after_the_device_was_waited_for(loop: BusyLoop) -> None:
    loop.lines.append("1 call cudaDeviceSynchronize@1+4")
    loop.now = 10
    loop.launch(7, 50, late=4_000)


def _long_after_the_recording_began(loop: BusyLoop) -> None:
    loop.host(10)
    for _ in range(100):
        loop.launch(7, 60)
        loop.host(20)
    loop.launch(8, 60, late=2_500)


def _behind_work_of_another_stream(loop: BusyLoop) -> None:
    loop.host(10)
    loop.launch(7, 30_000)
    loop.free[8] = loop.work[0][1] + 4
    loop.launch(8, 60)


def _while_the_host_reads_its_memory(loop: BusyLoop) -> None:
    loop.host(10)
    loop.free[7] = 40_000
    loop.fetch(7, 60, name="HtoD (Pageable -> Device)")


@pytest.mark.parametrize(
    "program",
    [
        _late_in_every_step,
        _after_the_device_was_waited_for,
        _long_after_the_recording_began,
        _behind_work_of_another_stream,
        _while_the_host_reads_its_memory,
    ],
)
def test_what_has_another_reason_counts(program: Callable[[BusyLoop], None]) -> None:
    loop = BusyLoop({7: 0, 8: 0})
    program(loop)
    facts = derived(loop)
    check(facts)
    assert facts["earlier_work"].n == 0


@pytest.mark.parametrize(
    ("name", "length", "tokens_per_second", "busy"),
    [
        ("sglang_qwen3_decode", 10.5788, (67.535, 3024.9), 0.9226),
        ("mi300_vllm_graph", 19.1141, (1674.2, 2834.9), 0.5585),
        ("mi300_vllm_piecewise", 307.6977, (120.2, 289.9), 0.5070),
    ],
)
def test_figures_of_servers_as_reckoned_from_their_events(
    name: str, length: float, tokens_per_second: tuple[float, float], busy: float, real_traces: Path
) -> None:
    """``length``: ms from the annotation to the last work, of the first less what a blocking call waits. Tokens: by all of the
    time, and by that from the begin of the late stream and before its first launch.
    """
    _, facts = opened(next((real_traces / name).glob("*.json.gz")))
    check(facts)
    table = iteration_table(facts, select(facts))
    assert table["wall_ns"][0] / 1e6 == pytest.approx(length, abs=1e-4)
    least, most = table["least_tokens_per_second"][0], table["tokens_per_second"][0]
    assert (least, most) == pytest.approx(tokens_per_second, abs=0.1)
    assert device_use(facts, select(facts))[0].utilization == pytest.approx(busy, abs=1e-4)


@pytest.mark.parametrize(("blocks", "why"), [(True, "the host waited"), (False, "launched")])
def test_the_overview_says_once_what_was_not_recorded(blocks: bool, why: str) -> None:
    loop = BusyLoop({7: 463_000})
    facts = derived(_run(loop, name=NAMES[0], iterations=2, kernels=2, host=30, blocks=blocks))
    payload = overview_payload(facts, select(facts), RankInJob(1, 0, "", 1))
    said = [note for note in payload.notes if "Nothing was recorded on" in note]
    assert len(said) == 1
    assert why in said[0]
    assert "for 463 ms at the begin of step 0" in said[0]
    assert "More than half of step 0 was not recorded: no mean counts that." in payload.notes
    assert payload.average is not None
    assert payload.average.steps == 1
    assert not any("Nothing was recorded" in sentence.text for sentence in payload.headline)


@examples(20)
@given(st.integers(2, 8), st.integers(2, 40), st.integers(1, 64), st.floats(0.1, 0.9))
def test_work_that_runs_behind_all_marks_bounds_the_rate(
    count: int, pace: int, requests: int, share: float
) -> None:
    """The device does ``count`` iterations in a burst, each in a share of the time from mark to mark."""
    each, late = int(share * pace * 1000), count * pace * 1000
    lines = [
        line
        for n in range(count)
        for line in (
            f"1 note step[DECODE bs={requests}]@{n * pace * 1000}+{pace * 900}",
            f"1 call hipGraphLaunch@{n * pace * 1000 + 20}+40 c{n + 1}",
            f"gpu 0:7 kernel k@{late + n * each}+{each - 1} c{n + 1}",
        )
    ]
    lines.append(f"1 call hipDeviceSynchronize@{late - 50}+{count * each + 60}")
    facts = facts_listed("\n".join(lines))
    check(facts)
    assert not facts["steps"]["earlier"].any()
    assert int(facts["steps"]["silent"][0]) == (late - 60) * 1000
    table = iteration_table(facts, select(facts))
    most = requests * 1e3 / pace
    lasts = (late + count * each + 10) / 1e6
    assert (table["tokens_per_second"] <= most * 1.0001).all()
    assert table["least_tokens_per_second"][1:] == pytest.approx(
        np.full(count - 1, requests * count / lasts), rel=1e-2
    )
