"""The table of what a curve over training steps shows: one row per step."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.distributed.rank_index import busy_of_steps, peak_memory
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.header import unix_begin
from torch_tb_profiler.analysis.figures.selection import Selection, complete
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.views.work.efficiency import mfu_of_steps

_C = DisplayColumn
_NUMBER = "N of `ProfilerStep#N`, which counts the steps of the program; of other steps the number in the trace, from 0."
_BEGIN = "Unix time of its begin, s; missing where the trace does not tell it."
_ACTIVE = "Share of the step with at least one kernel on a device, mean over the devices."
_EXPOSED = "Communication while the device computed nothing; 0 without communication, missing without a device."
SCALARS = DisplaySpec(
    "scalars",
    "One row per step: what a curve over the steps of a program shows.",
    (
        _C("step", "id", "", "Number of the step in the trace, from 0."),
        _C("number", "id", "", _NUMBER),
        _C("begin_s", "number", "", _BEGIN, optional=True, unit="s"),
        _C("wall_ns", "time", "", "From its begin to its end."),
        _C("device_share", "share", "", _ACTIVE, optional=True),
        _C("exposed_ns", "time", "", _EXPOSED, optional=True),
        _C("mfu", "share", "", "Model FLOPs utilization.", optional=True),
        _C("memory_bytes", "bytes", "", "Highest allocated in the step.", optional=True),
    ),
)


def scalar_table(
    trace: Trace, facts: Facts, insight: Insight, selection: Selection, peaks: str = ""
) -> DisplayTable:
    """The selected steps in time order; those that the recording cut off are left out.

    Args:
        peaks: path of the user's own device peaks, empty none.

    Raises:
        SourceError: that file cannot be read.
    """
    chosen = complete(facts, selection)
    steps = facts["steps"].take(chosen)
    start, wall = steps["start"], step_lengths(steps)
    busy = busy_of_steps(facts)[chosen]
    known = (busy >= 0) & (wall > 0)
    unix = unix_begin(trace)
    return SCALARS.build(
        facts.strings,
        step=chosen,
        number=np.where(steps["number"] >= 0, steps["number"], chosen),
        begin_s=np.full(steps.n, np.nan) if unix is None else (unix + start) / 1e9,
        wall_ns=wall,
        device_share=np.where(known, busy / np.maximum(wall, 1), np.nan),
        exposed_ns=np.where(known, insight["communication_steps"]["communication"][chosen], -1),
        mfu=mfu_of_steps(facts, insight, selection, peaks)[np.isin(selection.steps, chosen)],
        memory_bytes=peak_memory(insight, start, steps["end"]),
    )
