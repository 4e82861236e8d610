"""Time in which the device runs copies between host and device and nothing else.

Upper bound: a copy that is hidden behind kernels costs nothing.
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.case import Work
from torch_tb_profiler.analysis.findings.rule import Candidate, Case, Intervals, Rule
from torch_tb_profiler.hardware.kernel_names import HOST_COPY
from torch_tb_profiler.store.roles import Role

_PAGEABLE = re.compile(r"Memcpy .*Pageable")


def copies_named(case: Case, pattern: re.Pattern[str]) -> Work:
    """The device's copies whose name begins like a pattern."""
    work = case.work
    chosen = case.trace["spans"]["role"][work.row] == Role.MEMCPY
    chosen[chosen] = case.named(work.row[chosen], pattern.match)
    return work.take(chosen)


def alone(case: Case, copies: Work, numbers: dict[str, float]) -> Candidate:
    """Claims the time in which of all device work only these copies ran."""
    return Candidate(*case.alone(copies), {"copies": case.per_step(copies.row), **numbers})


def _claim(case: Case, taken: Intervals) -> Candidate | None:
    copies = copies_named(case, HOST_COPY)
    pageable = case.named(copies.row, _PAGEABLE.match)
    return alone(case, copies, {"pageable": float(np.mean(pageable)) if len(pageable) else 0.0})


RULE = Rule(
    place=180,
    claim=_claim,
    title="Copies between host and {device} are not hidden",
    sentence="""For up to {gain} of the {step} ({share}) the {device} copies from or to the host and
    computes nothing; {pageable} of its copies ({copies} per {step}) use pageable memory.""",
    attempt="""Copy from pinned memory with non_blocking=True while the previous batch is computed:
    pin_memory=True in the DataLoader, a stream for copies.""",
    caveat="What the next kernel needs at once cannot be hidden.",
    views=("overview", "trace"),
    links=(links.PINNED,),
    numbers={"copies": ("Copies", "count"), "pageable": ("Share with pageable memory", "share")},
)
