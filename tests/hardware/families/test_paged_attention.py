"""Attention of inference servers: work from the sums in the annotation of the server's step."""

from __future__ import annotations

import pytest

from tests.hardware.families.calls import Argument, call, unknown, work
from torch_tb_profiler.hardware.work import modelled, work_of

# Two prompts, 3 new of 5 keys and 4 of 4, and two requests that generate, with 6 and 10 keys.
MIXED = "execute_9_context_2(sq7sk9sqsq25sqsk31)_generation_2(sq2sk16sqsq2sqsk16)"
DECODE = "execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk16sqsq2sqsk16)"
PREFILL = "execute_7_context_2(sq7sk9sqsq25sqsk31)_generation_0(sq0sk0sqsq0sqsk0)"
# Three tokens are verified for each of two requests, with 6 and 10 keys.
SPECULATIVE = "execute_6_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq6sk16sqsq18sqsk48)"
# 3 of 5 keys: 3 + 4 + 5; 4 of 4: 1 + 2 + 3 + 4; one query each: 6 + 10.
PROMPTS, GENERATED = 12 + 10, 16
LAYER = "vllm::unified_attention_with_output"
Q, K = "bf16 9x4x8", "bf16 9x2x8"
FA3 = "3*None, bf16 9x4x8, i32 5, 3*None, i32 4, 4, 10, i32 4x2"


def flash_3(q: str, *, causal: bool = True, left: int = -1, pages: str = "") -> str:
    cache = pages or "bf16 30x16x2x8"
    mask = f"{causal}, {left}, {0 if causal else -1}"
    return (
        f"_vllm_fa3_C::fwd({q}, 2*{cache}, {FA3}, 8*None, 0.3, {mask}, 0.0, True, None, 0, None, 0)"
    )


def test_every_pair_below_the_diagonal_counts() -> None:
    cost = work(LAYER, Q, K, K, Q, None, step=MIXED)
    assert cost.flops == 2 * (PROMPTS + GENERATED) * 4 * (8 + 8)
    # Queries and results of nine tokens, keys and values of 25.
    assert cost.bytes == 2 * (2 * 9 * 4 * 8 + 2 * 25 * 2 * 8)
    assert cost.unit == "matrix"
    assert cost.parameters == {"H": 4, "H_kv": 2, "d": 8}


def test_verified_tokens_see_each_other_only_backwards() -> None:
    cost = work(LAYER, "bf16 6x4x8", "bf16 6x2x8", "bf16 6x2x8", "bf16 6x4x8", step=SPECULATIVE)
    # Of 6 keys the three see 4, 5 and 6; of 10 keys 8, 9 and 10.
    assert cost.flops == 2 * (4 + 5 + 6 + 8 + 9 + 10) * 4 * 16


def test_a_prompt_of_its_own_is_counted_as_by_pytorch() -> None:
    """As ``scaled_dot_product_attention`` with a causal mask."""
    one = "execute_5_context_1(sq5sk5sqsq25sqsk25)_generation_0(sq0sk0sqsq0sqsk0)"
    served = work(LAYER, "bf16 5x4x8", "bf16 5x4x8", "bf16 5x4x8", "bf16 5x4x8", step=one)
    plain = work("aten::scaled_dot_product_attention(3*bf16 1x4x5x8, None, 0.0, True, None, False)")
    assert (served.flops, served.bytes) == (plain.flops, plain.bytes)


def test_the_batch_is_padded() -> None:
    padded = work(LAYER, "bf16 16x4x8", "bf16 16x2x8", "bf16 16x2x8", "bf16 16x4x8", step=MIXED)
    exact = work(LAYER, Q, K, K, Q, step=MIXED)
    assert (padded.flops, padded.bytes) == (exact.flops, exact.bytes)


