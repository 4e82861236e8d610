"""Steps by cause and why one is slow: the groups add up to the step, the differences to that of the steps, and a planted
delay is named with its group, rank and line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import Client

from tests.analysis.test_earlier_work import loops as backlogged
from tests.builders.backlog import BusyLoop
from tests.builders.drawn import trace_of
from tests.builders.listed import trace_listed
from tests.builders.loop import Event, process, span
from tests.examples import examples
from tests.runs.written_run import WrittenRun
from tests.web.served import body
from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS, groups_of_causes
from torch_tb_profiler.analysis.critical_path.step_groups import (
    PathRows,
    StepGroups,
    own_groups,
)
from torch_tb_profiler.analysis.critical_path.table import KINDS
from torch_tb_profiler.analysis.critical_path.verdict_texts import step_label
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.strings import NO_STRINGS
from torch_tb_profiler.units import format_ns
from torch_tb_profiler.views.critical_path.steps import (
    StepCausesPayload,
    StepDifferencePayload,
    StepsOfTrace,
    step_causes_payload,
)
from torch_tb_profiler.views.words.texts import GROUP_LABELS
from torch_tb_profiler.web.application import Application

pytestmark = pytest.mark.slow

UNIX = 1_700_000_000 * 10**9
FIRST = 4
"""Number of the first step."""
USUAL = {"data_loading": 150, "host_code": 200, "compute": 400, "copies": 100}
"""What each part of a step takes, µs."""
LINES = {"data_loading": "train.py:12", "host_code": "train.py:30"}
"""The line of each part that has one of its own; kernels and copies are launched beneath the second."""
MOVES = 50
"""What a collective takes once all ranks are there, µs."""
JITTER = 3


@dataclass
class Loop:
    """The events of one rank, step by step; times in µs. ``number``: of the rank, −1 of a program without others."""

    number: int
    events: list[Event]
    correlation: int = 0

    def host(self, category: str, name: str, at: int, dur: int, **args: Any) -> None:
        self.events.append(span(category, name, 100, 100, at, dur, **args))

    def launch(
        self, call: str, at: int, device: str, name: str, begin: int, dur: int, **args: Any
    ) -> None:
        self.correlation += 1
        self.host("cuda_runtime", call, at, 4, correlation=self.correlation)
        told = {"correlation": self.correlation, "device": 0, "stream": 7, **args}
        self.events.append(span(device, name, 0, 7, begin, dur, **told))

    def arrives(self, begin: int, parts: dict[str, int]) -> int:
        """What the rank does by itself in a step; when the device is done with it."""
        loading, host = parts["data_loading"], parts["host_code"]
        self.host("python_function", "train.py(12): batches", begin + 1, loading + 2)
        self.host("user_annotation", "enumerate(DataLoader)#_Iter.__next__", begin + 2, loading)
        at = begin + loading + 4
        self.host("python_function", "train.py(30): forward", at, host + 12)
        self.host("cpu_op", "aten::mm", at + 1, host + 4)
        self.launch(
            "cudaLaunchKernel", at + host, "kernel", "gemm", at + host + 6, parts["compute"]
        )
        self.launch(
            "cudaMemcpyAsync",
            at + host + 6,
            "gpu_memcpy",
            "Memcpy DtoD (Device -> Device)",
            at + host + 6 + parts["compute"],
            parts["copies"],
        )
        self.waits_from = at + host + 14
        return at + host + 6 + parts["compute"] + parts["copies"]

    def ends(self, number: int, begin: int, own: int, last: int) -> int:
        """The collective that all ranks leave together, and the end of the step."""
        done = own
        if self.number >= 0:
            told = {
                "Collective name": "allreduce",
                "In msg nelems": 4096,
                "Group size": 2,
                "dtype": "Float",
                "Process Group Name": "0",
                "Process Group Ranks": "[0, 1]",
                "Seq": number,
            }
            done = last + MOVES
            name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
            self.launch(
                "cudaLaunchKernel", self.waits_from, "kernel", name, own, done - own, **told
            )
            self.waits_from += 5
        end = done + 6
        self.host(
            "cuda_runtime", "cudaDeviceSynchronize", self.waits_from, done + 2 - self.waits_from
        )
        self.host("user_annotation", f"ProfilerStep#{number}", begin, end - begin)
        return end


def recorded(ranks: list[list[dict[str, int]]]) -> list[Trace]:
    """Traces of ranks that take so long for each part of each step, ``[rank][step]``; a single one waits for nobody."""
    several = len(ranks) > 1
    loops = [
        Loop(
            number if several else -1, process(100, "python", "CPU") + process(0, "python", "GPU 0")
        )
        for number in range(len(ranks))
    ]
    begin = 1000
    for step in range(len(ranks[0])):
        own = [loop.arrives(begin, parts[step]) for loop, parts in zip(loops, ranks, strict=True)]
        ends = [
            loop.ends(FIRST + step, begin, done, max(own))
            for loop, done in zip(loops, own, strict=True)
        ]
        begin = max(ends)
    info = {
        "world_size": 2,
        "backend": "nccl",
        "pg_config": [{"pg_name": "0", "pg_size": 2, "ranks": [0, 1]}],
    }
    return [
        trace_of(
            loop.events,
            baseTimeNanoseconds=UNIX,
            **({"distributedInfo": {**info, "rank": loop.number}} if several else {}),
        )
        for loop in loops
    ]


@st.composite
def loops(draw: st.DrawFn, ranks: int) -> tuple[list[list[dict[str, int]]], int, int, str, int]:
    """Steps of equal ranks but for jitter, and a delay: ``(ranks, delayed rank, step, group, µs)``."""
    count = draw(st.integers(5, 8))
    jitter = st.integers(0, JITTER)
    parts = [
        [{key: usual + draw(jitter) for key, usual in USUAL.items()} for _ in range(count)]
        for _ in range(ranks)
    ]
    rank, step = draw(st.integers(0, ranks - 1)), draw(st.integers(1, count - 1))
    group, delay = draw(st.sampled_from([*USUAL])), draw(st.integers(300, 20_000))
    parts[rank][step][group] += delay
    return parts, rank, step, group, delay


class Asked:
    """The routes of a run."""

    def __init__(self, traces: list[Trace]) -> None:
        run = WrittenRun({f"rank{number}": trace for number, trace in enumerate(traces)})
        self.client = Client(Application(run, Settings()))  # type: ignore[arg-type]

    def get(self, route: str) -> bytes:
        query = f"run=run&worker=rank0&span=1{route.partition('?')[2]}"
        response = self.client.get(f"/critical_path/{route.partition('?')[0]}?{query}")
        assert response.status_code == 200, response.data
        return body(response)

    def steps(self, more: str = "") -> StepCausesPayload:
        return msgspec.json.decode(self.get(f"steps?{more}"), type=StepCausesPayload)

    def why(self, step: int, more: str = "") -> StepDifferencePayload:
        return msgspec.json.decode(self.get(f"step?&step={step}{more}"), type=StepDifferencePayload)


def adds_up(asked: Asked, more: str = "") -> StepCausesPayload:
    """Every step is the sum of its groups, and every waterfall ends at its step."""
    payload = asked.steps(more)
    table = payload.steps
    sums = np.sum([table[f"{key}_ns"] for key in GROUPS], axis=0)
    assert sums.tolist() == table["wall_ns"]
    for step, wall in enumerate(table["wall_ns"]):
        told = asked.why(step, more)
        assert told.step.wall_ns == wall
        assert told.median is not None
        assert sum(part.difference_ns for part in told.parts) == wall - told.median.wall_ns
        assert told.median.wall_ns == table["wall_ns"][told.median.step]
        assert len(told.headline.split()) <= 12
    if payload.slowest_odd >= 0:
        assert payload.sentences[0] == asked.why(payload.slowest_odd, more).headline
    else:
        assert re.match(
            r"No step is odd|The \d steps .*: too few to call one odd\.", payload.sentences[0]
        )
    return payload


def near(ns: int, us: int) -> bool:
    """Within what jitter and the calls around it make of it."""
    return abs(ns - 1000 * us) <= 1000 * 4 * (JITTER + 1)


@examples(30)
@given(loops(1))
def test_a_planted_delay_of_a_single_program_is_named(
    given: tuple[list[list[dict[str, int]]], int, int, str, int],
) -> None:
    parts, _, step, group, delay = given
    asked = Asked(recorded(parts))
    payload = adds_up(asked)
    assert payload.ranks == 0
    told = asked.why(step)
    first, median = told.parts[0], told.median
    assert median is not None
    assert median.step != step
    assert first.group == group
    assert first.label == ("GPU compute" if group == "compute" else GROUP_LABELS[group])
    assert near(first.difference_ns, delay)
    longer = format_ns(told.step.wall_ns - median.wall_ns)
    assert told.headline.startswith(f"Step {FIRST + step} takes {longer} longer: it ")
    assert first.at == LINES.get(group, "train.py:30")
    assert told.headline.endswith(f" {first.at}.")
    assert told.places[0].group == group
    assert not told.late
    if len(payload.steps["step"]) > 5 and delay > 1000:
        assert payload.slowest_odd == step


@examples(30)
@given(loops(2))
def test_a_planted_delay_of_a_rank_is_named_with_the_rank(
    given: tuple[list[list[dict[str, int]]], int, int, str, int],
) -> None:
    parts, rank, step, group, delay = given
    asked = Asked(recorded(parts))
    payload = adds_up(asked)
    assert payload.ranks == 2
    assert payload.steps["own_step"] == payload.steps["step"]
    told = asked.why(step)
    first = told.parts[0]
    assert first.group == group
    assert near(first.difference_ns, delay)
    assert first.who == f"rank {rank}"
    assert f"longer: rank {rank} " in told.headline
    assert (told.worker, told.step.trace_step) == (f"rank{rank}", step)
    late = [one.late_ns or 0 for one in told.late]
    assert late.index(max(late)) == rank
    assert near(max(late), delay)
    # The other rank waits meanwhile, and says so of itself.
    other = adds_up(asked, "&ranks=own") if rank else None
    if other is not None:
        own = asked.why(step, "&ranks=own")
        assert own.parts[0].group == "waiting"
        assert own.headline.endswith("longer: it waits for a rank.")


def test_every_cause_is_in_one_group_and_operators_compute_where_no_device_was_recorded() -> None:
    assert sorted(cause for causes in GROUPS.values() for cause in causes) == [*range(len(KINDS))]
    device, host = groups_of_causes(True), groups_of_causes(False)
    [differs] = np.flatnonzero(device != host)
    assert [*KINDS][differs] == "operator"
    assert [*GROUPS][host[differs]] == "compute"


@st.composite
def groups(draw: st.DrawFn) -> StepGroups:
    """Any steps."""
    count = draw(st.integers(1, 12))
    flags = [
        np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count))) for _ in range(3)
    ]
    times = st.lists(st.integers(0, 50), min_size=len(GROUPS), max_size=len(GROUPS))
    time = np.array([draw(times) for _ in range(count)], np.int64)
    time[np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)))] = -1
    phase = np.array(draw(st.lists(st.integers(-1, 1), min_size=count, max_size=count)))
    names = [f"ProfilerStep#{number}" for number in range(count)]
    cold, odd, cut = flags
    own = np.arange(count)
    return StepGroups(names, time, cold, odd, cut, phase, own, True, kinds=("decode", "prefill"))


@given(groups())
def test_the_median_step_is_a_real_one_in_the_middle_of_the_usual_ones(found: StepGroups) -> None:
    usual = np.flatnonzero(found.usual)
    if not found.known.any():
        assert found.median == -1
    elif len(usual):
        assert found.usual[found.median]
        kind = found.kind[usual]
        times = {one: found.wall[usual][kind == one].sum() for one in kind.tolist()}
        assert times[found.kind[found.median]] == max(times.values())
        usual = usual[kind == found.kind[found.median]]
        wall = found.wall[usual]
        assert (wall < found.wall[found.median]).sum() <= (len(usual) - 1) // 2
        assert (wall > found.wall[found.median]).sum() <= len(usual) // 2
    for step in np.flatnonzero(found.known).tolist():
        other = found.median_for(step)
        if not found.cold[step] and not found.cut[step]:
            assert other < 0 or found.kind[other] == found.kind[step]
            assert (other < 0) == ((found.known & (found.kind == found.kind[step])).sum() < 2)
        else:
            assert (other < 0) == (found.known.sum() < 2)
    odd = found.slowest_odd
    assert odd < 0 or (found.odd[odd] and not found.cold[odd])


class OfNoEvents(StepsOfTrace, frozen=True):
    """Steps of whose paths nothing is known but the groups."""

    def rows(self, groups: StepGroups, steps: Sequence[int]) -> PathRows:
        none = np.zeros(0, np.int64)
        return PathRows(NO_STRINGS, none, none, none, none, none, none)


NOTHING: Any = None
UNREAD = OfNoEvents(NOTHING, NOTHING)


@given(groups())
def test_no_odd_step_is_denied_and_every_length_that_is_told_is_one_of_a_step(
    found: StepGroups,
) -> None:
    payload = step_causes_payload(UNREAD, found)
    if payload.kinds:
        whole = ~found.cold & ~found.cut & (found.wall > 0) & (found.kind >= 0)
        assert sum(kind.steps for kind in payload.kinds) == whole.sum()
    told = payload.sentences
    assert bool(told) or not (found.usual.any() or found.slowest_odd >= 0)
    if found.slowest_odd >= 0 and len(found.names) > 1:
        assert step_label(found.names, found.slowest_odd) in told[0]
        assert not any("odd" in sentence for sentence in told)
    lengths = {format_ns(one) for one in (*found.wall, *found.time[0])}
    lengths |= {format_ns(abs(a - b)) for a in found.wall for b in found.wall}
    assert lengths.issuperset(re.findall(r"\d+ ns", " ".join(told)))


@pytest.mark.parametrize("count", [4096, 9000])
def test_of_very_many_steps_a_row_is_several(count: int) -> None:
    rng = np.random.default_rng(count)
    time = rng.integers(0, 1000, (count, len(GROUPS)))
    none = np.zeros(count, np.bool_)
    odd = none.copy()
    odd[7], time[7, 2] = True, 10**6
    names = [f"ProfilerStep#{number}" for number in range(count)]
    found = StepGroups(names, time, none, odd, none, np.full(count, -1), np.arange(count), True)
    payload = step_causes_payload(UNREAD, found)
    table = payload.steps
    assert len(table["step"]) <= 4096
    assert sum(table["wall_ns"]) == time.sum()
    assert sum(table["steps"]) == count
    [row] = np.flatnonzero(table["odd"])
    assert table["longest"][row] == payload.slowest_odd == 7
    assert (np.array(table["own_step"]) == table["step"]).all()


@given(backlogged(st.integers(0, 60)))
def test_work_from_before_the_recording_counts_in_no_step(loop: BusyLoop) -> None:
    trace = trace_listed("\n".join(loop.lines))
    facts = derive(trace)
    found = own_groups(facts, build_insight(trace, facts))
    assert found.wall.tolist() == step_lengths(facts["steps"]).tolist()


def test_a_single_step_has_nothing_to_compare_with() -> None:
    asked = Asked(recorded([[dict(USUAL)]]))
    payload = asked.steps()
    assert len(payload.steps["step"]) == 1
    length = format_ns(payload.steps["wall_ns"][0])
    assert payload.sentences[0] == f"The recording has one step of {length}."
    assert payload.sentences[1].startswith("What its end waited for: ")
    told = asked.why(0)
    assert told.median is None
    assert told.headline == "The recording has no other step to compare step 4 with."
    assert (
        asked.client.get("/critical_path/step?run=run&worker=rank0&span=1&step=1").status_code
        == 400
    )
