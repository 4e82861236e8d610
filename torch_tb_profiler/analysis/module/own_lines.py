"""What each source line of the user's own program costs, or of that and its packages: on the critical path, on the device, in
operators and in Python.

Everything counts for one line, the nearest of the program around it, so that the rows add up::

    train.py(9): main     ───────────────────────────────     Python's own time: what no call covers
      model.py(3): forward      ─────────────
        torch/…/linear.py         ─────────                   of model.py(3), as is what it calls and launches
    tqdm/_monitor.py(60): run ───────────────────────────     no row: a thread of a package that only sleeps
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, largest_by, sum_by
from torch_tb_profiler.analysis.critical_path.origins import lines_of
from torch_tb_profiler.analysis.figures.operators import operators_have_device_time
from torch_tb_profiler.analysis.figures.selection import Selection, mask, sums_over
from torch_tb_profiler.analysis.figures.source_lines import (
    OWN,
    LineGroup,
    line_ranks,
    lines_of_stacks,
    lines_of_tree,
)
from torch_tb_profiler.store.columns import Ints, is_one_of
from torch_tb_profiler.store.display import DisplayTable, display_spec, known
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

LINES = display_spec("""
lines: One row per source line of the user's own program or, by package, of that or a package.
    line       code   Line            term=path_line optional pool=other width=300  `file(line): function`, the nearest of the user's own program or, by
        package, of that or a package; missing: no line is known.
    path_ns    time   On the path     term=path_time pool=sum bar                   Time on the critical path.
    share      share  Share           term=path_share pool=sum                      Its part of the path.
    python_ns  time   Python          term=line_python pool=sum                     Host time in Python that no operator and no runtime call covers.
    host_ns    time   Operators       term=line_host pool=sum                       Host time of operators and runtime calls, those of the backward pass at the
        line of their forward.
    device_ns  time   {Device}        term=line_device optional pool=sum            Device work launched from there, each once.
    calls      count  Operator calls  term=calls pool=sum unit=calls                How many.
    event      row    -               -                                             The longest stretch of it on the path.
""")


def own_lines(
    trace: Trace, facts: Facts, insight: Insight, selection: Selection, by: LineGroup = "own"
) -> DisplayTable:
    """The lines of the selected steps, those that their ends waited for longest first; none where no stack was recorded."""
    if not facts["stacks"].n and not (trace["spans"]["role"] == Role.PYTHON).any():
        return LINES.joined([])
    parts = (
        _on_path(trace, facts, insight, selection, by),
        _of_operators(facts, insight, selection, by),
        _of_calls(trace, facts, insight, selection, by),
    )
    line = np.concatenate([part["line"] for part in parts])
    first, group = group_rows((line,))
    n = len(first)
    sums = {
        key: sum_by(
            group,
            n,
            np.concatenate(
                [part.get(key, np.zeros(len(part["line"]), np.int64)) for part in parts]
            ),
        )
        for key in ("path_ns", "python_ns", "host_ns", "device_ns", "calls")
    }
    on_path, of_part = parts[0], group[: len(parts[0]["line"])]
    longest = np.full(n, -1)
    longest[of_part] = on_path["event"][largest_by(of_part, n, on_path["path_ns"])[of_part]]
    order = np.lexsort((-sums["host_ns"] - sums["python_ns"], -sums["device_ns"], -sums["path_ns"]))
    # A thread that a package started, and that neither works nor is waited for, is no part of the program.
    own = line_ranks(facts.strings, line[first])[line[first]] == OWN
    keys = ("path_ns", "host_ns", "device_ns")
    used = order[(sum(sums[key] for key in keys) + sums["python_ns"] * own)[order] > 0]
    sums["device_ns"] = known(sums["device_ns"], operators_have_device_time(facts))
    return LINES.build(
        facts.strings,
        line=line[first],
        share=sums["path_ns"] / max(int(sums["path_ns"].sum()), 1),
        event=longest,
        **sums,
    ).take(used)


def _on_path(
    trace: Trace, facts: Facts, insight: Insight, selection: Selection, by: LineGroup
) -> dict[str, Ints]:
    """The critical path, without work from before the recording."""
    sums = insight["critical_path_steps"]
    taken = mask(selection, sums["step"]) & (sums["cause"] != PathCause.BEFORE_RECORDING)
    if by == "package":
        path = insight["critical_path"]
        row = np.flatnonzero(taken[path["group"]])
        event = path["event"][row].astype(np.int64)
        return {
            "line": lines_of(trace, facts, insight.tables, event, by).astype(np.int64),
            "path_ns": (path["end"] - path["start"])[row],
            "event": event,
        }
    return {
        "line": sums["line"][taken].astype(np.int64),
        "path_ns": sums["time"][taken],
        "event": sums["event"][taken].astype(np.int64),
    }


def _of_operators(
    facts: Facts, insight: Insight, selection: Selection, by: LineGroup
) -> dict[str, Ints]:
    """Operators at the lines of their stacks, and device work launched outside them."""
    own = sums_over(selection, facts["operator_steps"], "operator", facts["operator_sums"])
    stack, lines, launches = facts["operators"]["stack"], insight["lines"], insight["line_steps"]
    of_stack = np.append(lines_of_stacks(facts, by), -1)[stack]
    taken = mask(selection, launches["step"])
    outside = lines_of_tree(facts, lines["parent"], lines["frame"], by)[launches["line"][taken]]
    none = np.zeros(len(outside), np.int64)
    return {
        "line": np.concatenate((of_stack, outside)),
        "host_ns": np.concatenate((own["host_self"] + own["runtime"], none)),
        "device_ns": np.concatenate((own["device_self"], launches["device"][taken])),
        "calls": np.concatenate((own["calls"], none)),
    }


def _of_calls(
    trace: Trace, facts: Facts, insight: Insight, selection: Selection, by: LineGroup
) -> dict[str, Ints]:
    """Python's own time, that of annotations among it, and runtime calls outside operators."""
    spans, links = trace["spans"], facts["span_links"]
    python = is_one_of(spans["role"], (Role.PYTHON, Role.ANNOTATION))
    call = (spans["role"] == Role.RUNTIME) & (links["operator"] < 0)
    inside, parent = _inside(trace, facts, selection), links["parent"]
    beneath = np.flatnonzero(parent >= 0)
    covered = sum_by(parent[beneath], len(parent), inside[beneath])
    row = np.flatnonzero((python | call) & (inside > covered))
    line, is_python = lines_of(trace, facts, insight.tables, row, by), python[row]
    # Of an annotation outside all functions nobody says that it is Python: of a step, say.
    told = (spans["role"][row] != Role.ANNOTATION) | (line >= 0)
    time = (inside - covered)[row] * told
    return {
        "line": line,
        "python_ns": time * is_python,
        "host_ns": time * ~is_python,
    }


def _inside(trace: Trace, facts: Facts, selection: Selection) -> Ints:
    """How much of each span lies within the selected steps: the loop around them began before all of them."""
    start: Ints = trace["spans"]["start"]
    dur: Ints = trace["spans"]["dur"].astype(np.int64)
    if selection.whole:
        return dur
    steps = facts["steps"]
    windows = (steps["host_start"][selection.steps], steps["host_end"][selection.steps])
    edges = np.maximum.accumulate(np.ravel(np.column_stack(windows)))
    if not len(edges):
        return np.zeros(len(dur), np.int64)
    counts = np.arange(len(edges) - 1) % 2 == 0
    passed = np.append(0, np.cumsum(np.where(counts, np.diff(edges), 0)))
    until, since = (np.interp(time, edges, passed) for time in (start + dur, start))
    return np.asarray(until - since, np.int64)
