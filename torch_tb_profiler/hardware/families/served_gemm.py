"""Matrix products with a weight ``W[N, K]``, as vLLM, SGLang and AITER call them."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.data_rows import rows_beside
from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.element_types import scalar_type
from torch_tb_profiler.hardware.families.gemm import SOURCE, product
from torch_tb_profiler.hardware.work import Work, described, matrix_work, model, models_beside

modelled = models_beside(__file__)


class _Form(msgspec.Struct, frozen=True):
    """Argument indices of a schema; −1: no such argument."""

    x: int = 0
    weight: int = 1
    bias: int = -1
    scales: tuple[int, ...] = ()
    dtype: int = -1
    """The type of the result."""
    out: int = -1


_ROWS, *_ = rows_beside(__file__)
_FORMS = described(_ROWS["linear"], _Form)


@model("gemm", *_FORMS, source=SOURCE + "; scales read once (vLLM, SGLang, AITER)")
def linear(call: Call) -> Work | None:
    """``gemm_a16w16(x[M, K], W[N, K], bias, dtype, …)``, ``gemm_a8w8(x, W, x_scale, w_scale, bias,
    dtype)``, ``wvSplitK(W, x, bias, units)``.
    """
    form = _FORMS.get(call.name) or next(
        form for name, form in _FORMS.items() if name[-1] == "*" and call.name.startswith(name[:-1])
    )
    x, weight = call.need(form.x), call.need(form.weight)
    if len(weight.shape) != 2:
        return None
    strides = None if weight.strides is None else weight.strides[::-1]
    turned = Tensor(weight.shape[::-1], weight.dtype, strides)
    out = call.tensor(form.out)
    dtype = scalar_type(call.value(form.dtype)) if out is None else out.dtype
    if not dtype and x.element_bytes == 1:
        # No product of eight bits has an eight-bit result.
        dtype = "bfloat16"
    scales = [call.tensor(index) for index in form.scales]
    return product(x, turned, call.tensor(form.bias), *scales, out_dtype=dtype)


@modelled
def four_bits(call: Call) -> Work | None:
    """``gemm_a4w4(x[M, K/2], W[N, K/2], x scales, W scales, …)``, with a result of 16 bits."""
    x, weight = call.need(0), call.need(1)
    if len(x.shape) != 2 or len(weight.shape) != 2 or x.shape[1] != weight.shape[1]:
        return None
    (m, half), n = x.shape, weight.shape[0]
    tensors = [x, weight, call.tensor(2), call.tensor(3), Tensor((m, n), "bfloat16")]
    work = matrix_work(4 * m * n * half, x, tensors, {"M": m, "N": n, "K": 2 * half})
    return replace(work, precision="fp4")
