"""Functions of the user's own that run Python within the model, its backward pass or optimizer: the time on
the critical path in their frames and in what they call of Python's own (``<built-in function len>``), outside of every
operator and of libraries.

Evidence: this time of the function in which it is longest.
Change: it is gone. Likely from a third of the step on, else theoretical. Wrong where the recording of each Python call is
what takes the time: then a run without call stacks spends less.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import costliest, picked
from torch_tb_profiler.analysis.arrays.nesting import climb
from torch_tb_profiler.analysis.facts.host_names import name_mask
from torch_tb_profiler.analysis.figures.source_lines import OWN, line_ranks
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import thread_time_gone
from torch_tb_profiler.analysis.findings.host_time import LEAST, MUCH, NO_NAME, on_path, python_loop
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.python_frames import function_name
from torch_tb_profiler.store.roles import Role


def _claim(context: RuleContext) -> Candidate | None:
    spans, parent = context.trace["spans"], context.parent
    python = spans["role"] == Role.PYTHON
    if context.has_device or not python.any():
        return None
    event, start, end = on_path(context, PathCause.PYTHON)
    rank = np.where(
        python, line_ranks(context.trace.strings, spans["name"][python])[spans["name"]], 0
    )
    nearest_line = climb(parent, event, rank >= 1)
    mine = (nearest_line >= 0) & (rank[nearest_line] == OWN)
    mine &= context.training.inside[event]
    event, start, end = event[mine], start[mine], end[mine]
    unnamed = name_mask(context.trace.strings, spans["name"][python], NO_NAME.search)[spans["name"]]
    function = climb(parent, event, (rank == OWN) & ~unnamed).astype(np.int64)
    if not len(function):
        return None
    best, total = costliest(picked(spans["name"], function), end - start)
    row, start, end = function[best], start[best], end[best]
    if total < LEAST * context.windows.length or row[0] < 0:
        return None
    often, rounds = python_loop(context, np.unique(row))
    return Candidate(
        row,
        start,
        end,
        {
            "taken": total / len(context.steps),
            "calls": context.per_step(np.unique(row)),
            "frames": int(best.sum()) / len(context.steps),
            "rounds": rounds,
        },
        {"what": function_name(context.name_of(row[0])), "often": often},
        certainty="likely" if total >= MUCH * context.windows.length else "theoretical",
        edit=thread_time_gone(spans["track"][row], start, end),
    )


RULE = Rule(
    place=289,
    claim=_claim,
    title="Python within the model takes much of the {step}",
    action="Replace Python in the model by operators",
    fact="{taken} of the {step} in {what}",
    sentence="""Pure Python of one function takes {taken} of the {step} within the model, outside of every
    operator, in {frames} stretches between operators and frames{at}. Without it the {step} is
    {gain} ({share}) shorter.""",
    attempt="""Write the Python loop as operators on whole tensors, compute what stays the same once, outside of
    forward, or compile the function with torch.compile.""",
    caveat="""Recording each Python call takes time that a run without call stacks does not spend: compare the step
    time without with_stack first.""",
    views=("overview", "module", "trace"),
    certainty="likely",
    cause="Python in {what} takes {taken} of {the_step}",
    without="Without it",
    links=(links.COMPILE,),
    details=(
        ("what", "It is in {what}, calls per {step}: {calls}."),
        ("often", "It is a Python loop: {often} is called {rounds} times per {step}."),
    ),
    numbers={
        "taken": ("Taken", "ns"),
        "calls": ("Calls", "count"),
        "frames": ("Stretches", "count"),
        "rounds": ("Rounds of the Python loop", "count"),
    },
)
