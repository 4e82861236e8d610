"""PyTorch's own FLOP estimate for seven operators, from their recorded inputs.

Source: ``saveExtraArgs`` and ``computeFlops`` in torch/csrc/profiler/util.cpp, checked against live
recordings. Unlike the models of ``hardware/`` it covers neither backward passes nor attention, and
a product by a scalar counts one FLOP per element.
"""

from __future__ import annotations

import math

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.key_averages.function_events import FunctionEvents
from torch_tb_profiler.hardware.call import Call, Tensor, read_call
from torch_tb_profiler.store.columns import Ints

_FACTORS = {"aten::mm": (0, 1), "aten::addmm": (1, 2), "aten::bmm": (0, 1), "aten::baddbmm": (1, 2)}
_ONE_EACH = ("aten::mul", "aten::add")
_CONVOLUTION = "aten::conv2d"
_ARGUMENTS = ("dims", "types", "concrete")
_MOST = 1 << 62


def flops(events: FunctionEvents) -> Ints:
    """FLOPs of every event, int64; 0 where PyTorch estimates none."""
    result = np.zeros(len(events), np.int64)
    if not events.trace.header.get("with_flops"):
        return result
    names = [events.names.number(name) for name in (*_FACTORS, *_ONE_EACH, _CONVOLUTION)]
    estimated = np.flatnonzero(np.isin(events.name, [number for number in names if number >= 0]))
    columns = [
        events.name[estimated],
        *(events.arguments(column)[estimated] for column in _ARGUMENTS),
    ]
    first, group = group_rows(columns)
    strings = events.trace.strings
    each = []
    for name, dims, types, concrete in zip(
        *(column[first].tolist() for column in columns), strict=True
    ):
        call = read_call(events.names[name], strings[dims], strings[types], "", strings[concrete])
        each.append(min(call_flops(call), _MOST) if call else 0)
    result[estimated] = np.array(each, np.int64)[group]
    return result


def call_flops(call: Call) -> int:
    """FLOPs of one call; 0 where PyTorch estimates none."""
    if call.name in _FACTORS:
        left, right = (call.tensor(argument) for argument in _FACTORS[call.name])
        return _product(left, right, 1 if call.name in ("aten::bmm", "aten::baddbmm") else 0)
    if call.name in _ONE_EACH:
        first = call.tensor(0)
        return first.elements if first else 0
    return _convolution(call) if call.name == _CONVOLUTION else 0


def _product(left: Tensor | None, right: Tensor | None, batches: int) -> int:
    """2 · B · M · K · N; for mismatched inputs (failed calls) whatever PyTorch computes."""
    if (
        left is None
        or right is None
        or not len(left.shape) == len(right.shape) == batches + 2
        or not left.elements
    ):
        return 0
    rows = left.elements // math.prod((*left.shape[:batches], left.shape[-1]))
    return 2 * rows * right.elements


def _convolution(call: Call) -> int:
    """2 · N · H · W · kernel height · width · channels in · out / groups; H, W of the output."""
    image, weight = call.tensor(0), call.tensor(1)
    stride, padding, dilation, groups = (call.value(argument) for argument in (3, 4, 5, 6))
    if (
        image is None
        or weight is None
        or not len(image.shape) == len(weight.shape) == 4
        or not isinstance(groups, int)
        or groups < 1
    ):
        return 0
    pairs = [_pair(value) for value in (stride, padding, dilation)]
    if None in pairs or 0 in (stride or [0]):
        return 0
    size = 1
    for side, kernel, step, pad, spread in zip(
        image.shape[2:], weight.shape[2:], *(pair or (0, 0) for pair in pairs), strict=True
    ):
        size *= (side + 2 * pad - spread * (kernel - 1) - 1) // step + 1
    pixels, channels = image.shape[0] * size, image.shape[1] * weight.shape[0]
    return max(0, 2 * pixels * math.prod(weight.shape[2:]) * channels // groups)


def _pair(value: object) -> tuple[int, int] | None:
    if isinstance(value, list) and len(value) == 2 and all(isinstance(n, int) for n in value):
        return value[0], value[1]
    return None
