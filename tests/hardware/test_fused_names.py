"""What the names of compiled kernels say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.hardware.aten_names import ATEN_NAMES
from torch_tb_profiler.hardware.fused_names import LONGEST, fused_name, split_functions


@pytest.mark.parametrize(
    ("name", "backend", "kind", "functions"),
    [
        ("triton_poi_fused_add_relu_0", "triton", "pointwise", "add relu"),
        ("triton_red_fused_add_mean_mul_12", "triton", "reduction", "add mean mul"),
        ("triton_per_fused__softmax_1", "triton", "persistent reduction", "_softmax"),
        ("triton_tem_fused__to_copy_mm_relu_t_5", "triton", "template", "_to_copy mm relu t"),
        (
            "triton_tem_fused_flex_attention_backward_zeros_2",
            "triton",
            "template",
            "flex_attention_backward zeros",
        ),
        ("triton_mm_17", "triton", "template", "mm"),
        ("triton_convolution2d_4", "triton", "template", "convolution"),
        ("triton_flex_attention_0", "triton", "template", "flex_attention"),
        ("triton_for_fused_3", "triton", "foreach", ""),
        ("extern_kernels.mm", "extern", "", "mm"),
        ("aten.mm.default", "extern", "", "mm"),
        ("torch.ops.mylib.foo.default", "extern", "", "foo"),
    ],
)
def test_parts_of_a_name(name: str, backend: str, kind: str, functions: str) -> None:
    fused = fused_name(name)
    assert fused is not None
    assert (fused.backend, fused.kind, " ".join(fused.functions)) == (backend, kind, functions)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "aten::mm",
        "triton_",
        "triton_silu_and_mul_kernel",
        "triton_softmax_kernel",
    ],
)
def test_other_kernels(name: str) -> None:
    assert fused_name(name) is None


@pytest.mark.parametrize(
    ("words", "functions"),
    [
        ("_unsafe_view_add_mean_mul_pow_rsqrt", "_unsafe_view add mean mul pow rsqrt"),
        ("_softmax__softmax_backward_data_add", "_softmax _softmax_backward_data add"),
        ("_unsafe_index_put_index_put", "_unsafe_index_put index_put"),
        (
            "native_layer_norm_native_layer_norm_backward",
            "native_layer_norm native_layer_norm_backward",
        ),
        # mean cannot follow var: what inductor joins ascends.
        ("sub_sum_var_mean", "sub sum var_mean"),
        ("relu_add", "relu add"),
        ("add__", "add__"),
        ("", ""),
    ],
)
def test_names_joined_by_underscores(words: str, functions: str) -> None:
    assert " ".join(split_functions(words)) == functions


@given(st.lists(st.sampled_from(sorted(ATEN_NAMES)), unique=True, max_size=12))
def test_known_functions_are_all_known_again(names: list[str]) -> None:
    words = "_".join(sorted(names))
    functions = split_functions(words)
    assert "_".join(functions) == words
    assert set(functions) <= ATEN_NAMES
    assert len(functions) <= len(names)


@given(st.text("_abd01 .", max_size=60))
def test_no_text_raises_or_is_lost(words: str) -> None:
    assert "_".join(split_functions(words)) == words


def test_a_name_without_end_is_read_to_a_limit() -> None:
    fused = fused_name("triton_poi_fused" + "_x" * LONGEST)
    assert fused is not None
    assert len("_".join(fused.functions)) <= LONGEST
