"""What profilers other than PyTorch's keep in their processes: the role of events whose category
does not tell it.

A profiler is recognised by the name of a process, or of an event. Its rules are read in order, and
the first one that fits an event decides; ``ANY`` stands for files of other writers, whose processes
may still be named after an accelerator.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Set
from functools import cached_property

import msgspec

from torch_tb_profiler.data_rows import Row, rows_beside
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.roles import Role


class EventOrigin(msgspec.Struct, frozen=True):
    """Where an event stands: what its file calls its process and thread, and its category; empty
    where it does not say.
    """

    process: str
    label: str
    thread: str
    category: str


class ProcessRule(msgspec.Struct, frozen=True, dict=True):
    """Patterns, each of the whole text, and the role of the events that fit them.

    Attributes:
        role: ``KERNEL`` stands for all work of a device: copies, memsets and waits are told by
            their names.
        category: of the category; events without one where it is empty.
        name: of the event; any where it is empty.
    """

    role: Role
    process: str = ".*"
    label: str = ".*"
    thread: str = ".*"
    category: str = ""
    name: str = ""

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        texts = (self.process, self.label, self.thread, self.category)
        return tuple(re.compile(text, re.IGNORECASE | re.DOTALL) for text in texts)

    @cached_property
    def of_name(self) -> Callable[[str], object]:
        """Whether the name of an event fits."""
        if not self.name:
            return bool_of_any
        return re.compile(self.name, re.DOTALL).fullmatch

    def fits(self, place: EventOrigin) -> bool:
        """Whether events of such a place may fit; their names decide."""
        texts = (place.process, place.label, place.thread, place.category)
        return all(p.fullmatch(text) for p, text in zip(self._patterns, texts, strict=True))


def bool_of_any(_: str) -> bool:
    """Any name fits."""
    return True


class Profiler(msgspec.Struct, frozen=True):
    """A profiler and what its processes hold.

    Attributes:
        name: as people know it.
        vendor: of the accelerators that it records; empty where it records those of several.
        process: pattern of the whole name of a process that only it writes.
        event: pattern of the whole name of an event that only it writes, of a category that is not known.
        categories: those that only it writes.
    """

    name: str
    vendor: str
    rules: tuple[ProcessRule, ...]
    process: str = ""
    event: str = ""
    categories: frozenset[str] = frozenset()

    @property
    def rules_of_categories(self) -> bool:
        """Whether some of its rules are about events that have a category."""
        return any(rule.category for rule in self.rules)

    def wrote(
        self, processes: Iterable[str], categories: Set[str], events: Callable[[], Iterable[str]]
    ) -> bool:
        """Whether it wrote a file with these processes, categories and events."""
        if not self.categories.isdisjoint(categories):
            return True
        if self.process and any(map(re.compile(self.process).fullmatch, processes)):
            return True
        return bool(self.event) and any(map(re.compile(self.event, re.DOTALL).fullmatch, events()))


TORCH_NPU, UNITRACE, ROCPROF, XLA = "torch_npu", "unitrace", "rocprof", "XLA"
ONNX_RUNTIME, VIZTRACER = "ONNX Runtime", "VizTracer"
NAMED_OTHERWISE = (UNITRACE, XLA, ONNX_RUNTIME, VIZTRACER)
"""Profilers whose events have other names here than in their files."""
ORT_RUN, ORT_SUFFIX = "model_run", "_kernel_time"
"""A run of a model, and the end of the name of a node's execution."""


def _rule(text: str) -> ProcessRule:
    role, *patterns = text.split("  ")
    return ProcessRule(Role[role], **dict(pattern.split("=", 1) for pattern in patterns))


def _profiler(row: Row) -> Profiler:
    told = {key: "".join(row.get(key, ())) for key in ("vendor", "process", "event")}
    return Profiler(
        name=row["profiler"][0],
        rules=tuple(map(_rule, row.get("rule", ()))),
        categories=frozenset("".join(row.get("categories", ())).split()),
        **told,
    )


