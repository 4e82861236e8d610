"""Recordings of captures, and executions that replay them, with the truth about every kernel.

::

    capture     <BeginCapture> [aten::op0 <launch k0>] [aten::op1 <launch k1>] … <EndCapture>   per graph
    execution   (step[DECODE bs=8]  <graph launch #1> <graph launch #2>)
    gpu                                {k0}{k1}…        {k0}{k1}…
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.builders.drawn import Event, trace_of
from torch_tb_profiler.analysis.facts.capture_tables import CaptureSource, Collected
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.replay_calls import captured_operators
from torch_tb_profiler.store.model import Facts, Trace


@dataclass(frozen=True)
class Node:
    """A captured launch: its operator with the first input's rows, and its kernel (None: a copy)."""

    operator: str
    rows: int
    kernel: str | None


@dataclass(frozen=True)
class Graph:
    """``module``: the class around its operators, ``""`` none."""

    nodes: tuple[Node, ...]
    module: str = ""


@dataclass
class Recording:
    """The captures of one file; ``batch`` and ``mode`` as its list says, −1 and ``""`` unknown."""

    graphs: list[Graph]
    batch: int = -1
    mode: str = ""
    name: str = "capture.json"

    def trace(self) -> Trace:
        """The recording."""
        return trace_of(self.events())

    def events(self) -> list[Event]:
        """Its events."""
        events: list[Event] = []
        at, correlation = 0.0, 1
        for graph in self.graphs:
            begin = at
            events.append(_call("hipStreamBeginCapture", at + 1, correlation))
            at += 3
            for node in graph.nodes:
                correlation += 1
                dims = {"Input Dims": [[node.rows, 64]], "Input type": ["float"]}
                events.append(_host("cpu_op", node.operator, at, 4, dims))
                name = "hipLaunchKernel" if node.kernel is not None else "hipMemcpyAsync"
                more = {"kernel": node.kernel} if node.kernel is not None else {}
                events.append(_call(name, at + 1, correlation, **more))
                at += 5
            correlation += 1
            events.append(_call("hipStreamEndCapture", at, correlation))
            if graph.module:
                around = f"nn.Module: {graph.module}"
                events.append(_host("python_function", around, begin + 2.5, at - begin - 2.6, {}))
            at += 3
        return events


@dataclass
class Kernel:
    """One piece of replayed work and what it really is; ``stream``: where it ran."""

    node: Node
    stream: int = 7

    @property
    def name(self) -> str:
        return self.node.kernel or "Memcpy DtoD (Device -> Device)"


@dataclass
class Replay:
    kernels: list[Kernel]


@dataclass
class Execution:
    """Iterations: the annotation of each (``""`` none) and its replays."""

    steps: list[tuple[str, list[Replay]]] = field(default_factory=list)

    def add(self, annotation: str, graphs: Sequence[Graph]) -> Execution:
        """One iteration that replays some graphs."""
        replays = [Replay([Kernel(node) for node in graph.nodes]) for graph in graphs]
        self.steps.append((annotation, replays))
        return self

    def trace(self) -> Trace:
        """The execution."""
        return trace_of(self.events())

    def events(self) -> list[Event]:
        """Its events; work of a replay is in time order as listed."""
        events: list[Event] = []
        at, correlation, busy = 0.0, 0, 0.0
        for annotation, replays in self.steps:
            begin = at
            at += 1
            for replay in replays:
                correlation += 1
                events.append(_call("hipGraphLaunch", at, correlation))
                busy = max(busy, at + 2)
                for kernel in replay.kernels:
                    events.append(_work(kernel, busy, correlation))
                    busy += 2
                at += 3
            if annotation:
                events.append(_host("user_annotation", annotation, begin, at - begin, {}))
            at += 2
        return events

    def kernels(self) -> list[Kernel]:
        """All replayed work in time order."""
        return [k for _, replays in self.steps for replay in replays for k in replay.kernels]


def named(execution: Execution, *recordings: Recording) -> tuple[Trace, Facts]:
    """The execution with the names that the recordings give."""
    collected = Collected(execution.trace())
    for recording in recordings:
        source = CaptureSource(recording.name, recording.batch, recording.mode)
        collected.add(source, recording.trace())
    trace = collected.trace()
    return trace, derive(trace)


def answers(trace: Trace, facts: Facts) -> list[tuple[str, int] | None]:
    """Of all replayed work in time order the operator and its rows that it was given; None: no name."""
    row = facts["replayed_work"]["span"].astype(int)
    row = row[trace["spans"]["start"][row].argsort(kind="stable")]
    calls = trace["captured_calls"]
    found: list[tuple[str, int] | None] = []
    for call in captured_operators(trace, facts, row).tolist():
        if call < 0:
            found.append(None)
            continue
        dims = json.loads(trace.strings[int(calls["dims"][call])])
        found.append((trace.strings[int(calls["name"][call])], dims[0][0]))
    return found


def right(execution: Execution) -> list[tuple[str, int]]:
    """What the answers should be, where there is one."""
    return [(k.node.operator, k.node.rows) for k in execution.kernels()]


def layers(count: int, batch: int, length: int = 6) -> list[Graph]:
    """Graphs of equal kernels and different operators: one per layer."""
    kernels = [f"k{i % 4}" for i in range(length)]
    return [
        Graph(
            tuple(Node(f"aten::l{layer}_{i}", batch, k) for i, k in enumerate(kernels)),
            f"L_{layer}",
        )
        for layer in range(count)
    ]


def other_batch(graphs: Sequence[Graph], batch: int) -> list[Graph]:
    """Graphs captured for another batch."""
    return [
        replace(graph, nodes=tuple(replace(node, rows=batch) for node in graph.nodes))
        for graph in graphs
    ]


def _host(category: str, name: str, at: float, length: float, args: dict[str, Any]) -> Event:
    place = {"ph": "X", "pid": 1, "tid": 1, "ts": at, "dur": length}
    return {**place, "cat": category, "name": name, "args": args}


def _call(name: str, at: float, correlation: int, **args: Any) -> Event:
    return _host("cuda_runtime", name, at, 1, {"correlation": correlation, **args})


def _work(kernel: Kernel, at: float, correlation: int) -> Event:
    category = "kernel" if kernel.node.kernel is not None else "gpu_memcpy"
    args = {"device": 0, "stream": kernel.stream, "correlation": correlation}
    place = {"ph": "X", "pid": 0, "tid": kernel.stream, "ts": at, "dur": 1}
    return {**place, "cat": category, "name": kernel.name, "args": args}
