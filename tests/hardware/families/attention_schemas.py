"""A call of every schema of attention with a causal mask, and whether the mask ends at the bottom right."""

from __future__ import annotations

Q, K, M = "bf16 2x3x5x8", "bf16 2x3x7x8", "bf16 2x3x5x7"
QT, KT = "bf16 2x5x3x8", "bf16 2x7x3x8"
STATS, SEED = "fp32 2x3x5", "i64 "
CAUSAL: list[tuple[str, bool]] = [
    (f"aten::scaled_dot_product_attention({Q}, {K}, {K}, None, 0.0, True, None, False)", False),
    ((f"aten::_scaled_dot_product_flash_attention({Q}, {K}, {K}, 0.0, True, False, None)"), False),
    (
        (
            f"aten::_scaled_dot_product_flash_attention_for_cpu({Q}, {K}, {K}, 0.0, True, "
            "None, None)"
        ),
        False,
    ),
    (
        (
            f"aten::_scaled_dot_product_efficient_attention({Q}, {K}, {K}, None, True, "
            "0.0, True, None)"
        ),
        False,
    ),
    (
        (
            f"aten::_scaled_dot_product_cudnn_attention({Q}, {K}, {K}, None, True, 0.0, "
            "True, False, None)"
        ),
        False,
    ),
    (
        (
            f"aten::_scaled_dot_product_fused_attention_overrideable({Q}, {K}, {K}, None, "
            "0.0, True, False, None)"
        ),
        False,
    ),
    (
        (
            f"aten::_flash_attention_forward({QT}, {KT}, {KT}, None, None, 5, 7, 0.0, "
            "True, False, None, None, None)"
        ),
        True,
    ),
    (
        (
            f"aten::_efficient_attention_forward({QT}, {KT}, {KT}, None, None, None, "
            "None, None, 0.0, 1, True, None)"
        ),
        False,
    ),
    (
        (
            f"aten::_efficient_attention_forward({QT}, {KT}, {KT}, None, None, None, "
            "None, None, 0.0, 2, True, None)"
        ),
        True,
    ),
    (
        (
            f"aten::_cudnn_attention_forward({Q}, {K}, {K}, None, None, None, 5, 7, True, "
            "0.0, True, False, None)"
        ),
        False,
    ),
    (
        (
            f"flash_attn::_flash_attn_forward({QT}, {KT}, {KT}, 0.0, 0.125, True, -1, -1, "
            "0.0, None, False)"
        ),
        True,
    ),
    (
        (
            f"flash_attn_3::_flash_attn_forward({QT}, {KT}, {KT}, 20*None, 0.125, True, "
            "-1, -1, 0, 0.0, True, None, 1, None, 0)"
        ),
        True,
    ),
]
BACKWARD: list[tuple[str, bool]] = [
    (
        (
            f"aten::_scaled_dot_product_flash_attention_backward({Q}, {Q}, {K}, {K}, {Q}, "
            f"{STATS}, None, None, 5, 7, 0.0, True, {SEED}, {SEED}, None)"
        ),
        False,
    ),
    (
        (
            f"aten::_scaled_dot_product_flash_attention_for_cpu_backward({Q}, {Q}, {K}, "
            f"{K}, {Q}, {STATS}, 0.0, True, None, None)"
        ),
        False,
    ),
    (
        (
            f"aten::_scaled_dot_product_efficient_attention_backward({Q}, {Q}, {K}, {K}, "
            f"None, {Q}, {STATS}, {SEED}, {SEED}, 0.0, [True, True, True, False], True, "
            "None)"
        ),
        False,
    ),
    (
        (
            f"aten::_scaled_dot_product_cudnn_attention_backward({Q}, {Q}, {K}, {K}, {Q}, "
            f"{STATS}, {SEED}, {SEED}, None, None, None, 5, 7, 0.0, True, None)"
        ),
        False,
    ),
    (
        (
            f"aten::_flash_attention_backward({QT}, {QT}, {KT}, {KT}, {QT}, {STATS}, "
            f"None, None, 5, 7, 0.0, True, {SEED}, {SEED}, None, None, None)"
        ),
        True,
    ),
    (
        (
            f"aten::_efficient_attention_backward({QT}, {QT}, {KT}, {KT}, None, {QT}, "
            f"None, None, 5, 7, {STATS}, 0.0, {SEED}, {SEED}, 1, False, None)"
        ),
        False,
    ),
    (
        (
            f"aten::_cudnn_attention_backward({Q}, {Q}, {K}, {K}, {Q}, {STATS}, {SEED}, "
            f"{SEED}, None, None, None, 5, 7, 0.0, True, None)"
        ),
        False,
    ),
    (
        (
            f"flash_attn::_flash_attn_backward({QT}, {QT}, {KT}, {KT}, {QT}, {STATS}, "
            f"{QT}, {KT}, {KT}, 0.0, 0.125, True, -1, -1, 0.0, None, False, None)"
        ),
        True,
    ),
    (
        (
            f"flash_attn_3::_flash_attn_backward({QT}, {QT}, {KT}, {KT}, {QT}, {STATS}, "
            f"6*None, {QT}, {KT}, {KT}, 0.125, True, -1, -1, 0.0, False, 0)"
        ),
        True,
    ),
    (
        (
            f"flash_attn_3::bwd({QT}, {QT}, {KT}, {KT}, {QT}, {STATS}, {QT}, {KT}, {KT}, "
            "6*None, 0.125, True, -1, -1, 0.0, False, 0)"
        ),
        True,
    ),
]
