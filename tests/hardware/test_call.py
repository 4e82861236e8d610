"""Calls as recorded: tensors, values, lists, old versions, and invalid ones."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.hardware.call import Call, Tensor, moved, read_call

ADDMM = (
    "aten::addmm",
    "[[768],[788,768],[768,768],[],[]]",
    '["c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar","Scalar"]',
    "[[1],[768,1],[1,768],[],[]]",
    '["","","","1","0.5"]',
)


def read(
    dims: object, types: object = None, strides: object = None, concrete: object = None
) -> Call:
    call = read_call(
        "aten::it",
        *("" if part is None else json.dumps(part) for part in (dims, types, strides, concrete)),
    )
    assert call is not None
    return call


def test_tensors_and_values() -> None:
    call = read_call(*ADDMM)
    assert call is not None
    assert call.tensor(1) == Tensor((788, 768), "c10::BFloat16", (768, 1))
    assert [call.tensor(i) is None for i in range(6)] == [
        False,
        False,
        False,
        True,
        True,
        True,
    ]
    assert (call.value(3), call.value(4), call.value(0), call.value(9)) == (1, 0.5, None, None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("0.", 0.0),
        ("-2.", -2.0),
        ("[2., 0.5, -3.]", [2.0, 0.5, -3.0]),
        ("1.e-05", "1.e-05"),
        ("1e-05", 1e-05),
        ("1.0000000000000001e-05", 1.0000000000000001e-05),
        ("True", True),
        ("False", False),
        ("None", None),
        ("", None),
        ("[1, 2]", [1, 2]),
        ("[]", []),
        ("[True, False]", [True, False]),
        ("same", "same"),
        ("inf", "inf"),
        ("[1,", "[1,"),
        ("9" * 400, None),
    ],
)
def test_values(text: str, value: object) -> None:
    found = read([[]], ["Scalar"], None, [text]).value(0)
    if len(text) < 400:
        assert found == value
        assert type(found) is type(value)


def test_integers_and_flags() -> None:
    call = read(
        [[]] * 6,
        ["ScalarList"] * 6,
        None,
        ["[2, 3]", "2", "[True, True, False]", "True", "2.5", ""],
    )
    assert [call.integers(i) for i in range(6)] == [(2, 3), (2,), None, None, None, None]
    assert call.integers(1, 2) == (2, 2)
    assert call.integers(0, 3) is None
    assert call.flags(2, 3) == (True, True, False)
    assert call.flags(2, 2) is None
    assert call.flags(0, 2) is None


def test_a_tensor_of_no_dimensions_has_a_type_of_its_own() -> None:
    call = read([[], [], [], [], []], ["float", "Scalar", "", "Int", "long int"])
    assert [call.tensor(i) for i in range(5)] == [
        Tensor((), "float"),
        None,
        None,
        None,
        Tensor((), "long int"),
    ]


def test_lists_of_tensors() -> None:
    call = read([[[4, 5], [], [7]], [[1]]], ["TensorList", ["float"]], [[[5, 1], [], [1]], [[1]]])
    assert call.tensors(0) == (
        Tensor((4, 5), "", (5, 1)),
        Tensor((), "", ()),
        Tensor((7,), "", (1,)),
    )
    assert call.tensors(1) == (Tensor((1,), "float", (1,)),)
    assert call.tensor(0) is None
    assert call.tensors(2) is None


def test_what_was_not_recorded() -> None:
    call = read([[4, 5]])
    assert (call.tensor(0), call.recorded) == (Tensor((4, 5)), False)
    assert (Tensor((4, 5)).bytes, moved(Tensor((4, 5)), Tensor((1,), "float"))) == (None, None)
    assert read_call("aten::it", "") is None
    assert read_call("aten::it", "no json") is None
    assert read_call("aten::it", '{"a": 1}') is None


@pytest.mark.parametrize("dims", [[[-1, 2]], [[1.5]], [["4"]], [[1 << 50]], ["4"], [None], [4]])
def test_what_is_no_shape(dims: list[object]) -> None:
    assert read(dims, ["float"]).tensor(0) is None


def test_strides_that_do_not_fit_are_not_recorded() -> None:
    assert read([[4, 5]], ["float"], [[5]]).tensor(0) == Tensor((4, 5), "float")


@pytest.mark.parametrize(
    ("tensor", "stored"),
    [
        (Tensor((4, 5), "float", (5, 1)), 20),
        (Tensor((4, 5), "float", (0, 1)), 5),
        (Tensor((4, 5), "float", (0, 0)), 1),
        (Tensor((4, 0), "float", (0, 1)), 0),
        # Windows of three, one apart: six numbers in all.
        (Tensor((4, 3), "float", (1, 1)), 6),
        (Tensor((4, 5), "float", (10, 2)), 20),
        (Tensor((), "float", ()), 1),
        (Tensor((4, 5), "float"), 20),
    ],
)
def test_what_a_tensor_takes_in_memory(tensor: Tensor, stored: int) -> None:
    assert (tensor.stored, tensor.bytes) == (stored, 4 * stored)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=12,
    )
)
def test_any_json_is_read_or_refused(value: object) -> None:
    text = json.dumps(value)
    for texts in ((text, "", "", ""), ("[[2,3],[]]", text, text, text)):
        call = read_call("aten::it", *texts)
        if call is not None:
            for i in range(4):
                (
                    call.tensor(i),
                    call.tensors(i),
                    call.value(i),
                    call.integers(i, 2),
                    call.flags(i, 3),
                    call.last(1),
                )
