"""Which calls a step holds, and the time between the calls that all steps make."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.arrays.intervals import window_at
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.findings.rule_context import RuleContext
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.roles import Role

_S = r"[\\/]"
_BELONGS = regex(
    rf"Optimizer\.|enumerate\(Data(?:Loader|Pipe)\)|.*torch{_S}(?:optim|utils{_S}data){_S}.*\.py\(\d+\): "
    rf"|.*torch{_S}nn{_S}utils{_S}clip_grad\.py\(\d+\): |Torch-Compiled Region: |## Call CompiledFxGraph"
    r"|.*\bcompile_id="
)
"""What a training loop does in some steps by design: gradients are accumulated and clipped, batches are loaded ahead; and
what has a number of its own in its name."""
_DEEPEST, _MOST_STEPS = 6, 400


def step_of(context: RuleContext, row: Ints) -> Ints:
    """The step in which spans begin, −1 outside; row of steps."""
    table, start = context.facts["steps"], context.trace["spans"]["start"][row]
    return window_at(table["host_start"], table["host_end"], start).astype(np.int64)


def shown(context: RuleContext, row: Ints, step: Ints) -> Ints:
    """Rows of spans that show pieces of steps: the given ones, and for −1 the mark of the step, where it has one."""
    marks = [context.mark_of(one) for one in step.tolist()]
    mark = np.array([int(one[0]) if len(one) else -1 for one in marks], np.int64)
    return np.where(row >= 0, row, mark)


def main_calls(context: RuleContext) -> Ints:
    """Rows of operators, annotations and frames on the program's thread, steps themselves aside."""

    def calls() -> Ints:
        row = context.on_main(context.of_role(Role.OPERATOR, Role.ANNOTATION, Role.PYTHON))
        return np.asarray(row[context.names.step[context.trace["spans"]["name"][row]] < 0])

    return context.scene.rows("main calls", calls)


def by_design(context: RuleContext, row: Ints) -> Mask:
    """Which of some calls hold, for half of their time or more, what belongs to a training loop, or compile."""
    spans, parent = context.trace["spans"], context.parent
    inner = context.mask(context.rows_named(main_calls(context), _BELONGS.match))
    inner[context.compilations.row] = True
    around = np.append(nearest(parent, inner), np.int32(-1))
    whole = np.flatnonzero(inner & (around[parent] < 0))
    above = context.home(whole, row)
    time = sum_by(above, spans.n + 1, spans["dur"][whole])
    below = around[row] >= 0
    return np.asarray(below | (2 * time[row] >= np.maximum(spans["dur"][row], 1)))
