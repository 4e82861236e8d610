"""Kernels are loaded or compiled when each is first called: idle time of the device within records of the driver that says
so (``Lazy Function Loading``, …), first launches that take 1 ms or more on an idle stream, and calls that load modules.

Change: the host spends no time in them. Certain where the driver recorded all of it, else likely.
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.arrays.intervals import measure
from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.analysis.findings.host_time import overhead_records
from torch_tb_profiler.analysis.findings.rule import Candidate, Question, RuleContext
from torch_tb_profiler.analysis.what_if.loading import loading_calls


def _claim(context: RuleContext) -> Candidate | None:
    recorded = overhead_records(context, loading=True)
    call = loading_calls(context.scene)
    start, end = context.times(call)
    call = call[measure(context.windows, start, end) > 0]
    if not len(call):
        return recorded
    start, end = context.times(call)
    longest = call[np.argmax(end - start)]
    kernel = context.work.row[context.work.launch == longest]
    loads = (
        f"the first launch of {short_name(context.name_of(kernel[0]))}"
        if len(kernel)
        else "the longest call"
    )
    own = Candidate(
        call,
        start,
        end,
        {"calls": len(call) / len(context.steps)},
        {"why": f"{context.name_of(longest)}, {loads}, loads a module: that is start-up"},
        certainty="likely",
        change="kernels-loaded",
        unplanned=True,
    )
    if recorded is None:
        return own
    parts = {
        key: np.concatenate((getattr(recorded, key), getattr(own, key)))
        for key in ("row", "start", "end")
    }
    return replace(own, **parts, numbers=recorded.numbers | own.numbers)


QUESTION = Question(__name__)
QUESTION.state("kernel_loading", 30, _claim)
