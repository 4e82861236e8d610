"""Calls in which the host waits for the device, so that it does not launch ahead: those that wait by
their name (``cudaStreamSynchronize``, ``hipMemcpyWithStream``, …) and launches of copies of pageable
memory, which the host stages.

Change: the host waits in none of them, but where it waits for what was not recorded. Certain. What is
saved is not the time that the host is blocked: the device works meanwhile.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import measure
from torch_tb_profiler.analysis.findings.host_time import gaps_after, unrecorded
from torch_tb_profiler.analysis.findings.rule import Candidate, Question, RuleContext
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.units import format_value

OFTEN = 8
"""Waits per step from which on they may come one after each kernel."""
MOST_BETWEEN = 1.5
"""Kernels between two waits, up to which each kernel is waited for."""
_PAGEABLE = "Pageable"


def _claim(context: RuleContext) -> Candidate | None:
    if not context.has_device:
        return None
    row, steps = _synchronising(context), len(context.steps)
    held, start, end = gaps_after(context, row)
    # Where the host did what was not recorded before it launched again, the wait did not hold it up.
    if 2 * measure(unrecorded(context), start, end).sum() > (end - start).sum():
        return None
    spans, operator = context.trace["spans"], context.facts["span_links"]["operator"][row]
    names, calls = np.unique(spans["name"][operator[operator >= 0]], return_counts=True)
    frequent = np.argsort(-calls, kind="stable")[:3]
    called, kernels = _after_kernels(context, row)
    return Candidate(
        held,
        start,
        end,
        {
            "waits": len(row) / steps,
            "blocked": int(spans["dur"][row].sum()) / steps,
            **({"kernels": kernels / steps} if called else {}),
        },
        {
            "operators": ", ".join(
                f"{context.trace.strings[int(names[at])]} ({format_value(calls[at] / steps, 'count')} times)"
                for at in frequent
            ),
            "called": called,
        },
        change="no-sync",
    )


def _after_kernels(context: RuleContext, row: Ints) -> tuple[str, int]:
    """The call that waits after nearly each kernel, and how many kernels there are; empty where none does."""
    if len(row) < OFTEN * len(context.steps):
        return "", 0
    name, calls = np.unique(context.trace["spans"]["name"][row], return_counts=True)
    kernels = len(
        context.within(
            np.unique(context.work.launch[context.work.kernel & (context.work.launch >= 0)])
        )
    )
    if calls.max() * MOST_BETWEEN < kernels:
        return "", 0
    return context.trace.strings[int(name[calls.argmax()])], kernels


def _synchronising(context: RuleContext) -> Ints:
    spans = context.trace["spans"]
    copies = context.work.row[spans["role"][context.work.row] == Role.MEMCPY]
    copies = context.rows_named(copies, lambda name: _PAGEABLE in name)
    launch = context.facts["span_links"]["launch"][copies].astype(np.int64)
    return np.union1d(context.waits, context.within(np.unique(launch[launch >= 0])))


QUESTION = Question(__name__)
QUESTION.state("host_synchronisation", 82, _claim)
