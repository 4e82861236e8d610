"""Shapes and types of results, computed from the inputs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.hardware.call import Tensor
from torch_tb_profiler.hardware.element_types import (
    SCALAR_TYPES,
    element_bytes,
    kind,
    precision,
    scalar_type,
)
from torch_tb_profiler.hardware.results import broadcast, promoted, reduced, windows


@pytest.mark.parametrize(
    ("shapes", "result"),
    [
        ([(4, 5), (5,)], (4, 5)),
        ([(4, 1), (1, 5)], (4, 5)),
        ([(), (3,)], (3,)),
    ],
)
def test_broadcast(shapes: list[tuple[int, ...]], result: tuple[int, ...]) -> None:
    assert broadcast(shapes) == broadcast(reversed(shapes)) == result


def test_what_does_not_broadcast() -> None:
    with pytest.raises(ValueError, match="does not broadcast"):
        broadcast([(4,), (5,)])


def test_reduced() -> None:
    assert reduced((2, 3, 4), None, False) == ()
    assert reduced((2, 3, 4), (), True) == (1, 1, 1)
    assert reduced((2, 3, 4), (0, -1), False) == (3,)
    assert reduced((2, 3, 4), (1,), True) == (2, 1, 4)
    assert reduced((), (0,), False) == ()
    with pytest.raises(ValueError, match="of"):
        reduced((2, 3), (2,), False)


@given(
    st.integers(1, 30),
    st.integers(1, 6),
    st.integers(1, 5),
    st.integers(0, 4),
    st.integers(1, 3),
    st.booleans(),
)
def test_windows_are_those_that_fit(
    length: int, kernel: int, stride: int, padding: int, dilation: int, ceil: bool
) -> None:
    span = dilation * (kernel - 1) + 1
    # As PyTorch asks for.
    padding = min(padding, span // 2)
    starts = [
        start
        for start in range(-padding, length + padding, stride)
        if start + span <= length + padding
    ]
    # PyTorch's ceil_mode: one more where a rest is left, if it begins inside the input or the left
    # padding.
    if ceil and starts and starts[-1] + span < length + padding and starts[-1] + stride < length:
        starts.append(starts[-1] + stride)
    if starts:
        assert windows(length, kernel, stride, padding, dilation, ceil=ceil) == len(starts)
    else:
        with pytest.raises(ValueError, match="no window fits"):
            windows(length, kernel, stride, padding, dilation, ceil=ceil)


@pytest.mark.parametrize(
    ("types", "result"),
    [
        (["float", "c10::Half"], "float"),
        (["c10::Half", "c10::BFloat16"], "float32"),
        (["long int", "c10::Half"], "c10::Half"),
        (["bool", "int"], "int"),
        (["c10::BFloat16"] * 2, "c10::BFloat16"),
        (["float", ""], ""),
        ([], ""),
    ],
)
def test_promoted(types: list[str], result: str) -> None:
    assert promoted([Tensor((2,), name) for name in types]) == result


def test_a_number_decides_only_among_kinds() -> None:
    assert promoted([Tensor((2,), "c10::Half"), Tensor((), "double")]) == "c10::Half"
    assert promoted([Tensor((2,), "long int"), Tensor((), "double")]) == "float32"
    assert promoted([Tensor((2,), "long int"), Tensor((), "c10::Half")]) == "c10::Half"
    assert promoted([Tensor((), "float"), Tensor((), "double")]) == "double"


def test_types_by_number() -> None:
    assert [
        scalar_type(number) for number in (0, 5, 6, 7, 11, 15, 24, 99, -1, None, True, "6")
    ] == [
        "uint8",
        "float16",
        "float32",
        "float64",
        "bool",
        "bfloat16",
        "float8_e4m3fn",
        "",
        "",
        "",
        "",
        "",
    ]
    assert all(element_bytes(name) for name in SCALAR_TYPES)


@pytest.mark.parametrize(
    ("name", "sort", "word"),
    [
        ("c10::BFloat16", "float", "bf16"),
        ("float", "float", "fp32"),
        ("c10::Float8_e4m3fnuz", "float", "fp8"),
        ("c10::Half", "float", "fp16"),
        ("bool", "bool", ""),
        ("long int", "int", ""),
        ("c10::complex<double>", "complex", ""),
        ("torch.float64", "float", "fp64"),
        ("quint8", "int", ""),
        ("Scalar", "", ""),
    ],
)
def test_kinds_and_precisions(name: str, sort: str, word: str) -> None:
    assert (kind(name), precision(name)) == (sort, word)
