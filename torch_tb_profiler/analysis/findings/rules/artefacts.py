"""Rules of what the profiler itself does to the times."""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import Intervals, shared, union
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.findings.case import Case
from torch_tb_profiler.analysis.findings.ledger import Candidate
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.roles import Role

FRAMES_PER_MS = 50
"""Python frames per millisecond of step time, from which on recording them is no small part of what
the host does.
"""
HOST_SHARE = 0.1
_LOADING = re.compile(
    r"Lazy Function Loading|Runtime Triggered Module Loading|Driver Compiler|Command Buffer Full"
)
"""Overhead records of the driver; all others are the profiler's."""


def profiler_overhead(case: Case, taken: Intervals) -> Candidate | None:
    """The profiler emptied or asked for its buffers inside a step.

    Claims: with device work, the device's idle time within the profiler's own overhead records;
        without, the records. Upper bound: without the profiler
    they are not there. Wrong when the host would have idled the device anyway.
    """
    return _overhead(case, "profiler_overhead", loading=False)


def kernel_loading(case: Case, taken: Intervals) -> Candidate | None:
    """The driver loaded or compiled kernels inside a step, as it does when each is first called.

    Claims: the device's idle time within such overhead records. Upper bound: kernels that are there
        already need no loading. Wrong when the host would have
    idled the device anyway.
    """
    return _overhead(case, "kernel_loading", loading=True)


def _overhead(case: Case, rule: str, loading: bool) -> Candidate | None:
    spans = case.trace["spans"]
    row = np.flatnonzero(spans["role"] == Role.OVERHEAD)
    row = row[case.named(row, _LOADING.match) == loading]
    start, end = spans["start"][row], spans["start"][row] + spans["dur"][row]
    if len(case.work.row):
        of, start, end = shared(start, end, union(case.gaps.start, case.gaps.end))
        row = row[of]
    if not len(row):
        return None
    return Candidate(
        rule,
        row,
        start,
        end,
        {"records": len(case.within(np.unique(row))) / len(case.steps)},
        artefact=not loading,
    )


def silent_end(case: Case, taken: Intervals) -> Candidate | None:
    """Nothing was recorded any more at the end of the last step.

    Claims: on a trace with device work, the end of the last step's window after the last operator,
        call, frame or device work. Upper bound: nothing but time in
    which nothing happened is claimed. Wrong when the program itself slept.
    """
    spans, steps = case.trace["spans"], case.facts["steps"]
    if not len(case.work.row) or case.is_whole or not steps.n or case.steps[-1] != steps.n - 1:
        return None
    end = int(steps["end"][-1])
    role, earlier = spans["role"], spans["start"] < end
    closed = np.flatnonzero(
        earlier
        & (role != Role.ANNOTATION)
        & (role != Role.PYTHON)
        & (role != Role.PROFILER)
        & (role != Role.DEVICE_ANNOTATION)
    )
    # An old version's operators hold its steps, too.
    closed = closed[case.names.step[spans["name"][closed]] < 0]
    begun = np.flatnonzero(earlier & (role == Role.PYTHON))
    finish = np.minimum(spans["start"][closed] + spans["dur"][closed], end)
    last = max(
        int(finish.max(initial=int(steps["start"][-1]))),
        int(spans["start"][begun[-1]]) if len(begun) else 0,
    )
    row = _host_row(case, int(steps["host_start"][-1]), int(steps["name"][-1]))
    return Candidate(
        "silent_end", row, np.full(len(row), last), np.full(len(row), end), artefact=True
    )


def cold_step(case: Case, taken: Intervals) -> Candidate | None:
    """The first step is slower than the others: it loads, compiles, tunes. Claims no time: it is
    left out of all figures here.
    """
    table = case.facts["steps"]
    cold = np.flatnonzero(table["flags"] & StepFlag.COLD)
    if not len(cold) or cold[0] in case.steps:
        return None
    wall = table["end"] - table["start"]
    row = _host_row(case, int(table["host_start"][cold[0]]), int(table["name"][cold[0]]))
    nothing = np.zeros(len(row), np.int64)
    return Candidate(
        "cold_step",
        row,
        nothing,
        nothing,
        {"wall": int(wall[cold[0]]), "others": float(np.median(wall[case.steps]))},
        costs=False,
        artefact=True,
    )


def python_tracing(case: Case, taken: Intervals) -> Candidate | None:
    """Recording Python frames slows the host, and the step waits for the host. Claims no time: the
    trace does not say what a frame costs to record.
    """
    spans = case.trace["spans"]
    frames = case.within(np.flatnonzero(spans["role"] == Role.PYTHON))
    length = case.windows.length
    waits = int((case.gaps.end - case.gaps.start)[case.gaps.for_host].sum())
    if (
        not len(frames)
        or len(frames) * 1_000_000 < FRAMES_PER_MS * length
        or (len(case.work.row) and waits < HOST_SHARE * length)
    ):
        return None
    nothing = np.zeros(0, np.int64)
    return Candidate(
        "python_tracing",
        nothing,
        nothing,
        nothing,
        {"frames": len(frames) / len(case.steps)},
        costs=False,
        artefact=True,
    )


def _host_row(case: Case, start: int, name: int) -> Ints:
    spans = case.trace["spans"]
    return np.flatnonzero((spans["start"] == start) & (spans["name"] == name))[:1]
