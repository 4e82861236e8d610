"""The critical path as tables: its segments, what they add up to, and a strip of one step."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, largest_by, sum_by
from torch_tb_profiler.analysis.arrays.intervals import Intervals, measure
from torch_tb_profiler.analysis.critical_path.origins import lines_of, names_of, operators_of
from torch_tb_profiler.analysis.figures.kernels import kernel_rows
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.analysis.module.path_modules import module_names_of
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace

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
_SUMS, _IDENTITY = ("time", "segments"), ("cause", "name", "line", "operator")
BINS = 1200
"""Parts of a step that its strip tells apart."""

_C = DisplayColumn
_SHARE = "Share of the time of the steps."
_WORK = "Sum of the durations of all kernels of this name in the steps; on or off the path."
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
        _C("work_ns", "time", "All its time", _WORK, "path_work", True),
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
        name=names_of(trace, event),
        event=event,
        operator=operators_of(trace, facts, event),
        module=[name or None for name in insight.strings.many(modules)],
        line=lines_of(trace, facts, event),
    )


def kind_table(facts: Facts, insight: Insight, selection: Selection) -> DisplayTable:
    """What the path is made of, the most first; kinds that are not on it are left out."""
    sums = insight["critical_path_steps"]
    row = np.flatnonzero(mask(selection, sums["step"]))
    total, count = (sum_by(sums["cause"][row], len(KINDS), sums[key][row]) for key in _SUMS)
    order = np.argsort(-total, kind="stable")
    order = order[total[order] > 0]
    return PATH_KINDS.build(
        facts.strings,
        kind=_KEYS[order].tolist(),
        path_ns=total[order],
        share=total[order] / max(int(total.sum()), 1),
        segments=count[order],
    )


def event_table(facts: Facts, insight: Insight, selection: Selection) -> DisplayTable:
    """The path by event, line and operator, the most first."""
    sums = insight["critical_path_steps"]
    row = np.flatnonzero(mask(selection, sums["step"]))
    first, group = group_rows(tuple(sums[key][row] for key in _IDENTITY))
    n = len(first)
    cause, name, line, operator = (sums[key][row][first] for key in _IDENTITY)
    time, segments = (sum_by(group, n, sums[key][row]) for key in _SUMS)
    kernels = kernel_rows(facts, selection, "name")
    work = np.full(len(facts.strings) + 1, -1, np.int64)
    work[kernels["name"]] = kernels["total_ns"]
    rows = PATH_EVENTS.build(
        facts.strings,
        name=name,
        kind=_KEYS[cause].tolist(),
        line=line,
        operator=operator,
        path_ns=time,
        share=time / max(int(time.sum()), 1),
        work_ns=work[name],
        segments=segments,
        event=sums["event"][row][largest_by(group, n, sums["time"][row])],
    )
    return rows.take(np.argsort(-time, kind="stable"))


def step_causes(facts: Facts, insight: Insight, selection: Selection) -> DisplayTable:
    """Time of every selected step by kind."""
    sums, steps, width = insight["critical_path_steps"], facts["steps"], len(KINDS)
    key = sums["step"].astype(np.int64) * width + sums["cause"]
    total = sum_by(key, steps.n * width, sums["time"]).reshape(-1, width)
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
    own = slice(*np.searchsorted(path["step"], (step, step + 1)).tolist())
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
