"""Rules of the optimizer's step."""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import Intervals, intersect, measure, union
from torch_tb_profiler.analysis.findings.case import Case
from torch_tb_profiler.analysis.findings.gaps import Gaps
from torch_tb_profiler.analysis.findings.ledger import Candidate
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.roles import Role

MANY = 50
"""Kernels, or without a device operators, of one step of the optimizer, from which on it goes
tensor by tensor.
"""
SHORT = 20_000
"""ns; the median beyond which they are not what a fused step saves."""
BRIEF = 10_000
"""ns; kernels up to this long are mostly start and end."""
_STEP = re.compile(r"Optimizer\.step#")
_JOINED = re.compile(r".*(?:multi_tensor_apply|[Ff]used)")


def optimizer_unfused(case: Case, taken: Intervals) -> Candidate | None:
    """The optimizer updates its parameters one by one.

    Claims: with device work, the device's idle time for the host within ``Optimizer.step`` and its
        kernels of at most 10 µs; without, the whole of
    ``Optimizer.step``. Upper bound: one kernel for all parameters neither waits between them nor
    starts them one by one; it still has to read and write them. Wrong when the optimizer or its
    parameters have no fused implementation.
    """
    spans = case.trace["spans"]
    calls = np.flatnonzero((spans["role"] == Role.ANNOTATION) | (spans["role"] == Role.OPERATOR))
    region = case.within(calls[case.named(calls, _STEP.match)])
    if not len(region):
        return None
    return _on_device(case, region) if len(case.work.row) else _on_host(case, region)


def _on_device(case: Case, region: Ints) -> Candidate | None:
    spans, work = case.trace["spans"], case.work
    launched = work.take((work.launch >= 0) & work.kernel)
    inside = _inside(case, region, launched.launch)
    own = launched.take(inside)
    length = own.end - own.start
    joined = case.named(own.row, _JOINED.match)
    if len(own.row) < MANY * len(region) or joined.mean() > 0.5 or np.median(length) > SHORT:
        return None
    gaps: Gaps = case.gaps.take(case.gaps.for_host & (case.gaps.launch >= 0))
    gaps = gaps.take(_inside(case, region, gaps.launch))
    within = intersect(union(gaps.start, gaps.end), case.when(region))
    begin = np.searchsorted(gaps.start, within.start, side="right") - 1
    short = own.take(length <= BRIEF)
    return Candidate(
        "optimizer_unfused",
        np.concatenate((gaps.next[begin], short.row)),
        np.concatenate((within.start, short.start)),
        np.concatenate((within.end, short.end)),
        {
            "kernels": len(own.row) / len(region),
            "median_kernel": float(np.median(length)),
            "region": float(spans["dur"][region].mean()),
        },
    )


def _on_host(case: Case, region: Ints) -> Candidate | None:
    spans = case.trace["spans"]
    operators = case.operators
    operators = operators[_inside(case, region, operators)]
    length = spans["dur"][operators]
    if len(operators) < MANY * len(region) or np.median(length) > SHORT:
        return None
    start = spans["start"][region]
    return Candidate(
        "optimizer_unfused",
        region,
        start,
        start + spans["dur"][region],
        {
            "operators": len(operators) / len(region),
            "median_operator": float(np.median(length)),
            "region": float(spans["dur"][region].mean()),
        },
    )


def _inside(case: Case, region: Ints, rows: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which host spans begin in a region of their thread."""
    spans = case.trace["spans"]
    one = np.ones(len(rows), np.int64)
    found = measure(case.when(region), spans["start"][rows], spans["start"][rows] + one) > 0
    return np.asarray(found & np.isin(spans["track"][rows], spans["track"][region]))
