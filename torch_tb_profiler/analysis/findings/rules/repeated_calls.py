"""A function of the user's own that a Python loop calls very often, each time for little, without calling an operator.

Evidence: frames of one function on the program's thread, at least ``MANY`` per step, half of them of at most
``SHORT``, without any operator, called from the same caller's frame; the function that takes most. Change: the calls and what is
between them within their caller take as long as one call. Likely. Only where Python frames were recorded.
Wrong where no single call does the same: part of the loop's time then stays.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import costliest, group_rows
from torch_tb_profiler.analysis.arrays.nesting import with_ancestors
from torch_tb_profiler.analysis.figures.source_lines import PACKAGE, line_ranks
from torch_tb_profiler.analysis.findings.edits import stretches_take
from torch_tb_profiler.analysis.findings.rule import Candidate, Reach, Rule, RuleContext
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.roles import Role

MANY = 500
"""Calls per step."""
SHORT = 100_000
"""ns; the median beyond which a call is no small one."""
LEVELS = 4
"""Callers of callers that may be called in a loop themselves."""
ROUNDS = 16
"""Calls from one frame, from which on it is a loop."""


def _claim(context: RuleContext) -> Candidate | None:
    spans = context.trace["spans"]
    frames = context.on_main(context.of_role(Role.PYTHON))
    if len(frames) < MANY * len(context.steps):
        return None
    rank = line_ranks(context.trace.strings, spans["name"][frames])
    frames = context.within(frames[rank[spans["name"][frames]] >= PACKAGE])
    name, count = np.unique(spans["name"][frames], return_counts=True)
    frames = frames[np.isin(spans["name"][frames], name[count >= MANY * len(context.steps)])]
    if not len(frames):
        return None
    alone = ~with_ancestors(context.parent, spans["role"] == Role.OPERATOR)
    frames = frames[alone[frames]]
    if not len(frames):
        return None
    best, _ = costliest(spans["name"][frames], spans["dur"][frames])
    row = frames[best]
    length = spans["dur"][row]
    if len(row) < MANY * len(context.steps) or np.median(length) > SHORT:
        return None
    start, end, rounds = _loops(context, row, alone)
    if not len(start):
        return None
    return Candidate(
        row,
        *context.times(row),
        {
            "calls": len(row) / len(context.steps),
            "each": float(np.median(length)),
            "loops": int((end - start).sum()) / len(context.steps),
        },
        {"function": context.name_of(row[0]).partition(": ")[2]},
        edit=stretches_take(np.full(len(start), context.main_track), start, end, 1 / rounds),
    )


def _loops(context: RuleContext, frames: Ints, alone: Mask) -> tuple[Ints, Ints, Ints]:
    """From the first to the last call within one frame, ns, and how many calls there are: of the function, or of one
    that calls it and is itself called in a loop, without an operator (``alone``).
    """
    spans, parent = context.trace["spans"], context.parent
    none = np.zeros(0, np.int64)
    found = none, none, none
    calls = frames
    for _ in range(LEVELS):
        first, group = group_rows((parent[calls], spans["name"][calls]))
        count = np.bincount(group, minlength=len(first))
        last = np.zeros(len(first), np.int64)
        last[group] = calls
        looped = count >= ROUNDS
        if 2 * count[looped].sum() >= len(calls):
            begin, stop = context.times(calls[first])[0], context.times(last)[1]
            found = begin[looped], stop[looped], count[looped]
        calls = np.unique(parent[calls])
        calls = calls[calls >= 0]
        calls = calls[alone[calls] & (spans["role"][calls] == Role.PYTHON)]
        if not len(calls):
            break
    return found


RULE = Rule(
    place=93,
    claim=_claim,
    title="A Python loop calls a function very often",
    action="Do the loop's work in one call",
    fact="{calls} calls of {function} per {step}",
    sentence="""A Python loop calls {function} {calls} times per {step}, {each} each{at}; with one call over all
    elements instead the {step} is {gain} ({share}) shorter.""",
    words=("function",),
    attempt="""Do it for all elements at once: vectorise with torch or numpy, use a tokenizer's batch call or
    str.translate, cache what repeats (functools.lru_cache), or do it before training or in DataLoader workers.""",
    caveat="""Recording Python frames makes short calls look longer than they are. Where no single call does the same,
    part of the time stays.""",
    views=("overview", "trace"),
    certainty="likely",
    cause="A Python loop of small calls takes {gain} of {the_step}",
    without="With one call instead",
    reach=Reach(0.6, 1.3),
    numbers={
        "calls": ("Calls", "count"),
        "each": ("Median", "ns"),
        "loops": ("Time of the loops", "ns"),
    },
)
