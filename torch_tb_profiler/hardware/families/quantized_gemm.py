"""Matrix products of scaled, packed and sparse operands in PyTorch and inference libraries."""

from __future__ import annotations

import math

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.data_rows import rows_beside
from torch_tb_profiler.hardware.call import Call, Tensor, required
from torch_tb_profiler.hardware.element_types import precision, scalar_type
from torch_tb_profiler.hardware.families.gemm import listed_scales, product
from torch_tb_profiler.hardware.work import Work, described, matrix_work, model, models_beside

modelled = models_beside(__file__)

_PACKED = (
    "2·M·N·K FLOPs in the type of A; the weight, its scales and zero points read once as stored, C"
    " written once"
)
_SPARSE = (
    "2·M·N·K/2 FLOPs: two of four weights are kept; kept weights and their positions read once as"
    " stored"
)


@modelled
def scaled_mm(call: Call) -> Work | None:
    """``_scaled_mm_v2(A, B, scales of A, recipes, swizzles, scales of B, recipes, swizzles, bias,
    …)``.
    """
    out = call.last(12)
    dtype = scalar_type(call.value(9)) if out is None else out.dtype
    scales = [*listed_scales(call, 2), *listed_scales(call, 5)]
    return product(*map(call.tensor, (0, 1, 8)), *scales, out_dtype=dtype)


_SEMI_STRUCTURED = {
    "aten::_sparse_semi_structured_mm": (0, 1, 2, -1, 3),
    "aten::_sparse_semi_structured_addmm": (1, 2, 3, 0, 6),
    "aten::_sparse_semi_structured_linear": (1, 2, 0, 3, 5),
    "aten::_cslt_sparse_mm": (0, -1, 1, 2, 4),
}
"""Indices of the kept weights, their positions, the dense matrix, what is added, and the type."""


@model("gemm", *_SEMI_STRUCTURED, source=_SPARSE)
def semi_structured(call: Call) -> Work | None:
    """``_sparse_semi_structured_mm(A[M, K/2], positions, B[K, N])``, ``…_addmm(C, A, …)``,
    ``…_linear(x[…, K], W[N, K/2], positions, bias)``, ``_cslt_sparse_mm(A, B[K, N], bias, …)``.
    """
    weight, position, other, addend, dtype = _SEMI_STRUCTURED[call.name]
    weights, dense, added = call.need(weight), call.need(other), call.tensor(addend)
    if len(weights.shape) != 2 or len(dense.shape) < 2:
        return None
    k = dense.shape[-1 if call.name.endswith("_linear") else -2]
    rows, outputs = weights.shape[0], dense.elements // max(k, 1)
    out = Tensor((rows, outputs), scalar_type(call.value(dtype)) or dense.dtype)
    tensors = [weights, call.tensor(position), dense, added, out]
    sizes = {"M": rows, "N": outputs, "K": k, "sparse": "2:4"}
    others = rows * outputs if added is not None else 0
    return matrix_work(rows * outputs * k, weights, tensors, sizes, others)


@modelled
def into_output(call: Call) -> Work | None:
    """``dsv3_fused_a_gemm(out[M, N], A[M, K], B)``: B is the weight or its transpose."""
    out, a, b = call.need(0), call.need(1), call.need(2)
    if len(out.shape) != 2 or len(a.shape) != 2 or out.shape[0] != a.shape[0]:
        return None
    (m, k), n = a.shape, out.shape[1]
    return matrix_work(2 * m * n * k, a, [a, b, out], {"M": m, "N": n, "K": k})


class _Packed(msgspec.Struct, frozen=True):
    """How a schema ``f(A, packed weight, …)`` tells the columns of its weight; argument indices, −1: no such argument."""

    read: tuple[int, ...]
    """The inputs besides A."""
    n: int = -1
    """The number of columns …"""
    per_column: int = -1
    """… or a tensor with an element per column …"""
    dim: int = -1
    """… or the dimension of the packed weight that counts columns, and columns per element."""
    each: int = 1
    bias: int = -1
    result: str = ""
    """The type of the result; empty: A's."""


_ROWS, *_ = rows_beside(__file__)
_PACKED_FORMS = described(_ROWS["packed"], _Packed)


