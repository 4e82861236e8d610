"""Matrix products with a weight ``W[N, K]``, as vLLM, SGLang and AITER call them."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.element_types import scalar_type
from torch_tb_profiler.hardware.families.gemm import SOURCE, product
from torch_tb_profiler.hardware.work import Work, matrix_work, model, named


class _Form(msgspec.Struct, frozen=True):
    """Argument indices of a schema; −1: no such argument."""

    x: int = 0
    weight: int = 1
    bias: int = -1
    scales: tuple[int, ...] = ()
    dtype: int = -1
    """The type of the result."""
    out: int = -1


_SCALED = _Form(scales=(2, 3), bias=4, dtype=5)
_BLOCKS = _Form(scales=(2, 3), dtype=4)
_BLOCKS_OUT = _Form(scales=(2, 3), out=4)
_FORMS: dict[str, _Form] = {
    "aiter::gemm_a16w16": _Form(bias=2, dtype=3, scales=(4, 5, 6)),
    **dict.fromkeys(named("aiter", "gemm_a8w8 gemm_a8w8_bpreshuffle"), _SCALED),
    **dict.fromkeys(named("vllm", "rocm_aiter_gemm_a8w8 rocm_aiter_gemm_w8a8"), _SCALED),
    **dict.fromkeys(
        named("aiter", "gemm_a8w8_blockscale gemm_a8w8_blockscale_bpreshuffle"), _BLOCKS
    ),
    **dict.fromkeys(
        named("vllm", "rocm_aiter_gemm_a8w8_blockscale rocm_aiter_triton_gemm_a8w8_blockscale"),
        _BLOCKS,
    ),
    "sglang_profiler::fp8_utils_gemm_a8w8_blockscale*": _BLOCKS,
    "sglang_profiler::gemm_a8w8_blockscale_gemm_a8w8_blockscale*": _BLOCKS,
    "sglang_profiler::gemm_kernels_flydsl_hgemm*": _Form(),
    **dict.fromkeys(
        named(
            "aiter",
            "gemm_a8w8_ck gemm_a8w8_bpreshuffle_ck gemm_a8w8_blockscale_ck"
            " gemm_a8w8_blockscale_cktile gemm_a8w8_blockscale_bpreshuffle_ck"
            " gemm_a8w8_blockscale_bpreshuffle_cktile",
        ),
        _BLOCKS_OUT,
    ),
    "aiter::gemm_a16w16_atomic_": _Form(dtype=2),
    "aiter::_gemm_a16w16_asm": _Form(),
    "vllm::w8a8_block_fp8_matmul": _Form(scales=(2, 3), dtype=5),
    "_rocm_C::wvSplitK": _Form(x=1, weight=0, bias=2),
    "_rocm_C::LLMM1": _Form(x=1, weight=0),
}


@model("gemm", *_FORMS, source=SOURCE + "; scales read once (vLLM, SGLang, AITER)")
def linear(call: Call) -> Work | None:
    """``gemm_a16w16(x[M, K], W[N, K], bias, dtype, …)``, ``gemm_a8w8(x, W, x_scale, w_scale, bias,
    dtype)``, ``wvSplitK(W, x, bias, units)``.
    """
    form = _FORMS.get(call.name) or (_Form() if "hgemm" in call.name else _BLOCKS)
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


@model(
    "gemm",
    *named("aiter", "gemm_a4w4 gemm_afp4wfp4_"),
    source=SOURCE + "; a byte holds two four-bit floats; scales of blocks read once (AITER)",
)
def four_bits(call: Call) -> Work | None:
    """``gemm_a4w4(x[M, K/2], W[N, K/2], x scales, W scales, …)``, with a result of 16 bits."""
    x, weight = call.need(0), call.need(1)
    if len(x.shape) != 2 or len(weight.shape) != 2 or x.shape[1] != weight.shape[1]:
        return None
    (m, half), n = x.shape, weight.shape[0]
    tensors = [x, weight, call.tensor(2), call.tensor(3), Tensor((m, n), "bfloat16")]
    work = matrix_work(4 * m * n * half, x, tensors, {"M": m, "N": n, "K": 2 * half})
    return replace(work, precision="fp4")
