"""The route of the Iterations view."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.analysis.figures import everything
from tests.builders.drawn import Event, trace_of
from tests.builders.server_trace import server_trace
from tests.examples import examples
from tests.web.served import WHERE, answer, catalogue_of, client
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.views.findings.payload import Source, findings_payload
from torch_tb_profiler.views.work.iterations import iterations_payload


def asked(events: list[Event], query: str = "") -> dict[str, Any]:
    return answer(client(catalogue_of(trace_of(events))), f"/iterations?{WHERE}{query}")


def overview(events: list[Event]) -> str:
    """The answer of the first page."""
    trace = trace_of(events)
    facts = derive(trace)
    return findings_payload(Source(trace, facts, build_insight(trace, facts), "w", "1")).headline


def test_iterations_and_their_phases() -> None:
    events, truth = server_trace(40, ())
    found = asked(events)
    rows = found["iterations"]
    assert rows["name"] == [one.said.text for one in truth]
    assert rows["gap_ns"] == [None, *(one.gap for one in truth[1:])]
    assert found["phases"]["phase"] == ["decode", "mixed"]
    assert found["detail"][0].startswith("40 iterations were recorded: ")
    assert found["headline"] == overview(events)


@examples(12)
@given(
    st.integers(24, 60),
    st.lists(st.integers(8, 20), max_size=2, unique=True),
    st.integers(0, 1000),
)
@pytest.mark.slow
def test_the_answer_is_short_of_the_recorded_part_and_agrees_with_the_phases(
    count: int, odd: list[int], seed: int
) -> None:
    events, truth = server_trace(count, tuple(odd), seed=seed)
    found = asked(events)
    assert len(found["headline"].replace("\u202f", "").split()) <= 12
    rows = found["iterations"]
    odd_phases = {phase for phase, is_odd in zip(rows["phase"], rows["odd"], strict=True) if is_odd}
    assert sum(" times as long." in said for said in found["detail"]) == len(odd_phases)
    row = found["phases"]["phase"].index("decode")
    assert found["headline"] == overview(events)
    assert rows["earlier_ns"] == [0] * count
    steady = [one.part == "steady" for one in truth]
    assert found["phases"]["iterations"][row] == sum(
        phase == "decode" and (own or not any(steady))
        for phase, own in zip(rows["phase"], steady, strict=True)
    )


def test_of_chosen_steps() -> None:
    events, truth = server_trace(40, ())
    found = asked(events, "&steps=3-4")
    assert found["iterations"]["step"] == [3, 4]
    assert found["iterations"]["part"] == [truth[3].part, truth[4].part]


def test_other_traces_hear_how_servers_record() -> None:
    found = asked([])
    assert found["iterations"]["step"] == []
    words = " ".join(said["how"] for said in found["recorded_by"])
    for word in (
        "/start_profile",
        "VLLM_TORCH_PROFILER_DIR",
        "--profiler-config",
        "--profile",
        "SGLANG_TORCH_PROFILER_DIR",
        "TLLM_TORCH_PROFILE_TRACE",
    ):
        assert word in words


def test_files_of_other_profilers_hear_nothing_of_pytorchs() -> None:
    drawn = {"ph": "X", "cat": "app", "name": "main", "pid": 1, "tid": 1, "ts": 0, "dur": 5}
    facts = derive(replace(trace_of([drawn]), header={}))
    assert iterations_payload(facts, everything(facts)).recorded_by == []
