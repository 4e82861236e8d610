"""Activations of inference servers: fused with a product, and with quantization."""

from __future__ import annotations

from torch_tb_profiler.hardware.call import Call
from torch_tb_profiler.hardware.work import Work, models_beside, vector_work

modelled = models_beside(__file__)


@modelled
def activation(call: Call) -> Work | None:
    """``gelu_new(out, x)``."""
    out, x = call.need(0), call.need(1)
    return vector_work(x.elements, x.dtype, [x], [out], {"shape": out.shape})


@modelled
def gated(call: Call) -> Work | None:
    """``silu_and_mul(out, x)``: x holds gate and value side by side."""
    out, x = call.need(0), call.need(1)
    return vector_work(2 * out.elements, x.dtype, [x], [out], {"shape": out.shape})


@modelled
def clamped(call: Call) -> Work | None:
    """``swigluoai_and_mul(out, x, alpha, limit)``: ``(up + 1)·gate·σ(α·gate)``, both limited."""
    out, x = call.need(0), call.need(1)
    return vector_work(6 * out.elements, x.dtype, [x], [out], {"shape": out.shape})


@modelled
def gated_to_eight_bits(call: Call) -> Work | None:
    """``silu_and_mul_quant(out, x, scale)``, ``silu_and_mul_per_block_quant(out, x, scales, …)``."""
    out, x, scale = call.need(0), call.need(1), call.tensor(2)
    blocks = "per_block" in call.name
    read, written = ([x], [out, scale]) if blocks else ([x, scale], [out])
    flops = (6 if blocks else 4) * out.elements
    return vector_work(flops, x.dtype, read, written, {"shape": out.shape})


@modelled
def gated_to_fp4(call: Call) -> Work | None:
    """``silu_and_mul_nvfp4_quant(out[…, N/2], scales of blocks, x[…, 2·N], scale)``."""
    out, blocks, x, scale = call.need(0), call.need(1), call.need(2), call.tensor(3)
    flops = 6 * (x.elements // 2)
    return vector_work(flops, x.dtype, [x, scale], [out, blocks], {"shape": out.shape})
