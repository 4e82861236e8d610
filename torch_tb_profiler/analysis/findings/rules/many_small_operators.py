"""Loops of small operators on the program's thread, with the backward of their calls; see ``loops.py``.

Evidence: at least 64 calls per step, half of them of at most 100 µs; on a device, only where it waits for the host
during half of the loops. Change: one call instead of the loop: one round of what the calls cost remains, and the work of
all; sums of gradients over the rounds, and zeros around the part that each round took, go. Likely.
Wrong where a round needs the result of the one before and no single call does the same.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import costliest
from torch_tb_profiler.analysis.critical_path.origins import lines_of
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import stretches_take, together, work_scaled
from torch_tb_profiler.analysis.findings.loops import Loops, find_loops, idle_share
from torch_tb_profiler.analysis.findings.operators import launched_during
from torch_tb_profiler.analysis.findings.rule import Candidate, Reach, Rule, RuleContext
from torch_tb_profiler.store.columns import Ints

MANY = 64
"""Calls per step."""
SMALL = 100_000
"""ns; the median beyond which calls are not what a loop costs."""
BRIEF = 10_000
"""ns; kernels up to this long are mostly start and end."""
WAITS = 0.5
"""Share of the loops in which a device must wait for the host."""


def _claim(context: RuleContext) -> Candidate | None:
    loops = find_loops(context)
    if loops is None or len(loops.row) < MANY * len(context.steps):
        return None
    start, end = _with_pauses(context, loops)
    length = context.trace["spans"]["dur"][loops.row]
    if np.median(length) > SMALL or idle_share(context, start, end) < WAITS:
        return None
    edit = stretches_take(loops.track, loops.start, loops.end, loops.factor)
    if context.has_device:
        within = launched_during(context, loops.track, loops.start, loops.end)
        brief = context.work.take(within & (context.work.end - context.work.start <= BRIEF))
        edit = together(edit, work_scaled(brief.row, 1 / float(np.median(loops.rounds))))
    place, _ = costliest(lines_of(context.trace, context.facts, loops.row), end - start)
    row, start, end, length = (column[place] for column in (loops.row, start, end, length))
    name = context.trace["spans"]["name"][row]
    same, _ = costliest(name, length)
    return Candidate(
        row,
        start,
        end,
        {
            "operators": len(row) / len(context.steps),
            "calls": int(same.sum()) / len(context.steps),
            "each": float(np.median(length[same])),
            "rounds": float(np.median(loops.rounds)),
            "elsewhere": (len(loops.row) - len(row)) / len(context.steps),
            "backward": loops.backward / len(context.steps),
        },
        {"operator": context.trace.strings[int(name[same][0])]},
        edit=edit,
    )


def _with_pauses(context: RuleContext, loops: Loops) -> tuple[Ints, Ints]:
    """Begin of each call, and that of the next one of its stretch: what Python does between counts."""
    start, end = context.times(loops.row)
    same = loops.stretch[1:] == loops.stretch[:-1]
    end[:-1][same] = start[1:][same]
    return start, end


RULE = Rule(
    place=92,
    claim=_claim,
    title="A Python loop calls small operators one by one",
    action="Call operators once for the whole loop",
    fact="{operators} small operators per {step}",
    sentence="""A Python loop calls {operators} small operators per {step}{at}; the most expensive, {operator}, is called
    {calls} times, {each} each. With one call over all elements instead the {step} is {gain} ({share}) shorter.""",
    words=("operator",),
    details=(
        ("elsewhere", "Other loops call {elsewhere} more."),
        (
            "backward",
            "The backward pass of these calls, just as many, takes {backward} per {step}.",
        ),
    ),
    attempt="""Call each operator once for all rounds of the loop: add a dimension to its tensors instead of
    taking elements out of them (one Linear over all time steps, bmm over heads or experts, masks by comparing
    with arange, vmap). Over lists of tensors use torch._foreach_… or clip_grad_norm_(foreach=True). Leave
    .item() to one call of tolist().""",
    caveat="""Where a round needs the result of the one before, one call may not exist: then use what is made
    for it (nn.LSTM, nn.GRU, cumsum), or torch.compile. What remains is estimated from the trace.""",
    views=("overview", "operator", "module"),
    certainty="likely",
    cause="Small operators in a Python loop take {gain} of {the_step}",
    without="With one call instead",
    links=(
        links.COMPILE,
        ("torch.vmap", links.DOCS + "generated/torch.vmap.html"),
    ),
    reach=Reach(0.7, 1.6),
    numbers={
        "operators": ("Small operators", "count"),
        "calls": ("Calls of the most expensive one", "count"),
        "each": ("Median of these", "ns"),
        "rounds": ("Rounds of a loop", "count"),
        "elsewhere": ("Small operators of other loops", "count"),
        "backward": ("Their backward", "ns"),
    },
)
