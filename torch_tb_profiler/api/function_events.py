"""``prof.events()`` of a trace file, without PyTorch: every call and its device work as objects.

They are made when the first one is asked for; ``len`` makes none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from torch_tb_profiler.analysis.key_averages.groups import (
    concrete_values,
    event_sizes,
    event_times,
    input_shapes,
    is_annotation,
    scopes,
)
from torch_tb_profiler.api.average import Average
from torch_tb_profiler.api.key_averages import KeyAverages, Profile
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role
from torch_tb_profiler.units import format_count


class Interval(NamedTuple):
    """µs after the start of the recording."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """Length in µs."""
        return self.end - self.start


class Kernel(NamedTuple):
    """Device work of a host event; ``duration`` in µs."""

    name: str
    device: int
    duration: float


@dataclass(repr=False, slots=True)
class FunctionEvent(Average):
    """A call, or device work. Times are in µs, sizes in bytes; ``count`` is 1.

    id: the correlation id, 0 without one; ``event``: its number in other tables (``.events``), −1 of
        an allocation.
    trace_name: the name as written, None of an allocation; ``name``, the same as ``key``, is ``ProfilerStep*`` for every
        step.
    thread, fwd_thread: ids as written; of a backward function the thread of its forward.
    concrete_inputs: values of the arguments that are no tensors, None of the others.
    kernels: device work launched by the event itself.
    cpu_parent, cpu_children: the event around it, and those directly within.
    device_index, device_resource_id: device and stream; on the host process and thread.
    """

    id: int = 0
    event: int = -1
    trace_name: str | None = None
    thread: int | str = 0
    fwd_thread: int | None = None
    time_range: Interval = field(default_factory=lambda: Interval(0.0, 0.0))
    concrete_inputs: list[Any] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    sequence_nr: int = -1
    device_index: int | str = 0
    device_resource_id: int | str = 0
    is_python_function: bool = False

    @property
    def name(self) -> str:
        """The name of the call or kernel, as ``key``."""
        return self.key

    def __repr__(self) -> str:
        """PyTorch's line, shortened to what identifies the event."""
        return (
            f"<FunctionEvent id={self.id} name={self.name} device_type={self.device_type}"
            f" cpu_time={self.cpu_time_str} start_us={self.time_range.start}"
            f" end_us={self.time_range.end} thread={self.thread} input_shapes={self.input_shapes}"
            f" cpu_memory_usage={self.cpu_memory_usage} seq_nr={self.sequence_nr}>"
        )


_LONGEST_ID = 18
_OF_OPERATORS = (Role.OPERATOR, Role.ANNOTATION)


class Recorded(Protocol):
    """The trace that events are of."""

    def key_averages(self, *args: Any, **options: Any) -> KeyAverages: ...

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None: ...

    def export_stacks(self, path: str | os.PathLike[str], metric: str = ...) -> None: ...


class FunctionEventList(KeyAverages):
    """Events in PyTorch's order, by begin and then the longest first."""

    def __init__(self, trace: Recorded, profile: Profile) -> None:
        self._trace, self._profile = trace, profile
        super().__init__((), profile.with_memory, profile.with_flops)
        del self._rows

    @cached_property
    def _rows(self) -> list[Average]:  # type: ignore[override]
        return list(_events(self._profile))

    def __iter__(self) -> Iterator[FunctionEvent]:
        return cast("Iterator[FunctionEvent]", super().__iter__())

    def __len__(self) -> int:
        return len(self._profile.events)

    def __repr__(self) -> str:
        return f"<FunctionEventList of {format_count(len(self))} events: print it, or take .table(...), .key_averages()>"

    def key_averages(self, *args: Any, **options: Any) -> KeyAverages:
        """As of the trace."""
        return self._trace.key_averages(*args, **options)

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """As of the trace."""
        self._trace.export_chrome_trace(path)

    def export_stacks(
        self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total"
    ) -> None:
        """As of the trace."""
        self._trace.export_stacks(path, metric)


