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


def _lu(m: int, n: int) -> float:
    small, large = sorted((m, n))
    return small**2 * (large - small / 3)


def _qr(m: int, n: int) -> float:
    small, large = sorted((m, n))
    return 2 * small**2 * (large - small / 3)


_FACTORS: dict[str, Callable[[int, int], float]] = {
    "aten::linalg_cholesky_ex": lambda m, n: n**3 / 3,
    "aten::linalg_lu_factor_ex": _lu,
    "aten::_linalg_det": _lu,
    "aten::_linalg_slogdet": _lu,
    "aten::geqrf": _qr,
    "aten::linalg_inv_ex": lambda m, n: 2 * n**3,
    "aten::cholesky_inverse": lambda m, n: 2 * n**3 / 3,
}
"""FLOPs for an m × n matrix; the result has its shape."""


@model("factorization", *_FACTORS, source=SOURCE)
def factors(call: Call) -> Work | None:
    """``linalg_cholesky_ex(A[…, m, n], …)`` and similar."""
    a, formula = call.need(0), _FACTORS[call.name]
    batch, (m, n) = math.prod(a.shape[:-2]), a.shape[-2:]
    if formula not in (_lu, _qr) and m != n:
        return None
    return _work(batch * formula(m, n), a, [a, a.dense], {"batch": batch, "m": m, "n": n})


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
    n = a.shape[-1]
    if n != a.shape[-2]:
        return None
    shape = b.shape
    if call.name == "aten::_linalg_solve_ex" and (len(shape) == 1 or shape == a.shape[:-1]):
        shape = (*shape, 1)
    if len(shape) < 2 or n not in shape[-2:]:
        return None
    batch = math.prod(broadcast((a.shape[:-2], shape[:-2])))
    sides = batch * (shape[-1] if shape[-2] == n else shape[-2])
    flops = each * n * n * sides + before * n**3 * batch
    tensors = [a, b, Tensor((n * sides,), b.dtype), *([a.dense] if before else [])]
    parameters = {"batch": batch, "n": n, "right-hand sides": sides // max(batch, 1)}
    return _work(flops, a, tensors, parameters)


def _work(flops: float, a: Tensor, tensors: list[Tensor], sizes: dict[str, int]) -> Work | None:
    if kind(a.dtype) not in ("float", ""):
        return None
    return matrix_work(round(flops), a, tensors, sizes)