PROFILERS: tuple[Profiler, ...] = tuple(map(_profiler, rows_beside(__file__)))
_KINDS = r"(?:GPU|NPU|XPU|TPU|HPU|MLU|GCU|IPU|MTIA|AIU|accelerator)"
_ACCELERATOR = (
    rf"(?!.*\b(?:API|CPU|host|counters?|memory|usage|Python)\b).*\b{_KINDS}s?(?:[ _:#]?\d+)?\b.*"
)
ANY = Profiler(
    "",
    "",
    (
        ProcessRule(Role.KERNEL, label=_ACCELERATOR),
        ProcessRule(Role.KERNEL, _ACCELERATOR),
    ),
)
"""For files of other writers."""

_NUMBERS = (
    regex(rf"\b{_KINDS}[ _:#]?(\d{{1,7}})\b", re.IGNORECASE),
    # unitrace: the card, behind its address on the bus.
    regex(r"#(\d{1,7})(?:\.\d+)?$"),
)


def profiler_of(
    processes: Iterable[str], categories: Set[str], events: Callable[[], Iterable[str]]
) -> Profiler:
    """What wrote a file with processes of these names and events of these categories; ``events``: the
    names of those without a known one.
    """
    named = list(processes)
    return next((one for one in PROFILERS if one.wrote(named, categories, events)), ANY)


def vendor_of(profiler: object) -> str:
    """The vendor whose accelerators a profiler records; empty if none or unknown."""
    return next((one.vendor for one in PROFILERS if one.name == profiler), "")


def device_number(place: EventOrigin) -> int:
    """The device that a process is called after; −1 unknown."""
    for text in (place.label, place.process):
        for pattern in _NUMBERS:
            if (match := pattern.search(text)) is not None:
                return int(match[1])
    return -1


_WORK_OF_NAME = (
    (
        regex(
            r"(?:zeCommandListAppend(?:Barrier|WaitOn|Signal|EventReset|QueryKernel|WriteGlobal)|clEnqueue(?:Barrier|Marker|Wait)"
            r"|(?:event|notify)_?(?:wait|record)|stream_?wait_?event|<?barrier(?:[ _]packet)?>?$)",
            re.IGNORECASE,
        ),
        Role.SYNC,
    ),
    (
        regex(
            r"(?:[a-z]+_?)?mem(?:ory)?_?(?:set|fill)|zeCommandListAppendMemoryFill|clEnqueueFill|fillbuffer\b",
            re.IGNORECASE,
        ),
        Role.MEMSET,
    ),
    (
        regex(
            r"(?:acl|aclrt|hc|hip|cu|cuda|hsa_amd_|async_)?mem_?cpy|zeCommandListAppend(?:Memory|Image)(?:Copy|Prefetch)"
            r"|clEnqueue(?:SVM)?(?:Read|Write|Copy|Migrate|Mem)\w+|copy(?:host|device)to|memory_?copy",
            re.IGNORECASE,
        ),
        Role.MEMCPY,
    ),
)
_WORK_OF_TASK: Mapping[str, Role] = {"SDMA_SQE": Role.MEMCPY, "PCIE_DMA_SQE": Role.MEMCPY}
"""Types of Ascend's tasks that are copies."""


def work_of_name(name: str) -> Role:
    """What work of a device is by its name: a kernel, unless it is named after something else."""
    return next((role for pattern, role in _WORK_OF_NAME if pattern.match(name)), Role.KERNEL)


def work_of_task(task: str) -> Role | None:
    """What a task of an Ascend device is by its ``Task Type``; None where the name decides.

    ``…_SQE`` are what queues hold beside computing: copies, and waits and marks of all kinds.
    """
    if task in _WORK_OF_TASK:
        return _WORK_OF_TASK[task]
    return Role.SYNC if task.endswith("_SQE") else None
