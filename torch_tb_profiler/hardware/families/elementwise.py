"""Elementwise functions and their gradients, with broadcasting, in place, and into ``out``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from torch_tb_profiler.data_rows import rows_beside
from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.element_types import kind
from torch_tb_profiler.hardware.results import broadcast, promoted
from torch_tb_profiler.hardware.work import (
    Work,
    described,
    model,
    models_beside,
    operators,
    per_element,
    vector_work,
)

modelled = models_beside(__file__)

SOURCE = (
    "one FLOP per function and output element (TraceLens); operands read once, the result written"
    " once"
)
Result = Literal["promoted", "bool", "float", "double"]


class _Function(msgspec.Struct, frozen=True):
    """``arity``: arguments before ``out``; ``each``: FLOPs per element of the result.

    ``typed``: indices of the tensors that decide the type (empty: all); ``numbers``: indices where a
    plain number does, too.
    """

    arity: int
    each: int = 1
    result: Result = "promoted"
    typed: tuple[int, ...] = ()
    numbers: tuple[int, ...] = ()


_ROWS, *_ = rows_beside(__file__)
_FUNCTIONS = described(_ROWS["function"], _Function)
_WITH_FACTOR = operators("aten: add(_) sub(_) subtract(_) rsub")


@model("elementwise", *_FUNCTIONS, source=SOURCE)
def elementwise(call: Call) -> Work | None:
    """Any elementwise function: the tensors among its arguments are the operands."""
    function, described = _FUNCTIONS[call.name], _described(call)
    if described is None:
        return None
    own, operands, computed, result = described
    each = function.each + (own.name in _WITH_FACTOR and own.value(2) not in (None, 1))
    return vector_work(
        each * result.elements, computed, operands, [result], shown(result.shape, operands)
    )


def _described(call: Call) -> tuple[Call, list[Tensor], str, Tensor] | None:
    """The call with its own arguments, its operands, in which type it computes, and its result."""
    function = _FUNCTIONS[call.name]
    own = _own(call, function.arity)
    if own is None:
        return None
    call = own
    operands = [tensor for i in range(function.arity) if (tensor := call.tensor(i)) is not None]
    if not operands or (call.name == "aten::where" and len(call.inputs) == 1):
        # where(condition) alone returns positions; the data decide how many.
        return None
    typed = function.typed or range(function.arity)
    deciding = [tensor for i in typed if (tensor := call.tensor(i)) is not None]
    computed = promoted(deciding)
    if not deciding or kind(computed) in ("int", "bool"):
        computed = _with_numbers(computed, [call.value(i) for i in function.numbers])
    if function.result == "double":
        computed = "float64"
    elif function.result == "float" and kind(computed) in ("int", "bool"):
        computed = "float32"
    shape = broadcast(tensor.shape for tensor in operands)
    result = Tensor(shape, "bool" if function.result == "bool" else computed)
    out = call.last(function.arity)
    if _in_place(call.name):
        result = operands[0]
    elif out is not None:
        result = Tensor(shape, out.dtype, out.strides if out.shape == shape else None)
    return call, operands, computed, result


def _in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def operands_and_result(call: Call) -> tuple[tuple[Tensor, ...], Tensor] | None:
    """The tensors that an elementwise call reads, and its result; None of any other call, and of one
    that writes to a tensor that it was given.
    """
    if call.name not in _FUNCTIONS or _in_place(call.name):
        return None
    try:
        described = _described(call)
    except ValueError:
        return None
    if described is None or described[0].last(_FUNCTIONS[call.name].arity) is not None:
        return None
    return tuple(described[1]), described[3]


_SEVERAL = frozenset(
    f"aten::{word}{ending}"
    for word in ("div", "divide", "true_divide", "round", "isclose", "gelu", "gelu_backward")
    for ending in ("", "_")
)
"""Functions with overloads of different arity."""


def _own(call: Call, arity: int) -> Call | None:
    """The call with its own arguments: PyTorch before 1.13 recorded the whole TorchScript stack."""
    if len(call.inputs) <= arity + 1 or (call.name in _SEVERAL and len(call.inputs) <= 5):
        return call
    if call.name in _SEVERAL:
        return None
    return Call(call.name, call.inputs[-arity:], call.values[-arity:])


def _with_numbers(dtype: str, numbers: list[object]) -> str:
    """The element type with plain numbers: one of a higher kind brings its kind's default type."""
    if any(isinstance(number, float) for number in numbers):
        return "float32"
    if kind(dtype) != "int" and any(
        isinstance(number, int) and not isinstance(number, bool) for number in numbers
    ):
        return "int64"
    return dtype or ("bool" if any(isinstance(number, bool) for number in numbers) else "")


def shown(shape: tuple[int, ...], operands: list[Tensor]) -> Mapping[str, object]:
    """Parameters of an elementwise function: the result's shape, and that of a broadcast operand."""
    others = [tensor.shape for tensor in operands if tensor.shape != shape and tensor.shape]
    return {"shape": shape} | ({"broadcast": others[0]} if others else {})


def flops_of(name: str) -> int:
    """FLOPs per element of a function, with or without ``aten::``; 1 if unknown."""
    function = _FUNCTIONS.get(name if "::" in name else f"aten::{name}")
    return 1 if function is None else function.each


def knows(name: str) -> bool:
    """Whether ``aten::<name>`` is an elementwise function."""
    return f"aten::{name}" in _FUNCTIONS


@modelled
def rescaled(call: Call) -> Work | None:
    """``_transform_bias_rescale_qkv(qkv, bias, heads)``, before the attention of a fused encoder
    layer.
    """
    qkv, bias = call.need(0), call.tensor(1)
    flops = qkv.elements + qkv.elements // 3
    return vector_work(flops, qkv.dtype, [qkv, bias], [qkv.dense], {"shape": qkv.shape})


@modelled
def dropout(call: Call) -> Work | None:
    """``native_dropout(x, p, train)`` returns the result and the mask."""
    x = call.need(0)
    if call.name == "aten::native_dropout" and call.value(2) is False:
        return None
    return per_element(2, x, [x], [x.dense, Tensor(x.shape, "bool")])
