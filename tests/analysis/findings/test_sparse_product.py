"""Matrices that are nearly all zeros are no dense operands: planted at any size, and twins that stay silent."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.findings.cases import item
from tests.analysis.findings.test_questions import SIZES, asked, found
from tests.builders.shaped import Shaped


@settings(max_examples=12, deadline=None)
@given(
    st.integers(20, 60),
    st.sampled_from(["index_put_", "scatter_"]),
    st.sampled_from(["", "dense", "other"]),
)
def test_a_matrix_of_zeros_is_no_dense_operand(size: int, name: str, why: str) -> None:
    n = 10 * size

    def piece(program: Shaped) -> None:
        program.call("aten::zeros", 40, [[], [], [], [], []], [f"[{n}, {n}]", "", "", "", ""])
        # So many ns as elements are written at most, or twice as many.
        length = n * n * 2e-3 * (0.5 if why == "dense" else 0.01)
        program.call(f"aten::{name}", length, [[n, n], [], []])
        if why == "other":
            program.call("aten::add", 10, [[n, n], [n, n], []])
        program.call("aten::matmul", 500, [[n, n], [n, 8]], trains=True)

    findings = found(piece)
    assert ("sparse_product" in asked(findings)) == (not why)
    if not why:
        assert item(findings, "sparse_product")["numbers"]["written"] == pytest.approx(
            0.01, rel=0.1
        )


@settings(max_examples=12, deadline=None)
@given(st.integers(300, 900), SIZES, st.sampled_from(["", "few", "other", "read elsewhere"]))
def test_a_one_hot_matrix_is_no_dense_operand(words: int, tokens: int, why: str) -> None:
    """One of each row is other than zero, however long the matrix takes to make; not where it has few columns, or is added to."""
    columns = 9 if why == "few" else words
    matrix = [tokens, columns]

    def piece(program: Shaped) -> None:
        program.call("aten::one_hot", 200, [[tokens], []], ["", str(columns)])
        program.call("aten::to", 100, [matrix, []], ["", "6"])
        if why == "other":
            program.call("aten::add", 10, [matrix, matrix, []])
        if why == "read elsewhere":
            program.call("aten::sum", 400, [matrix, []], trains=True)
        else:
            program.call("aten::matmul", 400, [matrix, [columns, 33]], trains=True)

    findings = found(piece)
    assert ("sparse_product" in asked(findings)) == (not why)
    if not why:
        one = item(findings, "sparse_product")
        assert one["numbers"]["written"] == pytest.approx(1 / words)
        assert one["recoverable_ns"] == pytest.approx(1100e3 * (1 - 8 / words), rel=0.05)
