"""Matrix products ``C[M, N] = A[M, K] · B[K, N]``: batched, with vectors or a bias, grouped,
scaled.
"""

from __future__ import annotations

import math

from torch_tb_profiler.hardware.call import Call, Tensor, known, moved
from torch_tb_profiler.hardware.element_types import kind, precision, scalar_type
from torch_tb_profiler.hardware.results import Shape, broadcast
from torch_tb_profiler.hardware.work import Unit, Work, matrix_work, model, named

SOURCE = (
    "2·M·N·K FLOPs (one multiplication and one addition per product), M·N more for a bias; A, B and"
    " the bias read once, C written once"
)
_BACKWARD = "2·M·N·K FLOPs for each gradient in output_mask, M·N for the bias gradient"
_GROUPED = "2·M·N·K FLOPs summed over the groups; the grouped dimension counts once"
_RECIPES = {
    0: "float32",
    1: "float32",
    2: "float8_e4m3fn",
    3: "float8_e8m0fnu",
    4: "float32",
    5: "float32",
}
"""Element type of scales by ``at::blas::ScalingType`` (TensorWise, RowWise, BlockWise1x16, 1x32,
1x128, 128x128).
"""


@model("gemm", *named("aten", "mm _int_mm bmm matmul mv dot vdot inner"), source=SOURCE)
def products(call: Call) -> Work | None:
    """``mm(A, B)`` and similar; ``out`` and ``out_dtype`` may follow."""
    a, b = call.tensor(0), call.tensor(1)
    if call.name == "aten::inner" and b is not None and len(b.shape) > 1:
        b = (
            Tensor((*b.shape[:-2], b.shape[-1], b.shape[-2]), b.dtype)
            if len(b.shape) == 2
            else None
        )
    dtype = "int32" if call.name == "aten::_int_mm" else scalar_type(call.value(2))
    return product(a, b, out_dtype=_out_dtype(call, 2) or dtype)


@model(
    "gemm",
    *named("aten", "addmm addmm_ addmv addmv_ baddbmm baddbmm_ addbmm addbmm_ _addmm_activation"),
    source=SOURCE,
)
def added_products(call: Call) -> Work | None:
    """``addmm(C, A, B, beta, alpha)``: C is not read if beta is 0."""
    bias, a, b = call.first(3)
    # Overloads with out_dtype have it before beta.
    values = sum(1 for i in range(3, len(call.inputs)) if call.tensor(i) is None)
    typed = values == 3 and call.name != "aten::_addmm_activation"
    if call.value(4 if typed else 3) == 0:
        bias = None
    dtype = _out_dtype(call, 5) or (scalar_type(call.value(3)) if typed else "")
    if "addbmm" in call.name and "badd" not in call.name and a is not None and b is not None:
        # The products of the batch are summed: one product with K·B for K.
        (batch, m, k), n = a.shape, b.shape[-1]
        a, b = Tensor((m, batch * k), a.dtype), Tensor((batch * k, n), b.dtype)
    work = product(a, b, bias, out_dtype=dtype)
    if work is None or call.name != "aten::_addmm_activation":
        return work
    return Work(
        work.flops + _outputs(work),
        work.bytes,
        work.unit,
        work.precision,
        work.parameters,
        work.bias_flops + _outputs(work),
    )


@model(
    "gemm",
    *named("aten", "linear mkldnn_linear"),
    "mkldnn::_linear_pointwise",
    "vllm::rocm_unquantized_gemm",
    source=SOURCE,
)
def linear(call: Call) -> Work | None:
    """``linear(x, W, bias)``: ``x[…, K] · W[N, K]ᵀ``."""
    x, weight, bias = call.need(0), call.need(1), call.tensor(2)
    if call.name == "mkldnn::_linear_pointwise" and bias is not None and len(bias.shape) == 2:
        # The overload with a second operand, which precedes the weight.
        return None
    if not 1 <= len(weight.shape) <= 2:
        return None
    turned = Tensor(
        weight.shape[::-1], weight.dtype, None if weight.strides is None else weight.strides[::-1]
    )
    return product(x, turned, bias, out_dtype=_out_dtype(call, 3))


