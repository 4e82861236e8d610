"""What is known of a trace besides its tables."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import msgspec


class WorkloadKind(str, Enum):
    """Kinds of recorded work; ``analysis/facts/workload_kind.py`` says how each is recognised."""

    TRAINING = "training"
    INFERENCE = "inference"
    SERVING = "serving"
    CAPTURE = "capture"
    MICROBENCHMARK = "microbenchmark"
    SINGLE_KERNEL = "single kernel"
    UNKNOWN = "unknown"


class Workload(msgspec.Struct, frozen=True):
    """The kind of work, and a sentence that says by what it was recognised."""

    kind: WorkloadKind
    evidence: str


class Writer(str, Enum):
    """Kinds of recorded programs; ``analysis/facts/workload_kind.py`` says how each is recognised."""

    VLLM = "vllm"
    SGLANG = "sglang"
    SERVER = "server"
    LIGHTNING = "lightning"
    TRANSFORMERS = "transformers"
    TORCH_NPU = "torch_npu"
    OTHER = "other"
    LOOP = "loop"
    SCRIPT = "script"


SERVERS = (Writer.VLLM, Writer.SGLANG, Writer.SERVER)


class EventCounts(msgspec.Struct, frozen=True):
    """How many device events could be followed back to the host.

    Attributes:
        device_events: all of them.
        kernels: of these the kernels; how many have a launch, an operator.
        by: number and time (ns) of all device events by the name of their ``flags.Attribution``, as
            ``{"events", "ns"}`` each.
    """

    device_events: int = 0
    kernels: int = 0
    with_launch: int = 0
    with_operator: int = 0
    by: Mapping[str, Mapping[str, int]] = msgspec.field(default_factory=dict)


class Summary(msgspec.Struct, frozen=True):
    """Facts that are not tables. A sidecar keeps them as JSON.

    Attributes:
        step_source: ``ProfilerStep``, ``iteration of a server``, ``pass of the model``, the name of
            the annotation that repeats, or ``whole span``.
        span_ns: end of the last span.
        has_device: whether device work was recorded; ``has_shapes``, ``has_stacks``, ``has_memory``:
            input shapes, call stacks, memory records.
        device_identified: whether no device has a recorded name, and one is known by its units and
            memory.
        vendor: ``nvidia``, ``amd``, ``intel``, ``mtia``, ``ascend``, ``ibm``, ``other``, or ``none``
            without device work.
        rank, world_size: from ``distributedInfo``; None where it does not say.
        backend: communication backend of ``distributedInfo``; None where it does not say.
        synthetic: whether the trace says that a program generated it.
        sums: whether the file holds sums without times, which the importer laid end to end.
        versions: readable versions by component.
        data_parallel: whether ``DataParallel`` ran.
        communication_backends: libraries that the header, the collectives and the kernels name.
        matrix_eligible_share: kernel time of eligible operators / kernel time of operators; None
            without.
        touched_ns: step time in ns that the marks of each defect touch.
        profiled_ranges: number of profiled ranges, whose hardware counters were measured.
        unplaced: numbers of events without a role by ``category`` or, without one, by ``process``.
        part, parts: name of the rank in a file that several were merged into, and of all of them;
            ``""`` and none of other files.
        work: device events, their ns, operators, their ns: equal for copies of a recording.
        collectives: what ``distributed/shared_sample.py`` chooses; the import adds it.
    """

    step_source: str = "whole span"
    span_ns: int = 0
    has_device: bool = False
    has_shapes: bool = False
    has_stacks: bool = False
    has_memory: bool = False
    device_identified: bool = False
    vendor: str = "none"
    attribution: EventCounts = EventCounts()
    rank: int | None = None
    world_size: int | None = None
    backend: str | None = None
    synthetic: bool = False
    sums: bool = False
    versions: Mapping[str, str] = msgspec.field(default_factory=dict)
    data_parallel: bool = False
    communication_backends: tuple[str, ...] = ()
    matrix_eligible_share: float | None = None
    touched_ns: Mapping[str, int] = msgspec.field(default_factory=dict)
    profiled_ranges: int = 0
    unplaced: Mapping[str, Mapping[str, int]] = msgspec.field(default_factory=dict)
    part: str = ""
    parts: tuple[str, ...] = ()
    work: tuple[int, ...] = ()
    collectives: tuple[tuple[int, ...], ...] = ()
    workload: Workload = Workload(WorkloadKind.UNKNOWN, "")
    writer: Writer = Writer.SCRIPT
