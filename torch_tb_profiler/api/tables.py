"""DataFrames of steps, operators, kernels, modules, collectives and findings of one trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torch_tb_profiler.analysis.api_calls.calls import (
    call_table,
    calls_of,
    long_calls,
    selected_time,
)
from torch_tb_profiler.analysis.api_calls.copies import copy_table
from torch_tb_profiler.analysis.api_calls.launches import launch_table, launches_of
from torch_tb_profiler.analysis.api_calls.queues import queue_table, queues_of
from torch_tb_profiler.analysis.api_calls.sequences import sequence_table
from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by
from torch_tb_profiler.analysis.compiled.table import compiled_table
from torch_tb_profiler.analysis.compiled.times import compilation_table
from torch_tb_profiler.analysis.critical_path.ranks_table import ranks_table
from torch_tb_profiler.analysis.critical_path.table import critical_path_table
from torch_tb_profiler.analysis.distributed.collective_table import collective_table
from torch_tb_profiler.analysis.distributed.group_table import group_table
from torch_tb_profiler.analysis.distributed.groups import Place
from torch_tb_profiler.analysis.distributed.groups import process_groups as sums_of_groups
from torch_tb_profiler.analysis.figures.iterations import iteration_table
from torch_tb_profiler.analysis.figures.kernels import KernelGroup, kernel_rows
from torch_tb_profiler.analysis.figures.operators import (
    OperatorGroup,
    frames,
    operator_rows,
    operator_signatures,
)
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.analysis.figures.step_table import step_table
from torch_tb_profiler.analysis.module.modules import module_sums, module_tree
from torch_tb_profiler.analysis.module.table import module_table
from torch_tb_profiler.analysis.ranges.table import range_table
from torch_tb_profiler.analysis.what_if.changes import read_change
from torch_tb_profiler.analysis.what_if.stragglers import LEAST_RANKS, Stragglers, run_document
from torch_tb_profiler.analysis.what_if.table import WHAT_IF, preset_table, what_if_table
from torch_tb_profiler.api.frame import table_frame
from torch_tb_profiler.api.measured import scalar_rows
from torch_tb_profiler.api.trace_context import Steps, TraceContext, bounds
from torch_tb_profiler.api.waiting import (
    FleetPlace,
    expect_tied,
    one_fleet,
    path_insight,
    verdict_lines,
)
from torch_tb_profiler.errors import BadRequest, NotReady
from torch_tb_profiler.runs.compile_logs import provenance_of
from torch_tb_profiler.runs.fleet import Fleet
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.strings import NO_STRINGS
from torch_tb_profiler.views.distributed.payload import node_of
from torch_tb_profiler.views.findings.table import findings_table
from torch_tb_profiler.views.findings.wire import FindingsPayload

if TYPE_CHECKING:
    from pandas import DataFrame

Signature = tuple[str, ...]
"""Name, input shapes, input types; empty texts where not recorded."""


def steps(context: TraceContext) -> DataFrame:
    """See ``figures.step_table.STEPS``."""
    table = step_table(context.facts, context.selection())
    return table_frame(table.take(context.selection().steps))


def scalars(context: TraceContext) -> DataFrame:
    """See ``views.overview.scalars.SCALARS``."""
    return table_frame(scalar_rows(context, context.selection()))


def iterations(context: TraceContext) -> DataFrame:
    """See ``figures.iterations.ITERATIONS``."""
    return table_frame(iteration_table(context.facts, context.selection()))


def what_if(context: TraceContext, changes: Sequence[str], chosen: Steps) -> DataFrame:
    """See ``what_if.table.WHAT_IF``."""
    applied = [read_change(text) for text in changes]
    selection = context.selection(chosen)
    if not applied:
        return table_frame(preset_table(context.facts, context.insight, selection))
    return table_frame(what_if_table(context.facts, context.simulation, applied, selection))


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
    ranks = [fleet.members[number].worker.rank for number in fleet.place]
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


def critical_path(
    context: TraceContext, chosen: Steps, member: FleetPlace | None = None
) -> DisplayTable:
    """See ``critical_path.table.CRITICAL_PATH``; of a member of a fleet, waiting for other ranks apart."""
    insight = path_insight(context, member)
    selection = context.selection(chosen)
    return critical_path_table(context.trace, context.facts, insight, selection)


def ranks_path(fleet: Fleet, chosen: Steps) -> tuple[DisplayTable, dict[str, Any]]:
    """See ``critical_path.ranks_table.RANKS_PATH``; and ``steps``, the number, name and wall time of each;
    ``clock_error_ns``, how far the clocks of the ranks may be apart, None unknown; ``verdict``, sentences on who holds
    the run back.
    """
    path, figures = fleet.path, fleet.figures
    if path is None:
        raise NotReady("The workers of the run are still being read.")
    expect_tied(fleet)
    first, last = bounds(chosen)
    count = len(path.begin)
    step = np.arange(count)[(first or 0) : count if last is None else last + 1]
    if chosen is not None and not len(step):
        raise IndexError(f"there is no step {first}; the run has {count}, counted from 0")
    members = [fleet.members[number].worker for number in fleet.place]
    workers = [(worker.rank, worker.name) for worker in members]
    table = ranks_table(path, fleet.open_rank, workers, np.isin(np.arange(count), step))
    names = [figures.steps.names[number] for number in step.tolist()]
    wall = (path.stop - path.begin)[step]
    errors = [clock.error for clock in figures.aligned if clock.error is not None]
    return table, {
        "steps": list(zip(step.tolist(), names, wall.tolist(), strict=True)),
        "clock_error_ns": max(errors, default=None),
        "verdict": verdict_lines(fleet),
    }


def process_groups(fleet: Fleet) -> DataFrame:
    """See ``analysis.distributed.group_table.PROCESS_GROUPS``."""
    figures, members = fleet.figures, [fleet.members[number].worker for number in fleet.place]
    places = [
        Place(worker.rank, node_of(worker.name, rank))
        for worker, rank in zip(members, figures.ranks, strict=True)
    ]
    return table_frame(group_table(sums_of_groups(figures), places, figures.ranks))


def operators(context: TraceContext, by: OperatorGroup, chosen: Steps) -> DisplayTable:
    """See ``figures.operators.OPERATORS``."""
    facts, selection = context.facts, context.selection(chosen)
    rows = (
        operator_rows(facts, selection, "name", of_calls=True)
        if by == "name"
        else operator_signatures(facts, selection, stacks=by == "stack")
    )
    if by == "stack":
        rows = rows.with_columns(stack=stack_tuples(facts, rows["stack"]))
    if by != "name":
        work = work_per_call(context, selection)
        keys = ("name", "input_shapes", "input_dtypes")
        signatures = zip(*(rows.texts(key) for key in keys), strict=True)
        per_call = [work.get(tuple(text or "" for text in key), (None, None)) for key in signatures]
        rows = rows.with_columns(
            flops=[flops for flops, _ in per_call], bytes=[size for _, size in per_call]
        )
    return rows


def stack_tuples(facts: Facts, stacks: Array) -> list[tuple[str, ...]]:
    """Frames of each stack, innermost first."""
    distinct, number = np.unique(stacks, return_inverse=True)
    texts = [tuple(facts.strings.many(frames(facts, stack))) for stack in distinct.tolist()]
    return [texts[i] for i in number.tolist()]


def work_per_call(
    context: TraceContext, selection: Selection
) -> dict[Signature, tuple[int | None, int | None]]:
    """FLOPs and bytes per call by signature, means over the selected calls; None where a call has
    no model.
    """
    insight = context.insight
    table, counted = insight["workloads"], insight["workload_steps"]
    taken = mask(selection, counted["step"])
    calls = sum_by(counted["workload"][taken], table.n, counted["calls"][taken])
    row = np.flatnonzero(calls > 0)
    key = [table[name][row] for name in ("name", "dims", "types")]
    first, group = group_rows(key)
    names = [insight.strings.many(column[first]) for column in key]
    means = [
        _mean_call(group, len(first), calls[row], table[name][row]) for name in ("flops", "bytes")
    ]
    return dict(zip(zip(*names, strict=True), zip(*means, strict=True), strict=True))


def _mean_call(group: Ints, groups: int, calls: Ints, values: Array) -> list[int | None]:
    """Means per group weighted by calls, exact where all are equal; None where one is unknown (−1)."""
    low, high = np.full(groups, np.iinfo(np.int64).max), np.full(groups, -1, np.int64)
    np.minimum.at(low, group, values)
    np.maximum.at(high, group, values)
    mean = np.bincount(
        group, weights=values.astype(np.float64) * calls, minlength=groups
    ) / np.maximum(np.bincount(group, weights=calls, minlength=groups), 1)
    listed = zip(low.tolist(), high.tolist(), mean.tolist(), strict=True)
    return [
        None if least < 0 else least if least == most else round(average)
        for least, most, average in listed
    ]


def kernels(context: TraceContext, by: KernelGroup, chosen: Steps) -> DisplayTable:
    """See ``figures.kernels.KERNELS``."""
    return kernel_rows(context.facts, context.selection(chosen), by, of_calls=True)


def ranges(context: TraceContext, chosen: Steps) -> DisplayTable:
    """See ``analysis.ranges.table.RANGES``."""
    selection = context.selection(chosen)
    return range_table(context.facts, context.insight, selection)


def api_calls(context: TraceContext, chosen: Steps) -> DisplayTable:
    """See ``analysis.api_calls.calls.API_CALLS``."""
    trace, facts, selection = context.trace, context.facts, context.selection(chosen)
    calls = calls_of(trace, facts, selection)
    launches = launches_of(trace, facts, selection)
    return call_table(trace, facts, selection, calls, launches)


def long_api_calls(context: TraceContext, chosen: Steps, queue_limit: int) -> DisplayTable:
    """See ``analysis.api_calls.calls.LONG_CALLS``."""
    trace, facts, selection = context.trace, context.facts, context.selection(chosen)
    launches = launches_of(trace, facts, selection)
    queues = queues_of(trace, launches, queue_limit)
    calls = calls_of(trace, facts, selection)
    return long_calls(trace, facts, calls, launches, queues)


def launches(context: TraceContext, chosen: Steps, short_ns: int) -> DisplayTable:
    """See ``analysis.api_calls.launches.LAUNCHES``."""
    found = launches_of(context.trace, context.facts, context.selection(chosen))
    return launch_table(context.trace, found, short_ns)


def queues(context: TraceContext, chosen: Steps, limit: int) -> DisplayTable:
    """See ``analysis.api_calls.queue.QUEUES``."""
    trace, facts, selection = context.trace, context.facts, context.selection(chosen)
    found = queues_of(trace, launches_of(trace, facts, selection), limit)
    time = selected_time(facts, selection)
    return queue_table(trace, facts, selection, found, time)


def copies(context: TraceContext, chosen: Steps) -> DisplayTable:
    """See ``analysis.api_calls.copies.COPIES``."""
    found = launches_of(context.trace, context.facts, context.selection(chosen))
    return copy_table(context.trace, context.facts, found)


def kernel_sequences(
    context: TraceContext, longest: int, operator: str, chosen: Steps
) -> DisplayTable:
    """See ``analysis.api_calls.sequences.SEQUENCES``."""
    found = launches_of(context.trace, context.facts, context.selection(chosen))
    return sequence_table(context.trace, context.facts, found, longest, operator)


def compiled(context: TraceContext, provenance: str | None, chosen: Steps) -> DataFrame:
    """See ``analysis.compiled.table.COMPILED``. ``attrs["problems"]``: what could not be used of the
    logs; ``attrs["compilations"]``: rows of ``analysis.compiled.times.COMPILATIONS``.
    """
    logged = provenance_of(context.opened, provenance)
    selection = context.selection(chosen)
    frame = table_frame(compiled_table(context.trace, context.facts, logged, selection))
    frame.attrs["problems"] = dict(logged.problems)
    times = compilation_table(context.trace, context.facts, selection)
    frame.attrs["compilations"] = table_frame(times).to_dict("records")
    return frame


def modules(context: TraceContext, chosen: Steps) -> DataFrame:
    """See ``analysis.module.table.MODULES``."""
    insight = context.insight
    tree = module_tree(insight)
    sums = module_sums(insight, tree, context.selection(chosen))
    return table_frame(module_table(context.facts, insight, tree, sums))


def collectives(context: TraceContext, waiting: Mapping[str, Any] | None = None) -> DataFrame:
    """See ``analysis.distributed.collective_table.COLLECTIVES``. ``waiting``: what the other workers
    of the run tell, one entry per collective of the trace.
    """
    table = collective_table(context.insight).with_columns(**(waiting or {}))
    return table_frame(table.take(mask(context.selection(), table["step"])))


def findings(payload: FindingsPayload) -> DataFrame:
    """See ``views.findings.table.FINDINGS``. ``attrs["headline"]`` is the answer in one sentence, ``attrs["detail"]`` what
    follows it.
    """
    made = table_frame(findings_table(payload))
    made.attrs |= {
        "headline": payload.headline,
        "detail": payload.detail,
        "healthy": payload.healthy,
    }
    return made