@pytest.mark.parametrize(
    ("tokens", "pairs", "keys"), [(7, PROMPTS, 9), (2, GENERATED, 16)], ids=["prompts", "others"]
)
def test_a_kernel_for_each_kind(tokens: int, pairs: int, keys: int) -> None:
    cost = work(flash_3(f"bf16 {tokens}x4x8"), step=MIXED)
    assert cost.flops == 2 * pairs * 4 * 16
    assert cost.bytes == 2 * (2 * tokens * 4 * 8 + 2 * keys * 2 * 8)


def test_rows_that_are_nobodys_are_unknown() -> None:
    assert unknown(flash_3("bf16 5x4x8"), step=MIXED)
    # Both kinds have as many tokens.
    same = "execute_4_context_1(sq2sk2sqsq4sqsk4)_generation_2(sq2sk16sqsq2sqsk16)"
    assert unknown(flash_3("bf16 2x4x8"), step=same)


def test_an_eight_bit_cache_is_read_as_such() -> None:
    cost = work(LAYER, "fp8 9x4x8", K, K, Q, step=MIXED)
    assert cost.bytes == 9 * 4 * 8 + 2 * 9 * 4 * 8 + 2 * 25 * 2 * 8
    assert cost.precision == "fp8"


def test_heads_that_are_not_told_apart() -> None:
    """SGLang flattens query and result; vLLM's first form returns the result."""
    flat = work(
        f"sglang::unified_attention_with_output(bf16 9x32, {K}, {K}, bf16 9x32, True, 0)",
        step=MIXED,
    )
    returned = work("vllm::unified_attention(bf16 9x32, bf16 9x16, bf16 9x16)", step=MIXED)
    told = work(LAYER, Q, K, K, Q, step=MIXED)
    assert flat.flops == returned.flops == told.flops
    assert flat.bytes == returned.bytes == told.bytes
    assert "H" not in flat.parameters


SHAPES = "bf16 30x2x1x16x8, bf16 30x2x8x16"
DECODES = [
    f"_C::paged_attention_v1(bf16 2x4x8, bf16 2x4x8, {SHAPES}, 2, 0.3)",
    (
        "_C::paged_attention_v2(bf16 2x4x8, fp32 2x4x1, fp32 2x4x1, bf16 2x4x1x8, "
        f"bf16 2x4x8, {SHAPES}, 2)"
    ),
    (
        "_rocm_C::paged_attention(bf16 2x4x8, fp32 2x4x1, fp32 2x4x1, bf16 2x4x1x8, "
        f"bf16 2x4x8, {SHAPES}, 2)"
    ),
    f"aiter::pa_fwd_asm(bf16 2x4x8, {SHAPES}, i32 2x9, i32 2)",
    (
        "aiter::paged_attention_ragged(bf16 2x4x8, u8 999, bf16 2x4x8, bf16 30x1x2x8, "
        "bf16 30x1x2x8, 0.3)"
    ),
    (
        "sglang_profiler::attention_paged_attention_ragged_100(bf16 2x4x8, u8 999, "
        "bf16 2x4x8, bf16 30x1x2x8, bf16 30x1x2x8, None)"
    ),
    (
        "flashinfer::batch_decode_with_kv_cache_dtype_q_bf16_head_dim_8_run(u8 999, "
        "u8 999, [1, 2], bf16 2x4x8, bf16 30x16x2x8, bf16 30x16x2x8, i32 3, i32 9, "
        "i32 2, bf16 2x4x8, None, 0, -1)"
    ),
    flash_3("bf16 2x4x8"),
    (
        "_vllm_fa2_C::varlen_fwd(bf16 2x4x8, bf16 30x16x2x8, bf16 30x16x2x8, bf16 2x4x8, "
        "i32 3, i32 3, i32 2, None, i32 2x9, None, 1, 10, 0.0, 0.3, False, True, -1, -1, "
        "0.0, False, 0)"
    ),
    (
        "aiter::mha_batch_prefill(bf16 2x4x8, bf16 30x2x8, bf16 30x2x8, i32 3, i32 3, "
        "i32 16, 1, 10, 0.0, 0.3, 0.0, False, True, -1, -1, False, False)"
    ),
]


