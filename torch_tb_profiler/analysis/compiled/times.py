"""The table of compilations: what was compiled, how often, and how long that took."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, largest_by, sum_by
from torch_tb_profiler.analysis.compiled.compilations import COMPILERS, compilations
from torch_tb_profiler.analysis.critical_path.origins import lines_of
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.model import Facts, Trace

_C = DisplayColumn
_REGION = "What was compiled, frame and number as torch.compile counts them; None unknown."
COMPILATIONS = DisplaySpec(
    "compilations",
    "One row per compiler and piece of code that was compiled, traced, tuned or captured.",
    (
        _C("compiler", "category", "Compiler", "What compiled it."),
        _C("region", "code", "Region", _REGION, optional=True),
        _C("calls", "count", "Calls", "Number of calls in which it was compiled."),
        _C("steps", "count", "Steps", "Number of steps in which it was compiled."),
        _C("host_ns", "time", "Host", "Time of these calls on the host."),
        _C("line", "code", "Source line", "The program's own line of the longest.", optional=True),
    ),
)


def compilation_table(trace: Trace, facts: Facts, selection: Selection) -> DisplayTable:
    """One row per thing that was compiled; the longest first."""
    spans, found = trace["spans"], compilations(trace, facts)
    step = facts["span_links"]["step"][found.row]
    chosen = mask(selection, step)
    row, compiler, step = found.row[chosen], found.compiler[chosen], step[chosen].astype(np.int64)
    texts = np.array([*found.name, ""], object)[:-1][chosen]
    names, name = np.unique(texts.astype(str), return_inverse=True)
    first, group = group_rows((compiler, name.astype(np.int64)))
    n, time = len(first), spans["dur"][row]
    pairs, _ = group_rows((group, step))
    inside = pairs[step[pairs] >= 0]
    lines = lines_of(trace, facts, row[largest_by(group, n, time)] if n else row)
    called = list(COMPILERS)
    table = COMPILATIONS.build(
        facts.strings,
        compiler=[called[int(one)] for one in compiler[first]],
        region=[str(names[name[one]]) or None for one in first.tolist()],
        calls=np.bincount(group, minlength=n),
        steps=np.bincount(group[inside], minlength=n),
        host_ns=sum_by(group, n, time),
        line=lines,
    )
    return table.take(np.argsort(-table["host_ns"], kind="stable"))
