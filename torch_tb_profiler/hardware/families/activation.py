"""Activations of inference servers: fused with a product, and with quantization."""

from __future__ import annotations

from torch_tb_profiler.hardware.call import Call
from torch_tb_profiler.hardware.work import Work, model, named, vector_work

_GATED = "silu_and_mul gelu_and_mul gelu_tanh_and_mul"


@model(
    "elementwise",
    *named("_C", "gelu_new gelu_fast gelu_quick relu_squared"),
    "sgl_kernel::gelu_quick",
    "aiter::gelu_fast",
    source="one FLOP per element (vLLM, SGLang, AITER)",
)
def activation(call: Call) -> Work | None:
    """``gelu_new(out, x)``."""
    out, x = call.need(0), call.need(1)
    return vector_work(x.elements, x.dtype, [x], [out], {"shape": out.shape})


@model(
    "elementwise",
    *(
        name
        for library in ("_C", "sgl_kernel", "aiter", "flashinfer")
        for name in named(library, _GATED)
    ),
    "_moe_C::silu_and_mul",
    *named("_C", "mul_and_silu fatrelu_and_mul"),
    source=(
        "two FLOPs per element of the result: the activation and the product (vLLM, SGLang, AITER,"
        " FlashInfer)"
    ),
)
def gated(call: Call) -> Work | None:
    """``silu_and_mul(out, x)``: x holds gate and value side by side."""
    out, x = call.need(0), call.need(1)
    return vector_work(2 * out.elements, x.dtype, [x], [out], {"shape": out.shape})


@model(
    "elementwise",
    "_C::swigluoai_and_mul",
    source=(
        "six FLOPs per element of the result: two clamps, the gate's factor, the sigmoid with its"
        " product, one added, the product (vLLM)"
    ),
)
def clamped(call: Call) -> Work | None:
    """``swigluoai_and_mul(out, x, alpha, limit)``: ``(up + 1)·gate·σ(α·gate)``, both limited."""
    out, x = call.need(0), call.need(1)
    return vector_work(6 * out.elements, x.dtype, [x], [out], {"shape": out.shape})


@model(
    "elementwise",
    *named("_C", "silu_and_mul_quant silu_and_mul_per_block_quant"),
    "aiter::scaled_silu_and_mul",
    source=(
        "four FLOPs per element of the result: the activation, the product, scale, clamp; two more"
        " (magnitude, maximum) for scales of blocks, which are written (vLLM, AITER)"
    ),
)
def gated_to_eight_bits(call: Call) -> Work | None:
    """``silu_and_mul_quant(out, x, scale)``, ``silu_and_mul_per_block_quant(out, x, scales, …)``."""
    out, x, scale = call.need(0), call.need(1), call.tensor(2)
    blocks = "per_block" in call.name
    read, written = ([x], [out, scale]) if blocks else ([x, scale], [out])
    flops = (6 if blocks else 4) * out.elements
    return vector_work(flops, x.dtype, read, written, {"shape": out.shape})


@model(
    "elementwise",
    "_C::silu_and_mul_nvfp4_quant",
    source=(
        "six FLOPs per element of the result: the activation, the product, magnitude, maximum, scale,"
        " clamp; input and its scale read, the result and scales of blocks written (vLLM)"
    ),
)
def gated_to_fp4(call: Call) -> Work | None:
    """``silu_and_mul_nvfp4_quant(out[…, N/2], scales of blocks, x[…, 2·N], scale)``."""
    out, blocks, x, scale = call.need(0), call.need(1), call.need(2), call.tensor(3)
    flops = 6 * (x.elements // 2)
    return vector_work(flops, x.dtype, [x, scale], [out, blocks], {"shape": out.shape})
