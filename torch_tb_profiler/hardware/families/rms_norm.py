"""RMS norm: PyTorch's, and what inference servers fuse around it (residual, quantization)."""

from __future__ import annotations

import math

import msgspec

from torch_tb_profiler.data_rows import rows_beside
from torch_tb_profiler.hardware.call import Call, Tensor, required
from torch_tb_profiler.hardware.work import (
    Work,
    described,
    model,
    models_beside,
    per_element,
    vector_work,
)

modelled = models_beside(__file__)

_RMS = (
    "TraceLens: 2 FLOPs per element (1 without a weight), 2 per element for the mean of squares and"
    " 2 per row; input, weight and output once"
)
_ADDED = _RMS + "; 1 more per element for the residual, read and written too"
_QUANTIZED = (
    _RMS
    + "; 2 more per element to scale and clamp, 2 for a dynamic scale, 1 for a smoothing one, 1 for a"
    " residual, which is read and written too (vLLM, AITER)"
)
_GEMMA = "; 1 per element of the weight where 1 is added to it (Gemma)"


class _Form(msgspec.Struct, frozen=True):
    """Argument indices of a schema; -1: no such argument, or the result is returned."""

    x: int
    weight: int
    out: int = -1
    residual: int = -1
    sum: int = -1
    """The residual's sum with the input."""
    given: int = -1
    """A scale that is read: of the result, or of the input (``smooths``)."""
    made: int = -1
    """Scales that are written."""


_ROWS, *_ = rows_beside(__file__)
_PLAIN_FORMS, _ADDED_FORMS, _QUANTIZED_FORMS = (
    described(_ROWS[key], _Form) for key in ("plain", "added", "quantized")
)


@modelled
def rms_norm(call: Call) -> Work | None:
    """``rms_norm(x, normalized_shape, weight, eps)``."""
    x, weight = call.need(0), call.tensor(2)
    shape = call.integers(1) or (weight.shape if weight is not None else None)
    if not shape:
        return None
    return _rms(x, math.prod(shape), weight, [x], [x.dense])


@model("normalization", *_PLAIN_FORMS, source=_RMS + " (vLLM, SGLang, AITER, FlashInfer)" + _GEMMA)
def served_rms_norm(call: Call) -> Work | None:
    """``rms_norm(out, x, weight, eps)``; ``rms_norm(x, weight, eps)`` of AITER."""
    return _fused(call, _PLAIN_FORMS[call.name])


@model("normalization", *_ADDED_FORMS, source=_ADDED + _GEMMA)
def added_rms_norm(call: Call) -> Work | None:
    """``fused_add_rms_norm(x, residual, weight, eps)``, in place; ``rmsnorm2d_fwd_with_add(out, x,
    residual, sum, weight, eps)`` of AITER.
    """
    return _fused(call, _ADDED_FORMS[call.name])


@model("normalization", *_QUANTIZED_FORMS, source=_QUANTIZED)
def quantized_rms_norm(call: Call) -> Work | None:
    """``rms_norm_static_fp8_quant(out, x, weight, scale, eps)``, ``fused_add_…(out, x, residual, …)``,
    ``rms_norm_dynamic_per_token_quant(out, x, weight, scales, eps, upper bound, residual)``;
    ``rmsnorm2d_fwd_with_add_smoothquant(out, x, residual, sum, x scale, scales, weight, eps)`` and
    its shorter forms of AITER.
    """
    return _fused(call, _QUANTIZED_FORMS[call.name])


@modelled
def grouped_rms_norm(call: Call) -> Work | None:
    """``rocm_aiter_rmsnorm_with_add_fp8_group_quant(x, residual, weight, eps, group)`` returns the
    quantized result, its float32 scales and the sum.
    """
    added = "with_add" in call.name
    x, residual = call.need(0), call.need(1) if added else None
    weight, group = call.need(1 + added), call.integer(3 + added)
    if group < 1:
        return None
    scales = Tensor((x.elements // max(x.shape[-1], 1) * -(-x.shape[-1] // group),), "float32")
    total = x.dense if added else None
    written = [Tensor(x.shape, "float8_e4m3fn"), scales, total]
    return _rms(x, x.shape[-1], weight, [x, residual], written, (4 + added) * x.elements)


@modelled
def padded_rms_norm(call: Call) -> Work | None:
    """``rocm_aiter_triton_add_rmsnorm_pad(x, weight, eps, residual, multiple)``: rows of the result
    are filled up with zeros.
    """
    x, weight, residual, multiple = call.need(0), call.need(1), call.need(3), call.integer(4)
    row = x.shape[-1]
    if multiple > 0:
        row = -(-row // multiple) * multiple
    out = Tensor((*x.shape[:-1], row), x.dtype)
    return _rms(x, x.shape[-1], weight, [x, residual], [out, x.dense], x.elements)


def _fused(call: Call, form: _Form) -> Work | None:
    x, weight = call.need(form.x), call.tensor(form.weight)
    given, made = call.tensor(form.given), call.tensor(form.made)
    residual = call.tensor(form.residual)
    each = 0 if residual is None else 1
    if made is not None:
        each += 4 if given is None else 5
    elif given is not None:
        each += 2
    extra = each * x.elements
    if weight is not None and "gemma" in call.name:
        extra += weight.elements
    out = call.tensor(form.out) or x.dense
    total = None if residual is None else call.tensor(form.sum) or x.dense
    return _rms(x, x.shape[-1], weight, [x, residual, given], [out, total, made], extra)


@modelled
def npu_rms_norm(call: Call) -> Work | None:
    """``npu_rms_norm(x, weight, eps)``."""
    x, weight = call.need(0), call.need(1)
    return _rms(x, weight.elements, weight, [x], [x.dense])


@modelled
def rms_norm_backward(call: Call) -> Work | None:
    """``_fused_rms_norm_backward(dy, x, normalized_shape, rstd, weight, output_mask)``."""
    gradient, x, weight, asked = (
        call.need(0),
        call.need(1),
        call.tensor(4),
        required(call.flags(5, 2)),
    )
    gradients = [
        t.dense for t, wanted in zip((x, weight), asked, strict=True) if wanted and t is not None
    ]
    return per_element(
        6 * asked[0] + 2 * asked[1], x, [gradient, x, call.tensor(3), weight], gradients
    )


def _rms(
    x: Tensor,
    channels: int,
    weight: Tensor | None,
    read: list[Tensor | None],
    written: list[Tensor | None],
    extra: int = 0,
) -> Work | None:
    rows = x.elements // max(channels, 1)
    flops = rows * (2 * channels + 2) + x.elements * (2 if weight is not None else 1) + extra
    return vector_work(
        flops, x.dtype, [*read, weight], written, {"shape": x.shape, "channels": channels}
    )
