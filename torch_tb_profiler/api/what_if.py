"""What steps would take if something in them were different, as DataFrames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from torch_tb_profiler.analysis.what_if.changes import read_change
from torch_tb_profiler.analysis.what_if.stragglers import LEAST_RANKS, Stragglers, run_document
from torch_tb_profiler.analysis.what_if.table import WHAT_IF, preset_table, what_if_table
from torch_tb_profiler.api.fleets import expect_tied, one_fleet
from torch_tb_profiler.api.table_frame import table_frame
from torch_tb_profiler.api.trace_context import Steps, TraceContext
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.store.strings import NO_STRINGS
from torch_tb_profiler.tables.source import FleetPlace

if TYPE_CHECKING:
    from pandas import DataFrame


def what_if(
    context: TraceContext, changes: Sequence[str], chosen: Steps, member: FleetPlace | None = None
) -> DataFrame:
    """A row of ``WHAT_IF`` for all changes at once; without any, one for each usual change that saves time. ``member``: the place
    of the trace in its run.

    Raises:
        BadRequest: there is no such change.
        IndexError: there is no such step.
    """
    applied = [read_change(text) for text in changes]
    selection = context.selection(chosen)
    if not applied:
        return table_frame(preset_table(context.facts, context.insight_beside(member), selection))
    return table_frame(what_if_table(context.facts, context.simulation(member), applied, selection))


def run_what_if(
    contexts: Sequence[TraceContext],
    members: Sequence[FleetPlace],
    changes: Sequence[str],
    chosen: Steps,
) -> DataFrame:
    """A row of ``what_if.table.WHAT_IF`` for a run with all changes, ``no-stragglers`` among them; the means are over the
    steps of the run. ``attrs``: ``slowdown``, ``by_worker``, ``by_operation`` and ``steps`` as ``whatif --json`` has them.

    Raises:
        BadRequest: there is no such change or rank, steps are chosen, the traces were not recorded together, or fewer
            than two ranks can be read.
    """
    if any(steps is not None for steps in (chosen, *(context.steps for context in contexts))):
        raise BadRequest("no-stragglers takes all steps of the run.", "Leave steps out.")
    fleet = one_fleet(members, "no-stragglers compares the ranks of one")
    applied = [read_change(text) for text in changes]
    ranks = [member.worker.rank for member in fleet.ranks]
    traces = [fleet.open_rank(number) for number in range(len(ranks))]
    read = sum(trace is not None for trace in traces)
    if read < LEAST_RANKS:
        raise BadRequest("no-stragglers needs at least two ranks.", f"The run has {read}.")
    expect_tied(fleet)
    found = run_document(Stragglers(fleet.figures, traces), ranks, applied)
    saved = found["measured_ns"] - found["predicted_ns"]
    keys = ("measured_ns", "replayed_ns", "replay_error", "predicted_ns", "low_ns", "high_ns")
    table = WHAT_IF.build(
        NO_STRINGS,
        change=[" ".join(map(str, applied))],
        words=["; ".join(change.words for change in applied)],
        **{key: np.array([found[key]], np.float64) for key in keys},
        saved_ns=np.array([saved], np.float64),
        saved=np.array([saved / max(found["measured_ns"], 1)]),
    )
    made = table_frame(table)
    for key in ("slowdown", "by_worker", "by_operation", "steps"):
        made.attrs[key] = found[key]
    return made
