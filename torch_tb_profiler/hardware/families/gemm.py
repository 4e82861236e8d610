"""Matrix products: ``C[M, N] = A[M, K] · B[K, N]``."""

from __future__ import annotations

from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.element_types import precision
from torch_tb_profiler.hardware.work import Work, model

SOURCE = "2·M·N·K FLOPs: one multiplication and one addition per product; A and B read once, C written once"


@model("gemm", "aten::mm", source=SOURCE)
def mm(call: Call) -> Work | None:
    """``mm(A, B)``."""
    return product(call.tensor(0), call.tensor(1))


def product(a: Tensor | None, b: Tensor | None) -> Work | None:
    """The work of one matrix product without a bias."""
    if a is None or b is None or len(a.shape) != 2 or len(b.shape) != 2:
        return None
    (m, k), n = a.shape, b.shape[1]
    size = a.element_bytes
    moved = None if size is None else (m * k + k * n + m * n) * size
    return Work(2 * m * n * k, moved, "matrix", precision(a.dtype), {"M": m, "N": n, "K": k})
