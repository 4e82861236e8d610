"""Elementwise operators that a program calls for one parameter after the other when its gradients are there: a moving average
of the weights, an optimizer written by hand, clipping.

Evidence: elementwise operators and copies under no other operator and in no ``Optimizer.step``, after the last gradient of
a step was accumulated (``AccumulateGrad``), of which each name occurs as often as there are parameters, or twice, three times, …;
at least eight parameters. Their time and that of Python between them, where that is short. Change: one call for all
tensors at once: nothing between the operators remains, and of their time what one pass over the tensors moves of what
they move. Likely.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import Intervals, intersect, union
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.copies import deep_copies
from torch_tb_profiler.analysis.findings.edits import (
    host_takes,
    thread_time_gone,
    together,
    work_scaled,
)
from torch_tb_profiler.analysis.findings.operators import beneath, launched_in, outside
from torch_tb_profiler.analysis.findings.rule import Candidate, Reach, Rule, RuleContext
from torch_tb_profiler.store.columns import Ints

FEWEST = 8
"""Parameters from which on a loop over them is one."""
NEAR = 8
"""Time between two operators of a loop ÷ the median of such times, at most; longer ones are something else."""
_MOVES: Mapping[str, int] = {
    name: tensors
    for names, tensors in (
        (("zero_", "norm", "linalg_vector_norm"), 1),
        (("mul", "mul_", "div", "div_", "sqrt", "sqrt_", "square", "pow", "neg", "abs", "sign"), 2),
        (("clamp", "clamp_", "clone", "copy_", "exp"), 2),
        (("add", "add_", "sub", "sub_", "lerp", "lerp_", "maximum", "minimum"), 3),
        (("addcmul", "addcmul_", "addcdiv", "addcdiv_"), 4),
    )
    for name in names
}
"""Elementwise operators → how many tensors they read and write."""
_ONE_PASS, _OF_MOMENTS = 3, 7
"""Tensors that one pass reads and writes: of an average or a step; of Adam with its two moments."""
_NAME = re.compile(rf"aten::(?:{'|'.join(_MOVES)})$")
_GRADIENT = re.compile(r"torch::autograd::AccumulateGrad$")
_STEP = re.compile(r"Optimizer\.(?:step|zero_grad)#")


def _claim(context: RuleContext) -> Candidate | None:
    accumulated = context.rows_named(context.operators, _GRADIENT.match)
    parameters = round(context.per_step(accumulated))
    if parameters < FEWEST:
        return None
    row = _after(context, accumulated)
    spans = context.trace["spans"]
    name, group, calls = np.unique(spans["name"][row], return_inverse=True, return_counts=True)
    steps = len(context.steps)
    often = (calls % (parameters * steps) == 0) & (calls > 0)
    row, times = row[often[group]], (calls // (parameters * steps))[often]
    if not len(row):
        return None
    names = [context.trace.strings[int(one)].removeprefix("aten::") for one in name[often]]
    moved = sum(_MOVES[one] * n for one, n in zip(names, times.tolist(), strict=True))
    needed = _OF_MOMENTS if any(one.startswith("sqrt") for one in names) else _ONE_PASS
    left = min(needed * int(times.min()) / moved, 1.0)
    between, last = _between(context, row)
    track = np.full(len(between.start), spans["track"][row[0]])
    work, _ = launched_in(context, row)
    deep = intersect(context.when(deep_copies(context)), union(between.start, between.end)).length
    start, _ = context.times(row)
    shown = union(start, last)
    return Candidate(
        row,
        start,
        last,
        {
            "parameters": parameters,
            "calls": len(row) / steps,
            "loop": shown.length / steps,
            **({"deep": deep / steps} if deep else {}),
        },
        {"names": ", ".join(f"aten::{one}" for one in names[:4])},
        edit=together(
            thread_time_gone(track, between.start, between.end),
            host_takes(row, left),
            work_scaled(work.row, left),
        ),
    )


def _after(context: RuleContext, accumulated: Ints) -> Ints:
    """Elementwise operators after the last gradient of their step, in no optimizer and no operator, on the program's thread."""
    spans = context.trace["spans"]
    step = context.facts["span_links"]["step"]
    last = np.full(context.facts["steps"].n + 1, np.iinfo(np.int64).max)
    for_step = np.unique(step[accumulated])
    last[for_step] = -1
    np.maximum.at(last, step[accumulated], spans["start"][accumulated])
    row = context.within(context.rows_named(context.operators, _NAME.match))
    row = context.on_main(row[spans["start"][row] > last[step[row]]])
    row = outside(context, row, context.operators)
    region = context.rows_named(context.calls, _STEP.match)
    return np.asarray(row[~beneath(context, region)[row]] if len(region) else row)


def _between(context: RuleContext, row: Ints) -> tuple[Intervals, Ints]:
    """The times between operators of the loop that are not much longer than usual; and when each one and the time after
    it end.
    """
    start, end = context.times(row)
    step = context.facts["span_links"]["step"][row]
    gap = np.append(start[1:] - end[:-1], np.int64(0))
    same = np.append(step[1:] == step[:-1], np.False_) & (gap > 0)
    typical = float(np.median((start[1:] - start[:-1])[same[:-1]])) if same.any() else 0.0
    near = same & (gap <= NEAR * typical)
    until = np.where(near, end + gap, end)
    return Intervals(end[near], until[near]), until


RULE = Rule(
    place=83,
    claim=_claim,
    title="A Python loop goes over the parameters one by one",
    action="Update all parameters in one call",
    fact="{calls} calls per {step} for {parameters} parameters",
    sentence="""After the backward pass {calls} calls per {step} go over the {parameters} parameters one by one, as a moving
    average of the weights, clipping or an optimizer written by hand does{at}; in one call for all of them the {step}
    is {gain} ({share}) shorter.""",
    attempt="""Call torch._foreach_* with the list of all tensors, in place: torch._foreach_lerp_(average, weights, 1 - decay) for
    a moving average (or torch.optim.swa_utils.AveragedModel), clip_grad_norm_(..., foreach=True), an optimizer of
    torch.optim with fused=True.""",
    caveat="Functions of the name torch._foreach_* may change; intermediate results of lists need memory.",
    views=("overview", "operator"),
    certainty="likely",
    cause="A Python loop over the parameters takes {loop} of {the_step}",
    without="In one call for all",
    links=(
        ("Averaged models", links.DOCS + "optim.html#weight-averaging-swa-and-ema"),
        ("Foreach and fused implementations", links.DOCS + "optim.html#algorithms"),
    ),
    details=(
        ("names", "The calls are {names}."),
        ("deep", "copy.deepcopy takes {deep} of it."),
    ),
    reach=Reach(0.6, 1.4),
    numbers={
        "calls": ("Calls", "count"),
        "parameters": ("Parameters", "count"),
        "loop": ("Time in the loop", "ns"),
        "deep": ("Time in deepcopy", "ns"),
    },
)
