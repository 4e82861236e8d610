"""Elementwise functions and their gradients, with broadcasting, in place, and into ``out``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.element_types import kind
from torch_tb_profiler.hardware.results import broadcast, promoted
from torch_tb_profiler.hardware.work import Work, model, named, per_element, vector_work

SOURCE = (
    "one FLOP per function and output element (TraceLens); operands read once, the result written"
    " once"
)
_DROPOUT = "two FLOPs per element (comparison, scaling); the mask is a boolean per element"
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


def _named(words: str, function: _Function, *, in_place: bool = True) -> dict[str, _Function]:
    return {
        f"aten::{word}{ending}": function
        for word in words.split()
        for ending in ("", "_")[: 1 + in_place]
    }


_FLOAT_UNARY = (
    "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan arcsin arccos arctan"
    " sinh cosh tanh asinh acosh atanh sigmoid erf erfc erfinv lgamma digamma sinc i0 reciprocal"
    " deg2rad rad2deg mvlgamma"
)
_SPECIAL_WORDS = (
    "expit erf erfc erfcx exp2 expm1 log1p entr i0 i0e i1 i1e ndtr ndtri log_ndtr airy_ai"
    " bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 modified_bessel_i1"
    " modified_bessel_k0 modified_bessel_k1 spherical_bessel_j0 scaled_modified_bessel_k0"
    " scaled_modified_bessel_k1"
)
_SPECIAL = " ".join(f"special_{word}" for word in _SPECIAL_WORDS.split())
_UNARY = (
    "abs absolute neg negative ceil floor round trunc fix frac sign sgn square relu relu6 silu mish"
    " hardswish hardsigmoid selu conj_physical"
)
_BINARY = (
    "mul multiply floor_divide remainder fmod hypot nextafter heaviside bitwise_and bitwise_or"
    " bitwise_xor bitwise_left_shift bitwise_right_shift pow gcd lcm"
)
_COMPARISON = (
    "eq ne lt le gt ge not_equal less less_equal greater greater_equal logical_and logical_or"
    " logical_xor"
)
_FUNCTIONS: dict[str, _Function] = {
    **_named(_FLOAT_UNARY, _Function(1, result="float")),
    **_named(f"{_SPECIAL} angle", _Function(1, result="float"), in_place=False),
    **_named(f"{_UNARY} bitwise_not", _Function(1)),
    **_named("log_sigmoid log_sigmoid_forward", _Function(1), in_place=False),
    **_named("logical_not", _Function(1, result="bool")),
    **_named(
        "isnan isinf isfinite isposinf isneginf signbit",
        _Function(1, result="bool"),
        in_place=False,
    ),
    **_named("logit", _Function(2, result="float")),
    **_named("gelu leaky_relu celu", _Function(2)),
    **_named("clamp_min clamp_max", _Function(2, numbers=(1,))),
    **_named("hardshrink softshrink _prelu_kernel prelu", _Function(2), in_place=False),
    **_named("clamp clip", _Function(3, numbers=(1, 2))),
    **_named("hardtanh threshold", _Function(3)),
    **_named("softplus", _Function(3), in_place=False),
    **_named("elu nan_to_num", _Function(4)),
    **_named(_BINARY, _Function(2, numbers=(0, 1))),
    **_named("float_power", _Function(2, result="double")),
    **_named(
        "maximum minimum fmax fmin logaddexp logaddexp2 __and__ __or__ __xor__ __lshift__"
        " __rshift__ __iand__ __ior__ __ixor__ __ilshift__ __irshift__",
        _Function(2, numbers=(1,)),
        in_place=False,
    ),
    **_named(
        "div divide true_divide atan2 arctan2 xlogy copysign igamma igammac polygamma",
        _Function(2, result="float", numbers=(0, 1)),
    ),
    **_named(
        "special_xlogy special_xlog1py special_zeta",
        _Function(2, result="float", numbers=(0, 1)),
        in_place=False,
    ),
    **_named("add sub subtract", _Function(3, numbers=(1,))),
    **_named("rsub", _Function(3, numbers=(1,)), in_place=False),
    **_named(_COMPARISON, _Function(2, result="bool", numbers=(1,))),
    **_named("isclose", _Function(2, result="bool"), in_place=False),
    # Product, factor, sum; difference, factor, sum.
    **_named("addcmul addcdiv", _Function(4, each=3)),
    **_named("lerp", _Function(3, each=3)),
    **_named("where", _Function(3, each=0, typed=(1, 2), numbers=(1, 2)), in_place=False),
    **_named("masked_fill", _Function(3, each=0, typed=(0,))),
    **_named(
        "silu_backward mish_backward sigmoid_backward tanh_backward hardswish_backward"
        " hardsigmoid_backward",
        _Function(2),
        in_place=False,
    ),
    **_named(
        "threshold_backward gelu_backward logit_backward hardshrink_backward softshrink_backward"
        " log_sigmoid_backward",
        _Function(3),
        in_place=False,
    ),
    **_named(
        "leaky_relu_backward hardtanh_backward softplus_backward", _Function(4), in_place=False
    ),
    **_named("elu_backward", _Function(6), in_place=False),
}
_WITH_FACTOR = named("aten", "add sub subtract rsub add_ sub_ subtract_")


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


@model(
    "elementwise",
    "aten::glu",
    "npu::npu_swiglu",
    source="two FLOPs per element of the result: a sigmoid (SiLU) and a product",
)
def glu(call: Call) -> Work | None:
    """``glu(x, dim)``, ``npu_swiglu(x, dim)`` of torch_npu: one half gates the other."""
    x = call.need(0)
    return per_element(1, x, [x], [Tensor((x.elements // 2,), x.dtype)])


@model(
    "elementwise",
    "aten::glu_backward",
    source="three FLOPs per element of dx: the sigmoid again, its derivative, the product",
)
def glu_backward(call: Call) -> Work | None:
    """``glu_backward(dy, x, dim)``."""
    gradient, x = call.need(0), call.need(1)
    return per_element(3, x, [gradient, x], [x.dense])


@model(
    "elementwise",
    "aten::_prelu_kernel_backward",
    source="two FLOPs per element (comparison, product); both gradients have x's shape",
)
def prelu_backward(call: Call) -> Work | None:
    """``_prelu_kernel_backward(dy, x, weight)``: the weight's gradient is summed up afterwards."""
    gradient, x, weight = call.need(0), call.need(1), call.tensor(2)
    return per_element(2, x, [gradient, x, weight], [x.dense] * 2)


