"""One event of ``prof.events()``, with the attributes that PyTorch's ``FunctionEvent`` has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from torch_tb_profiler.api.average import Average


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
        """The same as ``key``."""
        return self.key

    def __repr__(self) -> str:
        """PyTorch's line, shortened to what identifies the event."""
        return (
            f"<FunctionEvent id={self.id} name={self.name} device_type={self.device_type}"
            f" cpu_time={self.cpu_time_str} start_us={self.time_range.start}"
            f" end_us={self.time_range.end} thread={self.thread} input_shapes={self.input_shapes}"
            f" cpu_memory_usage={self.cpu_memory_usage} seq_nr={self.sequence_nr}>"
        )
