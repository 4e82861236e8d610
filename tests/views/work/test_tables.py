"""The operator and kernel payloads, their pooling, and what stands for unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest

from tests.analysis.figures import everything
from tests.views import hand_made
from torch_tb_profiler.views.steps import choose
from torch_tb_profiler.views.wire import (
    KernelGroup,
    KernelPayload,
    OperatorGroup,
    OperatorPayload,
    to_json,
)
from torch_tb_profiler.views.work.kernels import kernel_payload
from torch_tb_profiler.views.work.operators import operator_payload

US = hand_made.US
FACTS = hand_made.facts()
EVERYTHING = everything(FACTS)


def operators(
    group: OperatorGroup = "name", limit: int = 100, *, device: bool = True
) -> OperatorPayload:
    facts = hand_made.facts(device=device)
    return msgspec.json.decode(
        to_json(operator_payload(facts, everything(facts), group, limit)), type=OperatorPayload
    )


def kernels(group: KernelGroup = "name", limit: int = 100) -> KernelPayload:
    return msgspec.json.decode(
        to_json(kernel_payload(FACTS, EVERYTHING, group, limit)), type=KernelPayload
    )


def lengths(rows: Mapping[str, Sequence[Any]]) -> set[int]:
    return {len(column) for column in rows.values()}


def test_operators_by_name() -> None:
    rows = operators().rows
    assert (rows["name"], rows["calls"]) == (["aten::mm", "aten::add"], [6, 6])
    assert (rows["device_self_ns"], rows["host_total_ns"]) == (
        [60 * US, 12 * US],
        [120 * US, 24 * US],
    )
    assert rows["matrix_self_share"] == [pytest.approx(20 / 60), 0.0]
    assert (rows["matrix_eligible"], rows["has_stack"], rows["input_shapes"]) == (
        [1, 0],
        [True, False],
        [None, None],
    )


def test_operators_have_their_share_and_the_spread_of_their_calls() -> None:
    rows = operators().rows
    assert rows["time_share"] == [pytest.approx(60 / 72), pytest.approx(12 / 72)]
    # aten::mm: 10, 18, 20, 20, 22, 30; aten::add: 1, 2, 3, 4, 6, 8.
    assert rows["host_median_ns"] == [20 * US, 3500]
    assert (rows["host_min_ns"], rows["host_max_ns"]) == ([10 * US, US], [30 * US, 8 * US])
    assert rows["host_mean_ns"] == [20 * US, 4 * US]
    assert rows["host_deviation_ns"] == [6450, 2608]


def test_the_spread_is_that_of_the_selected_steps() -> None:
    found = operator_payload(FACTS, choose(FACTS, first=0, last=0), "name", 9)
    rows = msgspec.json.decode(to_json(found), type=OperatorPayload).rows
    assert rows["name"] == ["aten::mm", "aten::add"]
    assert rows["host_median_ns"] == [20 * US, 8 * US]
    # Of a single call there is none.
    assert rows["host_deviation_ns"] == [2 * US, None]


def test_kernels_have_their_share_and_the_spread_of_their_launches() -> None:
    rows = kernels().rows
    assert rows["time_share"] == [pytest.approx(71 / 81), pytest.approx(10 / 81)]
    assert (rows["median_ns"], rows["deviation_ns"]) == ([11 * US, 10 * US], [2639, None])


def test_operators_by_stack_bring_the_frames_they_need() -> None:
    found = operators("stack")
    assert found.rows["input_shapes"] == [hand_made.SHAPES, None, hand_made.SHAPES]
    for stack, name in zip(
        found.stacks, ["model.py(7): forward", None, "model.py(9): backward"], strict=True
    ):
        assert (stack is None) == (name is None)
        if stack is not None:
            assert found.frames.frame[stack] == name
            assert found.frames.frame[found.frames.parent[stack]] == "train.py(1): main"


@pytest.mark.parametrize("group", ["name", "shape", "stack"])
@pytest.mark.parametrize("limit", [0, 1, 2, 3])
def test_pooled_operators_keep_the_sums(group: OperatorGroup, limit: int) -> None:
    whole, cut = operators(group), operators(group, limit)
    n = len(whole.rows["name"])
    assert len(lengths(cut.rows)) == 1
    assert cut.pooled == max(0, n - limit)
    assert (cut.rows["name"][-1] == "other") == (cut.pooled > 0)
    for column in ("calls", "device_self_ns", "device_total_ns", "host_self_ns", "host_total_ns"):
        assert sum(cut.rows[column]) == sum(whole.rows[column])


def test_without_a_device_its_times_are_unknown_and_not_zero() -> None:
    found = operators(device=False)
    assert found.has_device is False
    rows = found.rows
    for key in ("device_self_ns", "device_total_ns", "matrix_self_share"):
        assert rows[key] == [None, None]
    assert [m.what for m in found.missing] == ["Accelerator activity"]


def test_missing_shapes_and_stacks_are_said_where_they_are_wanted() -> None:
    facts = hand_made.facts(has_shapes=False, has_stacks=False)
    for group, expected in (
        ("name", []),
        ("shape", ["Input shapes"]),
        ("stack", ["Input shapes", "Call stacks"]),
    ):
        found = operator_payload(facts, choose(facts), group, 9)  # type: ignore[arg-type]
        assert [m.what for m in found.missing] == expected
        for item in found.missing:
            compile(item.call, "call", "exec")


def test_kernels_by_name() -> None:
    rows = kernels().rows
    assert (rows["name"], rows["calls"], rows["total_ns"]) == (
        [hand_made.GEMM, hand_made.NCCL],
        [6, 1],
        [71 * US, 10 * US],
    )
    assert (rows["short_name"][0], rows["mean_ns"]) == ("cutlass_80_tensorop_gemm", [11833, 10_000])
    assert (rows["min_ns"], rows["max_ns"]) == ([9 * US, 10 * US], [16 * US, 10 * US])
    assert (rows["operator"], rows["grid"], rows["registers"]) == (
        [None, None],
        [None, None],
        [None, None],
    )
    assert (rows["occupancy"], rows["matrix"], rows["communication"]) == (
        [0.5, None],
        [1, 0],
        [False, True],
    )


def test_kernels_by_properties_say_why_an_operator_is_not_known() -> None:
    found = kernels("properties")
    rows = found.rows
    reasons = {reason.key: reason.text for reason in found.reasons}
    assert reasons["graph"] == "replayed by a GPU graph launch"
    assert rows["operator"] == ["aten::mm", None, None]
    assert rows["no_operator"] == [None, "outside", "no_launch"]
    assert (rows["grid"], rows["registers"], rows["shared_memory_bytes"]) == (
        ["[8,1,1]", "[4,1,1]", None],
        [64, 64, None],
        [1024, 0, None],
    )


def test_kernels_by_operator_sum_over_launch_properties() -> None:
    rows, fine = kernels("operator").rows, kernels("properties").rows
    assert "grid" not in rows or set(rows["grid"]) == {None}
    for key in ("calls", "total_ns"):
        of_pair: dict[tuple[str, str | None], int] = {}
        for pair, value in zip(
            zip(fine["name"], fine["operator"], strict=True), fine[key], strict=True
        ):
            of_pair[pair] = of_pair.get(pair, 0) + value
        assert (
            dict(zip(zip(rows["name"], rows["operator"], strict=True), rows[key], strict=True))
            == of_pair
        )
    assert set(rows["no_operator"]) == set(fine["no_operator"])


@pytest.mark.parametrize("group", ["name", "operator", "properties"])
@pytest.mark.parametrize("limit", [0, 1, 2])
def test_pooled_kernels_keep_the_sums(group: KernelGroup, limit: int) -> None:
    whole, cut = kernels(group), kernels(group, limit)
    assert len(lengths(cut.rows)) == 1
    assert sum(cut.rows["calls"]) == sum(whole.rows["calls"])
    assert sum(cut.rows["total_ns"]) == sum(whole.rows["total_ns"])
    assert min(cut.rows["min_ns"]) == min(whole.rows["min_ns"])
    assert max(cut.rows["max_ns"]) == max(whole.rows["max_ns"])


def test_attribution_is_that_of_the_whole_trace() -> None:
    counts, whole = kernels().attribution, FACTS.summary.attribution
    assert (counts.kernels, counts.with_operator) == (whole.kernels, whole.with_operator)
