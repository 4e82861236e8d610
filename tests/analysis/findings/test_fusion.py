"""Chains of memory-bound operators: one that a picture shows, and near misses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.analysis.efficiency.cases import BF16, H100
from tests.analysis.findings.cases import Findings, item, launched, made, rules, span, steps
from tests.builders.drawn import Event

FULL, HALF, COS = [64, 8192, 128], [64, 8192, 64], [8192, 128]
BYTES = 64 * 8192 * 128 * 2
LENGTH = 125
"""µs of a kernel; none is far from the peak."""


def arguments(*dims: list[Any], dtype: str = BF16) -> dict[str, Any]:
    types = ["TensorList" if dim and isinstance(dim[0], list) else dtype for dim in dims]
    return {"Input Dims": list(dims), "Input type": types, "Concrete Inputs": [""] * len(dims)}


CAT = arguments([HALF, HALF], []) | {
    "Input type": ["TensorList", "Scalar"],
    "Concrete Inputs": ["", "-1"],
}
ROPE = [
    ("aten::mul", arguments(FULL, COS)),
    ("aten::neg", arguments(HALF)),
    ("aten::cat", CAT),
    ("aten::mul", arguments(FULL, COS)),
    ("aten::add", arguments(FULL, FULL)),
]


def found(calls: list[tuple[str, dict[str, Any]]], length: float = LENGTH, **more: Any) -> Findings:
    """A step of 1 ms in which operators launch a kernel each, then a product."""
    entries: list[Event] = steps((0, 200))
    begin = 100.0
    for number, (name, recorded) in enumerate([*calls, ("mine::other", {})]):
        own = more.get("inside", {}).get(number)
        if own:
            entries.append(span("python_function", own, 10 * number, 9))
        entries.append(span("cpu_op", name, 10 * number + 1, 6, **recorded))
        last = 1000 - begin if number == len(calls) else length
        entries += launched(f"kernel_{name[6:]}", number + 1, 10 * number + 2, begin, last)
        begin += length
    return made(entries, **H100)


def test_rope_in_five_kernels() -> None:
    finding = item(found(ROPE), "fusion")
    assert finding["words"]["largest"] == "RoPE"
    numbers = finding["numbers"]
    assert (numbers["chains"], numbers["kernels"], numbers["operators"]) == (1, 5, 5)
    # Four tensors between the five, of which each is written and read: half of one, three whole.
    assert numbers["saved"] == 2 * 3.5 * BYTES
    # mul: q and cos read, a whole one written, which is saved.
    cos = 8192 * 128 * 2
    first = BYTES / (2 * BYTES + cos)
    negation = 0.5
    second = 2 * BYTES / (2 * BYTES + cos)
    addition = 2 / 3
    # The types of what cat joins are not recorded, and so its bytes are not known.
    expected = LENGTH * 1000 * (first + negation + second + addition)
    assert finding["recoverable_ns"] == pytest.approx(expected, abs=10)


def test_without_inner_tensors_nothing_is_claimed() -> None:
    other = [
        ("aten::mul", arguments(FULL, COS)),
        ("aten::neg", arguments(HALF)),
        ("aten::exp", arguments([7])),
    ]
    assert "fusion" not in rules(found(other))


def test_a_kernel_in_between_ends_a_chain() -> None:
    calls = [("aten::relu", arguments(FULL)), ("mine::thing", {}), ("aten::exp", arguments(FULL))]
    assert "fusion" not in rules(found(calls))
    assert "fusion" in rules(found([calls[0], calls[2]]))


def test_another_module_ends_a_chain() -> None:
    calls = [("aten::relu", arguments(FULL)), ("aten::exp", arguments(FULL))]
    inside = {0: "nn.Module: A_0", 1: "nn.Module: B_0"}
    assert "fusion" not in rules(found(calls, inside=inside))


def test_short_kernels_begin_and_end_once() -> None:
    """Of ten of 4 µs one is left, and one launch, so that the product need not wait for its own."""
    calls = [("aten::relu", arguments(FULL)), ("aten::exp", arguments(FULL))] * 5
    assert item(found(calls, length=4), "fusion")["recoverable_ns"] == 9 * 4000


def test_compiled_kernels_are_fused_already() -> None:
    calls = [
        ("triton_poi_fused_relu_0", arguments(FULL, FULL)),
        ("triton_poi_fused_exp_1", arguments(FULL, FULL)),
    ]
    assert "fusion" not in rules(found(calls))
