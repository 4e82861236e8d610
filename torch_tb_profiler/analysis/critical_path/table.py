"""The critical path as tables: its segments, and what they add up to."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, largest_by, sum_by
from torch_tb_profiler.analysis.arrays.intervals import measure
from torch_tb_profiler.analysis.critical_path.origins import (
    lines_of,
    modules_of,
    names_of,
    operators_of,
)
from torch_tb_profiler.analysis.facts.earlier_work import left_out
from torch_tb_profiler.analysis.figures.kernels import kernel_rows
from torch_tb_profiler.analysis.figures.operators import operator_rows, operators_have_device_time
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.analysis.module.modules import path_sums
from torch_tb_profiler.analysis.module.path_modules import module_names_of
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable, display_spec
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.strings import StringTable

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
    "before_recording": "Silent start",
    "waiting": "Waiting for a rank",
}
"""Key and name of each ``PathCause``, in its order."""
KEYS = np.array(list(KINDS), object)
WORK = (
    PathCause.KERNEL,
    PathCause.MEMCPY,
    PathCause.MEMSET,
    PathCause.COMMUNICATION,
    PathCause.WAITING,
)
"""Device work; a collective that waits for another rank runs all the while."""
PathGroup = Literal["place", "event", "operator", "module", "line", "track"]
"""What a row of the path's table is one of; ``place``: an event at a source line, in an operator."""
Window = tuple[int, int]
"""Begin and end, ns."""
_IDENTITY: dict[PathGroup, tuple[str, ...]] = {
    "place": ("cause", "name", "line", "operator"),
    "event": ("cause", "name"),
    "operator": ("operator",),
    "module": ("module",),
    "line": ("line",),
    "track": ("track",),
}

_C = DisplayColumn
_SHARE = "Share of the time of the steps."
_EVENT = "Name of the event; of a launch, of the work launched."
_OPERATOR = "The operator that it is or belongs to."
_KIND = f"One of: {', '.join(KINDS)}."
CRITICAL_PATH = display_spec(
    """
critical_path: What the end of each step waited for, back to its begin, in time order; the segments of a step cover it without hole or overlap.
    kind      text  -  -         <kind>
    step      id    -  -         Number of the step in the trace, from 0.
    start_ns  time  -  -         Begin, after the first event of the trace.
    dur_ns    time  -  -         Duration.
    name      code  -  optional  <event>
    event     row   -  -         Its number; missing where nothing was recorded.
    operator  code  -  optional  <operator>
    module    code  -  optional  The module around it.
    line      code  -  optional  The user's nearest Python line.
""",
    kind=_KIND,
    event=_EVENT,
    operator=_OPERATOR,
)
PATH_KINDS = display_spec(
    """
path_kinds: What the critical path of the selected steps is made of.
    kind      text   -            -                   <kind>
    path_ns   time   On the path  term=path_time      Time on the path.
    share     share  Share        term=path_share     <share>
    segments  count  Segments     term=path_segments  How many stretches.
""",
    kind=_KIND,
    share=_SHARE,
)
PATH_EVENTS = display_spec(
    """
path_events: The critical path of the selected steps by event, source line and operator.
    name        code      Event        term=path_event optional pool=other width=300  <event>
    kind        category  Kind         term=path_kind width=180                       The kind of most of it.
    line        code      Source line  term=path_line optional width=240              The user's line.
    operator    code      Operator     term=path_operator optional width=150          <operator>
    path_ns     time      On the path  term=path_time pool=sum bar                    Time.
    share       share     Share        term=path_share pool=sum                       <share>
    work_ns     time      Plain time   term=path_work optional                        All time of kernels of this name, or all device time of this operator or
        module itself, in the steps; on or off the path.
    work_share  share     Plain share  term=path_work_share optional                  Its part of the time of all kernels, operators or modules.
    segments    count     Segments     term=path_segments pool=sum                    How many.
    event       row       -            -                                              The longest of them.
    track       row       -            unit=row_of_tracks unsent                      Its thread or stream.
""",
    event=_EVENT,
    operator=_OPERATOR,
    share=_SHARE,
)
PATH_STEPS = DisplaySpec(
    "path_steps",
    "The critical path of every selected step by kind.",
    (
        _C("step", "id", "", "Number of the step in the trace, from 0."),
        _C("name", "text", "", "Name, e.g. `ProfilerStep#5`."),
        *(_C(f"{key}_ns", "time", label, label) for key, label in KINDS.items()),
        _C("steps", "count", "", ""),
    ),
)