@model("gemm", "aten::linear_backward", "aten::mkldnn_linear_backward", source=_BACKWARD)
def linear_backward(call: Call) -> Work | None:
    """``linear_backward(x, dy, W, output_mask)`` returns dx, dW and the bias gradient."""
    x, gradient, weight, asked = call.need(0), call.need(1), call.need(2), known(call.flags(3, 3))
    if len(weight.shape) != 2:
        return None
    n, k = weight.shape
    m = math.prod(x.shape[:-1])
    out = [
        tensor
        for tensor, wanted in zip((x, weight, Tensor((n,), weight.dtype)), asked, strict=True)
        if wanted
    ]
    bias_flops = m * n if asked[2] else 0
    return matrix_work(
        2 * m * n * k * (asked[0] + asked[1]),
        x,
        [gradient, weight if asked[0] else None, x if asked[1] else None, *out],
        {"M": m, "N": n, "K": k},
        bias_flops,
    )


@model(
    "gemm",
    *named("aten", "ger outer"),
    source="M·N FLOPs: one multiplication per element of the result",
)
def outer(call: Call) -> Work | None:
    """``outer(a, b)``."""
    a, b = call.need(0), call.need(1)
    result = Tensor((a.elements, b.elements), a.dtype)
    return Work(
        result.elements,
        moved(a, b, result),
        "vector",
        precision(a.dtype),
        {"M": a.elements, "N": b.elements},
    )


@model(
    "gemm",
    *named("aten", "addr addr_"),
    source=(
        "2·M·N FLOPs: a product and a sum per element of the result; all read once, the result"
        " written"
    ),
)
def added_outer(call: Call) -> Work | None:
    """``addr(C, a, b, beta, alpha)``: C is not read if beta is 0."""
    added, a, b = call.need(0), call.need(1), call.need(2)
    hidden = call.value(3) == 0
    result = Tensor((a.elements, b.elements), added.dtype)
    return Work(
        result.elements * (1 if hidden else 2),
        moved(None if hidden else added, a, b, result),
        "vector",
        precision(added.dtype),
        {"M": a.elements, "N": b.elements},
        0 if hidden else result.elements,
    )


@model("gemm", "aten::_scaled_mm", source=SOURCE + "; the scales read once")
def scaled_mm(call: Call) -> Work | None:
    """``_scaled_mm(A, B, scale_a, scale_b, bias, scale_result, out_dtype)``; the default type is
    A's.
    """
    return product(
        call.tensor(0),
        call.tensor(1),
        call.tensor(4),
        call.tensor(2),
        call.tensor(3),
        out_dtype=_out_dtype(call, 8) or scalar_type(call.value(6)),
    )


@model(
    "gemm",
    "_C::cutlass_scaled_mm",
    source=SOURCE + "; the scales read once (vLLM: out, A, B, scales of A and B, bias)",
)
def vllm_scaled_mm(call: Call) -> Work | None:
    """``cutlass_scaled_mm(out, A, B, a_scales, b_scales, bias)``."""
    out = call.need(0)
    return product(
        call.tensor(1),
        call.tensor(2),
        call.tensor(5),
        call.tensor(3),
        call.tensor(4),
        out_dtype=out.dtype,
    )


@model(
    "gemm", *named("aten", "_grouped_mm _scaled_grouped_mm _scaled_grouped_mm_v2"), source=_GROUPED
)
def grouped(call: Call) -> Work | None:
    """``_grouped_mm(A, B, offs, …)``: groups of rows (A 2-D), columns (B 2-D), K (both), or a batch
    (neither).
    """
    scaled, lists = "_scaled" in call.name, call.name.endswith("_v2")
    a, b, offsets = call.need(0), call.need(1), call.tensor(8 if lists else 4 if scaled else 2)
    if not {len(a.shape), len(b.shape)} <= {2, 3}:
        return None
    m, k, n = a.shape[-2], a.shape[-1] * _packed(a), b.shape[-1]
    groups = next(
        (t.shape[0] for t in (a, b) if len(t.shape) == 3),
        offsets.shape[0] if offsets is not None and offsets.shape else 0,
    )
    if not groups or (len(a.shape) == 3 and len(b.shape) == 3 and a.shape[0] != b.shape[0]):
        return None
    shape: Shape = (m, n) if len(a.shape) != len(b.shape) else (groups, m, n)
    times = groups if len(a.shape) == len(b.shape) == 3 else 1
    dtype = scalar_type(call.value(10 if lists else 7 if scaled else 4)) or (
        "bfloat16" if scaled else a.dtype
    )
    scales = (
        [*listed_scales(call, 2), *listed_scales(call, 5)]
        if lists
        else [call.tensor(2), call.tensor(3)]
        if scaled
        else []
    )
    return matrix_work(
        2 * m * n * k * times,
        a,
        [a, b, offsets, *scales, Tensor(shape, dtype)],
        {"G": groups, "M": m, "N": n, "K": k},
    )