@pytest.mark.parametrize(
    "arguments", DECODES, ids=[case.partition("(")[0][:40] for case in DECODES]
)
def test_every_schema(arguments: str) -> None:
    cost = work(arguments, step=DECODE)
    assert cost.flops == 2 * 16 * 4 * 16
    assert cost.bytes == 2 * (2 * 2 * 4 * 8 + 2 * 16 * 2 * 8)
    assert unknown(arguments)
    assert unknown(arguments, step="execute_context_0(0)_generation_2(2)")


LATENTS = [
    "_C::sm100_cutlass_mla_decode(bf16 2x4x16, fp32 2x4, bf16 2x4x16, bf16 2x4x8, bf16 30x16x24)",
    "sgl_kernel::cutlass_mla_decode(bf16 2x4x16, bf16 2x4x16, bf16 2x4x8, bf16 30x16x24)",
    "_flashmla_C::fwd_kvcache_mla(bf16 2x1x4x24, bf16 30x16x1x24, 16, i32 2, i32 2x9)",
]


@pytest.mark.parametrize("arguments", LATENTS, ids=[case.partition("(")[0] for case in LATENTS])
def test_latent_attention_reads_its_cache_once(arguments: str) -> None:
    cost = work(arguments, step=MIXED)
    assert cost.flops == 2 * 16 * 4 * (24 + 16)
    assert cost.bytes == 2 * (2 * 4 * 24 + 16 * 24 + 2 * 4 * 16)


def test_a_window_bounds_what_is_seen() -> None:
    cost = work(flash_3("bf16 2x4x8", left=4), step=DECODE)
    # Five keys of each: the fifth before last is the first.
    assert cost.flops == 2 * 10 * 4 * 16
    assert cost.bytes == 2 * (2 * 2 * 4 * 8 + 2 * 10 * 2 * 8)
    assert cost.parameters["lengths"] == "not recorded: FLOPs are the most possible"
    # Longer than all keys together, it hides nothing.
    long = work(flash_3("bf16 2x4x8", left=400), step=DECODE)
    assert long.flops == 2 * GENERATED * 4 * 16


def test_without_a_mask_all_pairs_count() -> None:
    cost = work(flash_3("bf16 7x4x8", causal=False), step=PREFILL)
    assert cost.flops == 2 * 31 * 4 * 16


def test_prompts_without_a_cache_are_exact() -> None:
    """Lengths 3 and 4 are known from their squares: 6 + 10 pairs."""
    call = (
        "flash_attn::_flash_attn_varlen_forward("
        "3*bf16 7x4x8, i32 3, i32 3, 4, 4, 0.0, 0.3, "
        "True, -1, -1, 0.0, None, False, None)"
    )
    assert work(call, step=PREFILL).flops == 2 * 16 * 4 * 16
    assert "lengths" in work(call).parameters


VARLEN: tuple[Argument, ...] = ("bf16 7x4x8", "bf16 7x4x8", "bf16 7x4x8", "i32 3", "i32 3", 4, 4)
CACHED: tuple[Argument, ...] = ("bf16 7x4x8", "bf16 9x4x8", "bf16 9x4x8", "i32 3", "i32 3", 4, 5)
OLDER: tuple[Argument, ...] = (0.0, 0.3, False, True, -1, -1, False, False, None)
NEWER: tuple[Argument, ...] = (0, 0.0, 0.3, 0.0, False, True, -1, -1, 0, False, False, None)
V3: tuple[Argument, ...] = (0, 0.0, 0.3, 0.0, False, True, -1, -1, False, False, 1, None)


