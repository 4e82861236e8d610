"""Matrix products ``C[M, N] = A[M, K] · B[K, N]``: batched, with vectors or a bias, grouped,
scaled.
"""

from __future__ import annotations

import math

from msgspec.structs import replace

from torch_tb_profiler.hardware.call import Call, Tensor, moved, required
from torch_tb_profiler.hardware.element_types import kind, precision, scalar_type
from torch_tb_profiler.hardware.results import Shape, broadcast
from torch_tb_profiler.hardware.work import Unit, Work, matrix_work, models_beside

modelled = models_beside(__file__)

SOURCE = (
    "2·M·N·K FLOPs (one multiplication and one addition per product), M·N more for a bias; A, B and"
    " the bias read once, C written once"
)
_RECIPES = ("float32", "float32", "float8_e4m3fn", "float8_e8m0fnu", "float32", "float32")
"""Element type of scales by ``at::blas::ScalingType`` (TensorWise, RowWise, BlockWise1x16, 1x32,
1x128, 128x128).
"""


@modelled
def products(call: Call) -> Work | None:
    """``mm(A, B)`` and similar; ``out`` and ``out_dtype`` may follow."""
    a, b = call.tensor(0), call.tensor(1)
    if call.name == "aten::inner" and b is not None and len(b.shape) > 1:
        b = Tensor(b.shape[::-1], b.dtype) if len(b.shape) == 2 else None
    dtype = "int32" if call.name == "aten::_int_mm" else scalar_type(call.value(2))
    return product(a, b, out_dtype=_out_dtype(call, 2) or dtype)


@modelled
def added_products(call: Call) -> Work | None:
    """``addmm(C, A, B, beta, alpha)``: C is not read if beta is 0."""
    bias, a, b = map(call.tensor, range(3))
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
    sizes = {name: value for name, value in work.parameters.items() if isinstance(value, int)}
    outputs = sizes.get("B", 1) * sizes["M"] * sizes["N"]
    return replace(work, flops=work.flops + outputs, bias_flops=work.bias_flops + outputs)


@modelled
def linear(call: Call) -> Work | None:
    """``linear(x, W, bias)``: ``x[…, K] · W[N, K]ᵀ``."""
    x, weight, bias = call.need(0), call.need(1), call.tensor(2)
    if call.name == "mkldnn::_linear_pointwise" and bias is not None and len(bias.shape) == 2:
        # The overload with a second operand, which precedes the weight.
        return None
    if not 1 <= len(weight.shape) <= 2:
        return None
    strides = None if weight.strides is None else weight.strides[::-1]
    turned = Tensor(weight.shape[::-1], weight.dtype, strides)
    return product(x, turned, bias, out_dtype=_out_dtype(call, 3))


@modelled
def linear_backward(call: Call) -> Work | None:
    """``linear_backward(x, dy, W, output_mask)`` returns dx, dW and the bias gradient."""
    x, gradient, weight, asked = (
        call.need(0),
        call.need(1),
        call.need(2),
        required(call.flags(3, 3)),
    )
    if len(weight.shape) != 2:
        return None
    (n, k), m = weight.shape, math.prod(x.shape[:-1])
    of_x, of_weight, of_bias = asked
    read = [gradient, *[weight] * of_x, *[x] * of_weight]
    written = [*[x] * of_x, *[weight] * of_weight, *[Tensor((n,), weight.dtype)] * of_bias]
    sizes = {"M": m, "N": n, "K": k}
    return matrix_work(
        2 * m * n * k * (of_x + of_weight), x, read + written, sizes, m * n * of_bias
    )


@modelled
def outer(call: Call) -> Work | None:
    """``outer(a, b)``."""
    a, b = call.need(0), call.need(1)
    m, n = a.elements, b.elements
    data = moved(a, b, Tensor((m, n), a.dtype))
    return Work(m * n, data, "vector", precision(a.dtype), {"M": m, "N": n})


@modelled
def added_outer(call: Call) -> Work | None:
    """``addr(C, a, b, beta, alpha)``: C is not read if beta is 0."""
    added, a, b = call.need(0), call.need(1), call.need(2)
    m, n = a.elements, b.elements
    sums = 0 if call.value(3) == 0 else m * n
    data = moved(added if call.value(3) != 0 else None, a, b, Tensor((m, n), added.dtype))
    return Work(m * n + sums, data, "vector", precision(added.dtype), {"M": m, "N": n}, sums)


@modelled
def scaled_mm(call: Call) -> Work | None:
    """``_scaled_mm(A, B, scale_a, scale_b, bias, scale_result, out_dtype)``; the default type is
    A's.
    """
    dtype = _out_dtype(call, 8) or scalar_type(call.value(6))
    return product(*map(call.tensor, (0, 1, 4, 2, 3)), out_dtype=dtype)


@modelled
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
    flops = 2 * m * n * k * (groups if len(a.shape) == len(b.shape) == 3 else 1)
    asked = scalar_type(call.value(10 if lists else 7 if scaled else 4))
    result = Tensor(shape, asked or ("bfloat16" if scaled else a.dtype))
    scales: list[Tensor | None] = [call.tensor(2), call.tensor(3)] if scaled else []
    if lists:
        scales = [*listed_scales(call, 2), *listed_scales(call, 5)]
    sizes = {"G": groups, "M": m, "N": n, "K": k}
    return matrix_work(flops, a, [a, b, offsets, *scales, result], sizes)


def listed_scales(call: Call, index: int) -> list[Tensor]:
    """The scales of a list argument; the recipes after it give their types, which are not recorded."""
    scales, recipes = call.tensors(index) or (), call.integers(index + 1) or ()
    types = [_RECIPES[n] if n in range(6) else "" for n in recipes] + [""] * len(scales)
    return [
        Tensor(scale.shape, scale.dtype or dtype, scale.strides)
        for scale, dtype in zip(scales, types, strict=False)
    ]


@modelled
def packed_weights(call: Call) -> Work | None:
    """``_weight_int8pack_mm(A, W[N, K], scales)``, ``_weight_int4pack_mm(A, W[N / 8, …], group,
    scales and zeros)``.
    """
    four = "int4" in call.name
    a, weight, scales = call.need(0), call.need(1), call.tensor(3 if four else 2)
    if len(a.shape) != 2:
        return None
    (m, k), n = a.shape, weight.shape[0] * (8 if four else 1)
    tensors = [a, weight, scales, Tensor((m, n), a.dtype)]
    return matrix_work(2 * m * n * k, a, tensors, {"M": m, "N": n, "K": k})


def product(
    a: Tensor | None,
    b: Tensor | None,
    bias: Tensor | None = None,
    *read: Tensor | None,
    out_dtype: str = "",
) -> Work | None:
    """The work of ``torch.matmul(A, B) + bias``; ``read``: other inputs; the default type is A's."""
    a, b = required(a), required(b)
    if not a.shape or not b.shape or "complex" in (kind(a.dtype), kind(b.dtype)):
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
    work = matrix_work(2 * outputs * k, a, [a, b, bias, *read, result], parameters, bias_flops)
    return replace(work, unit=unit)


def _packed(tensor: Tensor) -> int:
    """Values per element: two in the paired four-bit float."""
    return 2 if "float4" in tensor.dtype.lower() else 1


def _out_dtype(call: Call, arity: int) -> str:
    """Element type of an ``out`` argument after ``arity`` others; empty without one."""
    out = call.last(arity)
    return "" if out is None else out.dtype
