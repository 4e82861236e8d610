"""The critical path as tables: its segments, what they add up to, and a strip of one step."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, largest_by, sum_by
from torch_tb_profiler.analysis.arrays.intervals import Intervals, measure
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.analysis.figures.source_lines import line_ranks
from torch_tb_profiler.analysis.module.path_modules import module_names_of
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role

KINDS = {
    "not_recorded": "Not recorded",
    "kernel": "Kernel",
    "memcpy": "Memcpy",
    "memset": "Memset",
    "communication": "Communication",
    "launch": "Launch latency",
    "operator": "Host operator",
    "python": "Python",
    "runtime": "Runtime call",
    "synchronization": "Synchronization",
    "dataloader": "DataLoader",
    "annotation": "Host code in an annotation",
    "before_recording": "Before the recording",
}
"""Key and name of each ``PathCause``, in its order."""
_KEYS = np.array(list(KINDS), object)
BINS = 1200
"""Parts of a step that its strip tells apart."""

_C = DisplayColumn
_SHARE = "Share of the time of the steps."
_WORK = "Sum of the durations of all device work of this name in the steps; on or off the path."
_EVENT = "Name of the event; of a launch, of the work launched."
_NUMBER = "Its number; missing where nothing was recorded."
_OPERATOR = "The operator that it is or belongs to."
_KIND = f"One of: {', '.join(KINDS)}."
CRITICAL_PATH = DisplaySpec(
    "critical_path",
    "What the end of each step waited for, back to its begin, in time order; the segments of a step"
    " cover it without hole or overlap.",
    (
        _C("kind", "text", "", _KIND),
        _C("step", "id", "", "Number of the step in the trace, from 0."),
        _C("start_ns", "time", "", "Begin, after the first event of the trace."),
        _C("dur_ns", "time", "", "Duration."),
        _C("name", "code", "", _EVENT, optional=True),
        _C("event", "row", "", _NUMBER),
        _C("operator", "code", "", _OPERATOR, optional=True),
        _C("module", "code", "", "The module around it.", optional=True),
        _C("line", "code", "", "The user's nearest Python line.", optional=True),
    ),
)
PATH_KINDS = DisplaySpec(
    "path_kinds",
    "What the critical path of the selected steps is made of.",
    (
        _C("kind", "text", "", _KIND),
        _C("path_ns", "time", "On the path", "Time on the path.", "path_time"),
        _C("share", "share", "Share", _SHARE, "path_share"),
        _C("segments", "count", "Segments", "How many stretches.", "path_segments"),
    ),
)
PATH_EVENTS = DisplaySpec(
    "path_events",
    "The critical path of the selected steps by event, source line and operator.",
    (
        _C("name", "code", "Event", _EVENT, "path_event", True, width=300, pool="other"),
        _C("kind", "category", "Kind", _KIND, "path_kind", width=130),
        _C("line", "code", "Source line", "The user's line.", "path_line", True, width=260),
        _C("operator", "code", "Operator", _OPERATOR, "path_operator", True, width=150),
        _C("path_ns", "time", "On the path", "Time.", "path_time", pool="sum", bar=True),
        _C("share", "share", "Share", _SHARE, "path_share", pool="sum"),
        _C("work_ns", "time", "All device time", _WORK, "path_work", True),
        _C("segments", "count", "Segments", "How many.", "path_segments", pool="sum"),
        _C("event", "row", "", "The longest of them."),
    ),
)
PATH_STEPS = DisplaySpec(
    "path_steps",
    "The critical path of every selected step by kind.",
    (
        _C("step", "id", "", "Number of the step in the trace, from 0."),
        _C("name", "text", "", "Name, e.g. `ProfilerStep#5`."),
        *(_C(f"{key}_ns", "time", label, label) for key, label in KINDS.items()),
    ),
)
STRIP = DisplaySpec(
    "path_strip",
    "The critical path of one step, drawn: stretches with the cause of most of their time.",
    (
        _C("kind", "text", "", _KIND),
        _C("start_ns", "time", "", "Begin, after the first event of the trace."),
        _C("end_ns", "time", "", "End."),
    ),
)


def critical_path_table(
    trace: Trace, facts: Facts, insight: Insight, selection: Selection
) -> DisplayTable:
    """The critical path of the selected steps."""
    path = insight["critical_path"]
    chosen = np.flatnonzero(mask(selection, path["step"]))
    event = path["event"][chosen].astype(np.int64)
    paths = insight["span_paths"]["path"]
    modules = np.append(module_names_of(insight)[paths], np.int32(-1))[event]
    return CRITICAL_PATH.build(
        facts.strings,
        kind=_KEYS[path["cause"][chosen]].tolist(),
        step=path["step"][chosen],
        start_ns=path["start"][chosen],
        dur_ns=path["end"][chosen] - path["start"][chosen],
        name=_names(trace, event),
        event=event,
        operator=_operators(trace, facts, event),
        module=[name or None for name in insight.strings.many(modules)],
        line=_lines(trace, facts, event),
    )


def kind_table(facts: Facts, insight: Insight, selection: Selection) -> DisplayTable:
    """What the path is made of, the most first; kinds that are not on it are left out."""
    path = insight["critical_path"]
    chosen = mask(selection, path["step"])
    cause, time = path["cause"][chosen], (path["end"] - path["start"])[chosen]
    total, count = (sum_by(cause, len(KINDS), values) for values in (time, np.ones_like(time)))
    order = np.argsort(-total, kind="stable")
    order = order[total[order] > 0]
    return PATH_KINDS.build(
        facts.strings,
        kind=_KEYS[order].tolist(),
        path_ns=total[order],
        share=total[order] / max(int(total.sum()), 1),
        segments=count[order],
    )


def event_table(trace: Trace, facts: Facts, insight: Insight, selection: Selection) -> DisplayTable:
    """The path by event, line and operator, the most first."""
    path = insight["critical_path"]
    chosen = np.flatnonzero(mask(selection, path["step"]))
    event = path["event"][chosen].astype(np.int64)
    name, line = _names(trace, event), _lines(trace, facts, event)
    operator, cause = _operators(trace, facts, event), path["cause"][chosen]
    first, group = group_rows((cause, name, line, operator))
    n = len(first)
    time = path["end"][chosen] - path["start"][chosen]
    total = sum_by(group, n, time)
    work = _work_of_names(trace, facts, selection)
    rows = PATH_EVENTS.build(
        facts.strings,
        name=name[first],
        kind=_KEYS[cause[first]].tolist(),
        line=line[first],
        operator=operator[first],
        path_ns=total,
        share=total / max(int(total.sum()), 1),
        work_ns=np.where(name[first] >= 0, work[name[first]], -1),
        segments=np.bincount(group, minlength=n),
        event=event[largest_by(group, n, time)],
    )
    return rows.take(np.argsort(-total, kind="stable"))


def step_causes(facts: Facts, insight: Insight, selection: Selection) -> DisplayTable:
    """Time of every selected step by kind."""
    path, steps = insight["critical_path"], facts["steps"]
    width = len(KINDS)
    key = path["step"].astype(np.int64) * width + path["cause"]
    total = sum_by(key, steps.n * width, path["end"] - path["start"]).reshape(-1, width)
    chosen = selection.steps
    return PATH_STEPS.build(
        facts.strings,
        step=chosen,
        name=facts.strings.many(steps["name"][chosen]),
        **{f"{kind}_ns": total[chosen, i] for i, kind in enumerate(KINDS)},
    )


def strip_table(facts: Facts, insight: Insight, step: int) -> DisplayTable:
    """The path of a step in at most ``BINS`` stretches of one cause each."""
    path, steps = insight["critical_path"], facts["steps"]
    own = path["step"] == step
    start, end, cause = path["start"][own], path["end"][own], path["cause"][own]
    edges = np.linspace(steps["start"][step], steps["end"][step], BINS + 1).astype(np.int64)
    time = np.array(
        [
            measure(Intervals(start[cause == i], end[cause == i]), edges[:-1], edges[1:])
            for i in range(len(KINDS))
        ]
    )
    most = time.argmax(axis=0)
    first = np.flatnonzero(np.append(True, most[1:] != most[:-1]))
    return STRIP.build(
        facts.strings,
        kind=_KEYS[most[first]].tolist(),
        start_ns=edges[first],
        end_ns=np.append(edges[first[1:]], edges[-1]),
    )


def _names(trace: Trace, event: Ints) -> Array:
    return np.append(trace["spans"]["name"], np.int32(-1))[event]


def _work_of_names(trace: Trace, facts: Facts, selection: Selection) -> Ints:
    """Device time of the selected steps by name; −1 for names without any. Of shape (strings,)."""
    spans, step = trace["spans"], facts["span_links"]["step"]
    row = np.flatnonzero(np.isin(spans["role"], DEVICE_ROLES) & mask(selection, step))
    total = np.full(len(facts.strings), -1, np.int64)
    total[spans["name"][row]] = 0
    np.add.at(total, spans["name"][row], spans["dur"][row])
    return total


def _host_side(facts: Facts, event: Ints) -> Ints:
    """The launch of device work, the event itself of host work; −1 none."""
    launch = np.append(facts["span_links"]["launch"], np.int32(-1))[event].astype(np.int64)
    return np.where(launch >= 0, launch, event)


def _operators(trace: Trace, facts: Facts, event: Ints) -> Array:
    """Name of the innermost operator at or around each event, of its launch; string numbers."""
    role, links = trace["spans"]["role"], facts["span_links"]
    around = np.append(nearest(links["parent"], role == Role.OPERATOR), np.int32(-1))
    own = np.append(links["operator"], np.int32(-1))[event]
    return _names(trace, np.where(own >= 0, own, around[_host_side(facts, event)]))


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
    return _names(trace, line)
