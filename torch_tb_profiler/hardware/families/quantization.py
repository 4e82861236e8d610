"""Quantization to integers and eight-bit floats, and fake quantization."""

from __future__ import annotations

from torch_tb_profiler.hardware.call import Call, Tensor, required
from torch_tb_profiler.hardware.element_types import scalar_type
from torch_tb_profiler.hardware.work import Work, models_beside, per_element, vector_work

modelled = models_beside(__file__)


@modelled
def quantize(call: Call) -> Work | None:
    """``quantize_per_tensor(x, scale, zero_point, dtype)``, ``quantize_per_channel(x, scales,
    zero_points, axis, dtype)``.
    """
    x, dtype = call.need(0), scalar_type(call.value(4 if call.name.endswith("channel") else 3))
    if not dtype:
        return None
    return per_element(4, x, [x, call.tensor(1), call.tensor(2)], [Tensor(x.shape, dtype)])


@modelled
def of_collectives(call: Call) -> Work | None:
    """``FloatToFP8RowwiseQuantized(x, forward)`` and back: each row ends with eight bytes of scale."""
    x = call.need(0)
    if not x.shape:
        return None
    rows, back = "Rowwise" in call.name, call.name.endswith("ToFloat")
    row = x.shape[-1] + (0 if not rows else -8 if back else 8)
    if row < 0:
        return None
    out = Tensor((*x.shape[:-1], row), "float32" if back else "uint8")
    flops = (4 if rows and not back else 2) * (out if back else x).elements
    return vector_work(flops, "float32", [x], [out], {"shape": x.shape})


@modelled
def by_groups(call: Call) -> Work | None:
    """``per_token_group_fp8_quant(x, out, scales, group_size, …)``, ``sgl_per_tensor_quant_fp8(x,
    out, scale, is_static)``.
    """
    x, out, scales = call.need(0), call.need(1), call.need(2)
    if call.name.endswith("sgl_per_tensor_quant_fp8") and call.value(3) is True:
        return per_element(2, x, [x, scales], [out])
    return per_element(4, x, [x], [out, scales])


@modelled
def to_fp4(call: Call) -> Work | None:
    """``scaled_fp4_quant(out, x, scales of blocks, scale of x)``; vLLM returns both in
    ``scaled_fp4_quant(x, scale of x, swizzled)``.
    """
    if call.tensor(2) is None:
        x, scale = call.need(0), call.tensor(1)
        out = Tensor((x.elements // 2,), "uint8")
        return per_element(4, x, [x, scale], [out, Tensor((x.elements // 16,), "uint8")])
    out, x, blocks, scale = call.need(0), call.need(1), call.need(2), call.tensor(3)
    if 2 * out.elements != x.elements:
        # SGLang's attention has an operator of this name with the input first.
        return None
    return per_element(4, x, [x, scale], [out, blocks])


@modelled
def returned_by_groups(call: Call) -> Work | None:
    """``triton_per_token_group_quant_fp8(x, group)``."""
    x, group = call.need(0), call.integer(1)
    if group < 1:
        return None
    scales = Tensor((-(-x.elements // group),), "float32")
    return per_element(4, x, [x], [Tensor(x.shape, "uint8"), scales])


@modelled
def with_scales(call: Call) -> Work | None:
    """``quantize_fp8_per_row(x, …)``, ``quantize_4bit(x, blocksize, …)``, ``quantize_blockwise(x,
    code, blocksize)``.
    """
    x, word = call.need(0), call.name.partition("::")[2]
    if not x.shape:
        return None
    rows = x.elements // max(x.shape[-1], 1)
    scales = {"quantize_fp8_per_tensor": 1, "quantize_fp8_per_col": x.shape[-1]}.get(word, rows)
    if word in ("quantize_4bit", "quantize_blockwise"):
        block = call.integer(1 if word == "quantize_4bit" else 2)
        if block < 1:
            return None
        scales = -(-x.elements // block)
    result = Tensor(((x.elements + 1) // 2 if word == "quantize_4bit" else x.elements,), "uint8")
    return per_element(4, x, [x, call.tensor(1)], [result, Tensor((scales,), "float32")])


@modelled
def from_packed(call: Call) -> Work | None:
    """``dequantize_4bit(x, absmax, blocksize, type, shape, dtype)``, ``dequantize_blockwise(x,
    absmax, code, blocksize, dtype)``, ``int8_mm_dequant(x, row scales, column scales, dtype,
    bias)``, ``int8_vectorwise_dequant(x, scales)``.
    """
    x, word = call.need(0), call.name.partition("::")[2]
    shape = required(call.integers(4)) if word == "dequantize_4bit" else x.shape
    asked = scalar_type(call.value({"dequantize_4bit": 5, "dequantize_blockwise": 4}.get(word, 3)))
    defaults = {"int8_mm_dequant": asked or "float16", "int8_vectorwise_dequant": "float32"}
    out = Tensor(shape, defaults.get(word, asked))
    if not out.dtype:
        return None
    each = 2 if word == "int8_mm_dequant" else 1
    return per_element(each, out, [x, *map(call.tensor, (1, 2, 4))], [out])