def critical_path_table(
    trace: Trace, facts: Facts, insight: Insight, selection: Selection
) -> DisplayTable:
    """The critical path of the selected steps."""
    path = insight["critical_path"]
    chosen = np.flatnonzero(mask(selection, path["step"]))
    event = path["event"][chosen].astype(np.int64)
    modules = modules_of(insight.tables, event)
    return CRITICAL_PATH.build(
        facts.strings,
        kind=KEYS[path["cause"][chosen]].tolist(),
        step=path["step"][chosen],
        start_ns=path["start"][chosen],
        dur_ns=path["end"][chosen] - path["start"][chosen],
        name=names_of(trace, event),
        event=event,
        operator=operators_of(trace, facts, event),
        module=[name or None for name in insight.strings.many(modules)],
        line=lines_of(trace, facts, insight.tables, event),
    )


def kind_table(
    facts: Facts, insight: Insight, selection: Selection, window: Window | None = None
) -> DisplayTable:
    """What the path is made of, the most first; kinds that are not on it are left out."""
    taken = _taken(facts, insight, selection, window)
    return kinds_of(facts.strings, taken.sums["cause"], taken.time, taken.segments)


def kinds_of(strings: StringTable, cause: Array, time: Ints, segments: Ints) -> DisplayTable:
    """The table ``path_kinds`` of stretches: the cause of each, its time, ns, and how many segments it is."""
    total, count = (sum_by(cause, len(KINDS), values) for values in (time, segments))
    order = np.argsort(-total, kind="stable")
    order = order[total[order] > 0]
    return PATH_KINDS.build(
        strings,
        kind=KEYS[order].tolist(),
        path_ns=total[order],
        share=total[order] / max(int(total.sum()), 1),
        segments=count[order],
    )


def event_table(
    facts: Facts,
    insight: Insight,
    selection: Selection,
    by: PathGroup = "place",
    window: Window | None = None,
) -> DisplayTable:
    """The path by what ``by`` says, the most first. ``window``: only what lies in it; then
    ``work_ns`` is unknown. Without ``by="track"`` the name is that of a row; with it ``track`` is.
    """
    taken = _taken(facts, insight, selection, window)
    keys = [taken.sums[key] for key in _IDENTITY[by]]
    first, group = group_rows(keys)
    n = len(first)
    time, segments = (sum_by(group, n, values) for values in (taken.time, taken.segments))
    by_kind = sum_by(group * len(KINDS) + taken.sums["cause"], n * len(KINDS), taken.time)
    named = dict(zip(_IDENTITY[by], (key[first] for key in keys), strict=True))
    columns: dict[str, Any] = {key: named[key] for key in ("line", "operator") if by == "place"}
    if by != "track":
        row = named[by] if by in named else named["name"]
        columns["name"] = (
            [name or None for name in insight.strings.many(row)] if by == "module" else row
        )
        if window is None and by != "line":
            of_work = np.where(np.isin(named["cause"], WORK), row, -1) if "cause" in named else row
            columns |= _plain_time(facts, insight, selection, by, of_work)
    rows = PATH_EVENTS.build(
        facts.strings,
        kind=KEYS[by_kind.reshape(-1, len(KINDS)).argmax(axis=1)].tolist(),
        path_ns=time,
        share=time / max(int(time.sum()), 1),
        segments=segments,
        event=taken.event[largest_by(group, n, taken.time)],
        track=named.get("track", np.full(n, -1)),
        **columns,
    )
    return rows.take(np.argsort(-time, kind="stable"))


class PathPart(msgspec.Struct, frozen=True):
    """An event of the path at its source line and in its operator. name, line: string, −1 none; share: of the path."""

    name: int
    line: int
    share: float


