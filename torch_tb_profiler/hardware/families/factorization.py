"""Dense, batched factorizations and linear systems: Cholesky, LU, QR, inverses, triangular systems.

Iterative ones (eigenvalues, singular values) depend on the data and have no model.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.element_types import kind
from torch_tb_profiler.hardware.results import broadcast
from torch_tb_profiler.hardware.work import Work, matrix_work, model

SOURCE = (
    "of n × n: Cholesky n³/3, LU 2n³/3, inverse 2n³, a triangular system n² per right-hand side,"
    " one after LU or Cholesky 2n²; QR of m × n 2k²·(max(m, n) - k/3) with k = min(m, n) (leading"
    " terms, LAPACK Working Note 41); all read once, the results written once"
)


def _cholesky(m: int, n: int) -> float:
    return n**3 / 3


def _lu(m: int, n: int) -> float:
    small, large = sorted((m, n))
    return small**2 * (large - small / 3)


def _qr(m: int, n: int) -> float:
    small, large = sorted((m, n))
    return 2 * small**2 * (large - small / 3)


_FACTORS: dict[str, tuple[Callable[[int, int], float], int]] = {
    "aten::linalg_cholesky_ex": (_cholesky, 1),
    "aten::linalg_lu_factor_ex": (_lu, 1),
    "aten::_linalg_det": (_lu, 1),
    "aten::_linalg_slogdet": (_lu, 1),
    "aten::geqrf": (_qr, 1),
    "aten::linalg_inv_ex": (lambda m, n: 2 * n**3, 1),
    "aten::cholesky_inverse": (lambda m, n: 2 * n**3 / 3, 1),
}
"""FLOPs for an m × n matrix, and the number of results of its shape."""


@model("factorization", *_FACTORS, source=SOURCE)
def factors(call: Call) -> Work | None:
    """``linalg_cholesky_ex(A[…, m, n], …)`` and similar."""
    a = call.need(0)
    formula, results = _FACTORS[call.name]
    if len(a.shape) < 2 or (
        formula is not _lu and formula is not _qr and a.shape[-1] != a.shape[-2]
    ):
        return None
    batch, (m, n) = math.prod(a.shape[:-2]), a.shape[-2:]
    return _work(
        batch * formula(m, n), a, [a], [a.dense] * results, {"batch": batch, "m": m, "n": n}
    )


_SYSTEMS = {
    # Indices of the matrix and the right-hand sides; FLOPs per right-hand side over n², and of the
    # factorization over n³.
    "aten::linalg_solve_triangular": (0, 1, 1, 0.0),
    "aten::triangular_solve": (1, 0, 1, 0.0),
    "aten::linalg_lu_solve": (0, 2, 2, 0.0),
    "aten::_cholesky_solve_helper": (1, 0, 2, 0.0),
    "aten::_linalg_solve_ex": (0, 1, 2, 2 / 3),
}


@model("factorization", *_SYSTEMS, source=SOURCE)
def systems(call: Call) -> Work | None:
    """``linalg_solve_triangular(A[…, n, n], B[…, n, k], …)``, ``linalg_lu_solve(LU, pivots, B, …)``
    and similar.
    """
    index, other, each, before = _SYSTEMS[call.name]
    a, b = call.need(index), call.need(other)
    if len(a.shape) < 2 or a.shape[-1] != a.shape[-2]:
        return None
    n = a.shape[-1]
    vector = call.name == "aten::_linalg_solve_ex" and (
        len(b.shape) == 1 or b.shape == a.shape[:-1]
    )
    shape = (*b.shape, 1) if vector else b.shape
    if len(shape) < 2 or n not in shape[-2:]:
        return None
    batch = broadcast((a.shape[:-2], shape[:-2]))
    sides = math.prod(batch) * (shape[-1] if shape[-2] == n else shape[-2])
    result = Tensor((n * sides,), b.dtype)
    flops = each * n * n * sides + before * n**3 * math.prod(batch)
    results = [result, a.dense] if before else [result]
    return _work(
        flops,
        a,
        [a, b],
        results,
        {"batch": math.prod(batch), "n": n, "right-hand sides": sides // max(math.prod(batch), 1)},
    )


def _work(
    flops: float,
    a: Tensor,
    read: list[Tensor],
    written: list[Tensor],
    parameters: dict[str, object],
) -> Work | None:
    if kind(a.dtype) not in ("float", ""):
        return None
    return matrix_work(round(flops), a, [*read, *written], parameters)
