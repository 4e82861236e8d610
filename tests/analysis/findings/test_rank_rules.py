"""Rules about collectives and DistributedDataParallel, on lists of events."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.findings.cases import Findings, item, made, rules, span, steps
from tests.builders.drawn import Event
from tests.examples import examples

NODE = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"


def by_hand(count: int, each: float, product: str = "") -> list[Event]:
    """Two steps with so many blocking all_reduces on the host, each followed by a division."""
    found: list[Event] = []
    bounds = []
    now = 0.0
    for _ in range(2):
        begin = now
        now += 10
        for _ in range(count):
            found.append(span("cpu_op", "c10d::allreduce_", now, 5))
            found.append(span("cpu_op", "gloo:all_reduce", now + 6, each, 2))
            now += each + 10
            found.append(span("cpu_op", "aten::div_", now, 3))
            if product:
                found.append(span("cpu_op", product, now + 4, 20))
            now += 30
        found.append(span("cpu_op", "aten::mm", now, 50))
        now += 60
        bounds.append((begin, now))
    return [*steps(*bounds), *found]


@examples(10)
@given(count=st.integers(9, 60), each=st.floats(100, 900))
def test_many_small_collectives_could_be_few(count: int, each: float) -> None:
    found = item(made(by_hand(count, each)), "small_collectives")
    assert found["numbers"]["collectives"] == count
    assert found["numbers"]["buckets"] == 1
    assert found["words"]["like"].startswith("all_reduce, half of them of ")
    # What one bucket still takes is a collective's latency.
    assert found["recoverable_ns"] <= (count - 1) * (each + 10) * 1000
    assert found["recoverable_ns"] >= 0.8 * (count - 1) * each * 1000


@pytest.mark.parametrize("count", [1, 2, 6])
def test_few_collectives_are_no_many(count: int) -> None:
    assert "small_collectives" not in rules(made(by_hand(count, 400)))


@pytest.mark.parametrize("product", ["aten::mm", "aten::linear", "aten::convolution"])
def test_a_layer_that_needs_each_result_keeps_them_apart(product: str) -> None:
    assert "small_collectives" not in rules(made(by_hand(30, 400, product)))


def portions(
    count: int, where: str, updates: bool = False, kind: str = "allreduce_ all_reduce"
) -> Findings:
    """Two steps of so many backward passes, each of which reduces: in a hook of a gradient, by hand after it, or within a layer."""
    host, group = kind.split()
    found: list[Event] = []
    bounds, now, number = [], 0.0, 0

    def reduce(begin: float) -> None:
        found.append(span("cpu_op", f"c10d::{host}", begin, 5))
        found.append(span("cpu_op", f"gloo:{group}", begin + 6, 200, 2))

    for _ in range(2):
        begin = now
        for portion in range(count):
            number += 1
            function = "autograd::engine::evaluate_function: MmBackward0"
            own = {"Sequence number": number}
            found.append(span("cpu_op", "aten::mm", now + 1, 50, **own))
            found.append(span("cpu_op", function, now + 60, 250, **own, **{"Fwd thread id": 1}))
            found.append(span("cpu_op", NODE, now + 320, 20))
            found.append(span("cpu_op", "torch::autograd::AccumulateGrad", now + 321, 5))
            called = {"layer": 65, "hook": 330, "hand": 350}[where]
            reduce(now + called)
            now += max(called, 350) + 210
            if updates or portion == count - 1:
                found.append(span("user_annotation", "Optimizer.step#SGD.step", now, 40))
                now += 50
        bounds.append((begin, now))
    return made([*steps(*bounds), *found])


@examples(6)
@given(st.integers(2, 12), st.sampled_from(["hook", "hand"]))
def test_gradients_that_are_reduced_after_each_portion(count: int, where: str) -> None:
    found = item(portions(count, where), "repeated_reduction")
    assert found["numbers"]["passes"] == count
    assert found["numbers"]["again"] == count - 1
    assert found["recoverable_ns"] <= (count - 1) * 220_000


@pytest.mark.parametrize(
    ("count", "where", "updates"), [(6, "layer", False), (6, "hook", True), (1, "hook", False)]
)
def test_reductions_that_are_needed(count: int, where: str, updates: bool) -> None:
    assert "repeated_reduction" not in rules(portions(count, where, updates))


@pytest.mark.parametrize(
    "kind", ["barrier barrier", "allgather_ all_gather", "broadcast_ broadcast"]
)
def test_what_sums_nothing_reduces_no_gradients(kind: str) -> None:
    assert "repeated_reduction" not in rules(portions(6, "hand", kind=kind))


def searching(parameters: int, used: int, option: bool = True) -> Findings:
    """Two steps of DistributedDataParallel on the host."""
    found: list[Event] = []
    bounds = []
    now = 0.0
    for _ in range(2):
        begin = now
        found.append(span("user_annotation", "DistributedDataParallel.forward", now + 1, 150))
        found.append(span("cpu_op", "aten::addmm", now + 2, 40))
        if option:
            name = "torch.distributed.ddp.reducer::search_unused_parameters"
            found.append(span("cpu_op", name, now + 50, 90))
        now += 160
        for _ in range(used):
            found.append(span("cpu_op", NODE, now, 30))
            found.append(span("cpu_op", "torch::autograd::AccumulateGrad", now + 1, 5))
            if option:
                found.append(span("cpu_op", "aten::select", now + 8, 5))
                found.append(span("cpu_op", "aten::fill_", now + 14, 5))
            found.append(span("cpu_op", "torch::distributed::reducer::mul_out", now + 20, 8))
            now += 32
        for number in range(2 if option else 1):
            found.append(span("cpu_op", "c10d::allreduce_", now, 5))
            found.append(span("cpu_op", "gloo:all_reduce", now + 5, 50, 2 + number))
            now += 10
        now += 50
        for _ in range(parameters):
            if option:
                found.append(span("cpu_op", "aten::select", now, 3))
                found.append(span("cpu_op", "aten::item", now + 4, 3))
            name = "torch.distributed.ddp.reducer::copy_bucket_to_grad"
            found.append(span("cpu_op", name, now + 8, 3))
            now += 12
        now += 20
        bounds.append((begin, now))
    return made([*steps(*bounds), *found])


@examples(8)
@given(parameters=st.integers(5, 60))
def test_a_search_for_unused_parameters_that_finds_none(parameters: int) -> None:
    found = item(searching(parameters, parameters), "machinery_without_use")
    assert found["numbers"]["parameters"] == parameters
    marked = parameters * (5 + 5 + 3 + 3)
    assert 90_000 + 800 * marked <= found["recoverable_ns"] <= 250_000 + 2000 * marked
    assert found["numbers"]["sent"]


def test_a_search_that_finds_some_is_needed() -> None:
    assert "machinery_without_use" not in rules(searching(20, 18))


def test_without_the_option_nothing_is_searched() -> None:
    assert "machinery_without_use" not in rules(searching(20, 20, option=False))


def by_groups(*called: tuple[str, str, float]) -> list[Event]:
    """Two steps with a blocking collective each of some groups and kinds, so long, after 1 ms of products."""
    found: list[Event] = []
    bounds = []
    now = 0.0
    for _ in range(2):
        begin = now
        found.append(span("cpu_op", "aten::mm", now + 1, 1000))
        now += 1010
        for name, kind, length in called:
            told: dict[str, Any] = {
                "Collective name": kind,
                "Process Group Name": name,
                "Group size": 2,
            }
            found.append(span("cpu_op", "c10d::call_", now, 5, **told))
            found.append(span("user_annotation", f"gloo:{kind}", now + 6, length, 2, **told))
            now += length + 12
        found.append(span("cpu_op", "aten::add_", now, 20))
        now += 30
        bounds.append((begin, now))
    return [*steps(*bounds), *found]


@examples(6)
@given(tensor=st.floats(200, 900), gathered=st.floats(200, 900), scattered=st.floats(200, 900))
def test_what_hides_a_collective_depends_on_its_group(
    tensor: float, gathered: float, scattered: float
) -> None:
    called = {
        "tp all_reduce": tensor,
        "fsdp all_gather": gathered,
        "fsdp reduce_scatter": scattered,
    }
    found = item(
        made(
            by_groups(*((*name.split(), length) for name, length in called.items()))  # type: ignore[arg-type]
        ),
        "exposed_communication",
    )
    told = found["words"]["groups"].split(", ")
    order = sorted(called, key=lambda name: -called[name])
    assert sorted(text.rsplit(" ", 2)[0] for text in told) == sorted(order)
    for text in told:
        name, time = text.rsplit(" ", 2)[0], float(text.rsplit(" ", 2)[1])
        assert time == pytest.approx(called[name], rel=0.05)
    attempt = found["words"]["attempt"]
    assert "neither buckets nor accumulation help" in attempt
    assert "bucket size" not in attempt
    assert "forward_prefetch" in attempt


def test_of_one_group_of_gradients_the_advice_is_that_of_data_parallel() -> None:
    found = item(made(by_groups(("0", "all_reduce", 500.0))), "exposed_communication")
    assert "no_sync" in found["words"]["attempt"]
    assert not found["words"]["groups"]


def test_collectives_that_run_at_once_count_their_time_once() -> None:
    alone = by_groups(("0", "all_reduce", 500.0))
    both = alone + [one | {"tid": 3} for one in alone if one["name"] == "gloo:all_reduce"]
    told = [item(made(events), "exposed_communication")["numbers"] for events in (alone, both)]
    assert told[1]["collectives"] == 2 * told[0]["collectives"]
    assert told[1]["total"] == told[0]["total"] == pytest.approx(500_000)


def test_what_one_rank_sends_to_all_in_each_step_has_advice_of_its_own() -> None:
    called = ("0", "broadcast", 500.0), ("0", "all_reduce", 300.0)
    attempt = item(made(by_groups(*called)), "exposed_communication")["words"]["attempt"]
    assert attempt.index("broadcast_buffers=False") < attempt.index("no_sync")