def largest_part(facts: Facts, insight: Insight, selection: Selection, kind: str) -> PathPart:
    """What takes most of a kind that is on the path: the first of its rows in ``event_table``."""
    taken = _taken(facts, insight, selection, None)
    sums = taken.sums
    row = np.flatnonzero(sums["cause"] == list(KINDS).index(kind))
    first, group = group_rows([sums[key][row] for key in _IDENTITY["place"]])
    time = sum_by(group, len(first), taken.time[row])
    most = int(time.argmax())
    name, line = (int(sums[key][row[first[most]]]) for key in ("name", "line"))
    return PathPart(name, line, int(time[most]) / max(int(taken.time.sum()), 1))


class _Taken(msgspec.Struct, frozen=True):
    """Some rows of ``critical_path_steps``, with what of their time counts; all of shape (rows,)."""

    sums: Table
    time: Ints
    segments: Ints
    event: Array


def _taken(facts: Facts, insight: Insight, selection: Selection, window: Window | None) -> _Taken:
    """What counts of the path: without what is from before the recording."""
    sums, counted = insight["critical_path_steps"], counted_time(facts, insight)
    chosen = mask(selection, sums["step"]) & ((counted > 0) | (sums["time"] == 0))
    if window is None:
        own = sums if chosen.all() else sums.take(chosen)
        return _Taken(own, counted[chosen], own["segments"], own["event"])
    path, (begin, end) = insight["critical_path"], window
    row = np.flatnonzero((path["end"] > begin) & (path["start"] < end))
    row = row[chosen[path["group"][row]]]
    since, until = np.maximum(path["start"][row], begin), np.minimum(path["end"][row], end)
    time = until - since - measure(left_out(facts), since, until)
    first, group = group_rows((path["group"][row],))
    n = len(first)
    return _Taken(
        sums.take(path["group"][row][first]),
        sum_by(group, n, time),
        np.bincount(group, minlength=n),
        path["event"][row][largest_by(group, n, time)],
    )


def counted_time(facts: Facts, insight: Insight) -> Ints:
    """Time of each row of ``critical_path_steps`` that counts in its step, ns."""
    sums, earlier = insight["critical_path_steps"], left_out(facts)
    if not len(earlier.start):
        return np.asarray(sums["time"], np.int64)
    path = insight["critical_path"]
    time = path["end"] - path["start"] - measure(earlier, path["start"], path["end"])
    return sum_by(path["group"], sums.n, time)


def _plain_time(
    facts: Facts, insight: Insight, selection: Selection, by: PathGroup, row: Array
) -> dict[str, Array]:
    """``work_ns`` and ``work_share`` of names: what they take whether or not on the path."""
    name, time = _all_work(facts, insight, selection, by)
    work = np.full(max(len(facts.strings), len(insight.strings)) + 1, -1, np.int64)
    work[name] = time
    total = int(time.sum())
    share = np.where(work[row] >= 0, work[row] / total if total else np.nan, np.nan)
    return {"work_ns": work[row], "work_share": share}


def hidden_work(
    facts: Facts, insight: Insight, selection: Selection, by: Literal["event", "operator"]
) -> tuple[Array, Ints, Ints]:
    """``(name, work, path)`` of all kernels or operators: device time, ns, and what of it is on the path."""
    name, work = _all_work(facts, insight, selection, by)
    taken = _taken(facts, insight, selection, None)
    of = taken.sums["name" if by == "event" else "operator"]
    row = np.flatnonzero((of >= 0) & np.isin(taken.sums["cause"], WORK))
    return name, work, sum_by(of[row], len(facts.strings), taken.time[row])[name]


def _all_work(
    facts: Facts, insight: Insight, selection: Selection, by: PathGroup
) -> tuple[Array, Ints]:
    """``(name, ns)``: device time of each operator or module itself, or of each kernel; without a
    device the host time of operators.
    """
    if by == "operator":
        rows = operator_rows(facts, selection, "name")
        on_device = operators_have_device_time(facts)
        return rows["name"], rows["device_self_ns" if on_device else "host_self_ns"]
    if by == "module":
        sums, _ = path_sums(insight, selection, ("device_self",))
        module = module_names_of(insight)[: insight["paths"].n]
        inside = module >= 0
        first, group = group_rows((module[inside],))
        time = sum_by(group, len(first), sums["device_self"][inside])
        return module[inside][first], time if time.any() else np.full(len(first), -1)
    kernels = kernel_rows(facts, selection, "name")
    return kernels["name"], kernels["total_ns"]


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
