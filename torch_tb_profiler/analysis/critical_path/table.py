"""The critical path as a table, and what it is made of."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.analysis.figures.source_lines import line_ranks
from torch_tb_profiler.analysis.module.path_modules import module_names_of
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

KINDS = tuple(cause.name.lower() for cause in PathCause)
"""Names of the causes, by ``PathCause``."""

_C = DisplayColumn
CRITICAL_PATH = DisplaySpec(
    "critical_path",
    "What the end of each step waited for, back to its begin, in time order; the segments of a step"
    " cover it without hole or overlap.",
    (
        _C("kind", "text", "Kind", f"One of: {', '.join(KINDS)}."),
        _C("step", "id", "Step", "Number of the step in the trace, from 0."),
        _C("start_ns", "time", "Start", "Begin, after the first event of the trace."),
        _C("dur_ns", "time", "Time", "Duration.", pool="sum"),
        _C(
            "name",
            "code",
            "Event",
            "Name of the event; of a launch, of the work launched.",
            optional=True,
        ),
        _C("event", "row", "", "Its number; missing where nothing was recorded."),
        _C("operator", "code", "Operator", "The operator that it is or belongs to.", optional=True),
        _C("module", "code", "Module", "The module around it.", optional=True),
        _C("line", "code", "Line", "The user's nearest Python line.", optional=True),
    ),
)


def critical_path_table(
    trace: Trace, facts: Facts, insight: Insight, selection: Selection
) -> DisplayTable:
    """The critical path of the selected steps."""
    path = insight["critical_path"]
    chosen = np.flatnonzero(mask(selection, path["step"]))
    event = path["event"][chosen].astype(np.int64)
    spans = trace["spans"]
    modules = np.append(module_names_of(insight)[insight["span_paths"]["path"]], np.int32(-1))[
        event
    ]
    return CRITICAL_PATH.build(
        facts.strings,
        kind=np.array(KINDS, object)[path["cause"][chosen]].tolist(),
        step=path["step"][chosen],
        start_ns=path["start"][chosen],
        dur_ns=path["end"][chosen] - path["start"][chosen],
        name=np.append(spans["name"], np.int32(-1))[event],
        event=event,
        operator=_operators(trace, facts, event),
        module=[name or None for name in insight.strings.many(modules)],
        line=_lines(trace, facts, event),
    )


def _host_side(facts: Facts, event: Ints) -> Ints:
    """The launch of device work, the event itself of host work; −1 none."""
    launch = np.append(facts["span_links"]["launch"], np.int32(-1))[event].astype(np.int64)
    return np.where(launch >= 0, launch, event)


def _operators(trace: Trace, facts: Facts, event: Ints) -> Array:
    """Name of the innermost operator at or around each event, of its launch; string numbers."""
    role, links = trace["spans"]["role"], facts["span_links"]
    around = np.append(nearest(links["parent"], role == Role.OPERATOR), np.int32(-1))
    own = np.append(links["operator"], np.int32(-1))[event]
    operator = np.where(own >= 0, own, around[_host_side(facts, event)])
    return np.append(trace["spans"]["name"], np.int32(-1))[operator]


def _lines(trace: Trace, facts: Facts, event: Ints) -> Array:
    """The user's nearest Python frame around each event, else the nearest of a Python file; string
    numbers, −1 none.
    """
    spans, parent = trace["spans"], facts["span_links"]["parent"]
    python = spans["role"] == Role.PYTHON
    if not python.any():
        return np.full(len(event), -1, np.int64)
    rank = np.where(python, line_ranks(trace.strings, spans["name"][python])[spans["name"]], 0)
    host = _host_side(facts, event)
    line = np.full(len(event), -1, np.int64)
    for least in (1, 2):
        frame = np.append(nearest(parent, rank >= least), np.int32(-1))[host]
        line = np.where(frame >= 0, frame, line)
    return np.append(spans["name"], np.int32(-1))[line]
