"""Work from before the recording: where it is found, where not, and that no figure counts it."""

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
from torch_tb_profiler.analysis.arrays.intervals import measure, subtract, union
from torch_tb_profiler.analysis.facts.earlier_work import LEAST_NS, left_out, step_lengths
from torch_tb_profiler.analysis.figures.devices import device_use
from torch_tb_profiler.analysis.figures.iterations import iteration_table
from torch_tb_profiler.analysis.figures.selection import select
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
    """What is to be left out, ns: of the long waits what no recorded work covers."""
    waits = np.array([w for w in loop.waits if w[1] - w[0] > LEAST_US], np.int64).reshape(-1, 2)
    work = np.array(loop.work, np.int64)
    return 1000 * subtract(union(*waits.T), union(*work.T)).length


def check(facts: Facts) -> None:
    """Laws of every trace."""
    steps, work = facts["steps"], left_out(facts)
    lengths = step_lengths(steps)
    assert (lengths > 0).all()
    assert np.array_equal(sum(steps[key] for key in CATEGORIES), lengths)
    assert (measure(work, steps["start"], steps["end"]) == steps["earlier"]).all()
    assert work.length == steps["earlier"].sum()
    for device in device_use(facts, select(facts)):
        assert device.utilization is None or 0 <= device.utilization <= 1


@given(loops(st.integers(0, 60)))
def test_what_streams_had_to_do_before_their_first_work_is_left_out(loop: BusyLoop) -> None:
    facts = derived(loop)
    check(facts)
    # The first iteration launched it all.
    assert facts["steps"]["earlier"].tolist()[1:] == [0] * (facts["steps"].n - 1)
    assert int(facts["steps"]["earlier"][0]) == expected(loop)


@given(loops(st.just(0)))
def test_without_a_backlog_all_counts(loop: BusyLoop) -> None:
    facts = derived(loop)
    check(facts)
    assert facts["earlier_work"].n == 0


@given(st.integers(1, 100), st.integers(101, 10_000), st.sampled_from(NAMES), st.integers(1, 4))
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
        ("sglang_qwen3_decode", 10.5788, 3024.9, 0.9226),
        ("mi300_vllm_graph", 11.2879, 2834.9, 0.9457),
        ("mi300_vllm_piecewise", 158.6988, 51619.8, 0.9830),
    ],
)
def test_figures_of_servers_as_reckoned_from_their_events(
    name: str, length: float, tokens_per_second: float, busy: float, real_traces: Path
) -> None:
    """``length``: ms from the annotation to the last work, less from the first launch of the late stream to its begin."""
    _, facts = opened(next((real_traces / name).glob("*.json.gz")))
    check(facts)
    table = iteration_table(facts, select(facts))
    assert table["wall_ns"][0] / 1e6 == pytest.approx(length, abs=1e-4)
    assert table["tokens_per_second"][0] == pytest.approx(tokens_per_second, abs=0.1)
    assert device_use(facts, select(facts))[0].utilization == pytest.approx(busy, abs=1e-4)


def test_the_overview_says_once_what_is_left_out() -> None:
    loop = BusyLoop({7: 463_000})
    facts = derived(_run(loop, name=NAMES[0], iterations=2, kernels=2, host=30, blocks=True))
    payload = overview_payload(facts, select(facts), RankInJob(1, 0, "", 1))
    said = [note for note in payload.notes if "before the recording" in note]
    assert len(said) == 1
    assert said[0].startswith(
        "463 ms of work from before the recording were left out of step[DECODE"
    )
    assert not any("before the recording" in sentence.text for sentence in payload.headline)