@model("gemm", *_PACKED_FORMS, source=_PACKED + " (vLLM, SGLang, FBGEMM)")
def packed(call: Call) -> Work | None:
    """``marlin_gemm(A, …, packed weight, scales, …, size_m, size_n, size_k, …)``, ``gptq_gemm(A, W[K·bits/32, N], zeros, scales, …)``,
    ``awq_gemm(A, W[K, N/8], scales, zeros, …)``, ``f8i4bf16_rowwise(x, W[N, K/2], …)``, ``_mixed_dtypes_linear(x, W[K, N], scale, bias,
    activation)``.
    """
    form = _PACKED_FORMS[call.name]
    bias = call.tensor(form.bias)
    if form.n >= 0:
        n = call.integer(form.n)
    elif form.per_column >= 0:
        n = call.need(form.per_column).elements
    else:
        shape = call.need(1).shape
        if len(shape) != 2:
            return None
        n = shape[form.dim] * form.each
    read = [*map(call.tensor, form.read), bias]
    return _packed(call.need(0), n, read, biased=bias is not None, out_dtype=form.result)


@modelled
def bitsandbytes_4bit(call: Call) -> Work | None:
    """``gemm_4bit(A, packed B, shape of B [N, K], absmax, …, bias)``, ``gemv_4bit(A, packed B,
    shape of B, …)``.
    """
    a, shape = call.need(0), required(call.integers(2, 2))
    is_gemm = call.name.endswith("gemm_4bit")
    bias = call.tensor(6) if is_gemm else None
    if not a.shape or a.shape[-1] != shape[1]:
        return None
    read = [call.tensor(i) for i in ((1, 3, 7, 8, 9) if is_gemm else (1, 3, 4))]
    return _packed(a, shape[0], [*read, bias], biased=bias is not None)


@modelled
def transformer_engine(call: Call) -> Work | None:
    """``te_gemm_ts(A, scale of A, …, B, …, D, …, bias, …)`` with 22 or 17 arguments; bytes are fp8."""
    *operands, last = required({22: (0, 5, 10, 14), 17: (0, 4, 8, 10)}.get(len(call.inputs)))
    (a, b, out), bias = map(call.need, operands), call.tensor(last)
    cube = a.elements * b.elements * out.elements
    volume = math.isqrt(cube)
    if not out.elements or volume**2 != cube or volume % out.elements:
        return None
    others = out.elements if bias is not None and bias.elements else 0
    parameters = {"M·N": out.elements, "K": volume // out.elements}
    work = matrix_work(2 * volume, a, [a, b, out, bias], parameters, others)
    return replace(work, precision="fp8") if a.element_bytes == 1 else work


@modelled
def segments(call: Call) -> Work | None:
    """``segment_matmul(x[M, K], ends of segments, W[segments, K, N])`` of PyG."""
    x, ends, weight = call.need(0), call.tensor(1), call.need(2)
    if len(x.shape) != 2 or len(weight.shape) != 3 or weight.shape[1] != x.shape[1]:
        return None
    (m, k), (groups, _, n) = x.shape, weight.shape
    tensors = [x, ends, weight, Tensor((m, n), x.dtype)]
    return matrix_work(2 * m * n * k, x, tensors, {"G": groups, "M": m, "N": n, "K": k})


@modelled
def pairs(call: Call) -> Work | None:
    """``_foreach_mm(As, Bs)``."""
    lefts, rights = required(call.tensors(0)), required(call.tensors(1))
    works = [required(product(a, b)) for a, b in zip(lefts, rights, strict=True)]
    data = [work.bytes for work in works if work.bytes is not None]
    return Work(
        sum(work.flops for work in works),
        sum(data) if len(data) == len(works) else None,
        "matrix",
        precision(lefts[0].dtype),
        {"products": len(works)},
    )


def _packed(
    a: Tensor, n: int, read: list[Tensor | None], *, biased: bool = False, out_dtype: str = ""
) -> Work | None:
    """A times a weight whose shape is that of its storage."""
    if not a.shape or n < 0:
        return None
    m, k = math.prod(a.shape[:-1]), a.shape[-1]
    tensors = [a, *read, Tensor((m, n), out_dtype or a.dtype)]
    return matrix_work(2 * m * n * k, a, tensors, {"M": m, "N": n, "K": k}, m * n * biased)
