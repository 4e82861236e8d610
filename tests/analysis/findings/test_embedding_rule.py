"""Dense gradients of an embedding: on a host and a device, with shapes and without."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.efficiency.cases import inputs
from tests.analysis.findings.cases import item, launched, made, rules, span, steps
from tests.builders.drawn import Event

NODE = "autograd::engine::evaluate_function: EmbeddingBackward0"


def _table(shapes: bool, rows: int, read: int, fill: float, rest: float) -> list[Event]:
    """A lookup, its backward and an optimizer that updates a table and a small parameter."""
    table, small = (rows, 64), (10, 64)

    def known(*shape: tuple[int, ...], **more: Any) -> dict[str, Any]:
        return inputs(*shape, dtype="float") | more if shapes else {}

    backward = fill + rest + 2
    update = 120 + backward
    return [
        *steps((0, 121 + backward + 2 * fill + 50)),
        span("cpu_op", "aten::embedding", 1, 50, **known(table, (read,))),
        span("cpu_op", "aten::index_select", 2, 40, **known(table, (read,))),
        span("cpu_op", NODE, 100, backward + 1),
        span(
            "cpu_op",
            "aten::embedding_dense_backward",
            100,
            backward,
            **known((read, 64), (read,), **{"Concrete Inputs": ["", ""]}),
        ),
        span("cpu_op", "aten::zeros", 101, fill),
        span("cpu_op", "aten::zero_", 101, fill, **known(table)),
        span("user_annotation", "Optimizer.step#Adam.step", update, 2 * fill + 40),
        span("cpu_op", "aten::mul_", update + 1, fill, **known(table)),
        span("cpu_op", "aten::addcdiv_", update + 2 + fill, fill, **known(table, table)),
        span("cpu_op", "aten::mul_", update + 3 + 2 * fill, 9, **known(small)),
    ]


@given(
    shapes=st.booleans(),
    read=st.integers(1, 4000),
    fill=st.integers(100, 5000),
)
def test_what_is_done_to_unused_rows_is_saved(shapes: bool, read: int, fill: int) -> None:
    used = read / 40_000
    finding = item(made(_table(shapes, 40_000, read, fill, 3 * used * fill)), "dense_embedding")
    assert finding["recoverable_ns"] == pytest.approx(3000 * fill * (1 - used), rel=0.02)
    assert finding["recoverable_ns"] <= 3000 * fill
    assert ("rows" in finding["numbers"]) == shapes


@given(shapes=st.booleans(), read=st.integers(20_100, 100_000))
def test_a_table_that_is_mostly_read_is_well(shapes: bool, read: int) -> None:
    entries = _table(shapes, 40_000, read, 500, 1500 * read / 40_000)
    assert "dense_embedding" not in rules(made(entries))


def test_other_large_parameters_of_the_optimizer_stay() -> None:
    """Of a name as many calls as there are tables: the shorter ones."""
    entries = _table(False, 40_000, 10, 500, 1)
    [region] = [entry for entry in entries if entry["name"].startswith("Optimizer")]
    region["dur"] += 2000
    entries[0]["dur"] += 2000
    begin = region["ts"] + 1041
    entries.append(span("cpu_op", "aten::mul_", begin, 1900))
    finding = item(made(entries), "dense_embedding")
    assert finding["recoverable_ns"] == pytest.approx(1_500_000, rel=0.02)


@pytest.mark.parametrize("shapes", [True, False])
def test_tied_weights_have_dense_gradients_anyway(shapes: bool) -> None:
    entries = _table(shapes, 40_000, 10, 500, 1)
    if shapes:
        product = inputs((8, 64), (64, 40_000), dtype="float")
        entries.append(span("cpu_op", "aten::mm", 60, 9, **product))
    else:
        [node] = [entry for entry in entries if entry["name"] == NODE]
        node["dur"] += 5
        entries.append(span("cpu_op", "aten::add", node["ts"] + 504.5, 3))
    assert "dense_embedding" not in rules(made(entries))


def test_lists_of_tensors_count_by_their_elements() -> None:
    """A fused optimizer on a device updates a table of 3 · 2^20 and another parameter of 2^20 elements."""
    table, other = (49_152, 64), (16_384, 64)
    known: dict[str, Any] = {
        "Input Dims": [[list(table), list(other)]],
        "Input type": ["TensorList"],
    }
    entries = [
        *steps((0, 51)),
        span("cpu_op", NODE, 1, 20),
        span(
            "cpu_op",
            "aten::embedding_dense_backward",
            2,
            18,
            **inputs((8, 64), (8,), dtype="float"),
        ),
        span("cpu_op", "aten::zero_", 3, 8, **inputs(table, dtype="float")),
        *launched("fill", 1, 4, 12, 198),
        span("user_annotation", "Optimizer.step#Adam.step", 30, 20),
        span(
            "cpu_op",
            "aten::_fused_adamw_",
            31,
            18,
            **known,
        ),
        *launched("multi_tensor_apply_kernel", 2, 32, 210, 789),
    ]
    finding = item(made(entries), "dense_embedding")
    assert finding["recoverable_ns"] == pytest.approx(198_000 + 789_000 * 3 / 4, rel=0.05)
