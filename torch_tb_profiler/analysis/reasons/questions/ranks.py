"""Ranks and their collectives: who is late, what waits for it, and communication with nothing beside it.

::

    rank 0   [compute][all_reduce ▇▇▇▇▇▇▇▇]      straggler: waits for rank 1; of its collective only the transfer could be hidden
    rank 1   [compute ▇▇▇▇▇▇▇▇▇▇▇▇][a_r ▇]      late_itself

Who is late the verdict on all ranks of the run says (``critical_path/verdict.py``), which rests on ``distributed/arrivals.py``.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import subtract
from torch_tb_profiler.analysis.findings.edits import host_time_gone
from torch_tb_profiler.analysis.findings.rule import (
    Candidate,
    Claims,
    Question,
    RuleContext,
    without_time,
)
from torch_tb_profiler.analysis.reasons.group_advice import by_group
from torch_tb_profiler.analysis.what_if.outcomes import Reach
from torch_tb_profiler.store.insight_schema import PathCause

QUESTION = Question(__name__)
_LATE = Reach(0.6, 1.4)
QUESTION.state("late_itself", 51, None, verdict="itself", reach=_LATE)
QUESTION.state("straggler", 52, None, verdict="other", reach=_LATE)
QUESTION.state("held_once", 206, None, verdict="once")
QUESTION.state(
    "unequal_input", 53, None, verdict="input", certainty="likely", reach=Reach(0.4, 1.4)
)
QUESTION.state(
    "pipeline_bubble", 54, None, verdict="bubble", certainty="likely", reach=Reach(0.3, 1.0)
)
QUESTION.state(
    "many_meetings", 55, None, verdict="turns", certainty="theoretical", reach=Reach(0.3, 1.0)
)


@QUESTION.rule(60, certainty="likely", of_waits=True, causes=(PathCause.COMMUNICATION,))
def exposed_communication(context: RuleContext) -> Claims:
    """Time in which the device runs communication and nothing else; on a host alone, in which a
    collective is in progress and no thread runs an operator.

    Change: communication runs wholly beside computation, and no step is shorter than its communication;
    of collectives that the path does not hold, the host's time beside them is gone. Likely.
    Where all workers of the run are known, waiting for another rank is taken from it: only transfer can be hidden.
    """
    if context.has_device:
        talking = context.work.take(context.work.communication)
        row, alone = talking.row, context.alone(talking)
    else:
        row = context.insight["collectives"]["event"].astype(np.int64)
        computing = context.when(context.operators)
        alone = context.pieces(row).during(subtract(context.when(row), computing))
    total = context.when(context.within(row)).length / len(context.steps)
    numbers = {"collectives": context.per_step(row), "total": total}
    if context.has_device or (context.scene.work_causes == PathCause.COMMUNICATION).any():
        return Candidate(alone, numbers, by_group(context), change="overlap")
    return Candidate(alone, numbers, by_group(context), edit=host_time_gone(alone.time))


@QUESTION.rule(210, untried=True, of_device=True)
def data_parallel(context: RuleContext) -> Claims:
    """``torch.nn.DataParallel`` drives several devices from one process.

    Formula: the trace has ``DataParallel.forward`` and at least two devices. It claims no time.
    """
    if not context.facts.summary.data_parallel or context.facts["devices"].n < 2:
        return None
    calls = context.rows_named(context.calls, "DataParallel.forward".__eq__)
    return without_time({"devices": context.facts["devices"].n}, calls)
