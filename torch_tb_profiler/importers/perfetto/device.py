"""What GPUs did and counted, as PyTorch and drivers write it: ``GpuRenderStageEvent``, ``GpuCounterEvent``.

::

    stage "Kernel", queue "stream 7", GPU 0, 12 µs, launch (27 × 1 × 1) of (128 × 1 × 1)
      ─▶ {"ph":"X","cat":"kernel","pid":0,"tid":7,"dur":12,"args":{"device":0,"stream":7,"grid":[27,1,1],"block":[128,1,1],…}}

Source: ``torch/csrc/profiler/cupti/monitor_pftrace.cpp`` and ``torch/profiler/_cupti/monitor_trace.py``
of PyTorch's main branch (September 2026). All values of ``extra_data`` are texts there.
"""

from __future__ import annotations

from typing import Any

from torch_tb_profiler.importers.events import ANY
from torch_tb_profiler.importers.events import DECODE_ERRORS as JSON_ERRORS
from torch_tb_profiler.importers.perfetto.places import (
    TrackDescriptors,
    TrackThread,
    json_text,
    text_of,
)

_CATEGORIES = {
    "kernel": "kernel",
    "memcpy": "gpu_memcpy",
    "memset": "gpu_memset",
    "annotation": "gpu_user_annotation",
}
"""Stage in lower case → Kineto's category."""
_ARGUMENTS = {
    b"device id": "device",
    b"stream id": "stream",
    b"context id": "context",
    b"registers_per_thread": "registers per thread",
}
"""Names of PyTorch's that differ from those of its Chrome traces."""
_STATIC, _DYNAMIC = b"shared_mem_static", b"shared_mem_dynamic"


class Interned:
    """What a sequence of packets interned for GPU events, by id."""

    def __init__(self) -> None:
        self.specifications: dict[int, bytes] = {}
        self.kernels: dict[int, bytes] = {}
        self.arguments: dict[int, bytes] = {}
        self.counters: dict[int, tuple[int, dict[int, bytes]]] = {}
        """Descriptor → GPU, and names of its counters."""
        self.stages: list[bytes] = []
        self.queues: list[bytes] = []
        """Of old writers, by position."""

    def take(self, data: Any) -> None:
        """Take in what a packet interns."""
        self.specifications.update((s.iid, s.name) for s in data.gpu_specifications)
        self.kernels.update((k.iid, k.demangled_name or k.name) for k in data.compute_kernels)
        self.arguments.update((a.iid, a.name) for a in data.compute_arg_names)
        for each in data.gpu_counter_descriptors:
            self.counters[each.iid] = each.gpu_id, names_of(each.counter_descriptor)


def names_of(descriptor: Any) -> dict[int, bytes]:
    """Names of counters by id."""
    return {spec.counter_id: spec.name for spec in descriptor.specs}


def stage_entry(
    event: Any, interned: Interned, names: dict[int, bytes], places: TrackDescriptors
) -> tuple[str, str, TrackThread, str]:
    """Name, category, place and fields of ``args`` of a render stage."""
    old = event.specifications
    if event.HasField("specifications"):
        interned.stages = [stage.name for stage in old.stage]
        interned.queues = [queue.name for queue in old.hw_queue]
    stage = interned.specifications.get(event.stage_iid) or _at(interned.stages, event.stage_id)
    queue = interned.specifications.get(event.hw_queue_iid) or _at(
        interned.queues, event.hw_queue_id
    )
    name = (
        event.name
        or names.get(event.name_iid)
        or interned.kernels.get(event.kernel_iid)
        or stage
        or b"GPU work"
    )
    category = _CATEGORIES.get(text_of(stage).lower(), "gpu_render_stage")
    place = places.of_queue(event.gpu_id, text_of(queue) or f"queue {event.hw_queue_iid}")
    fields = [*_launch(event, interned)]
    named = {data.name: data.value for data in event.extra_data}
    named.setdefault(b"device id", b"%d" % event.gpu_id)
    if isinstance(place.tid, int):
        named.setdefault(b"stream id", b"%d" % place.tid)
    fields += (_argument(key, _value(value)) for key, value in named.items())
    return text_of(name), category, place, ",".join(fields)


def _at(names: list[bytes], number: int) -> bytes:
    return names[number] if 0 <= number < len(names) else b""


def _argument(name: bytes, value: Any) -> str:
    return f"{json_text(_ARGUMENTS.get(name) or text_of(name))}:{json_text(value)}"


def _value(text: bytes) -> Any:
    """A number or a list where a text is one."""
    try:
        return ANY.decode(text)
    except JSON_ERRORS:
        return text_of(text)


def _launch(event: Any, interned: Interned) -> list[str]:
    if not event.HasField("launch"):
        return []
    launch = event.launch
    fields = [
        f'"{key}":[{size.x},{size.y},{size.z}]'
        for key, size in (("grid", launch.grid_size), ("block", launch.workgroup_size))
    ]
    shared, known = 0, False
    for argument in launch.args:
        kind = argument.WhichOneof("data")
        name = argument.name or interned.arguments.get(argument.name_iid, b"")
        if kind is None or not name:
            continue
        value = getattr(argument, kind)
        if name in (_STATIC, _DYNAMIC) and isinstance(value, int):
            shared, known = shared + value, True
        fields.append(_argument(name, text_of(value) if isinstance(value, bytes) else value))
    if known:
        fields.append(f'"shared memory":{shared}')
    return fields


def counter_samples(event: Any, interned: Interned) -> tuple[int, list[tuple[str, float]]]:
    """The GPU of a counter event, and ``(name, value)`` of its samples."""
    gpu, names = interned.counters.get(event.counter_descriptor_iid, (event.gpu_id, {}))
    if event.HasField("counter_descriptor"):
        names = names_of(event.counter_descriptor)
        interned.counters[0] = event.gpu_id, names
    samples = []
    for counter in event.counters:
        kind = counter.WhichOneof("data")
        if kind is not None:
            name = text_of(names.get(counter.counter_id, b"")) or f"counter {counter.counter_id}"
            samples.append((name, getattr(counter, kind)))
    return gpu, samples
