"""What is said of steps of several kinds: the one with most time leads, and no other is a saving or an odd step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders.drawn import trace_of
from tests.builders.listed import listed
from tests.builders.step_programs import DIFFERENTIATES, TRAINS, VALIDATES, Step, steps_listed
from tests.examples import examples
from tests.views.findings.test_payload import page
from torch_tb_profiler.analysis.critical_path.step_groups import own_groups
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.what_if.table import kept_predictions
from torch_tb_profiler.units import format_ns
from torch_tb_profiler.views.critical_path.steps import StepsOfTrace, step_difference_payload
from torch_tb_profiler.views.findings.payload import Source, findings_payload


@examples(6)
@given(
    st.integers(0, 6),
    st.integers(4, 9),
    st.integers(1, 60),
    st.sampled_from(("execute_model", "ProfilerStep#{}", "execute_context_{}(0)")),
)
def test_a_prefill_among_decodes_is_neither_odd_nor_periodic_work(
    place: int, decodes: int, graphs: int, mark: str
) -> None:
    if mark.startswith("execute_context"):
        mark = "iteration {}"
    decode = Step(1000, ("aten::argmax",), graphs=graphs)
    prefill = Step(3000, ("aten::mm", "aten::softmax"), kernels=("gemm", "softmax"))
    steps = [decode] * decodes
    # A last step that launches less counts as cut off.
    at = min(place, decodes - 1)
    steps.insert(at, prefill)
    events = listed(steps_listed(steps, 0, mark))
    told = page(events)
    assert not told.findings or all("periodic" not in one.rule for one in told.findings)
    assert told.median is not None
    assert told.median != at
    assert told.steps == decodes
    assert format_ns(3_000_000) in f"{told.headline} {told.detail}"
    trace = trace_of(events)
    facts = derive(trace)
    insight = build_insight(trace, facts)
    groups = own_groups(facts, insight)
    assert groups.slowest_odd == -1
    why = step_difference_payload(StepsOfTrace(facts, insight), groups, at)
    assert why.median is None
    assert "no other step of its kind" in why.headline


@pytest.mark.parametrize("size", [2, 4, 7])
def test_the_answer_says_that_gradients_are_accumulated(size: int) -> None:
    micro = Step(4100, DIFFERENTIATES, kernels=("gemm",))
    last = Step(6500, TRAINS, kernels=("gemm",))
    told = page(listed(steps_listed(([micro] * (size - 1) + [last]) * 3)))
    whole = format_ns(1000 * (4100 * (size - 1) + 6500))
    assert f"a training step is {size} micro-batches, {whole}" in told.detail
    assert "accumulation" in told.detail


def test_communication_of_steps_of_two_kinds_is_predicted_for_one() -> None:
    """Simulated lengths are of all steps, what they save of those of one kind."""
    reduces = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
    micro = Step(1500, DIFFERENTIATES, kernels=("gemm", reduces))
    last = Step(2000, TRAINS, kernels=("gemm", reduces))
    trace = trace_of(listed(steps_listed(([micro] * 3 + [last]) * 3)))
    facts = derive(trace)
    found = kept_predictions(facts, build_insight(trace, facts), select(facts))
    assert {"overlap", "network:factor=0.5"} <= set(found)
    assert {len(one.measured) for one in found.values()} == {9}


@examples(8)
@given(
    st.integers(3, 6),
    st.integers(300, 3500),
    st.lists(st.integers(150, 9000), min_size=3, max_size=3, unique=True),
)
def test_no_fact_of_a_kind_has_a_figure_of_another(
    trained: int, loads: int, others: list[int]
) -> None:
    """What a kind that is chosen says does not depend on how long the other kind takes for the same."""
    told: list[set[tuple[str, str, str]]] = []
    for other in others:
        train = Step(4000, TRAINS, kernels=("gemm", "relu"), rows=64, loads=loads)
        validate = Step(other + 500, VALIDATES, kernels=("gemm", "softmax"), rows=64, loads=other)
        trace = trace_of(listed(steps_listed(([train] * trained + [validate] * 2) * 3)))
        facts = derive(trace)
        insight, kind = build_insight(trace, facts), facts["steps"]["kind"]
        rows = (np.flatnonzero(kind == kind[0]), np.flatnonzero(kind != kind[0]))
        own, rest = (
            findings_payload(Source(trace, facts, insight, "w0", "1", chosen)).findings
            for chosen in rows
        )
        for found, longest in ((own, loads), (rest, other)):
            [waits] = [one.fact for one in found if one.rule == "input_bound"]
            assert format_ns(1000 * longest) in waits
        told.append({(one.rule, one.fact, one.sentence) for one in own})
    assert told == told[:1] * len(others)
