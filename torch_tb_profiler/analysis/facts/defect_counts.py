"""Counts of the defects that only the analysis can see, and the step time that all defects touch."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import measure, union
from torch_tb_profiler.analysis.arrays.nesting import nest_rows
from torch_tb_profiler.analysis.facts import defects as d
from torch_tb_profiler.analysis.facts.attribution import Causes
from torch_tb_profiler.analysis.facts.flags import NoOperator, StepFlag
from torch_tb_profiler.analysis.facts.launches import kernel_launches
from torch_tb_profiler.analysis.facts.names import distinct
from torch_tb_profiler.analysis.facts.steps import WHOLE_SPAN, StepWindows, hidden_steps
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role


def find_defects(
    trace: Trace, overlapping: Array, caused: Causes, windows: StepWindows, flags: Array
) -> tuple[DefectCounts, dict[str, int]]:
    """``(counts, touched)``: the analysis' own defects, and ns of step time per defect.

    ``overlapping``: rows of spans, calls that overlap others of their thread.
    """
    counts = DefectCounts()
    marks: dict[str, Ints] = {}

    def mark(name: str, row: Ints) -> None:
        counts.add(name, len(row))
        if len(row):
            marks[name] = row

    mark(d.OVERLAP_ON_THREAD, overlapping)
    mark(d.OVERLAP_ON_STREAM, _overlaps_on_streams(trace, caused))
    if not (caused.reason == NoOperator.NO_HOST).any():
        mark(d.KERNEL_WITHOUT_LAUNCH, caused.row[caused.launch < 0])
    mark(d.LAUNCH_WITHOUT_KERNEL, _idle_launches(trace, caused))
    if windows.source != WHOLE_SPAN:
        mark(d.WORK_OUTSIDE_STEPS, caused.row[windows.device_step < 0])
    counts.add(d.REPEATED_CORRELATION, caused.ambiguous)
    counts.add(d.CUT_STEP, int(((flags & StepFlag.CUT) > 0).sum()))
    counts.add(d.OTHER_STEPS, windows.left_out)
    counts.add(d.HIDDEN_STEP, int(hidden_steps(vars(windows)).sum()))
    touched = {
        name: _touched(trace["spans"]["start"][row], trace["spans"]["dur"][row], windows)
        for name, row in marks.items()
    }
    table = trace["marks"]
    for number in distinct(table["defect"], trace.strings):
        is_marked = table["defect"] == number
        touched[trace.strings[number]] = _touched(
            table["start"][is_marked], table["dur"][is_marked], windows
        )
    return counts, touched


def _touched(start: Ints, dur: Ints, windows: StepWindows) -> int:
    return int(measure(union(start, start + dur), windows.start, windows.end).sum())


def _overlaps_on_streams(trace: Trace, caused: Causes) -> Ints:
    """Device work that starts before earlier work on its stream has ended.

    Work of one launch, a graph replay, may run concurrently and does not count.
    """
    nested = nest_rows(trace["spans"], caused.row)
    order = np.argsort(trace["spans"]["track"][caused.row], kind="stable")
    previous = np.empty(len(order), np.int64)
    previous[order] = np.roll(order, 1)
    same_launch = (caused.launch >= 0) & (caused.launch == caused.launch[previous])
    overlaps = nested.overlapping | (nested.parent >= 0)
    return np.asarray(caused.row[overlaps & ~same_launch])


def _idle_launches(trace: Trace, caused: Causes) -> Ints:
    """Kernel launches without device work; none for a trace that recorded no device work at all."""
    spans = trace["spans"]
    calls = np.flatnonzero(spans["role"] == Role.RUNTIME)
    if not len(caused.row) or not len(calls):
        return np.asarray(calls[:0])
    used = np.zeros(spans.n + 1, np.bool_)
    used[caused.launch] = True
    launches = kernel_launches(trace, calls)
    return np.asarray(launches[~used[launches] & (spans["correlation"][launches] > 0)])
