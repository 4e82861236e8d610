"""The meaning of the text of an NVTX range.

::

    aten::mm, seq = 12, op_id = 345, sizes = [[8, 16], [16, 4]], input_op_ids = [(344,0)]     an operator (torch.autograd.profiler.emit_nvtx)
    MmBackward, seq = 12        MmBackward, stashed seq=12                                    a backward operator (older versions)
    {'traceMarker': ['train.py:12', 'net.py:40']}                                             the source location (PyProf)
    {'mod': 'torch', 'op': 'mm', 'args': [{'name': '', 'type': 'tensor', ...}]}               a call of PyTorch (PyProf)
    {'mod': 'Linear', 'strRepr': 'Linear(in_features=8, ...)'}                                a call of a module (PyProf)
    layer:conv1     forward     ProfilerStep#3                                                anything else: the user's own name

Sources: ``getNvtxStr`` of ``torch/csrc/profiler/util.cpp``; ``pyprof/nvtx/nvmarker.py``.
"""

from __future__ import annotations

import ast
import json
import re
from enum import IntEnum
from functools import lru_cache
from typing import Any

import msgspec

from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.untrusted import json_value

_SEQUENCES = (", seq = ", ", stashed seq = ", ", stashed seq=", ", seq=")
_OPERATIONS = (", op_id = ",)
_SIZES, _IDS = ", sizes = [", ", input_op_ids = "
_LONGEST_NUMBER = 18
_OPERATOR = regex(r"[A-Za-z_]\w*::", re.ASCII)
_LIST = regex(r"[\[\]\d,\s-]*$", re.ASCII)
_LONGEST_LITERAL = 1 << 15
_DEEPEST = 16
_KINDS = {
    "float16": "c10::Half",
    "half": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "float32": "float",
    "float": "float",
    "float64": "double",
    "double": "double",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short int",
    "short": "short int",
    "int32": "int",
    "int": "int",
    "int64": "long int",
    "long": "long int",
    "bool": "bool",
}
"""PyTorch's names of element types → those of ``torch.profiler``."""


class Kind(IntEnum):
    """What a range describes."""

    RANGE = 0
    """A span of its own."""
    LOCATION = 1
    """The source lines of the calls within."""
    CALL = 2
    """A call with its arguments; the enclosing range has its source lines."""


class Marker(msgspec.Struct, frozen=True, gc=False):
    """The meaning of a text. ``dims`` etc. are JSON as in Kineto, else empty; ``lines``: outermost first."""

    name: str
    role: Role = Role.ANNOTATION
    kind: Kind = Kind.RANGE
    sequence: int = -1
    operation: int = -1
    backward: bool = False
    dims: bytes = b""
    types: bytes = b""
    concrete: bytes = b""
    lines: tuple[str, ...] = ()


def read_marker(text: str) -> Marker:
    """The meaning of the text of a range."""
    if text.startswith("{") and text.endswith("}"):
        marker = _pyprof(text)
        if marker is not None:
            return marker
    if "=" not in text:
        return Marker(text, Role.OPERATOR if _OPERATOR.match(text) else Role.ANNOTATION)
    name, sizes = _cut_sizes(text.rpartition(_IDS)[0] if _IDS in text else text)
    name, operation = _cut_number(name, _OPERATIONS)
    name, sequence = _cut_number(name, _SEQUENCES)
    if not name or (sizes is None and operation < 0 and sequence < 0):
        return Marker(text, Role.OPERATOR if _OPERATOR.match(text) else Role.ANNOTATION)
    described = sequence >= 0 or sizes is not None
    return Marker(
        name,
        Role.OPERATOR if described or _OPERATOR.match(name) else Role.ANNOTATION,
        sequence=sequence,
        operation=operation,
        backward=sequence >= 0 and "Backward" in name.rpartition(" ")[2].rpartition(":")[2],
        dims=_dims(sizes),
    )


def _cut_sizes(text: str) -> tuple[str, str | None]:
    name, mark, sizes = text.rpartition(_SIZES)
    return (name, "[" + sizes) if mark and sizes.endswith("]") else (text, None)


