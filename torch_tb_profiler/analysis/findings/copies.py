"""The copies that rules look for."""

from __future__ import annotations

import re

from torch_tb_profiler.analysis.findings.candidate import Candidate
from torch_tb_profiler.analysis.findings.case import Case, Work
from torch_tb_profiler.analysis.findings.edits import work_takes
from torch_tb_profiler.analysis.findings.operators import outermost
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.roles import Role

_DEEP = re.compile(r"(?:.*/)?copy\.py\(\d+\): deepcopy$")
_BUCKET = re.compile(
    r"torch\.distributed\.ddp\.reducer::(?:copy_bucket_to_grad|copy_grad_to_bucket|mul_out)$"
)


def copies_named(case: Case, pattern: re.Pattern[str]) -> Work:
    """The device's copies whose name begins like a pattern."""
    work = case.work
    chosen = case.trace["spans"]["role"][work.row] == Role.MEMCPY
    chosen[chosen] = case.named(work.row[chosen], pattern.match)
    return work.take(chosen)


def alone(case: Case, copies: Work, numbers: dict[str, float]) -> Candidate:
    """The time in which of all device work only these copies ran; without them as the change."""
    return Candidate(
        *case.alone(copies),
        {"copies": case.per_step(copies.row), **numbers},
        edit=work_takes(copies.row, 0),
    )


def deep_copies(case: Case) -> Ints:
    """Rows of the outermost frames of ``deepcopy``, within the windows."""
    return outermost(case, case.within(case.rows_named(case.of_role(Role.PYTHON), _DEEP.match)))


def bucket_copies(case: Case) -> Ints:
    """Rows of the reducer's copies, within the windows."""
    return case.within(case.rows_named(case.calls, _BUCKET.match))
