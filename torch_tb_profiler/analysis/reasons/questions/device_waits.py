"""Waiting for a device, or of a device for nothing that was recorded: the host stands still, and then the device.

::

    host   [launch][sync ▇▇▇▇▇▇▇▇][launch]        host_synchronisation: nothing is launched ahead
    gpu         [a ▇▇▇▇▇▇▇▇▇▇▇▇]......[b ▇▇]      and the device waits after it
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import measure, union
from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.analysis.findings.candidate import THRESHOLD
from torch_tb_profiler.analysis.findings.gaps import pauses
from torch_tb_profiler.analysis.findings.rule import (
    Candidate,
    Claims,
    Question,
    RuleContext,
    without_time,
)
from torch_tb_profiler.analysis.what_if.changes import LONG_SILENCE
from torch_tb_profiler.analysis.what_if.loading import loading_calls
from torch_tb_profiler.store.columns import Ints, unique_values
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.units import format_value

QUESTION = Question(__name__)
OFTEN = 8
"""Waits per step from which on they may come one after each kernel."""
MOST_BETWEEN = 1.5
"""Kernels between two waits, up to which each kernel is waited for."""
_PAGEABLE = "Pageable"


@QUESTION.rule(82, of_device=True)
def host_synchronisation(context: RuleContext) -> Claims:
    """Calls in which the host waits for the device, so that it does not launch ahead: those that wait by
    their name (``cudaStreamSynchronize``, ``hipMemcpyWithStream``, …) and launches of copies of pageable
    memory, which the host stages.

    Change: the host waits in none of them, but where it waits for what was not recorded. Certain. What is
    saved is not the time that the host is blocked: the device works meanwhile.
    """
    row, steps = _synchronising(context), len(context.steps)
    held = context.gaps_after(row)
    # Where the host did what was not recorded before it launched again, the wait did not hold it up.
    host = context.scene.graph.host
    quiet = context.scene.silent & (host.track == context.main_track)
    quiet &= host.end - host.start > LONG_SILENCE
    unrecorded = union(host.start[quiet], host.end[quiet])
    if 2 * measure(unrecorded, held.start, held.end).sum() > held.total:
        return None
    spans, operator = context.spans, context.facts["span_links"]["operator"][row]
    names, calls = np.unique(spans["name"][operator[operator >= 0]], return_counts=True)
    frequent = [
        f"{context.trace.strings[int(names[at])]} ({format_value(calls[at] / steps, 'count')} times)"
        for at in np.argsort(-calls, kind="stable")[:3]
    ]
    called, kernels = _after_kernels(context, row)
    numbers = {"waits": len(row) / steps, "blocked": int(spans["dur"][row].sum()) / steps}
    if called:
        numbers["kernels"] = kernels / steps
    words = {"operators": ", ".join(frequent), "called": called}
    return Candidate(held, numbers, words, change="no-sync")


def _after_kernels(context: RuleContext, row: Ints) -> tuple[str, int]:
    """The call that waits after nearly each kernel, and how many kernels there are; empty where none does."""
    if len(row) < OFTEN * len(context.steps):
        return "", 0
    name, calls = np.unique(context.spans["name"][row], return_counts=True)
    launch = context.work.launch[context.work.kernel & (context.work.launch >= 0)]
    kernels = len(context.within(unique_values(launch)))
    if calls.max() * MOST_BETWEEN < kernels:
        return "", 0
    return context.trace.strings[int(name[calls.argmax()])], kernels


def _synchronising(context: RuleContext) -> Ints:
    copies = context.work.row[context.spans["role"][context.work.row] == Role.MEMCPY]
    copies = context.rows_named(copies, lambda name: _PAGEABLE in name)
    launch = context.facts["span_links"]["launch"][copies].astype(np.int64)
    return unique_values(context.waits, context.within(unique_values(launch[launch >= 0])))


@QUESTION.rule(30, of_device=True)
def kernel_loading(context: RuleContext) -> Claims:
    """Kernels are loaded or compiled when each is first called: idle time of the device within records of the driver that says
    so (``Lazy Function Loading``, …), first launches that take 1 ms or more on an idle stream, and calls that load modules.

    Change: the host spends no time in them. Certain where the driver recorded all of it, else likely.
    """
    recorded = context.overhead(loading=True)
    call = loading_calls(context.scene)
    call = call[measure(context.windows, *context.times(call)) > 0]
    shown, numbers, words = context.idle_in(recorded, context.gaps), dict[str, float](), {}
    if len(recorded):
        numbers["records"] = context.per_step(unique_values(shown.row))
    if len(call):
        longest = call[np.argmax(context.spans["dur"][call])]
        kernel = context.work.row[context.work.launch == longest]
        loads = (
            f"the first launch of {short_name(context.name_of(kernel[0]))}"
            if len(kernel)
            else "the longest call"
        )
        words["why"] = f"{context.name_of(longest)}, {loads}, loads a module: that is start-up"
        numbers["calls"] = len(call) / len(context.steps)
    if not numbers:
        return None
    return Candidate(
        shown + context.pieces(call),
        numbers,
        words,
        certainty="likely" if len(call) else None,
        change="kernels-loaded",
        unplanned=len(call) > 0,
    )


@QUESTION.rule(130, of_device=True)
def idle_other(context: RuleContext) -> Claims:
    """Gaps of 2 % of the steps or more before work that had been launched long before, and before work of which
    no launch was recorded: for a reason that the trace does not show, so no saving is promised.
    """
    gaps = context.gaps.take(~pauses(context.gaps) & ~context.gaps.for_host)
    if not gaps.total or gaps.total < THRESHOLD * context.windows.length:
        return None
    order = np.argsort(-gaps.lengths, kind="stable")
    numbers = {
        "idle": gaps.total / len(context.steps),
        "gaps": len(gaps.start) / len(context.steps),
        "median_gap": float(np.median(gaps.lengths)),
    }
    row = gaps.row[order]
    return without_time(numbers, row[row >= 0])
