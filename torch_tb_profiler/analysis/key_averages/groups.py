"""Function events summed by key, as in ``EventList.key_averages``."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, places_in, scatter, sum_by
from torch_tb_profiler.analysis.facts.header import json_list
from torch_tb_profiler.analysis.facts.host_names import distinct
from torch_tb_profiler.analysis.key_averages.call_stacks import CallStacks, backward_functions
from torch_tb_profiler.analysis.key_averages.function_events import FunctionEvents
from torch_tb_profiler.hardware.call import Call
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.roles import Role

BACKWARD_FUNCTION, USER_SCOPE = 1, 7
"""``at::RecordScope`` (aten/src/ATen/record_function.h)."""
Shapes = tuple[tuple[int, ...], ...]


class Groups(msgspec.Struct, frozen=True):
    """Arrays of shape (groups,) in order of first event.

    first: position of the first event.
    sums: by PyTorch's names, ``count`` and ``flops`` among them; times are float64 µs, summed in
        event order.
    shapes: the grouping shapes; None if not grouped by shapes. A list of tensors counts as no
        shape.
    stack: the innermost frames, as many as requested.
    """

    first: Ints
    sums: dict[str, Array]
    shapes: list[Shapes] | None
    stack: list[tuple[str, ...]]


def is_annotation(role: Array) -> Array:
    """Which roles are ``record_function`` regions or their device counterparts."""
    return np.asarray((role == Role.ANNOTATION) | (role == Role.DEVICE_ANNOTATION))


def scopes(events: FunctionEvents) -> Ints:
    """``at::RecordScope`` of every event as far as a file tells, −1 unknown: a file has none, but
    ``record_function`` regions are a category, and the engine calls functions of the graph by name.
    """
    scope = scatter(len(events), is_annotation(events.role) & ~events.on_device, USER_SCOPE)
    scope[backward_functions(events)] = BACKWARD_FUNCTION
    return scope


class Grouping(msgspec.Struct, frozen=True):
    """Keys besides name, device and annotation: shapes, innermost ``frames``, overload.

    ``functions``: whether Python functions are included.
    """

    shapes: bool = False
    frames: int = 0
    overload: bool = False
    functions: bool = True


def group_events(events: FunctionEvents, stacks: CallStacks, flops: Ints, by: Grouping) -> Groups:
    """Sums of all events per key."""
    included = (
        np.arange(len(events)) if by.functions else np.flatnonzero(events.role != Role.PYTHON)
    )
    columns: list[Array] = [events.name, events.on_device, is_annotation(events.role)]
    shapes: list[Shapes] = []
    tops: list[tuple[str, ...]] = [()]
    top = shape = np.zeros(len(events), np.int64)
    if by.overload:
        columns.append(events.overload)
    if by.shapes:
        shape, shapes = input_shapes(events)
        columns.append(shape)
    if by.frames > 0:
        top, tops = stacks.tops(by.frames)
        columns.append(top)
    first, group = group_rows([column[included] for column in columns])
    order = np.argsort(first, kind="stable")
    n = len(first)
    rank = places_in(n, order)
    first, group = included[first[order]], rank[group]
    return Groups(
        first=first,
        sums={
            "count": np.bincount(group, minlength=n),
            **_sums(events, included, group, n),
            "flops": sum_by(group, n, flops[included]),
        },
        shapes=[shapes[number] for number in shape[first].tolist()] if by.shapes else None,
        stack=[tops[number] for number in top[first].tolist()],
    )


def _sums(events: FunctionEvents, included: Ints, group: Ints, n: int) -> dict[str, Array]:
    """Times are summed as floats in event order, like PyTorch's."""
    times = {
        key: np.bincount(group, weights=column[included], minlength=n)
        for key, column in event_times(events).items()
    }
    sizes = event_sizes(events).items()
    return times | {key: sum_by(group, n, column[included]) for key, column in sizes}


def event_times(events: FunctionEvents) -> dict[str, Array]:
    """Times of every event by PyTorch's names, µs, float64."""
    return {
        "cpu_time_total": np.where(events.on_device, 0.0, events.elapsed),
        "self_cpu_time_total": events.host_self,
        "device_time_total": events.device.total,
        "self_device_time_total": events.device.own,
    }


def event_sizes(events: FunctionEvents) -> dict[str, Ints]:
    """Bytes allocated less released in every event, and in it alone, by PyTorch's names."""
    inside, none = np.flatnonzero(events.parent >= 0), events.on_device | events.is_async
    sizes: dict[str, Ints] = {}
    for name, own in zip(("cpu_memory_usage", "device_memory_usage"), events.memory, strict=True):
        children = sum_by(events.parent[inside], len(events), own[inside])
        sizes |= {name: own, f"self_{name}": np.where(none, 0, own - children)}
    return sizes


def input_shapes(events: FunctionEvents) -> tuple[Array, list[Shapes]]:
    """``(number, shapes)``: the input shapes of every event by number."""
    dims = events.arguments("dims")
    numbers: dict[Shapes, int] = {(): 0}
    of_text = np.zeros(len(events.trace.strings) + 1, np.int64)
    for number in distinct(dims, events.trace.strings):
        of_text[number] = numbers.setdefault(_read(events.trace.strings[number]), len(numbers))
    return of_text[dims], list(numbers)


def concrete_values(text: str) -> list[Any]:
    """``Concrete Inputs``: the values of arguments that are no tensors, None of the others."""
    written = json_list(text) or []
    call = Call("", (), tuple(each if isinstance(each, str) else "" for each in written))
    return [call.value(index) for index in range(len(written))]


def _read(text: str) -> Shapes:
    return tuple(map(_shape, json_list(text) or ()))


def _shape(entry: object) -> tuple[int, ...]:
    if not isinstance(entry, list) or any(not isinstance(n, int) for n in entry):
        return ()
    return tuple(entry)
