"""The copies that rules look for."""

from __future__ import annotations

import re

from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.findings.operators import outermost
from torch_tb_profiler.analysis.findings.rule_context import RuleContext, Work
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.roles import Role

_DEEP = regex(r"(?:.*/)?copy\.py\(\d+\): deepcopy$")


def copies_named(context: RuleContext, pattern: re.Pattern[str]) -> Work:
    """The device's copies whose name begins like a pattern."""
    work = context.work
    chosen = context.trace["spans"]["role"][work.row] == Role.MEMCPY
    chosen[chosen] = context.named(work.row[chosen], pattern.match)
    return work.take(chosen)


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