def _events(profile: Profile) -> Iterator[FunctionEvent]:
    """All events, tied to each other."""
    events = profile.events
    parent, operator = events.parent.tolist(), events.operator.tolist()
    made = _columns(profile)
    rows = [
        FunctionEvent(use_device=profile.device, count=1, **dict(zip(made, row, strict=True)))
        for row in zip(*made.values(), strict=True)
    ]
    for row, around, launcher in zip(rows, parent, operator, strict=True):
        if around >= 0:
            row.cpu_parent = rows[around]
            rows[around].cpu_children.append(row)
        if launcher >= 0 and isinstance(row.device_index, int):
            kernel = Kernel(row.key, row.device_index, row.time_range.elapsed_us())
            rows[launcher].kernels.append(kernel)
    return iter(rows)


def _columns(profile: Profile) -> dict[str, list[Any]]:
    """Attributes of all events by name."""
    events, texts = profile.events, profile.events.trace.strings
    key = events.names.many(events.name)
    written = np.append(events.trace["spans"]["name"], -1)[events.row]
    shape, shapes = input_shapes(events)
    thread, concrete = events.arguments("forward_thread"), events.arguments("concrete")
    values = {n: concrete_values(texts[n]) if n >= 0 else [] for n in np.unique(concrete).tolist()}
    scope = scopes(events)
    return {
        **_places(profile),
        **_times_and_sizes(profile),
        "key": key,
        "trace_name": [texts[n] if n >= 0 else None for n in written.tolist()],
        "overload_name": [
            events.names[number] if number >= 0 else "" for number in events.overload.tolist()
        ],
        "event": events.row.tolist(),
        "fwd_thread": [number if number >= 0 else None for number in thread.tolist()],
        "sequence_nr": events.arguments("sequence").tolist(),
        "time_range": list(map(Interval, events.start.tolist(), events.end.tolist())),
        "input_shapes": [[list(each) for each in shapes[number]] for number in shape.tolist()],
        "concrete_inputs": [list(values[number]) for number in concrete.tolist()],
        "stack": [list(profile.stacks.frames(n)) for n in profile.stacks.of_event.tolist()],
        "scope": [number if number >= 0 else None for number in scope.tolist()],
        "flops": profile.flops.tolist(),
        "is_async": events.is_async.tolist(),
        "is_user_annotation": is_annotation(events.role).tolist(),
        "is_python_function": (events.role == Role.PYTHON).tolist(),
    }


def _places(profile: Profile) -> dict[str, list[Any]]:
    """Where the events ran, and their correlation ids."""
    events = profile.events
    spans, tracks, texts = events.trace["spans"], events.trace["tracks"], events.trace.strings
    track = {
        number: tuple(_id(texts[int(tracks[key][number])]) for key in ("pid", "tid"))
        for number in np.unique(events.track).tolist()
    }
    process, thread = ([track[number][i] for number in events.track.tolist()] for i in range(2))
    external, correlation = (
        np.append(spans[key], -1)[events.row] for key in ("external", "correlation")
    )
    linked = np.isin(events.role, (Role.RUNTIME, *DEVICE_ROLES))
    identity = np.where(np.isin(events.role, _OF_OPERATORS), external, 0)
    device = (profile.device or "").upper()
    return {
        "id": np.maximum(np.where(linked, correlation, identity), 0).tolist(),
        "thread": thread,
        "device_index": process,
        "device_resource_id": thread,
        "device_type": [device if other else "CPU" for other in events.on_device.tolist()],
    }


def _times_and_sizes(profile: Profile) -> dict[str, list[Any]]:
    events, times = profile.events, event_times(profile.events)
    if profile.device is None:
        times |= {key: np.zeros(len(events)) for key in times if "device" in key}
    return {key: own.tolist() for key, own in (times | event_sizes(events)).items()}


def _id(text: str) -> int | str:
    digits = text.removeprefix("-")
    number = digits.isascii() and digits.isdecimal() and len(digits) <= _LONGEST_ID
    return int(text) if number else text