def listed_scales(call: Call, index: int) -> list[Tensor]:
    """The scales of a list argument; the recipes after it give their types, which are not recorded."""
    scales, recipes = call.tensors(index) or (), call.integers(index + 1) or ()
    types = [_RECIPES.get(recipe, "") for recipe in recipes] + [""] * len(scales)
    return [
        Tensor(scale.shape, scale.dtype or dtype, scale.strides)
        for scale, dtype in zip(scales, types, strict=False)
    ]


@model(
    "gemm",
    *named("aten", "_weight_int8pack_mm _weight_int4pack_mm"),
    source="2·M·N·K FLOPs in the type of A; the packed weight read once as it is stored",
)
def packed_weights(call: Call) -> Work | None:
    """``_weight_int8pack_mm(A, W[N, K], scales)``, ``_weight_int4pack_mm(A, W[N / 8, …], group,
    scales and zeros)``.
    """
    four = "int4" in call.name
    a, weight, scales = call.need(0), call.need(1), call.tensor(3 if four else 2)
    if len(a.shape) != 2:
        return None
    (m, k), n = a.shape, weight.shape[0] * (8 if four else 1)
    return matrix_work(
        2 * m * n * k, a, [a, weight, scales, Tensor((m, n), a.dtype)], {"M": m, "N": n, "K": k}
    )


def product(
    a: Tensor | None,
    b: Tensor | None,
    bias: Tensor | None = None,
    *read: Tensor | None,
    out_dtype: str = "",
) -> Work | None:
    """The work of ``torch.matmul(A, B) + bias``; ``read``: other inputs; the default type is A's."""
    if (
        a is None
        or b is None
        or not a.shape
        or not b.shape
        or "complex" in (kind(a.dtype), kind(b.dtype))
    ):
        return None
    left = a.shape if len(a.shape) > 1 else (1, *a.shape)
    right = b.shape if len(b.shape) > 1 else (*b.shape, 1)
    m, k, n = left[-2], left[-1], right[-1]
    if right[-2] != k:
        return None
    batch = broadcast((left[:-2], right[:-2]))
    k *= _packed(a)
    outputs = math.prod(batch) * m * n
    result = Tensor((outputs,), out_dtype or a.dtype)
    bias_flops = outputs if bias is not None else 0
    parameters: dict[str, object] = {}
    if len(right) == 2 and len(left) > 2:
        # All batches are rows of one product.
        m = outputs // max(n, 1)
    elif math.prod(batch) != 1:
        parameters["B"] = math.prod(batch)
    unit: Unit = "vector" if len(a.shape) == 1 or len(b.shape) == 1 else "matrix"
    parameters |= {"M": m, "N": n, "K": k}
    return Work(
        2 * outputs * k + bias_flops,
        moved(a, b, bias, *read, result),
        unit,
        precision(a.dtype),
        parameters,
        bias_flops,
    )


def _packed(tensor: Tensor) -> int:
    """Values per element: two in the paired four-bit float."""
    return 2 if "float4" in tensor.dtype.lower() else 1


def _outputs(work: Work) -> int:
    parameters = {name: value for name, value in work.parameters.items() if isinstance(value, int)}
    return parameters.get("B", 1) * parameters["M"] * parameters["N"]


def _out_dtype(call: Call, arity: int) -> str:
    """Element type of an ``out`` argument after ``arity`` others; empty without one."""
    out = call.last(arity)
    return "" if out is None else out.dtype
