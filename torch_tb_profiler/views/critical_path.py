"""Route ``/critical_path``."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.critical_path.table import (
    KINDS,
    STRIP,
    event_table,
    kind_table,
    step_causes,
    strip_table,
)
from torch_tb_profiler.analysis.figures.absent import absent
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.units import format_ns, format_share
from torch_tb_profiler.views.critical_path_wire import CriticalPathPayload
from torch_tb_profiler.views.display_wire import wire_columns
from torch_tb_profiler.views.texts import missing
from torch_tb_profiler.views.vocabulary import vocabulary


def critical_path_payload(
    facts: Facts, insight: Insight, selection: Selection, limit: int
) -> CriticalPathPayload:
    """What the ends of the selected steps waited for; rows beyond ``limit`` are pooled."""
    steps = facts["steps"]
    wall = (steps["end"] - steps["start"])[selection.steps]
    longest = int(selection.steps[np.argmax(wall)]) if len(wall) else -1
    parts = kind_table(facts, insight, selection)
    rows = event_table(facts, insight, selection)
    strip = (
        strip_table(facts, insight, longest)
        if longest >= 0
        else STRIP.build(facts.strings, kind=[], start_ns=wall, end_ns=wall)
    )
    return CriticalPathPayload(
        vocabulary=vocabulary(facts),
        headline=headline(parts, rows, len(wall)),
        parts=wire_columns(parts),
        steps=wire_columns(step_causes(facts, insight, selection)),
        strip_step=longest,
        strip=wire_columns(strip),
        rows=wire_columns(rows.head(limit)),
        pooled=max(rows.n - limit, 0),
        missing=missing(absent(facts), ("host", "device", "stacks")),
    )


def headline(parts: DisplayTable, rows: DisplayTable, steps: int) -> list[str]:
    """What takes most of the path, and what of it most."""
    if not parts.n:
        return []
    kind, share = parts["kind"][0], float(parts["share"][0])
    per_step = format_ns(int(parts["path_ns"][0]) / max(steps, 1))
    whole = "the step" if steps == 1 else "a step"
    sentences = [
        f"{KINDS[kind]}: {format_share(share)} of the critical path, {per_step} of {whole}"
    ]
    first = rows.take(np.array([rows["kind"].index(kind)]))
    [name], [line] = first.texts("name"), first.texts("line")
    if name:
        place = f" at {line}" if line and line != name else ""
        part = format_share(float(first["share"][0]))
        sentences.append(f"The largest part of it, {part} of the path, is {name}{place}.")
    return sentences
