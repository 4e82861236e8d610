"""One distinct call of an operator as its trace records it: the inputs that decide how much work it
is.

``Input Dims``, ``Input type``, ``Input Strides`` and ``Concrete Inputs`` stand side by side, one
entry per argument of the operator's schema::

    aten::addmm   dims [[768],[788,768],[768,768],[],[]]   types ["c10::BFloat16", …, "Scalar","Scalar"]   concrete ["","","","1","1"]
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import msgspec

from torch_tb_profiler.hardware.element_types import element_bytes

_ANY: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
_VALUE_TYPES = "Scalar ScalarList GenericList TensorList Int Bool Double String Device None"
_VALUES = frozenset(_VALUE_TYPES.split())
"""Types of what is no tensor; PyTorch before 1.13 wrote ``Int``, ``Bool`` and ``Double`` where
later ones write ``Scalar``.
"""
_BARE = re.compile(r"(?<=\d)\.(?![\de])")
"""The point of a float without decimals, as C++ writes it: ``2.``, ``[0., 2.]``."""
_LARGEST = 1 << 48
"""A dimension beyond it is no tensor's: products of such would not fit any counter."""


@dataclass(frozen=True)
class Tensor:
    """Shape, element type as written (``c10::BFloat16``; empty when not recorded) and strides in
    elements (None when not recorded).
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
        """Number of elements; 1 for a tensor of no dimensions."""
        return math.prod(self.shape)

    @property
    def stored(self) -> int:
        """Elements that differ in memory: an expanded dimension (stride 0) is one, windows that
        overlap are no more than what they span.
        """
        if self.strides is None or not self.elements:
            return self.elements
        span = 1 + sum(
            (n - 1) * abs(step) for n, step in zip(self.shape, self.strides, strict=True)
        )
        return min(
            span, math.prod(n for n, step in zip(self.shape, self.strides, strict=True) if step)
        )

    @property
    def element_bytes(self) -> int | None:
        """Bytes of an element; None when the type is not known."""
        return element_bytes(self.dtype) if self.dtype else None

    @property
    def bytes(self) -> int | None:
        """Bytes that it takes in memory; None when the type is not known."""
        size = self.element_bytes
        return None if size is None else self.stored * size


def moved(*tensors: Tensor | None) -> int | None:
    """Bytes of all of them, each once; None when an element type is not known. What is None has
    none.
    """
    sizes = [tensor.bytes for tensor in tensors if tensor is not None]
    return None if None in sizes else sum(size for size in sizes if size is not None)


Input = Tensor | tuple[Tensor, ...] | None
"""A tensor, a list of tensors, or neither (a number, a list of numbers, None)."""


@dataclass(frozen=True)
class Call:
    """A call: ``inputs`` and ``values`` have one entry per recorded argument (``values``: text of
    what is no tensor, empty otherwise).
    """

    name: str
    inputs: tuple[Input, ...]
    values: tuple[str, ...] = ()

    @property
    def recorded(self) -> bool:
        """Whether the values were recorded: before PyTorch 2.0 they were not."""
        return bool(self.values)

    def tensor(self, place: int) -> Tensor | None:
        """The tensor at a place of the schema; None when there is none (a number, a list, None, or
        not recorded).
        """
        found = self.inputs[place] if place < len(self.inputs) else None
        return found if isinstance(found, Tensor) else None

    def first(self, count: int) -> tuple[Tensor | None, ...]:
        """The first ``count`` arguments: a tensor each, or None."""
        return tuple(self.tensor(i) for i in range(count))

    def last(self, arity: int) -> Tensor | None:
        """The tensor behind the schema's ``arity`` arguments, where the result goes (``out=``);
        None without one.
        """
        return self.tensor(len(self.inputs) - 1) if len(self.inputs) > arity else None

    def tensors(self, place: int) -> tuple[Tensor, ...] | None:
        """The list of tensors at a place; None when there is none."""
        found = self.inputs[place] if place < len(self.inputs) else None
        return found if isinstance(found, tuple) else None

    def integers(self, place: int, count: int = 0) -> tuple[int, ...] | None:
        """The integers at a place, a single one repeated ``count`` times; None when there are none,
        or (with ``count``) another number of them.
        """
        found = self.value(place)
        listed = [found] if isinstance(found, int) and not isinstance(found, bool) else found
        if not isinstance(listed, list) or not all(
            isinstance(n, int) and not isinstance(n, bool) for n in listed
        ):
            return None
        if count and len(listed) == 1:
            return (listed[0],) * count
        return tuple(listed) if not count or len(listed) == count else None

    def flags(self, place: int, count: int) -> tuple[bool, ...] | None:
        """The ``count`` truth values at a place (``output_mask``); None when they are not recorded."""
        found = self.value(place)
        known = (
            isinstance(found, list)
            and len(found) == count
            and all(isinstance(flag, bool) for flag in found)
        )
        return tuple(found) if known else None

    def value(self, place: int) -> Any:
        """What stands at a place that is no tensor: int, float, bool, str or a list of them; None
        when empty or not recorded.
        """
        text = self.values[place].strip() if place < len(self.values) else ""
        if not text or text == "None":
            return None
        if text in ("True", "False"):
            return text == "True"
        try:
            return _ANY.decode(
                _BARE.sub(
                    r"\g<0>0",
                    (
                        text.replace("True", "true").replace("False", "false")
                        if text[0] == "["
                        else text
                    ),
                )
            )
        except msgspec.DecodeError:
            return text


def read_call(
    name: str, dims: str, types: str = "", strides: str = "", concrete: str = ""
) -> Call | None:
    """A call from the JSON texts of a trace (empty: not recorded); None where the shapes were not
    recorded or are no shapes.
    """
    shapes, names, steps, values = (_list(text) for text in (dims, types, strides, concrete))
    if shapes is None:
        return None
    inputs = tuple(_input(shape, _at(names, i), _at(steps, i)) for i, shape in enumerate(shapes))
    return Call(
        name,
        inputs,
        tuple(v if isinstance(v, str) else msgspec.json.encode(v).decode() for v in values or ()),
    )


def _list(text: str) -> list[Any] | None:
    try:
        found = _ANY.decode(text) if text else None
    except (msgspec.DecodeError, RecursionError):
        return None
    return found if isinstance(found, list) else None


def _at(values: list[Any] | None, place: int) -> Any:
    return values[place] if values is not None and place < len(values) else None


def _input(shape: Any, dtype: Any, strides: Any) -> Input:
    if not isinstance(shape, list):
        return None
    if shape and all(isinstance(inner, list) for inner in shape):
        names = dtype if isinstance(dtype, list) else [""] * len(shape)
        made = [
            _listed(inner, _at(names, i), _at(strides, i) if isinstance(strides, list) else None)
            for i, inner in enumerate(shape)
        ]
        return None if None in made else tuple(t for t in made if t is not None)
    if not shape and not _is_tensor(dtype):
        return None
    return _listed(shape, dtype, strides)


def _is_tensor(dtype: Any) -> bool:
    """Whether a type written beside the shape ``[]`` is a tensor's of no dimensions: ``float``,
    ``c10::Half``, but ``Scalar``, ``Int`` of a value.
    """
    return (
        isinstance(dtype, str)
        and bool(dtype)
        and element_bytes(dtype) is not None
        and dtype not in _VALUES
    )


def _listed(shape: list[Any], dtype: Any, strides: Any) -> Tensor | None:
    """A tensor as it is written; None for what is none."""
    if not all(isinstance(n, int) and 0 <= n < _LARGEST for n in shape):
        return None
    told = (
        isinstance(strides, list)
        and len(strides) == len(shape)
        and all(isinstance(s, int) for s in strides)
    )
    return Tensor(
        tuple(shape),
        dtype if isinstance(dtype, str) and dtype not in _VALUES else "",
        tuple(strides) if told else None,
    )
