"""Matrix products of scaled, packed and sparse operands in PyTorch and inference libraries."""

from __future__ import annotations

import math

from msgspec.structs import replace

from torch_tb_profiler.hardware.call import Call, Tensor, known
from torch_tb_profiler.hardware.element_types import precision, scalar_type
from torch_tb_profiler.hardware.families.gemm import listed_scales, product
from torch_tb_profiler.hardware.work import Work, matrix_work, model, models_beside

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


@modelled
def mixed_linear(call: Call) -> Work | None:
    """``_mixed_dtypes_linear(x, W[K, N], scale, bias, activation)``; a byte holds two four-bit
    weights.
    """
    x, weight, scale, bias = call.need(0), call.need(1), call.need(2), call.tensor(3)
    if not x.shape or len(weight.shape) != 2:
        return None
    return _packed(x, scale.elements, [weight, scale, bias], biased=bias is not None)


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
def sglang_scaled_mm(call: Call) -> Work | None:
    """``fp8_scaled_mm(A, B, scales of A, scales of B, out_dtype, bias)``."""
    dtype = scalar_type(call.value(4))
    if not dtype:
        return None
    return product(*map(call.tensor, (0, 1, 5, 2, 3)), out_dtype=dtype)


@modelled
def vllm_scaled_mm_azp(call: Call) -> Work | None:
    """``cutlass_scaled_mm_azp(out, A, B, a_scales, b_scales, azp_adj, azp, bias)``."""
    return product(*map(call.tensor, (1, 2, 7, 3, 4, 5, 6)), out_dtype=call.need(0).dtype)


@modelled
def fp4_mm(call: Call) -> Work | None:
    """``cutlass_scaled_fp4_mm(out, A[M, K/2], B[N, K/2], block scales of A and B, alpha)``."""
    out, a, b, *scales = call.need(0), call.need(1), call.need(2), *map(call.tensor, (3, 4, 5))
    if len(a.shape) != 2 or len(b.shape) != 2 or a.shape[1] != b.shape[1]:
        return None
    (m, half), n = a.shape, b.shape[0]
    work = matrix_work(4 * m * n * half, a, [a, b, *scales, out], {"M": m, "N": n, "K": 2 * half})
    return replace(work, precision="fp4")


@modelled
def bmm_fp8(call: Call) -> Work | None:
    """``bmm_fp8(A, B, out, scale of A, scale of B, …)``."""
    return product(*map(call.tensor, (0, 1, -1, 3, 4)), out_dtype=call.need(2).dtype)


@modelled
def into_output(call: Call) -> Work | None:
    """``dsv3_fused_a_gemm(out[M, N], A[M, K], B)``: B is the weight or its transpose."""
    out, a, b = call.need(0), call.need(1), call.need(2)
    if len(out.shape) != 2 or len(a.shape) != 2 or out.shape[0] != a.shape[0]:
        return None
    (m, k), n = a.shape, out.shape[1]
    return matrix_work(2 * m * n * k, a, [a, b, out], {"M": m, "N": n, "K": k})


_SIZED = {
    "sgl_kernel::gptq_marlin_gemm": (11, (2, 3, 4, 5)),
    "_C::marlin_gemm": (13, (2, 3, 4, 5, 6, 7)),
    "_C::allspark_w8a16_gemm": (4, (1, 2, 3)),
}
"""Indices of the number of columns, and of the inputs besides A."""


@model("gemm", *_SIZED, source=_PACKED + " (vLLM, SGLang)")
def sized(call: Call) -> Work | None:
    """``marlin_gemm(A, …, packed weight, scales, …, size_m, size_n, size_k, …)``."""
    index, read = _SIZED[call.name]
    a, n = call.need(0), call.integer(index)
    return _packed(a, n, [call.tensor(i) for i in read])


_COLUMNS = {"_C::gptq_gemm": (1, 1), "sgl_kernel::gptq_gemm": (1, 1), "_C::awq_gemm": (1, 8)}
"""Dimension of the packed weight that counts columns, and columns per element."""


@model("gemm", *_COLUMNS, source=_PACKED + " (vLLM, SGLang)")
def int4_gemm(call: Call) -> Work | None:
    """``gptq_gemm(A, W[K·bits/32, N], zeros, scales, …)``, ``awq_gemm(A, W[K, N/8], scales, zeros,
    …)``.
    """
    a, weight = call.need(0), call.need(1)
    dim, each = _COLUMNS[call.name]
    if len(weight.shape) != 2:
        return None
    return _packed(a, weight.shape[dim] * each, [weight, call.tensor(2), call.tensor(3)])


@modelled
def bitsandbytes_4bit(call: Call) -> Work | None:
    """``gemm_4bit(A, packed B, shape of B [N, K], absmax, …, bias)``, ``gemv_4bit(A, packed B,
    shape of B, …)``.
    """
    a, shape = call.need(0), known(call.integers(2, 2))
    is_gemm = call.name.endswith("gemm_4bit")
    bias = call.tensor(6) if is_gemm else None
    if not a.shape or a.shape[-1] != shape[1]:
        return None
    read = [call.tensor(i) for i in ((1, 3, 7, 8, 9) if is_gemm else (1, 3, 4))]
    return _packed(a, shape[0], [*read, bias], biased=bias is not None)


@modelled
def by_rows(call: Call) -> Work | None:
    """``f8f8bf16_rowwise(x[M, K], W[N, K], scales of x, scales of W, bias, …)``; FBGEMM's return
    bfloat16.
    """
    x, weight = call.need(0), call.need(1)
    if len(weight.shape) != 2:
        return None
    word = call.name.partition("::")[2]
    bias = call.tensor({"npu_linear": 2, "f8f8bf16_rowwise": 4, "int8_scaled_mm": 4}.get(word, -1))
    scaled = word != "npu_linear" and not word.endswith("matmul")
    scales = [call.tensor(2), call.tensor(3)] if scaled else []
    dtype = {
        "npu_linear": "",
        "int8_linear_matmul": "int32",
        "int8_scaled_mm": scalar_type(call.value(5)) or "float16",
    }.get(word, "bfloat16")
    return product(x, Tensor(weight.shape[::-1], weight.dtype), bias, *scales, out_dtype=dtype)


@modelled
def fbgemm_int4(call: Call) -> Work | None:
    """``f8i4bf16_rowwise(x[M, K], W[N, K/2], …)``: a byte holds two weights; returns bfloat16."""
    x, weight = call.need(0), call.need(1)
    if len(weight.shape) != 2:
        return None
    return _packed(x, weight.shape[0], [call.tensor(i) for i in range(1, 5)], out_dtype="bfloat16")


@modelled
def transformer_engine(call: Call) -> Work | None:
    """``te_gemm_ts(A, scale of A, …, B, …, D, …, bias, …)`` with 22 or 17 arguments; bytes are fp8."""
    *operands, last = known({22: (0, 5, 10, 14), 17: (0, 4, 8, 10)}.get(len(call.inputs)))
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
    lefts, rights = known(call.tensors(0)), known(call.tensors(1))
    works = [known(product(a, b)) for a, b in zip(lefts, rights, strict=True)]
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
