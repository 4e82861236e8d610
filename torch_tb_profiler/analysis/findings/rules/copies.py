"""Rules of copies between host and device."""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.arrays.intervals import Intervals
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.findings.case import Case, Work
from torch_tb_profiler.analysis.findings.ledger import Candidate
from torch_tb_profiler.hardware.kernel_names import HOST_COPY
from torch_tb_profiler.store.columns import Mask
from torch_tb_profiler.store.roles import Role

REPEATS = 10
"""Equal copies in one step, from which on they are repeated ones."""
_TO_DEVICE = re.compile(r"Memcpy HtoD")
_PAGEABLE = re.compile(r"Memcpy .*Pageable")


def repeated_copies(case: Case, taken: Intervals) -> Candidate | None:
    """The same amount of data is copied from the host to the device again and again, from one place
    of the program.

    Claims: the time in which only these copies ran, the first of every step left out. Upper bound:
        one copy that is kept on the device costs what the first
    one does. Wrong when the data differ: sizes and places are compared, the trace holds no
    contents.
    """
    copies = _copies(case, _TO_DEVICE)
    if len(copies.row) < REPEATS:
        return None
    links = case.facts["span_links"]
    paths = case.insight["span_paths"]
    place = (
        paths["path"][copies.row]
        if paths.n == case.trace["spans"].n
        else links["operator"][copies.row]
    )
    size = device_arguments(case.trace, copies.row, ("bytes",))["bytes"].astype(np.int64)
    first, of = group_rows((links["step"][copies.row], size, place))
    again = (np.bincount(of, minlength=len(first)) >= REPEATS)[of] & (size > 0)
    again[first] = False
    return _alone(
        case,
        "repeated_copies",
        copies,
        again,
        {"bytes": int(size[again].max()) if again.any() else 0},
    )


def exposed_copies(case: Case, taken: Intervals) -> Candidate | None:
    """Copies between host and device run while the device computes nothing.

    Claims: the time in which the device ran such copies and nothing else. Upper bound: a copy that
        is hidden behind kernels costs nothing.
    Wrong when the next kernel needs the data at once and nothing else is to be done.
    """
    copies = _copies(case, HOST_COPY)
    pageable = case.named(copies.row, _PAGEABLE.match)
    return _alone(
        case,
        "exposed_copies",
        copies,
        np.ones(len(copies.row), np.bool_),
        {"pageable": float(pageable.mean()) if len(pageable) else 0.0},
    )


def _copies(case: Case, pattern: re.Pattern[str]) -> Work:
    work = case.work
    chosen = case.trace["spans"]["role"][work.row] == Role.MEMCPY
    chosen[chosen] = case.named(work.row[chosen], pattern.match)
    return work.take(chosen)


def _alone(
    case: Case, rule: str, copies: Work, chosen: Mask, numbers: dict[str, float]
) -> Candidate | None:
    """Claims the time in which of all device work only the chosen copies ran."""
    some = copies.take(chosen)
    if not len(some.row):
        return None
    return Candidate(
        rule, *case.alone(some), {"copies": len(case.within(some.row)) / len(case.steps), **numbers}
    )
