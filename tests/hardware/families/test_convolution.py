"""Convolutions: FLOPs counted product by product, sizes by PyTorch's formula, requested gradients."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.hardware.families.calls import unknown, work
from torch_tb_profiler.hardware.work import Work

SIZES = st.tuples(*[st.integers(1, 4)] * 2)


def products(x: tuple[int, ...], weight: tuple[int, ...], out: tuple[int, ...], groups: int) -> int:
    """Products of a convolution one by one: output positions, and the weights that each one needs."""
    count = 0
    for _, channel, *_place in itertools.product(*(range(n) for n in out)):
        for read in range(x[1]):
            # A channel reads those of its group.
            if read // (x[1] // groups) == channel // (out[1] // groups):
                count += weight[2] * weight[3]
    return count


@given(
    batch=st.integers(1, 2),
    groups=st.integers(1, 3),
    channels=SIZES,
    length=st.tuples(*[st.integers(1, 7)] * 2),
    kernel=SIZES,
    stride=SIZES,
    padding=SIZES,
    dilation=SIZES,
)
def test_flops_are_two_per_product(
    batch: int,
    groups: int,
    channels: tuple[int, int],
    length: tuple[int, int],
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int],
) -> None:
    ends = tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(length, kernel, stride, padding, dilation, strict=True)
    )
    assume(
        all(
            n + 2 * p >= d * (k - 1) + 1
            for n, k, p, d in zip(length, kernel, padding, dilation, strict=True)
        )
    )
    x, weight = (batch, channels[0] * groups, *length), (channels[1] * groups, channels[0], *kernel)
    out = (batch, weight[0], *ends)
    cost = work(
        "aten::convolution",
        _text(x),
        _text(weight),
        None,
        list(stride),
        list(padding),
        list(dilation),
        False,
        [0, 0],
        groups,
    )
    assert cost.flops == 2 * products(x, weight, out, groups)
    assert (cost.parameters["P"], cost.parameters["Q"]) == ends
    # Each gradient multiplies the same pairs: of dy with the weight, of dy with x.
    for asked, times in (
        ([True, False, False], 1),
        ([False, True, False], 1),
        ([True, True, False], 2),
    ):
        geometry = (list(stride), list(padding), list(dilation), False, [0, 0], groups)
        backward = work(
            "aten::convolution_backward", _text(out), _text(x), _text(weight), [0], *geometry, asked
        )
        assert backward.flops == times * cost.flops


def _text(shape: tuple[int, ...]) -> str:
    return "fp32 " + "x".join(str(n) for n in shape)


def test_the_first_layer_of_resnet() -> None:
    cost = work(
        "aten::cudnn_convolution(bf16 32x3x224x224, bf16 64x3x7x7, [3, 3], "
        "[2, 2], [1, 1], 1, False, False, True)"
    )
    assert cost == Work(
        2 * 32 * 64 * 112 * 112 * 3 * 49,
        2 * (32 * 3 * 224 * 224 + 64 * 3 * 49 + 32 * 64 * 112 * 112),
        "matrix",
        "bf16",
        {
            "N": 32,
            "C": 3,
            "H": 224,
            "W": 224,
            "K": 64,
            "R": 7,
            "S": 7,
            "P": 112,
            "Q": 112,
            "groups": 1,
            "stride": (2, 2),
        },
    )


SIDES = "fp16 2x4x9x8, fp16 6x2x3x3"
SAME = [
    f"aten::convolution({SIDES}, None, [2, 1], [1, 1], [1, 2], False, [0, 0], 2)",
    (
        f"aten::_convolution({SIDES}, None, [2, 1], [1, 1], [1, 2], False, [0, 0], 2, False, "
        "False, True, True)"
    ),
    f"aten::conv2d({SIDES}, None, [2, 1], [1, 1], [1, 2], 2)",
    f"aten::cudnn_convolution({SIDES}, [1, 1], [2, 1], [1, 2], 2, False, False, True)",
    f"aten::miopen_convolution({SIDES}, None, [1, 1], [2, 1], [1, 2], 2, False, False)",
    f"aten::_conv_depthwise2d({SIDES}, [3, 3], None, [2, 1], [1, 1], [1, 2])",
]


@pytest.mark.parametrize("arguments", SAME, ids=lambda arguments: arguments.partition("(")[0])
def test_every_schema_says_the_same(arguments: str) -> None:
    cost = work(arguments)
    assert (
        cost.flops,
        cost.parameters["P"],
        cost.parameters["Q"],
        cost.parameters["groups"],
    ) == (2 * 2 * 6 * 5 * 6 * 2 * 9, 5, 6, 2)


def test_transposed_ones_count_the_places_of_the_input() -> None:
    cost = work(
        "aten::convolution(fp32 2x6x11x9, fp32 6x2x3x3, fp32 4, [3, 3], [1, 1], "
        "[1, 1], True, [2, 2], 2)"
    )
    assert cost.flops == 2 * (2 * 6 * 99) * (2 * 9) + 2 * 4 * 33 * 27
    assert (cost.parameters["K"], cost.parameters["P"], cost.parameters["Q"]) == (4, 33, 27)
    assert (
        work(
            "aten::conv_transpose2d(fp32 2x6x11x9, fp32 6x2x3x3, fp32 4, [3, 3], [1, 1], "
            "[2, 2], 2, [1, 1])"
        )
        == cost
    )
    assert work(
        "aten::cudnn_convolution_transpose(fp32 2x6x11x9, fp32 6x2x3x3, [1, 1], "
        "[2, 2], [3, 3], [1, 1], 2, False, False, True)"
    ).flops == 2 * (2 * 6 * 99) * (2 * 9)
    asked = [True, True, True]
    backward = work(
        "aten::convolution_backward(fp32 2x4x33x27, fp32 2x6x11x9, "
        f"fp32 6x2x3x3, [4], [3, 3], [1, 1], [1, 1], True, [2, 2], 2, {asked})"
    )
    assert backward.flops - backward.bias_flops == 2 * (cost.flops - cost.bias_flops)


def test_a_gradient_that_is_not_asked_for_costs_nothing() -> None:
    arguments = (
        "bf16 2x8x6x6",
        "bf16 2x4x6x6",
        "bf16 8x4x3x3",
        [8],
        [1, 1],
        [1, 1],
        [1, 1],
        False,
        [0, 0],
        1,
    )
    x, weight, gradient, one = 288, 288, 576, 2 * 576 * 36
    everything = work("aten::convolution_backward", *arguments, [True, True, True])
    assert everything.flops == 2 * one + gradient
    assert everything.bytes == 2 * (gradient + x + weight + x + weight + 8)
    first_layer = work("aten::convolution_backward", *arguments, [False, True, False])
    assert (first_layer.flops, first_layer.bytes) == (one, 2 * (gradient + x + weight))
    assert unknown("aten::convolution_backward", *arguments, None)


def test_one_and_three_dimensions_and_no_batch() -> None:
    line = work("aten::conv1d(fp32 3x9, fp32 5x3x2, None, [1], [0], [1], 1)")
    assert (line.flops, line.parameters) == (
        2 * 5 * 8 * 6,
        {"N": 1, "C": 3, "W": 9, "K": 5, "S": 2, "Q": 8, "groups": 1, "stride": (1,)},
    )
    assert (
        work(
            "aten::conv3d(fp32 1x2x4x5x6, fp32 3x2x2x2x2, None, [1, 1, 1], [0, 0, 0], [1, 1, 1], 1)"
        ).flops
        == 2 * 3 * 3 * 4 * 5 * 16
    )


def test_without_strides_nothing_is_known() -> None:
    # PyTorch before 2.0 recorded shapes without values; "same" is recorded by none.
    assert unknown("aten::conv2d(fp32 2x4x9x8, fp32 6x4x3x3, None, None, None, None, None)")
    assert unknown(
        "aten::cudnn_convolution_backward(fp32 2x4x9x8, fp32 2x6x7x6, "
        "fp32 6x4x3x3, None, None, None, None, None, None, None, None)"
    )


def test_the_halves_of_the_old_backward() -> None:
    cost = work(
        "aten::cudnn_convolution_backward_input(None, fp32 2x6x7x6, fp32 6x4x3x3, "
        "None, None, None, None, None, None, None)"
    )
    assert (cost.flops, cost.bytes) == (2 * (2 * 6 * 42) * 36, None)
    sized = work(
        "aten::cudnn_convolution_backward_weight([6, 4, 3, 3], fp32 2x6x7x6, "
        "fp32 2x4x9x8, [0, 0], [1, 1], [1, 1], 1, False, False, True)"
    )
    assert (sized.flops, sized.bytes) == (cost.flops, 4 * (504 + 576 + 216))
    geometry = ([0, 0], [1, 1], [1, 1], 1, False, False, True)
    whole = work(
        "aten::cudnn_convolution_backward",
        "fp32 2x4x9x8",
        "fp32 2x6x7x6",
        "fp32 6x4x3x3",
        *geometry,
        [True, True],
    )
    assert whole.flops == 2 * cost.flops


def test_what_cannot_be_a_convolution_is_unknown() -> None:
    assert unknown("aten::conv2d(fp32 2x4x2x2, fp32 6x4x5x5, None, [1, 1], [0, 0], [1, 1], 1)")
    assert unknown("aten::conv2d(fp32 2x4x9x8, fp32 6x3x3x3, None, [1, 1], [0, 0], [1, 1], 1)")
    assert unknown("aten::conv2d(fp32 2x4x9x8, fp32 6x4x3x3, None, [0, 1], [0, 0], [1, 1], 1)")
