"""Programs of steps that launch one thing or another, written as a list (``listed.py``)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

FORWARD = ("aten::mm", "aten::relu")
DIFFERENTIATES = (*FORWARD, "MmBackward0")
TRAINS = (*DIFFERENTIATES, "Optimizer.step#SGD.step")
VALIDATES = ("aten::mm", "aten::softmax", "aten::argmax", "aten::eq")
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


@dataclass(frozen=True)
class Step:
    """A step of some µs: the operators that it calls, a µs each, with inputs of so many ``rows``, and how long it compiles, and loads data; its
    ``graphs`` and the ``kernels`` by name that they launch, or its last operator.
    """

    length: int
    calls: Sequence[str] = TRAINS
    compiles: int = 0
    loads: int = 0
    rows: int = 0
    graphs: int = 0
    kernels: Sequence[str] = ()


def steps_listed(steps: Sequence[Step], first: int = 1, mark: str = "ProfilerStep#{}") -> str:
    """The steps one after another, marked ``mark``, numbered from ``first``."""
    lines, at, correlation = [], 0, 0
    for number, step in enumerate(steps, first):
        lines.append(f"1 note {mark.format(number)}@{at}+{step.length}")
        dims = json.dumps({"Input Dims": [[step.rows, 8], [8, 8]]}) if step.rows else ""
        for i, name in enumerate(step.calls):
            kind = "note" if name.startswith("Optimizer.") else "op"
            lines.append(f"1 {kind} {name}@{at + 1 + i}+1 {dims if kind == 'op' else ''}")
        if step.compiles:
            lines.append(f"1 op _compile.compile_inner@{at + 10}+{step.compiles}")
        if step.loads:
            lines.append(f"1 note {LOADER}@{at + 100}+{step.loads}")
        for i in range(max(step.graphs, len(step.kernels))):
            call = "cudaGraphLaunch" if step.graphs else "cudaLaunchKernel"
            correlation += 1
            begin = at + len(step.calls) + 2 + i
            lines.append(f"1 call {call}@{begin}+0.5 c{correlation}")
            name = step.kernels[i % len(step.kernels)] if step.kernels else "replayed"
            lines.append(f"gpu 0:7 kernel {name}@{begin + 0.6}+0.3 c{correlation}")
        at += step.length
    return "\n".join(lines)
