"""Quantisation: to integers, to eight-bit floats, and the rehearsal of it in training."""

from __future__ import annotations

from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.element_types import scalar_type
from torch_tb_profiler.hardware.work import Work, model, vector_work

_QUANTIZE = "4 FLOPs per element: scale, round, shift, clamp; input, scales and zero points read once, result written once"
_FAKE = "6 FLOPs per element: scale, round, shift, clamp, shift and scale back; with a mask a truth value per element"


@model("quantization", "aten::quantize_per_tensor", "aten::quantize_per_channel", source=_QUANTIZE)
def quantize(call: Call) -> Work | None:
    """``quantize_per_tensor(x, scale, zero_point, dtype)``, ``quantize_per_channel(x, scales, zero_points, axis, dtype)``."""
    x, dtype = call.tensor(0), scalar_type(call.value(4 if call.name.endswith("channel") else 3))
    if x is None or not dtype:
        return None
    return vector_work(4 * x.elements, x.dtype, [x, call.tensor(1), call.tensor(2)], [Tensor(x.shape, dtype)], {"shape": x.shape})


@model("quantization", "aten::dequantize", source="2 FLOPs per element: shift and scale; input read, float32 written once")
def dequantize(call: Call) -> Work | None:
    """``dequantize(x)``."""
    x = call.tensor(0)
    return None if x is None else vector_work(2 * x.elements, "float32", [x], [Tensor(x.shape, "float32")], {"shape": x.shape})


@model("quantization", "aten::fake_quantize_per_tensor_affine_cachemask", "aten::fake_quantize_per_channel_affine_cachemask",
       "aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", "aten::_fake_quantize_learnable_per_tensor_affine",
       "aten::_fake_quantize_learnable_per_channel_affine", source=_FAKE)
def fake(call: Call) -> Work | None:
    """``fake_quantize_per_tensor_affine_cachemask(x, scale, zero_point, …)`` gives the result and the mask of what was not clamped."""
    x = call.tensor(0)
    if x is None:
        return None
    mask = Tensor(x.shape, "bool") if "cachemask" in call.name else None
    return vector_work(6 * x.elements, x.dtype, [x, call.tensor(1), call.tensor(2)], [Tensor(x.shape, x.dtype), mask], {"shape": x.shape})


@model("quantization", "aten::_fused_moving_avg_obs_fq_helper", "aten::fused_moving_avg_obs_fake_quant", source=_FAKE + "; 2 more for the extremes")
def observed(call: Call) -> Work | None:
    """``_fused_moving_avg_obs_fq_helper(x, …)``: extremes, moving averages, fake quantisation."""
    x = call.tensor(0)
    if x is None:
        return None
    return vector_work(8 * x.elements, x.dtype, [x], [Tensor(x.shape, x.dtype), Tensor(x.shape, "bool")], {"shape": x.shape})


@model("quantization", "_C::static_scaled_fp8_quant", "_C::dynamic_scaled_fp8_quant", "_C::dynamic_per_token_scaled_fp8_quant", "_C::static_scaled_int8_quant",
       source="2 FLOPs per element (scale, clamp), 2 more (magnitude, maximum) for a dynamic scale; input read, result and scales once (vLLM)")
def scaled(call: Call) -> Work | None:
    """``static_scaled_fp8_quant(out, x, scale)``, ``dynamic_…(out, x, scale written)``."""
    out, x, scale = (call.tensor(place) for place in range(3))
    if out is None or x is None:
        return None
    dynamic = "dynamic" in call.name
    return vector_work((4 if dynamic else 2) * x.elements, x.dtype, [x, None if dynamic else scale], [out, scale if dynamic else None], {"shape": x.shape})


@model("quantization", "fbgemm::FloatToHFP8Quantized", "fbgemm::FloatToFP8RowwiseQuantized", "fbgemm::HFP8QuantizedToFloat",
       "fbgemm::FP8RowwiseQuantizedToFloat",
       source="2 FLOPs per element (scale, clamp), 2 more (magnitude, maximum) for the scale of a row; input read, result written once (FBGEMM)")
def of_collectives(call: Call) -> Work | None:
    """``FloatToFP8RowwiseQuantized(x, forward)`` and back: a row of bytes ends with its scale in eight more."""
    x = call.tensor(0)
    if x is None or not x.shape:
        return None
    rows, back = "Rowwise" in call.name, call.name.endswith("ToFloat")
    row = x.shape[-1] + (0 if not rows else -8 if back else 8)
    if row < 0:
        return None
    out = Tensor((*x.shape[:-1], row), "float32" if back else "uint8")
    elements = (out if back else x).elements
    return vector_work((4 if rows and not back else 2) * elements, "float32", [x], [out], {"shape": x.shape})
