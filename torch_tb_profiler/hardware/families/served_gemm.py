"""Matrix products whose schemas differ in the places of their arguments alone, as PyTorch and inference libraries call them."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.data_rows import rows_beside
from torch_tb_profiler.hardware.call import Call, Tensor, required
from torch_tb_profiler.hardware.element_types import scalar_type
from torch_tb_profiler.hardware.families.gemm import SOURCE, product
from torch_tb_profiler.hardware.work import Work, described, matrix_work, model


class _Form(msgspec.Struct, frozen=True):
    """Argument indices of a schema; −1: no such argument."""

    x: int = 0
    weight: int = 1
    bias: int = -1
    scales: tuple[int, ...] = ()
    dtype: int = -1
    """The type of the result."""
    out: int = -1
    as_is: bool = False
    """The second operand is ``B[K, N]``, not a weight ``W[N, K]``."""
    result: str = "bfloat16"
    """The type of the result of eight-bit operands where no argument tells it: that is never theirs; empty: unknown."""


_ROWS, *_ = rows_beside(__file__)
_FORMS, _FOUR_BITS = (described(_ROWS[key], _Form) for key in ("linear", "four_bits"))


@model(
    "gemm",
    *_FORMS,
    source=SOURCE
    + "; scales read once (vLLM, SGLang, AITER, FlashInfer, bitsandbytes, FBGEMM, torch_npu)",
)
def linear(call: Call) -> Work | None:
    """``gemm_a16w16(x[M, K], W[N, K], bias, dtype, …)``, ``gemm_a8w8(x, W, x_scale, w_scale, bias,
    dtype)``, ``wvSplitK(W, x, bias, units)``, ``cutlass_scaled_mm(out, A, B[K, N], a_scales, b_scales, bias)``,
    ``f8f8bf16_rowwise(x, W, scales of x, scales of W, bias, …)``.
    """
    form = _FORMS.get(call.name) or next(
        form for name, form in _FORMS.items() if name[-1] == "*" and call.name.startswith(name[:-1])
    )
    x, other, out = call.need(form.x), call.need(form.weight), call.tensor(form.out)
    if not form.as_is:
        if len(other.shape) != 2:
            return None
        strides = None if other.strides is None else other.strides[::-1]
        other = Tensor(other.shape[::-1], other.dtype, strides)
    dtype = scalar_type(call.value(form.dtype)) if out is None else out.dtype
    if not dtype and x.element_bytes == 1:
        dtype = required(form.result or None)
    scales = [call.tensor(index) for index in form.scales]
    return product(x, other, call.tensor(form.bias), *scales, out_dtype=dtype)


@model(
    "gemm",
    *_FOUR_BITS,
    source=SOURCE + "; a byte holds two four-bit floats; scales read once (vLLM, SGLang, AITER)",
)
def four_bits(call: Call) -> Work | None:
    """``gemm_a4w4(x[M, K/2], W[N, K/2], x scales, W scales, …)``, ``cutlass_scaled_fp4_mm(out, A, B, …)``: the result has 16 bits."""
    form = _FOUR_BITS[call.name]
    x, weight, out = call.need(form.x), call.need(form.weight), call.tensor(form.out)
    if len(x.shape) != 2 or len(weight.shape) != 2 or x.shape[1] != weight.shape[1]:
        return None
    (m, half), n = x.shape, weight.shape[0]
    scales = [call.tensor(index) for index in form.scales]
    tensors = [x, weight, *scales, out or Tensor((m, n), form.result)]
    work = matrix_work(4 * m * n * half, x, tensors, {"M": m, "N": n, "K": 2 * half})
    return replace(work, precision="fp4")
