"""The table of steps."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.facts.unrecorded_work import LEAST_UNKNOWN, unknown_share
from torch_tb_profiler.analysis.figures.selection import Selection, complete, judged
from torch_tb_profiler.analysis.figures.step_kinds import of_one_kind, step_kind_names
from torch_tb_profiler.store.categories import CATEGORIES
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.display import (
    DisplayColumn,
    DisplaySpec,
    DisplayTable,
    display_columns,
)
from torch_tb_profiler.store.model import Facts

_C = DisplayColumn
_CATEGORIES = {
    "kernel": "Device kernels.",
    "memcpy": "Copies.",
    "memset": "Memsets.",
    "communication": "Communication that nothing above hides.",
    "runtime": "Calls into the accelerator's runtime.",
    "dataloader": "Waiting for the next batch.",
    "cpu_exec": "Host operators.",
    "other": "The rest.",
}
STEPS = DisplaySpec(
    "steps",
    "One row per step. The categories add up to `wall_ns`, exactly; one that was not recorded is missing.",
    (
        *display_columns("""
    step        id    -  -  Number of the step in the trace, from 0; what `steps=` arguments count.
    name        text  -  -  Name, e.g. `ProfilerStep#5`.
    start_ns    time  -  -  Begin, after the first event of the trace.
    wall_ns     time  -  -  From its begin to its end, the device work that it launched included, `earlier_ns` not.
    earlier_ns  time  -  -  The host waits for device work that was not recorded, from before it: no figure counts it.
    silent_ns   time  -  -  At its begin launched work waits and nothing was recorded on the devices; it counts.
"""),
        *(_C(f"{key}_ns", "time", "", doc, optional=True) for key, doc in _CATEGORIES.items()),
        *display_columns("""
    kind        text   -  -  Its kind: `prefill`, `decode`, `mixed`, `training`, `validation`, `micro-batch`, `cold`; `kind A` where nothing tells what it does;
        `every 4th`, `growing`. Empty for one cut off, and where all are of one kind.
    cold        flag   -  -  A first step, clearly slower by what does not recur: it sets up.
    odd         flag   -  -  Slower than the others of its kind by far more than they differ among themselves.
    cut         flag   -  -  Only a part of it was recorded: the end of the recording cut it off, or more than half is not recorded or silent.
    odd_reason  text   -  -
    selected    flag   -  -
    steps       count  -  -
"""),
    ),
)
"""``odd_reason``: what makes an odd step odd, in words, where that is known; else empty. ``steps``: how many consecutive steps the page's row is the sum of."""

_OF_DEVICE = ("kernel", "memcpy", "memset", "runtime")

_OF_HOST = ("dataloader", "cpu_exec")


def step_table(facts: Facts, selection: Selection) -> DisplayTable:
    """Every step of the trace in time order; ``selected`` marks those of the selection."""
    table = facts["steps"]
    selected = mask_of(table.n, selection.steps)
    return STEPS.build(
        facts.strings,
        step=np.arange(table.n),
        name=facts.strings.many(table["name"]),
        start_ns=table["start"],
        wall_ns=step_lengths(table),
        earlier_ns=table["earlier"],
        silent_ns=table["silent"],
        **{f"{key}_ns": times for key, times in category_times(facts).items()},
        kind=step_kind_names(facts),
        cold=(table["flags"] & StepFlag.COLD) != 0,
        odd=(table["flags"] & StepFlag.ODD) != 0,
        cut=(table["flags"] & StepFlag.PART) != 0,
        selected=selected,
    )


def category_times(facts: Facts) -> dict[str, Ints]:
    """Each of ``CATEGORIES`` in ns per step; −1, unknown, where no step has any of it and the
    recording had no activity that it could come from, or lacks work of the devices.
    """
    table = facts["steps"]
    partly = unknown_share(facts, np.arange(table.n)) > LEAST_UNKNOWN
    of_device = tuple(key for key in _OF_DEVICE if key != "runtime") if partly else ()
    lacking = (
        *of_device,
        *(() if facts.summary.has_device else _OF_DEVICE),
        *(() if facts["operators"].n else _OF_HOST),
    )
    return {
        key: np.full(table.n, -1) if key in lacking and not table[key].any() else table[key]
        for key in CATEGORIES
    }


def averaged(facts: Facts, selection: Selection) -> Ints:
    """Rows of the selected steps that means are over: of one kind, those that the recording cut off left out."""
    return of_one_kind(facts, complete(facts, selection))


def counted(facts: Facts, selection: Selection) -> Selection:
    """The steps that means over a selection are of: of all steps those that speak for the program, of one kind and whole."""
    return Selection(averaged(facts, judged(facts, selection)), selection.whole)


def average(facts: Facts, selection: Selection) -> tuple[float, dict[str, float | None]] | None:
    """Arithmetic mean in ns over ``averaged`` steps: of the wall time, and of each category (None: not recorded).

    None without a step.
    """
    steps = averaged(facts, selection)
    if not len(steps):
        return None
    table, times = facts["steps"], category_times(facts)
    wall = float(step_lengths(table)[steps].mean())
    means = {key: float(times[key][steps].mean()) for key in CATEGORIES}
    return wall, {key: mean if mean >= 0 else None for key, mean in means.items()}
