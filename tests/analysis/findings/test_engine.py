"""What holds of the findings of any trace: no saving is more than the step, changes together neither."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.analysis.findings.cases import (
    NAMES,
    NVIDIA,
    facts_of,
    launched,
    made,
    of_some_program,
    rules,
    span,
    steps,
)
from tests.builders.drawn import Event, trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.findings.candidate import CERTAINTIES, THRESHOLD
from torch_tb_profiler.analysis.findings.step_findings import findings_of
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts

EVENTS = st.lists(
    st.tuples(
        st.sampled_from(
            (
                "k",
                "volta_sgemm_128x64_nn",
                "ncclDevKernel_AllReduce",
                "Memcpy HtoD (Pageable -> Device)",
                "cudaStreamSynchronize",
                "cudaMalloc",
                "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                "Buffer Flush",
                "aten::mm",
                "gloo:all_reduce",
            )
        ),
        st.integers(0, 1900),
        st.integers(1, 400),
        st.integers(1, 300),
    ),
    max_size=25,
)


def _entries(drawn: list[tuple[str, int, int, int]]) -> list[Event]:
    entries = steps((0, 700), (700, 1300), (1300, 2000))
    for number, (name, begin, length, ahead) in enumerate(drawn):
        if name.startswith("cuda"):
            entries.append(span("cuda_runtime", name, begin, length))
        elif name.startswith(("enumerate", "gloo")):
            entries.append(
                span("user_annotation", name, begin, length, tid=1 + name.startswith("gloo"))
            )
        elif name == "Buffer Flush":
            entries.append(span("overhead", name, begin, length, tid=9))
        elif name.startswith("aten"):
            entries.append(span("cpu_op", name, begin, length))
        else:
            category = "gpu_memcpy" if name.startswith("Memcpy") else "kernel"
            entries += launched(
                name,
                number + 1,
                max(0, begin - ahead),
                begin,
                length,
                stream=7 + number % 2,
                category=category,
            )
    return entries


@examples(60)
@given(EVENTS)
def test_neither_one_finding_nor_all_together_save_more_than_the_step(
    drawn: list[tuple[str, int, int, int]],
) -> None:
    found = made(
        _entries(drawn), deviceProperties=[{"id": 0, "name": "NVIDIA A100", "computeMajor": 8}]
    )
    costing = [item for item in found["found"] if item["costs"]]
    for item in costing:
        assert 0 <= item["recoverable_ns"] <= item["length_ns"]
        assert THRESHOLD <= item["share"] <= 1
        assert item["certainty"] in CERTAINTIES
        assert item["count"] >= len(item["rows"])
    saved = [total["recoverable_ns"] for total in found["totals"]]
    for total in found["totals"]:
        assert 0 <= total["recoverable_ns"] <= found["step_ns"]
        assert 0 <= total["low_ns"] <= total["step_ns"] <= total["high_ns"]
    firm = [item for item in costing if not item["artefact"]]
    assert {total["certainty"] for total in found["totals"]} == {item["certainty"] for item in firm}
    assert len(saved) == len({item["certainty"] for item in firm})


SLOW_SECOND = """
    main   (ProfilerStep#1               )(ProfilerStep#2                                      )
    main    (load)<L #1>                   (load                            )<L #2>
    gpu 7          {k #1                  }                                   {k #2            }
    """


def test_findings_follow_the_selected_steps() -> None:
    trace, facts = facts_of(SLOW_SECOND)
    facts = of_some_program(facts)
    insight = build_insight(trace, facts)
    both, first, second = (
        {
            item["rule"]: item["recoverable_ns"]
            for item in findings_of(facts, insight, rows)["found"]
        }
        for rows in (None, np.array([0]), np.array([1]))
    )
    # The shorter one speaks for both. The columns of the loader in which nothing runs: 6 of the first step, 34 of the second.
    assert first["input_bound"] < second["input_bound"]
    assert both["input_bound"] in (first["input_bound"], second["input_bound"])


def test_changes_together_are_no_sum() -> None:
    """Without the wait, there is nothing left that a faster allocation could save."""
    found = made(
        [
            *steps((0, 1000)),
            *launched("k", 1, 1, 3, 400),
            span("cuda_runtime", "cudaStreamSynchronize", 10, 393),
            span("cuda_runtime", "cudaMalloc", 410, 390),
            *launched("k", 2, 801, 803, 197),
        ]
    )
    each = [item["recoverable_ns"] for item in found["found"] if item["costs"]]
    assert len(each) == 2
    assert found["totals"][-1]["recoverable_ns"] < sum(each)


def test_what_another_cause_hides_is_told_as_what_is_left() -> None:
    """Kernels run while batches are loaded: not to wait for them saves nothing before that is mended."""
    square: dict[str, Any] = {"Input Dims": [[512, 512], [512, 512]]}
    entries = [*steps(*((1000 * i, 1000 * (i + 1)) for i in range(5)))]
    for i in range(5):
        begin = 1000 * i
        entries += [
            span("user_annotation", NAMES["load"], begin + 10, 900),
            span("cuda_runtime", "cudaStreamSynchronize", begin + 915, 3),
            span("cpu_op", "aten::mm", begin + 925, 20, **square),
            *launched("volta_sgemm_128x64_nn", i + 1, begin + 930, begin + 950, 800),
        ]
    found = made(entries, **NVIDIA)
    assert (rules(found)["input_bound"] or 0.0) > 0.1
    hidden = [item for item in found["found"] if item["behind_ns"]]
    assert [item["rule"] for item in hidden] == ["host_synchronisation"]
    assert not any(item["costs"] for item in hidden)
    assert hidden[0]["behind_ns"] <= 800_000


def test_windows_without_time_have_no_findings() -> None:
    found = made([])
    assert (found["found"], found["step_ns"], found["totals"]) == ([], None, [])


@cache
def three_steps() -> tuple[Facts, Insight]:
    trace = trace_of(steps((0, 700), (700, 1300), (1300, 2000)))
    facts = derive(trace)
    return facts, build_insight(trace, facts)


@given(
    st.lists(st.integers(0, 600_000), min_size=3, max_size=3),
    st.integers(0, 100_000),
    st.integers(0, 2_000_000),
)
def test_what_is_taken_is_of_the_step_that_the_saving_is_of(
    saved: list[int], more: int, mean: int
) -> None:
    """Also of what some steps have alone, so that the mean over all of them says too little."""
    facts, insight = three_steps()
    row = np.flatnonzero(saved)
    table = schema.FINDING_STEPS.build(
        finding=np.zeros(len(row)),
        step=row,
        saved=np.array(saved)[row],
        acted=np.array(saved)[row] + more,
    )
    found = {
        "rule": "same_again",
        "costs": True,
        "behind": False,
        "certainty": "likely",
        "change": None,
        "reach": (0.6, 1.3),
        "artefact": False,
        "risk": 0.0,
        "shown_ns": 0.0,
        "rows": [],
        "generic": False,
        "numbers": {"calls": 1.0, "taken": float(mean)},
        "words": {},
        "known": {},
        "of_hit": [],
    }
    about = {**insight.about["findings"], "found": [found]}
    insight = replace(
        insight,
        tables=insight.tables | {"finding_steps": table},
        about={**insight.about, "findings": about},
    )
    for item in findings_of(facts, insight)["found"]:
        assert item["recoverable_ns"] <= item["numbers"]["taken"] <= item["acted_ns"]
