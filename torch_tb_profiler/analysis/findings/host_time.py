"""What the program's thread spends time on, as several rules look at it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of
from torch_tb_profiler.analysis.arrays.intervals import Intervals, union
from torch_tb_profiler.analysis.findings.candidate import Candidate
from torch_tb_profiler.analysis.findings.operators import beneath
from torch_tb_profiler.analysis.findings.rule_context import RuleContext
from torch_tb_profiler.analysis.what_if.changes import DRIVER, LONG_SILENCE
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, is_one_of, unique_values
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.python_frames import function_name
from torch_tb_profiler.store.roles import Role

LEAST = 0.05
"""Share of the steps from which on a function is worth a word."""
MUCH = 1 / 3
"""Share of the steps from which on housekeeping is likely more than it needs to be."""
NO_NAME = regex(r"\): <(?:listcomp|genexpr|dictcomp|setcomp|lambda)>$")
"""Functions within another that has a name."""
MOST = 0.5
"""Share of a call that one callee must hold to stand for it."""
_LOOP = 1000
"""Calls of one function per step from which on a Python loop makes them."""
_NO_WORK = (Role.ANNOTATION, Role.PYTHON, Role.PROFILER, Role.DEVICE_ANNOTATION)


def gaps_after(context: RuleContext, row: Ints) -> tuple[Ints, Ints, Ints]:
    """Of each gap that waited for the host, the call of ``row`` that held it up, and the end of the gap, no longer
    than the call: ``(row, start, end)``. That is the longest of those that returned between the same two launches
    as the last one before the launch that ended the gap::

        host   <launch a> [cudaMemcpyAsync      ][cudaStreamSynchronize] <launch b>
        gpu       {a                          }                             {b  }
    """
    none = np.zeros(0, np.int64)
    gaps = context.gaps.take(context.gaps.for_host & (context.gaps.launch >= 0))
    if not len(row) or not len(gaps.start):
        return none, none, none
    begin, end = context.times(row)
    order = np.argsort(end, kind="stable")
    launched = context.trace["spans"]["start"][gaps.launch]
    last = np.searchsorted(end[order], launched, side="right") - 1
    after = last >= 0
    starts = context.trace["spans"]["start"]
    launches = mask_of(len(starts) + 1, context.work.launch)
    launches[row] = False
    others = np.flatnonzero(launches[:-1])
    between = np.searchsorted(np.sort(starts[others], kind="stable"), end)
    longest = np.zeros(len(others) + 1, np.int64)
    by_length = np.argsort(end - begin, kind="stable")
    longest[between[by_length]] = by_length
    call = longest[between[order[last[after]]]]
    length = np.minimum((gaps.end - gaps.start)[after], (end - begin)[call])
    return row[call], gaps.end[after] - length, gaps.end[after]


def on_path(context: RuleContext, *causes: PathCause) -> tuple[Ints, Ints, Ints]:
    """The stretches of the critical path of some causes, within the steps: ``(event, start, end)``; where nothing was recorded
    of a host thread the event is −1.
    """
    path = context.insight["critical_path"]
    chosen = is_one_of(path["cause"], causes) & np.isin(path["step"], context.steps)
    chosen &= (path["event"] >= 0) != (path["cause"] == PathCause.NOT_RECORDED)
    return path["event"][chosen].astype(np.int64), path["start"][chosen], path["end"][chosen]


def overhead_records(context: RuleContext, loading: bool) -> Candidate | None:
    """Idle time within overhead records: of the driver that loads kernels, or of the profiler."""
    row = context.of_role(Role.OVERHEAD)
    row = row[context.named(row, DRIVER.match) == loading]
    if not len(row):
        return None
    row, start, end = context.idle_in(row, context.gaps)
    return Candidate(
        row,
        start,
        end,
        {"records": context.per_step(unique_values(row))},
        change="kernels-loaded" if loading else "no-overhead",
    )


def silent(context: RuleContext) -> Intervals:
    """From what was recorded last to the end of the last step, less what other steps end with without a record, too."""
    spans, steps = context.trace["spans"], context.facts["steps"]
    none = np.zeros(0, np.int64)
    if not context.has_device or context.is_whole or context.steps[-1] != steps.n - 1:
        return Intervals(none, none)
    # An old version's operators hold its steps, too.
    does = ~is_one_of(spans["role"], _NO_WORK) & (context.names.step[spans["name"]] < 0)
    python, start, dur = spans["role"] == Role.PYTHON, spans["start"], spans["dur"]
    last = []
    for begin, end in pairwise([0, *np.searchsorted(start, steps["end"]).tolist()]):
        own = slice(begin, end)
        until = (start[own] + dur[own])[does[own]].max(initial=0)
        last.append(max(until, start[own][python[own]].max(initial=0)))
    last_of = np.maximum(steps["start"], np.maximum.accumulate(last))
    quiet = np.maximum(steps["end"] - last_of, 0)
    usual = int(np.median(quiet[context.steps[:-1]])) if len(context.steps) > 1 else 0
    return union(steps["end"][-1:] - max(int(quiet[-1]) - usual, 0), steps["end"][-1:])


def unrecorded(context: RuleContext) -> Intervals:
    """When nothing was recorded of the program's thread for longer than between two launches, but for marks of steps."""
    host = context.scene.graph.host
    quiet = context.scene.silent & (host.track == context.main_track)
    quiet &= host.end - host.start > LONG_SILENCE
    return union(host.start[quiet], host.end[quiet])


def neighbours(context: RuleContext, start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Rows of what the program's thread did last before some stretches and first after them, marks of steps left out; −1
    nothing.
    """
    spans = context.trace["spans"]
    own = (spans["track"] == context.main_track) & (spans["dur"] > 0)
    row = np.flatnonzero(own & (context.names.step[spans["name"]] < 0))
    begin, until = context.times(row)
    # Of what ends at one time, the outermost is the last.
    order = np.lexsort((-begin, until))
    before = np.searchsorted(until[order], start, side="right") - 1
    after = np.searchsorted(begin, end)
    return np.append(row[order], -1)[before], np.append(row, -1)[after]


def python_loop(context: RuleContext, row: Ints) -> tuple[str, float]:
    """The function that Python calls most often within some calls, and how often per step; ``("", 0)`` where no loop does."""
    spans = context.trace["spans"]
    within = beneath(context, row)
    within[row] = False
    inner = spans["name"][within & (spans["role"] == Role.PYTHON)]
    if len(inner) < _LOOP * len(context.steps):
        return "", 0.0
    each, count = np.unique(inner, return_counts=True)
    often = count.max() / len(context.steps)
    if often < _LOOP:
        return "", 0.0
    return function_name(context.trace.strings[int(each[count.argmax()])]), float(often)
