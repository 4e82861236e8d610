"""Files to compare: steps of given lengths, and windows of fixed length without steps, in which items repeat.

::

    main      |op op      |op op      |op op      |op             every item calls the same
    stream 7   {k}{k}      {k}{k}      {k}{k}      {k}            begin to begin is what an item takes
              └──────────── the window ────────────┘
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tests.builders.loop import Event, span

FIRST_US = 1000.0


def written(folder: Path, name: str, events: Sequence[Event]) -> str:
    """The path of a folder with a recording of these events."""
    path = folder / name / "worker0.pt.trace.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": list(events)}))
    return str(path.parent)


def steps(lengths: Sequence[float]) -> list[Event]:
    """Steps of these lengths in µs one after the other; an operator fills nine tenths of each."""
    events, at = [], FIRST_US
    for number, length in enumerate(lengths):
        mark, inner = f"ProfilerStep#{number}", round(length * 0.9, 3)
        events.append(span("user_annotation", mark, 100, 100, at, round(length, 3)))
        events.append(span("cpu_op", "aten::mm", 100, 100, round(at + length / 20, 3), inner))
        at = round(at + length, 3)
    return events


def window(
    length: float, item: float, kind: str = "operators", jitter: Sequence[float] = ()
) -> list[Event]:
    """A recording of ``length`` µs without steps, of items of ``item`` µs, each longer by the share in ``jitter`` (in turn).

    kind: ``operators`` of a GPU, ``cpu``, ``kernels`` alone, ``graphs`` that are launched, ``layers``: four of each and a
    sampler, ``ahead``: the host launches all work at once, ``frames``: Python frames around operators, or ``ranges``:
    annotations that number their requests, each half as long as the item.
    """
    events: list[Event] = []
    at, number, correlation = FIRST_US, 0, 1
    while at < FIRST_US + length:
        took = item * (1 + (jitter[number % len(jitter)] if jitter else 0.0))
        times = 4 if kind == "layers" else 1
        names = ["aten::sdpa", "aten::addmm"] * times + ["aten::argmax"] * (times > 1)
        part, begin = took / len(names), at
        host = FIRST_US + number * 20 if kind == "ahead" else at
        if kind == "frames":
            events.append(_span("python_function", "serve.py(31): decode", at, took * 0.95))
        if kind == "ranges":
            events.append(_span("user_annotation", f"request {number}", at, took / 2))
        if kind == "graphs":
            events.append(_span("cuda_runtime", "cudaGraphLaunch", at, 9, correlation=correlation))
        for place, name in enumerate(names):
            if begin >= FIRST_US + length:
                break
            if kind not in ("graphs", "kernels"):
                start = host + place * 5 if kind == "ahead" else begin
                width = 4 if kind == "ahead" else part * (0.9 if kind == "cpu" else 0.2)
                events.append(_span("cpu_op", name, start, width))
                if kind != "cpu":
                    more = {"correlation": correlation}
                    events.append(_span("cuda_runtime", "cudaLaunchKernel", start + 0.5, 1, **more))
            if kind != "cpu":
                run = span(
                    "kernel", f"{name[6:]}_kernel", 0, 7, round(begin + 1, 3), round(part * 0.9, 3)
                )
                run["args"] = {"device": 0, "stream": 7, "correlation": correlation}
                events.append(run)
                correlation += kind != "graphs"
            begin += part
        correlation += kind == "graphs"
        at, number = at + took, number + 1
    # What the recorder itself leaves at the end.
    return [*events, _span("cpu_op", "aten::empty", FIRST_US + length - 1, 1)]


def _span(category: str, name: str, at: float, length: float, **args: object) -> Event:
    return span(category, name, 100, 100, round(at, 3), round(length, 3), **args)
