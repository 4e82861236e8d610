"""What happens once when a program starts: Python imports, the accelerator's context (within whichever call into its runtime
comes first), compiling. A first step that is cold is left out, and so is what loads kernels (``kernel_loading``).

Evidence: import frames, calls that compile or initialise, and single calls into the runtime that take at least 10 ms and longer than
all others of their name together, but for those that wait for the device or copy; of calls for memory only the first,
before anything is launched.
Change: they take no time, as in every later step. Likely. Wrong for a program that runs only once.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import intersect, measure
from torch_tb_profiler.analysis.facts.launches import ALLOCATES
from torch_tb_profiler.analysis.findings.edits import host_skips
from torch_tb_profiler.analysis.findings.rule import Candidate, Question, RuleContext
from torch_tb_profiler.analysis.what_if.loading import loading_calls
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, unique_values
from torch_tb_profiler.store.roles import Role

LONG = 10_000_000
"""ns; a call of the runtime that takes so long does more than its name says."""
_BEGINS = regex(r"(?:cu|cuda|hip)(?:Init|DevicePrimaryCtx\w*|Ctx(?:Create|Retain)\w*)$")
_OTHER = regex(r"\w*(?:Synchronize|Wait|Finish|Query|Memcpy|GraphLaunch)")
_IMPORTS = regex(
    r"^<frozen importlib\._bootstrap>\(\d+\): _find_and_load$|/cuda/__init__\.py\(\d+\): _lazy_init$"
)


def _claim(context: RuleContext) -> Candidate | None:
    runtime = context.of_role(Role.RUNTIME)
    python = context.on_main(context.of_role(Role.PYTHON))
    row = np.concatenate(
        (
            context.rows_named(runtime, _BEGINS.match),
            _once(context, runtime),
            context.compilations.row,
            context.rows_named(python, _IMPORTS.search),
        )
    )
    start, end = context.times(row)
    row = unique_values(row[measure(context.windows, start, end) > 0])
    if not len(row):
        return None
    longest = row[np.argmax(context.spans["dur"][row])]
    taken = intersect(context.when(row), context.windows).length / len(context.steps)
    return Candidate(
        context.pieces(row),
        {"taken": taken, "longest": int(context.spans["dur"][longest])},
        {"call": context.name_of(longest)},
        edit=host_skips(row),
        unplanned=True,
    )


def _once(context: RuleContext, row: Ints) -> Ints:
    """The longest call of each name, where it is long and longer than all others; of memory only what the runtime was first
    called for.
    """
    row = unique_values(row[~context.named(row, _OTHER.match)])
    row = row[~np.isin(row, loading_calls(context.scene))]
    # What a device waits for of them ``allocator_churn`` tells.
    takes = context.named(row, ALLOCATES.match) & context.has_device
    launched = context.launches.min(initial=context.spans.n)
    row = row[~takes | (np.cumsum(takes) == 1) & (row < launched)]
    chosen = []
    for number in unique_values(context.spans["name"][row]).tolist():
        own = row[context.spans["name"][row] == number]
        took = context.spans["dur"][own]
        if took.max() >= LONG and 2 * took.max() >= took.sum():
            chosen.append(own[took.argmax()])
    return np.array(chosen, np.int64)


QUESTION = Question(__name__)
QUESTION.state("start_up", 45, _claim, certainty="likely")
