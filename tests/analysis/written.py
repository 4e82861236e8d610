"""Traces written as ``name@start+dur``, for cases whose figures come from the original plugin's tests (µs)."""

from __future__ import annotations

import re
from typing import Any

from tests.builders.drawn import Event, trace_of
from torch_tb_profiler.analysis.derive import derive
from torch_tb_profiler.analysis.kernels import KernelGroup, kernel_rows
from torch_tb_profiler.analysis.operators import operator_rows
from torch_tb_profiler.analysis.selection import select
from torch_tb_profiler.store.trace import Facts

_WRITTEN = re.compile(r"(?P<name>.+)@(?P<ts>\d+)\+(?P<dur>\d+)$")
STEP_COLUMNS = ("kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_exec", "other")


def host(category: str, text: str, tid: int = 1, **args: Any) -> Event:
    """A span of a host thread."""
    match = _WRITTEN.match(text)
    assert match, text
    return {"ph": "X", "cat": category, "name": match["name"], "pid": 9, "tid": tid, "ts": int(match["ts"]), "dur": int(match["dur"]), "args": args}


def operator(text: str, tid: int = 1, **args: Any) -> Event:
    """An operator; old traces write steps and DataLoader waits as operators too."""
    return host("Operator", text, tid, **args)


def launch(text: str, correlation: int, tid: int = 1) -> Event:
    """A runtime call."""
    return host("Runtime", text, tid, correlation=correlation)


def device(text: str, correlation: int = 0, gpu: int = 0, **args: Any) -> Event:
    """Work of a device, a copy or memset by its name."""
    name = text.split("@")[0]
    category = next((kind for kind in ("Memcpy", "Memset") if name.startswith(kind)), "Kernel")
    tied = {"correlation": correlation} if correlation else {}
    return {**host(category, text, 7), "pid": gpu, "args": {"device": gpu, "stream": 7, **tied, **args}}


def facts_of(*listed: Event, **header: Any) -> Facts:
    """The facts of these events."""
    return derive(trace_of(listed, **header))


def steps(facts: Facts) -> list[dict[str, int]]:
    """Per step the categories that are not 0 and the total, µs."""
    table = facts["steps"]
    rows = []
    for row in range(table.n):
        found = {key: int(table[key][row]) // 1000 for key in STEP_COLUMNS if table[key][row]}
        rows.append({**found, "total": int(table["end"][row] - table["start"][row]) // 1000})
    return rows


def operators(facts: Facts) -> dict[str, tuple[int, int, int, int, int]]:
    """Name → (calls, host total, host self, device total, device self), µs."""
    rows = operator_rows(facts, select(facts), "name")
    times = (rows.host_total // 1000, rows.host_self // 1000, rows.device_total // 1000, rows.device_self // 1000)
    return {facts.strings[int(name)]: (int(rows.calls[i]), *(int(t[i]) for t in times)) for i, name in enumerate(rows.name)}  # type: ignore[misc]


def kernels(facts: Facts, group: KernelGroup = "name") -> list[tuple[str, str, int, int]]:
    """(name, operator, calls, total in µs)."""
    rows = kernel_rows(facts, select(facts), group)
    texts = zip(facts.strings.many(rows.name), facts.strings.many(rows.operator), strict=True)
    return [(name, op, int(rows.calls[i]), int(rows.total[i]) // 1000) for i, (name, op) in enumerate(texts)]
