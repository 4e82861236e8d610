"""Calls in short: an operator and its arguments as text, tensors as ``bf16 4x197x768``."""

from __future__ import annotations

import ast
import json
import re

from torch_tb_profiler.hardware.call import Call, read_call
from torch_tb_profiler.hardware.work import Work, work_of

_TYPES = {
    "fp64": "double",
    "fp32": "float",
    "fp16": "c10::Half",
    "bf16": "c10::BFloat16",
    "fp8": "c10::Float8_e4m3fn",
    "fp4": "c10::Float4_e2m1fn_x2",
    "i64": "long int",
    "i32": "int",
    "i8": "signed char",
    "u8": "unsigned char",
    "bool": "bool",
    "c64": "c10::complex<float>",
}


Argument = str | int | float | bool | list[int] | list[bool] | list[str] | None


def _shape(text: str) -> list[int]:
    return [int(n) for n in text.split("x")] if text else []


def _split(text: str) -> list[str]:
    """The arguments of a call or the entries of a list; ``3*None`` stands for three."""
    found: list[str] = []
    for count, one in re.findall(r"(?:(\d+)\*)?(\[[^\]]*\]|[^,\s\[][^,]*)", text):
        found += [one.strip()] * int(count or 1)
    return found


def _read(text: str) -> tuple[object, object, str]:
    """Shape, type and value as recorded; of a list of tensors most versions record no types."""
    kind, _, shape = text.partition(" ")
    if kind in _TYPES:
        return _shape(shape), _TYPES[kind], ""
    entries = _split(text[1:-1]) if text[0] == "[" else []
    if entries and entries[0].partition(" ")[0] in _TYPES:
        return [_shape(entry.partition(" ")[2]) for entry in entries], "TensorList", ""
    value = ast.literal_eval(text)
    kind = "" if value is None else "ScalarList" if isinstance(value, list) else "Scalar"
    return [], kind, "" if value is None else str(value)


def call(written: str, *more: Argument, step: str = "") -> Call:
    """A call as recorded, written ``"aten::mm(bf16 4x8, bf16 8x2)"``, with more arguments as
    values. ``step``: the server's annotation.
    """
    name, _, inner = written.rstrip(")").partition("(")
    texts = [str(value).replace("'", "") if _of_tensors(value) else str(value) for value in more]
    read = [_read(text) for text in _split(inner) + texts]
    columns = ([entry[i] for entry in read] for i in range(3))
    dims, types, values = (json.dumps(column) for column in columns)
    call = read_call(name, dims, types, "", values, step)
    assert call is not None
    return call


def _of_tensors(value: Argument) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], str)


def work(written: str, *more: Argument, step: str = "") -> Work:
    """The work of a call that is modelled."""
    cost = work_of(call(written, *more, step=step))
    assert cost is not None, f"{written} is not modelled"
    return cost


def unknown(written: str, *more: Argument, step: str = "") -> bool:
    """Whether nothing is known of the work of a call."""
    return work_of(call(written, *more, step=step)) is None


def amounts(written: str) -> tuple[int, int]:
    """(FLOPs, bytes; -1 unknown) of a call that is modelled."""
    cost = work(written)
    return cost.flops, -1 if cost.bytes is None else cost.bytes
