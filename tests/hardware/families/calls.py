"""Calls in short: an operator, its tensors as ``"bf16 4x197x768"``, other arguments as values."""

from __future__ import annotations

import json

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


class Other:
    """An argument that is a string, and no tensor: ``Other("same")``."""

    def __init__(self, text: str) -> None:
        self.text = text


Argument = str | int | float | bool | list[int] | list[bool] | list[str] | Other | None


def _shape(text: str) -> list[int]:
    return [int(n) for n in text.split("x")] if text else []


def call(name: str, *arguments: Argument, step: str = "") -> Call:
    """The call as recorded; a list of strings is a list of tensors, without types as in most
    versions. ``step``: the server's annotation.
    """
    dims: list[object] = []
    types: list[object] = []
    values: list[str] = []
    for argument in arguments:
        if isinstance(argument, str):
            kind, _, shape = argument.partition(" ")
            dims.append(_shape(shape))
            types.append(_TYPES[kind])
            values.append("")
        elif isinstance(argument, list) and argument and isinstance(argument[0], str):
            dims.append([_shape(str(entry).partition(" ")[2]) for entry in argument])
            types.append("TensorList")
            values.append("")
        else:
            dims.append([])
            types.append(
                "" if argument is None else "ScalarList" if isinstance(argument, list) else "Scalar"
            )
            values.append(
                ""
                if argument is None
                else argument.text
                if isinstance(argument, Other)
                else str(argument)
            )
    call = read_call(name, json.dumps(dims), json.dumps(types), "", json.dumps(values), step)
    assert call is not None
    return call


def work(name: str, *arguments: Argument, step: str = "") -> Work:
    """The work of a call that is modelled."""
    cost = work_of(call(name, *arguments, step=step))
    assert cost is not None, f"{name} is not modelled"
    return cost


def unknown(name: str, *arguments: Argument, step: str = "") -> bool:
    """Whether nothing is known of the work of a call."""
    return work_of(call(name, *arguments, step=step)) is None


def amounts(arguments: tuple[Argument, ...]) -> tuple[int, int]:
    """(FLOPs, bytes; -1 unknown) of a call that is modelled: its name and arguments."""
    name, *rest = arguments
    cost = work(str(name), *rest)
    return cost.flops, -1 if cost.bytes is None else cost.bytes
