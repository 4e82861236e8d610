"""Attention: pairs equal those of an explicit mask; every schema; packed sequences."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hardware.families.attention_schemas import BACKWARD, CAUSAL, KT, QT, K, M, Q
from tests.hardware.families.calls import Argument, unknown, work
from torch_tb_profiler.hardware.families.attention import WHOLE, Window
from torch_tb_profiler.hardware.work import Work

LENGTHS = st.integers(0, 12)
SIDES = st.one_of(st.just(WHOLE), st.integers(0, 14))


def seen(window: Window, queries: int, keys: int) -> int:
    """The pairs of the mask, one by one."""
    offset = keys - queries if window.bottom_right else 0
    return sum(
        i + offset - window.left <= j <= i + offset + window.right
        for i, j in product(range(queries), range(keys))
    )


@given(LENGTHS, LENGTHS, SIDES, SIDES, st.booleans())
def test_pairs_are_those_of_the_mask(
    queries: int, keys: int, left: int, right: int, bottom_right: bool
) -> None:
    window = Window(left, right, bottom_right)
    assert window.pairs(queries, keys) == seen(window, queries, keys)


def test_a_causal_mask_on_the_diagonal_hides_less_than_half() -> None:
    assert Window(right=0).pairs(4, 4) == 10
    # From the top left the last keys are never seen; from the bottom right the first query sees
    # three keys.
    assert Window(right=0).pairs(4, 6) == 10
    assert Window(right=0, bottom_right=True).pairs(4, 6) == 3 + 4 + 5 + 6


def test_full_attention() -> None:
    assert work(
        "aten::_scaled_dot_product_flash_attention(bf16 4x12x197x64, "
        "bf16 4x12x197x64, bf16 4x12x197x64, 0.0, False, False, 0.125)"
    ) == Work(
        4 * 12 * 2 * 197 * 197 * 128,
        2 * 4 * (4 * 12 * 197 * 64),
        "matrix",
        "bf16",
        {"B": 4, "H": 12, "N_q": 197, "N_kv": 197, "d": 64},
    )


def test_groups_of_queries_share_keys() -> None:
    cost = work(
        "aten::scaled_dot_product_attention(fp16 2x8x5x16, fp16 2x2x7x16, "
        "fp16 2x2x7x24, None, 0.0, False, None, True)"
    )
    assert cost.flops == 2 * 8 * 2 * 35 * (16 + 24)
    assert cost.bytes == 2 * (2 * 8 * 5 * 16 + 2 * 2 * 7 * (16 + 24) + 2 * 8 * 5 * 24)
    assert cost.parameters == {"B": 2, "H": 8, "H_kv": 2, "N_q": 5, "N_kv": 7, "d": 16, "d_v": 24}


@pytest.mark.parametrize(
    ("arguments", "bottom_right"),
    CAUSAL,
    ids=lambda value: str(value).partition("(")[0],
)
def test_every_forward_schema(arguments: str, bottom_right: bool) -> None:
    pairs = 3 + 4 + 5 + 6 + 7 if bottom_right else 1 + 2 + 3 + 4 + 5
    cost = work(arguments)
    assert cost.flops == 2 * 2 * 3 * pairs * 16
    assert cost.bytes == 2 * 2 * 3 * 8 * (5 + 7 + 7 + 5)
    assert cost.parameters == {"B": 2, "H": 3, "N_q": 5, "N_kv": 7, "d": 8, "causal": True}


@pytest.mark.parametrize(
    ("arguments", "bottom_right"),
    BACKWARD,
    ids=lambda value: str(value).partition("(")[0],
)
def test_every_backward_schema(arguments: str, bottom_right: bool) -> None:
    pairs = 3 + 4 + 5 + 6 + 7 if bottom_right else 1 + 2 + 3 + 4 + 5
    cost = work(arguments)
    # Five products where the forward has two.
    assert cost.flops == 2 * 2 * 3 * pairs * 5 * 8
    # What the forward kept of each row is in float32.
    assert cost.bytes == 2 * 2 * 3 * 8 * ((5 + 5 + 7 + 7 + 5) + (5 + 7 + 7)) + 4 * 2 * 3 * 5


def test_overloads_with_scales_of_eight_bits() -> None:
    x, scale = "fp8 2x3x5x8", "fp32 2x3"
    cost = work(
        f"aten::_scaled_dot_product_flash_attention({x}, {x}, {x}, {scale}, "
        f"{scale}, {scale}, 0.0, True, False, None)"
    )
    assert (cost.flops, cost.parameters["causal"]) == (2 * 2 * 3 * 15 * 16, True)
    y = "fp8 2x5x3x8"
    wide = work(
        f"aten::_flash_attention_forward({y}, {y}, {y}, None, None, 5, 5, 0.0, "
        f"False, False, {scale}, {scale}, {scale}, None, 1, 0, None, None)"
    )
    # Each query sees its own key and the one before it.
    assert wide.flops == 2 * 2 * 3 * 9 * 16


def test_attention_into_a_given_tensor() -> None:
    y = "bf16 2x5x3x8"
    rest: tuple[Argument, ...] = (None, None, 5, 5, 0.0, True, False, None, None, None, None, None)
    cost = work("aten::_flash_attention_forward_no_dropout_inplace", y, y, y, y, *rest, None, None)
    assert (cost.flops, cost.bytes) == (2 * 2 * 3 * 15 * 16, 2 * 4 * 240)
    # Pages of keys: which of them count, the trace does not tell.
    assert unknown(
        "aten::_flash_attention_forward_no_dropout_inplace", y, y, y, y, *rest, "i32 2x4", None
    )


def test_masks_of_cutlass() -> None:
    q = "fp16 2x5x3x8"
    name, none = "xformers::efficient_attention_forward_cutlass", (None, None, None, None, None)
    assert work(name, q, q, q, *none, 0.0, 1, True, 0.125, None, None).flops == 2 * 2 * 3 * 15 * 16
    assert work(name, q, q, q, *none, 0.0, 0, True, 0.125, None, None).flops == 2 * 2 * 3 * 25 * 16
    assert unknown(name, q, q, q, *none, 0.0, 1, True, 0.125, None, 128)
    # Before PyTorch 2.3 there was no longest key, and a truth value stands where the mask is now.
    assert unknown(
        f"aten::_efficient_attention_forward({q}, {q}, {q}, None, None, None, "
        "None, 0.0, 1, True, None, None, None)"
    )


def test_libraries_around_flash_attention() -> None:
    q = "bf16 2x5x3x8"
    dense: tuple[Argument, ...] = (None, None, None, 5, 5, 0.0, 0.125, True, -1, -1, False, None)
    assert work("xformers_flash::flash_fwd", q, q, q, *dense).flops == 2 * 2 * 3 * 15 * 16
    assert (
        work(
            f"aiter::_flash_attn_forward({q}, {q}, {q}, 0.0, 0.125, True, -1, -1, None, "
            "None, True, False)"
        ).flops
        == 2 * 2 * 3 * 15 * 16
    )


def test_eight_bits_give_sixteen() -> None:
    x = "fp8 1x6x2x64"
    assert work(
        f"flash_attn_3::fwd({x}, {x}, {x}, 20*None, 0.125, False, -1, -1, 0, 0.0, "
        "True, None, 1, None, 0)"
    ).bytes == 768 * (3 + 2)


def test_a_mask_is_read() -> None:
    plain = work(
        f"aten::scaled_dot_product_attention({Q}, {K}, {K}, None, 0.0, False, None, False)"
    )
    masked = work(
        f"aten::scaled_dot_product_attention({Q}, {K}, {K}, {M}, 0.0, False, None, False)"
    )
    assert masked.flops == plain.flops
    assert masked.bytes == (plain.bytes or 0) + 2 * 2 * 3 * 5 * 7


def test_a_window() -> None:
    cost = work(
        "flash_attn::_flash_attn_forward(bf16 1x6x1x8, bf16 1x6x1x8, "
        "bf16 1x6x1x8, 0.0, 0.125, True, 2, 0, 0.0, None, False)"
    )
    assert cost.flops == 2 * (1 + 2 + 3 + 3 + 3 + 3) * 16
    assert cost.parameters["window"] == (2, 0)


def varlen(tokens: int, sequences: int, longest: int, *, causal: bool = False) -> Work:
    x = f"bf16 {tokens}x2x8"
    return work(
        f"flash_attn::_flash_attn_varlen_forward({x}, {x}, {x}, "
        f"i32 {sequences + 1}, i32 {sequences + 1}, {longest}, {longest}, 0.0, "
        f"0.125, {causal}, -1, -1)"
    )


def test_sequences_of_one_length_are_known() -> None:
    cost = varlen(30, 3, 10)
    assert cost.flops == 2 * 2 * 300 * 16
    assert "lengths" not in cost.parameters


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.booleans())
def test_sequences_of_several_lengths_need_at_least_that(lengths: list[int], causal: bool) -> None:
    cost = varlen(sum(lengths), len(lengths), max(lengths), causal=causal)
    true = 2 * 2 * sum(n * (n + 1) // 2 if causal else n * n for n in lengths) * 16
    assert cost.flops <= true
    # No less than equal lengths would need.
    assert cost.flops * len(lengths) >= 2 * 2 * (sum(lengths) ** 2 // (2 if causal else 1)) * 16
    if "lengths" not in cost.parameters:
        assert cost.flops == true


def test_what_is_not_recorded_is_unknown() -> None:
    assert unknown(
        f"aten::scaled_dot_product_attention({Q}, {K}, {K}, None, None, None, None, None)"
    )
    assert unknown(
        "flash_attn::_flash_attn_varlen_forward(bf16 30x2x8, bf16 99x2x8, "
        "bf16 99x2x8, i32 4, i32 4, 20, 60, 0.0, 0.125, False, -1, -1)"
    )
    used: tuple[Argument, ...] = (True, False, None, None, None, "i32 2")
    assert unknown("aten::_flash_attention_forward", QT, KT, KT, None, None, 5, 7, 0.0, *used)
    assert not unknown(
        "aten::_flash_attention_forward", QT, KT, KT, None, None, 5, 7, 0.0, *used[:-1], None
    )
    # A cache in pages: the lengths are nowhere.
    assert unknown(
        "flash_attn::_flash_attn_varlen_forward(bf16 30x2x8, bf16 99x16x2x8, "
        "bf16 99x16x2x8, i32 4, i32 4, 20, 60, 0.0, 0.125, False)"
    )
    assert unknown(
        f"aten::_scaled_dot_product_flash_attention({Q}, bf16 2x2x7x8, "
        "bf16 2x2x7x8, 0.0, False, False, None)"
    )
