"""The copies that rules look for."""

from __future__ import annotations

import re

from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.findings.candidate import Candidate
from torch_tb_profiler.analysis.findings.edits import work_takes
from torch_tb_profiler.analysis.findings.operators import outermost
from torch_tb_profiler.analysis.findings.rule_context import RuleContext, Work
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.roles import Role

_DEEP = regex(r"(?:.*/)?copy\.py\(\d+\): deepcopy$")
_BUCKET = regex(
    r"torch\.distributed\.ddp\.reducer::(?:copy_bucket_to_grad|copy_grad_to_bucket|mul_out)$"
)


def copies_named(context: RuleContext, pattern: re.Pattern[str]) -> Work:
    """The device's copies whose name begins like a pattern."""
    work = context.work
    chosen = context.trace["spans"]["role"][work.row] == Role.MEMCPY
    chosen[chosen] = context.named(work.row[chosen], pattern.match)
    return work.take(chosen)


def alone(context: RuleContext, copies: Work, numbers: dict[str, float]) -> Candidate:
    """The time in which of all device work only these copies ran; without them as the change."""
    return Candidate(
        *context.alone(copies),
        {"copies": context.per_step(copies.row), **numbers},
        edit=work_takes(copies.row, 0),
    )


def copy_rate(context: RuleContext, copies: Work) -> float | None:
    """At how many bytes per second some copies run; None where the trace does not say how much they copy."""
    size = device_arguments(context.trace, copies.row, ("bytes",))["bytes"]
    time = int((copies.end - copies.start)[size > 0].sum())
    return float(size[size > 0].sum()) * 1e9 / time if time else None


def deep_copies(context: RuleContext) -> Ints:
    """Rows of the outermost frames of ``deepcopy``, within the windows."""
    return outermost(
        context, context.within(context.rows_named(context.of_role(Role.PYTHON), _DEEP.match))
    )


def bucket_copies(context: RuleContext) -> Ints:
    """Rows of the reducer's copies, within the windows."""
    return context.within(context.rows_named(context.calls, _BUCKET.match))
