"""Factorizations: the leading terms of LAPACK's counts, computed for small matrices."""

from __future__ import annotations

import pytest

from tests.hardware.families.calls import amounts, unknown, work


@pytest.mark.parametrize(
    ("arguments", "flops", "size"),
    [
        ("aten::linalg_cholesky_ex(fp64 4x6x6, False, False)", 4 * 72, 8 * 2 * 144),
        ("aten::linalg_lu_factor_ex(fp32 6x6, True, False)", 144, 4 * 72),
        ("aten::linalg_lu_factor_ex(fp32 9x6, True, False)", 36 * 7, 4 * 108),
        ("aten::geqrf(fp32 9x6)", 2 * 36 * 7, 4 * 108),
        ("aten::linalg_inv_ex(fp32 6x6, False)", 2 * 216, 4 * 72),
        ("aten::cholesky_inverse(fp32 6x6, False)", 144, 4 * 72),
        # One triangle meets each of 5 right-hand sides; from the right they are rows; two triangles
        # after LU.
        (
            "aten::linalg_solve_triangular(fp32 6x6, fp32 6x5, False, True, False)",
            36 * 5,
            4 * (36 + 30 + 30),
        ),
        (
            "aten::linalg_solve_triangular(fp32 6x6, fp32 5x6, False, False, False)",
            36 * 5,
            4 * (36 + 30 + 30),
        ),
        (
            "aten::linalg_lu_solve(fp32 2x6x6, i32 2x6, fp32 6x5, True, False)",
            2 * 2 * 36 * 5,
            4 * (72 + 30 + 60),
        ),
        (
            "aten::_linalg_solve_ex(fp32 6x6, fp32 6, True, False)",
            144 + 2 * 36,
            4 * (36 + 6 + 6 + 36),
        ),
        (
            "aten::_linalg_solve_ex(fp32 2x6x6, fp32 2x6x5, True, False)",
            2 * (144 + 2 * 36 * 5),
            4 * (72 + 60 + 60 + 72),
        ),
    ],
)
def test_by_hand(arguments: str, flops: int, size: int) -> None:
    assert amounts(arguments) == (flops, size)


def test_a_square_matrix_costs_the_same_from_both_formulas() -> None:
    lu = work("aten::linalg_lu_factor_ex(fp32 30x30, True, False)").flops
    assert lu == round(2 * 30**3 / 3)
    assert work("aten::geqrf(fp32 30x30)").flops == 2 * lu


@pytest.mark.parametrize(
    "arguments",
    [
        "aten::linalg_cholesky_ex(fp32 6x5, False, False)",
        "aten::linalg_inv_ex(fp32 6, False)",
        "aten::linalg_inv_ex(c64 6x6, False)",
        "aten::linalg_solve_triangular(fp32 6x6, fp32 4x5, False, True, False)",
        "aten::linalg_solve_triangular(fp32 6x5, fp32 6x5, False, True, False)",
    ],
)
def test_what_cannot_be(arguments: str) -> None:
    assert unknown(arguments)