def _cut_number(text: str, marks: tuple[str, ...]) -> tuple[str, int]:
    """The text without the number that follows one of the marks at its end, and the number or −1."""
    for mark in marks:
        name, separator, number = text.rpartition(mark)
        if separator and number.isdecimal() and number.isascii() and len(number) <= _LONGEST_NUMBER:
            return name, int(number)
    return text, -1


def stack_text(lines: tuple[str, ...]) -> str:
    """Source lines as a ``Call stack``, innermost first; PyProf does not record functions."""
    frames = []
    for line in reversed(lines):
        file, mark, number = line.rpartition(":")
        frames.append(f"{file}({number}): ?" if mark and number.isdecimal() else line)
    return ";".join(frame.replace(";", ",") for frame in frames)


@lru_cache(maxsize=1 << 14)
def _dims(sizes: str | None) -> bytes:
    """JSON such as ``[[8, 16], [], [[2], [3]]]`` without spaces; empty if invalid."""
    shapes = json_value(sizes) if sizes and _LIST.match(sizes) else None
    return b"" if shapes is None else json.dumps(shapes, separators=(",", ":")).encode()


def _pyprof(text: str) -> Marker | None:
    """The meaning of a PyProf text; None if it is not one."""
    value = literal(text)
    if not isinstance(value, dict):
        return None
    lines = value.get("traceMarker")
    if isinstance(lines, list) and lines:
        locations = tuple(str(line) for line in lines)
        return Marker(locations[-1], kind=Kind.LOCATION, lines=locations)
    module, operation, arguments = value.get("mod"), value.get("op"), value.get("args")
    if isinstance(module, str) and isinstance(operation, str):
        dims, types, concrete = _arguments(arguments if isinstance(arguments, list) else [])
        name = f"{module}.{operation}"
        return Marker(name, Role.OPERATOR, Kind.CALL, dims=dims, types=types, concrete=concrete)
    written = value.get("strRepr")
    return Marker(written) if isinstance(written, str) and written else None


def literal(text: str, longest: int = _LONGEST_LITERAL) -> Any:
    """The value of a Python literal of bounded size and depth; None if invalid."""
    if len(text) > longest or _depth(text) > _DEEPEST:
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _depth(text: str) -> int:
    """An upper bound of the nesting of brackets and signs, those within strings included."""
    depth = deepest = signs = 0
    for letter in text:
        if letter in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif letter in ")]}":
            depth -= 1
        signs = signs + 1 if letter in "+-~" else 0
        deepest = max(deepest, signs)
    return deepest


def _arguments(arguments: list[Any]) -> tuple[bytes, bytes, bytes]:
    """``Input Dims``, ``Input type`` and ``Concrete Inputs`` from PyProf's list of arguments."""
    described = [_argument(each) for each in arguments if isinstance(each, dict)]
    dims, types, concrete = (
        json.dumps([columns[i] for columns in described], separators=(",", ":")).encode()
        for i in range(3)
    )
    return dims, types, concrete


def _argument(argument: dict[str, Any]) -> tuple[list[Any], Any, str]:
    """Shape, type and value of an argument, as Kineto would write them."""
    shape, value = _shape(argument.get("shape")), argument.get("value")
    if shape is not None:
        return shape, _element(argument.get("dtype")), ""
    if value is None:
        return [], "", ""
    if not isinstance(value, (list, tuple)):
        return [], "Scalar", str(value)
    tensors = [v for v in value if isinstance(v, dict) and _shape(v.get("shape")) is not None]
    if tensors:
        return (
            [_shape(v["shape"]) for v in tensors],
            [_element(v.get("dtype")) for v in tensors],
            "",
        )
    return [], "ScalarList", str(list(value))


def _shape(value: Any) -> list[int] | None:
    if not isinstance(value, (list, tuple)) or not all(
        type(n) is int and 0 <= n < 1 << 48 for n in value
    ):
        return None
    return list(value)


def _element(name: Any) -> str:
    text = str(name or "").removeprefix("torch.")
    return _KINDS.get(text, text)