@pytest.mark.parametrize("rest", [OLDER, NEWER], ids=["older", "newer"])
def test_versions_of_aiter(rest: tuple[Argument, ...]) -> None:
    """Prompts of 3 and 4 tokens: with themselves, with 5 and 4 keys, and with pages."""
    name = "aiter::mha_varlen_fwd"
    assert work(name, *VARLEN, *rest, None, step=PREFILL).flops == 2 * 16 * 4 * 16
    assert work(name, *CACHED, *rest, None, step=PREFILL).flops == 2 * PROMPTS * 4 * 16
    assert unknown(name, *CACHED, *rest, None)
    pages: tuple[Argument, ...] = ("bf16 7x4x8", *["bf16 30x16x4x8"] * 2, "i32 3", None, 4, 5)
    paged = work(name, *pages, *rest, "i32 2x9", step=PREFILL)
    assert paged.flops == 2 * PROMPTS * 4 * 16


def test_the_third_of_aiter() -> None:
    name = "aiter::fmha_v3_varlen_fwd"
    assert work(name, *CACHED, *V3, None, step=PREFILL).flops == 2 * PROMPTS * 4 * 16
    assert unknown(name, *CACHED, None, None, True, step=PREFILL)


def test_a_window_of_aiter_counts_its_own_key() -> None:
    call = f"aiter::pa_decode_gluon(2*bf16 2x4x8, {SHAPES}, 15*None)"
    assert work(call, 5, step=DECODE).flops == 2 * 10 * 4 * 16
    assert work(call, -1, step=DECODE).flops == 2 * GENERATED * 4 * 16


def test_halves_are_merged() -> None:
    state: tuple[Argument, ...] = ("bf16 7x4x8", "fp32 7x4")
    cost = work("sgl_kernel::merge_state", *state * 3)
    assert (cost.flops, cost.bytes) == (3 * 224, 3 * (2 * 224 + 4 * 28))


@pytest.mark.parametrize(
    "annotation",
    [
        # More queries than keys, fewer squares than queries, more pairs than there can be.
        "execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk1sqsq2sqsk2)",
        "execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk16sqsq1sqsk16)",
        "execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk16sqsq2sqsk99)",
        f"execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq{'9' * 30}sk16sqsq2sqsk16)",
        "execute_0_context_0(sq0sk0sqsq0sqsk0)_generation_0(sq0sk0sqsq0sqsk0)",
        "ProfilerStep#3",
    ],
)
def test_impossible_sums_are_unknown(annotation: str) -> None:
    assert unknown(flash_3("bf16 2x4x8"), step=annotation)


@pytest.mark.parametrize(
    "arguments",
    [
        # Heads of the query that no head of the key serves; other widths; no pages.
        flash_3("bf16 2x3x8"),
        "_C::paged_attention_v1(bf16 2x4x8, bf16 2x4x8, bf16 30x2, bf16 30x2, 2, 0.3)",
        "_C::paged_attention_v1(bf16 2x4x8, bf16 2x4x8, 2*bf16 30x0x1x16x8, 2, 0.3)",
        f"{LAYER}(bf16 2x4x8, None, None, bf16 2x4x8)",
        (
            "sgl_kernel::fwd_kvcache_mla(bf16 2x1x4x24, bf16 30x16x1x24, 16, i32 2, "
            "i32 2x9, 0.3, True, i32 2, i32 3, False, i32 2x1x64)"
        ),
    ],
)
def test_what_the_call_does_not_tell(arguments: str) -> None:
    assert unknown(arguments, step=DECODE)


def test_only_models_of_a_step_read_it() -> None:
    """Other calls are one workload in all steps."""
    of_step = {name for name, entry in modelled().items() if entry.of_step}
    assert {LAYER, "_vllm_fa3_C::fwd"} <= of_step
    assert not [name for name in of_step if name.startswith("aten::")]
    others = (
        call("aten::mm(bf16 4x5, bf16 5x6)"),
        call("aten::mm(bf16 4x5, bf16 5x6)", step=MIXED),
    )
    assert work_of(others[0]) == work_of(others[1])
