"""One distinct call of an operator as recorded: the inputs that decide how much work it is.

``Input Dims``, ``Input type``, ``Input Strides`` and ``Concrete Inputs`` have one entry per argument
of the operator's schema::

    aten::addmm   dims [[768],[788,768],[768,768],[],[]]   types ["c10::BFloat16", …, "Scalar","Scalar"]   concrete ["","","","1","1"]
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from torch_tb_profiler.hardware.element_types import element_bytes
from torch_tb_profiler.hardware.server_steps import ServerStep, server_step
from torch_tb_profiler.patterns import regex

T = TypeVar("T")
_ANY: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
_VALUE_TYPES = "Scalar ScalarList GenericList TensorList Int Bool Double String Device None"
_VALUES = frozenset(_VALUE_TYPES.split())
"""Types of non-tensors; PyTorch before 1.13 wrote ``Int``, ``Bool`` and ``Double`` for ``Scalar``."""
_BARE = regex(r"(?<=\d)\.(?![\de])")
"""The point of a float without decimals, as C++ writes it: ``2.``, ``[0., 2.]``."""
_LARGEST = 1 << 48
"""Larger dimensions are invalid: products of them would overflow."""


class Tensor(msgspec.Struct, frozen=True):
    """A tensor argument; ``dtype`` as written (``c10::BFloat16``), ``""`` unknown; ``strides`` in
    elements, None unknown.
    """

    shape: tuple[int, ...]
    dtype: str = ""
    strides: tuple[int, ...] | None = None

    @property
    def dense(self) -> Tensor:
        """A contiguous tensor of the same shape and type, such as a result."""
        return Tensor(self.shape, self.dtype)

    @property
    def elements(self) -> int:
        """Number of elements; 1 without dimensions."""
        return math.prod(self.shape)

    @property
    def stored(self) -> int:
        """Distinct elements in memory: expanded dimensions (stride 0) and overlaps count once."""
        if self.strides is None or not self.elements:
            return self.elements
        dims = list(zip(self.shape, self.strides, strict=True))
        span = 1 + sum((n - 1) * abs(step) for n, step in dims)
        return min(span, math.prod(n for n, step in dims if step))

    @property
    def element_bytes(self) -> int | None:
        """Bytes of an element; None unknown."""
        return element_bytes(self.dtype) if self.dtype else None

    @property
    def bytes(self) -> int | None:
        """Bytes in memory; None if the element type is unknown."""
        size = self.element_bytes
        return None if size is None else self.stored * size


def moved(*tensors: Tensor | None) -> int | None:
    """Bytes of all tensors, each once; None if an element type is unknown. None entries count 0."""
    sizes = [tensor.bytes for tensor in tensors if tensor is not None]
    return None if None in sizes else sum(size for size in sizes if size is not None)


class Unrecorded(Exception):
    """A call does not tell what its model needs."""


def required(argument: T | None) -> T:
    """The argument of a call.

    Raises:
        Unrecorded: it is None.
    """
    if argument is None:
        raise Unrecorded
    return argument


Input = Tensor | tuple[Tensor, ...] | None
"""A tensor, a list of tensors, or None for anything else (number, list of numbers, None)."""


class Call(msgspec.Struct, frozen=True):
    """A call; ``inputs`` and ``values`` (text of non-tensors) have one entry per recorded argument.

    ``step`` is the iteration of the server that made the call, None unknown or of no server.
    """

    name: str
    inputs: tuple[Input, ...]
    values: tuple[str, ...] = ()
    step: ServerStep | None = None

    @property
    def recorded(self) -> bool:
        """Whether values were recorded; PyTorch before 2.0 did not."""
        return bool(self.values)

    def tensor(self, index: int) -> Tensor | None:
        """The tensor at an index of the schema; None if there is none (also at -1) or it was not
        recorded.
        """
        argument = self.inputs[index] if 0 <= index < len(self.inputs) else None
        return argument if isinstance(argument, Tensor) else None

    @property
    def every(self) -> Iterator[Tensor]:
        """All tensors among its arguments, those in lists too."""
        for argument in self.inputs:
            yield from (argument,) if isinstance(argument, Tensor) else argument or ()

    def need(self, index: int) -> Tensor:
        """``tensor``, raises Unrecorded without one."""
        return required(self.tensor(index))

    def last(self, arity: int) -> Tensor | None:
        """The tensor after the schema's ``arity`` arguments, which is the result (``out=``); None
        without.
        """
        return self.tensor(len(self.inputs) - 1) if len(self.inputs) > arity else None

    def tensors(self, index: int) -> tuple[Tensor, ...] | None:
        """The list of tensors at an index; None if there is none."""
        argument = self.inputs[index] if index < len(self.inputs) else None
        return argument if isinstance(argument, tuple) else None

    def integers(self, index: int, count: int = 0) -> tuple[int, ...] | None:
        """The integers at an index, a single one repeated ``count`` times; None if absent or not
        ``count``.
        """
        value = self.value(index)
        listed = [value] if isinstance(value, int) and not isinstance(value, bool) else value
        if not isinstance(listed, list) or not all(
            isinstance(n, int) and not isinstance(n, bool) for n in listed
        ):
            return None
        if count and len(listed) == 1:
            return (listed[0],) * count
        return tuple(listed) if not count or len(listed) == count else None

    def integer(self, index: int) -> int:
        """The integer at an index; raises Unrecorded without one."""
        value = self.value(index)
        return required(value if isinstance(value, int) else None)

    def boolean(self, index: int) -> bool:
        """The boolean at an index; raises Unrecorded without one."""
        value = self.value(index)
        return required(value if isinstance(value, bool) else None)

    def flags(self, index: int, count: int) -> tuple[bool, ...] | None:
        """The ``count`` booleans at an index (``output_mask``); None if not recorded."""
        flags = self.value(index)
        if not isinstance(flags, list) or [type(flag) for flag in flags] != [bool] * count:
            return None
        return tuple(flags)

    def value(self, index: int) -> Any:
        """The int, float, bool, str or list at an index; None if empty, at -1 or not recorded."""
        text = self.values[index].strip() if 0 <= index < len(self.values) else ""
        if not text or text == "None":
            return None
        if text in ("True", "False"):
            return text == "True"
        listed = text[0] == "["
        decodable = text.replace("True", "true").replace("False", "false") if listed else text
        try:
            return _ANY.decode(_BARE.sub(r"\g<0>0", decodable))
        except (msgspec.DecodeError, RecursionError):
            return text


def read_call(
    name: str, dims: str, types: str = "", strides: str = "", concrete: str = "", step: str = ""
) -> Call | None:
    """A call from the JSON texts of a trace (empty: not recorded) and its server's annotation; None
    without valid shapes.
    """
    shapes, names, steps, values = (_list(text) for text in (dims, types, strides, concrete))
    if shapes is None:
        return None
    inputs = tuple(_input(shape, _at(names, i), _at(steps, i)) for i, shape in enumerate(shapes))
    return Call(
        name,
        inputs,
        tuple(v if isinstance(v, str) else msgspec.json.encode(v).decode() for v in values or ()),
        server_step(step) if step else None,
    )


def _list(text: str) -> list[Any] | None:
    try:
        values = _ANY.decode(text) if text else None
    except (msgspec.DecodeError, RecursionError):
        return None
    return values if isinstance(values, list) else None


def _at(values: list[Any] | None, index: int) -> Any:
    return values[index] if values is not None and index < len(values) else None


def _input(shape: Any, dtype: Any, strides: Any) -> Input:
    if not isinstance(shape, list):
        return None
    if shape and all(isinstance(inner, list) for inner in shape):
        names = dtype if isinstance(dtype, list) else [""] * len(shape)
        tensors = [
            _as_tensor(inner, _at(names, i), _at(strides, i) if isinstance(strides, list) else None)
            for i, inner in enumerate(shape)
        ]
        return None if None in tensors else tuple(t for t in tensors if t is not None)
    if not shape and not _is_tensor(dtype):
        return None
    return _as_tensor(shape, dtype, strides)


def _is_tensor(dtype: Any) -> bool:
    """Whether a type beside the shape ``[]`` is that of a 0-dim tensor (``float``) or a value
    (``Int``).
    """
    return (
        isinstance(dtype, str)
        and bool(dtype)
        and element_bytes(dtype) is not None
        and dtype not in _VALUES
    )


def _as_tensor(shape: list[Any], dtype: Any, strides: Any) -> Tensor | None:
    """A tensor as recorded; None if it is invalid."""
    if not all(isinstance(n, int) and 0 <= n < _LARGEST for n in shape):
        return None
    known = isinstance(strides, list) and len(strides) == len(shape)
    has_strides = known and all(isinstance(step, int) for step in strides)
    name = dtype if isinstance(dtype, str) and dtype not in _VALUES else ""
    return Tensor(tuple(shape), name, tuple(strides) if has_strides else None)