@model(
    "elementwise",
    "aten::_transform_bias_rescale_qkv",
    source=(
        "1 FLOP per element for the bias, 1 more per element of the queries; all read and written"
        " once"
    ),
)
def rescaled(call: Call) -> Work | None:
    """``_transform_bias_rescale_qkv(qkv, bias, heads)``, before the attention of a fused encoder
    layer.
    """
    qkv, bias = call.need(0), call.tensor(1)
    flops = qkv.elements + qkv.elements // 3
    return vector_work(flops, qkv.dtype, [qkv, bias], [qkv.dense], {"shape": qkv.shape})


@model("dropout", "aten::native_dropout", "aten::_fused_dropout", source=_DROPOUT)
def dropout(call: Call) -> Work | None:
    """``native_dropout(x, p, train)`` returns the result and the mask."""
    x = call.need(0)
    if call.name == "aten::native_dropout" and call.value(2) is False:
        return None
    return per_element(2, x, [x], [x.dense, Tensor(x.shape, "bool")])


@model("dropout", "aten::native_dropout_backward", "aten::_masked_scale", source=_DROPOUT)
def dropout_backward(call: Call) -> Work | None:
    """``native_dropout_backward(dy, mask, scale)``."""
    gradient, mask = call.need(0), call.need(1)
    return per_element(2, gradient, [gradient, mask], [gradient.dense])
