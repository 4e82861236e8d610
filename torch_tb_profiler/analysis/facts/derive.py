"""Everything that is derived from a trace once, when it is imported.

::

    Trace ─▶ names ─▶ call tree ─▶ causes of device work ─▶ steps ─▶ breakdown
                          └──▶ stacks ──┬──▶ operators, kernels, devices, links ──▶ Facts
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
from msgspec.structs import asdict, replace

from torch_tb_profiler.analysis.arrays.beside import Start, beside
from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.arrays.intervals import Intervals, join, measure, union, window_at
from torch_tb_profiler.analysis.arrays.nesting import nest_rows
from torch_tb_profiler.analysis.facts import defects as d
from torch_tb_profiler.analysis.facts.calltree import CallTree, call_tree
from torch_tb_profiler.analysis.facts.communication import backends, communication_kernels
from torch_tb_profiler.analysis.facts.device_causes import DeviceCauses, causes
from torch_tb_profiler.analysis.facts.devices import device_tables
from torch_tb_profiler.analysis.facts.earlier_work import (
    incomplete,
    stretches,
    without_earlier_work,
)
from torch_tb_profiler.analysis.facts.flags import NoOperator, StepFlag
from torch_tb_profiler.analysis.facts.header import (
    device_properties,
    distributed_info,
    integer,
    oldest_capability,
    unplaced_events,
    vendor,
    versions,
)
from torch_tb_profiler.analysis.facts.host_names import HostNames, distinct
from torch_tb_profiler.analysis.facts.iterations import (
    ServerIterations,
    iteration_table,
    phase_of_steps,
    short_names,
)
from torch_tb_profiler.analysis.facts.kernels import kernel_facts
from torch_tb_profiler.analysis.facts.links import enclosing_spans, span_links
from torch_tb_profiler.analysis.facts.operators import operator_facts
from torch_tb_profiler.analysis.facts.profiled_ranges import match_ranges
from torch_tb_profiler.analysis.facts.replay_calls import (
    ReplayedCalls,
    is_operator,
    joined,
    replayed_calls,
)
from torch_tb_profiler.analysis.facts.replay_matching import match_replays, replay_tables
from torch_tb_profiler.analysis.facts.stacks import (
    Stacks,
    call_stacks,
    opened_frames,
    with_replayed,
)
from torch_tb_profiler.analysis.facts.step_kinds import StepKinds, step_kinds, whole_kind
from torch_tb_profiler.analysis.facts.step_work import step_work
from torch_tb_profiler.analysis.facts.steps import (
    ITERATION,
    WHOLE_SPAN,
    StepWindows,
    cut_steps,
    find_steps,
    hidden_steps,
    latest_end,
)
from torch_tb_profiler.analysis.facts.unrecorded_work import unknown_time, unrecorded_work
from torch_tb_profiler.analysis.facts.work_names import WorkNames, attribute
from torch_tb_profiler.analysis.facts.workload_kind import find_workload, find_writer
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.hardware.matrix_cores import uses_matrix_cores
from torch_tb_profiler.store import fact_schema
from torch_tb_profiler.store.categories import CATEGORIES
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.memory import give_back_memory
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringBuilder
from torch_tb_profiler.store.summary import EventCounts, Summary, Workload, WorkloadKind


def derive(trace: Trace, part: str = "", parts: Sequence[str] = ()) -> Facts:
    """The facts of a trace; any trace has facts, an empty one too. ``part``, ``parts``: as in ``Summary``."""
    with beside(trace["spans"].n) as start:
        # The nesting of all host spans needs nothing else.
        facts = _derive(trace, start, start(enclosing_spans, trace))
    return replace(facts, summary=replace(facts.summary, part=part, parts=tuple(parts)))


def _derive(trace: Trace, start: Start, nested: Callable[[], Array]) -> Facts:
    spans, tree = trace["spans"], call_tree(trace)
    give_back_memory()
    names, caused = tree.names, causes(trace, tree, tree.names)
    give_back_memory()
    windows, silent, iterations = _windows(trace, tree, caused)
    replays = match_replays(trace, tree, caused)
    of_replays = replay_tables(caused, replays)
    replay_step = windows.device_step[replays.replay >= 0]
    replayed = replayed_calls(trace, of_replays, replay_step, is_operator(trace))
    communication = communication_kernels(trace, tree, names, caused)
    maker = _vendor(trace, caused)
    matrix = _matrix_cores(trace, caused, maker)
    strings = StringBuilder(trace.strings)
    devices, device_steps = device_tables(trace, caused, windows, matrix, strings, maker)
    active = _active_sets(trace, tree, names, caused, communication)
    enclosing = nested()
    give_back_memory()
    earlier = stretches(silent["earlier_work"], silent=False)
    breakdown = start(break_down, active, windows.start, windows.end, earlier)
    stacks, frames = _stacks(trace, tree, enclosing, strings, replays.launch, replayed)
    step = window_at(windows.host_start, windows.host_end, spans["start"][tree.row])
    step = joined(step, replayed.step)
    give_back_memory()
    named = attribute(trace, tree, caused, windows, replays, replayed, strings)
    within = step, stacks.of_node, named.of_node, silent["unrecorded_work"]["launch"]
    operators = operator_facts(trace, tree, caused, replayed, matrix, *within)
    links = start(span_links, trace, tree, caused, windows, enclosing)
    overlapping = tree.row[tree.overlapping]
    del tree, within, enclosing, nested
    give_back_memory()
    step, of = windows.device_step, named.operator
    kernels = kernel_facts(trace, caused, of, communication, matrix, operators, step)
    windows, iterated = _iterated(trace, iterations, windows, caused, earlier, strings)
    made = operators.tables | kernels | {"iterations": iterated}
    workload = find_workload(trace, caused, communication)
    launched = _launched(windows, iterations, caused)
    kinds = _kinds(trace, windows, launched, made, caused, names, workload)
    tables: dict[str, Table] = {
        "steps": _steps(windows, kinds, breakdown()),
        "step_kinds": fact_schema.STEP_KINDS.build(**kinds.columns),
        **silent,
        "devices": devices,
        "device_steps": device_steps,
        "unnamed_steps": named.unnamed_steps,
        "span_links": links(),
        **frames,
        **made,
        **of_replays,
    }
    give_back_memory()
    defects, touched = _find_defects(trace, overlapping, caused, windows, tables)
    give_back_memory()
    summary = replace(
        _summary(trace, names, caused, windows, tables, maker, named, workload),
        matrix_eligible_share=operators.eligible_share,
        touched_ns=touched,
        profiled_ranges=_profiled_ranges(trace, tables["span_links"], defects),
    )
    return Facts(strings.table(), tables, summary, trace.defects.merged(defects))


def _stacks(
    trace: Trace,
    tree: CallTree,
    enclosing: Array,
    strings: StringBuilder,
    launches: Ints,
    replayed: ReplayedCalls,
) -> tuple[Stacks, dict[str, Table]]:
    """The stacks of the call tree, and the tables of frames."""
    opened = opened_frames(trace, enclosing, strings)
    stacks = call_stacks(trace, tree, enclosing, strings, launches)
    stacks = with_replayed(stacks, trace, tree, replayed)
    table = fact_schema.STACKS.build(parent=stacks.parent, frame=stacks.frame)
    return stacks, {"stacks": table, "opened_frames": opened}


def _windows(
    trace: Trace, tree: CallTree, caused: DeviceCauses
) -> tuple[StepWindows, dict[str, Table], ServerIterations]:
    """The steps, the tables of what the devices did in them that was not recorded, and the iterations that the steps are or
    hold.
    """
    windows, iterations = find_steps(trace, tree, tree.names, caused)
    windows, earlier = without_earlier_work(trace, caused, windows)
    lacking = unrecorded_work(trace, tree, caused, windows)
    unknown = unknown_time(trace, caused, lacking)
    windows = replace(windows, unrecorded=measure(unknown, windows.start, windows.end))
    return windows, {"earlier_work": earlier, "unrecorded_work": lacking}, iterations


def _profiled_ranges(trace: Trace, links: Table, defects: DefectCounts) -> int:
    """How many ranges were profiled; those that do not match are counted."""
    ranges = match_ranges(trace, links["parent"], links["launch"])
    defects.add(d.RANGE_MISMATCH, ranges.mismatched)
    return len(ranges.row)


def _iterated(
    trace: Trace,
    iterations: ServerIterations,
    windows: StepWindows,
    caused: DeviceCauses,
    left_out: Intervals,
    strings: StringBuilder,
) -> tuple[StepWindows, Table]:
    """The steps, with short names where they are iterations, and ``ITERATIONS``."""
    host = (windows.host_start, windows.host_end)
    table = iteration_table(trace, iterations, *host, caused, windows.device_step, left_out)
    if windows.source == ITERATION:
        windows = replace(windows, name=short_names(strings, trace.strings, windows.name))
    return windows, table


def _vendor(trace: Trace, caused: DeviceCauses) -> str:
    spans = trace["spans"]
    calls = distinct(spans["name"][spans["role"] == Role.RUNTIME], trace.strings)
    categories = distinct(spans["category"], trace.strings)
    return vendor(
        trace, trace.strings.many(calls), trace.strings.many(categories), bool(len(caused.row))
    )


def _matrix_cores(trace: Trace, caused: DeviceCauses, maker: str) -> Array:
    """``Knowledge`` of matrix-core use of every device event, uint8."""
    spans = trace["spans"]
    capability = oldest_capability(trace)
    kernel = spans["role"][caused.row] == Role.KERNEL
    name = spans["name"][caused.row]
    known = np.full(len(trace.strings) + 1, Knowledge.NO, np.uint8)
    for number in distinct(name[kernel], trace.strings):
        known[number] = uses_matrix_cores(trace.strings[number], maker, capability)
    return np.where(kernel, known[name], np.uint8(Knowledge.NO))


def _launched(windows: StepWindows, iterations: ServerIterations, caused: DeviceCauses) -> Ints:
    """How many device events each step launched; of an iteration within its annotation, what follows it may come or not."""
    if windows.source != ITERATION:
        return windows.launched
    inside = window_at(iterations.start, iterations.end, caused.time)
    inside = inside[(inside >= 0) & (caused.time >= 0)]
    return np.bincount(inside, minlength=len(windows.start)) if len(inside) else windows.launched


def _kinds(
    trace: Trace,
    windows: StepWindows,
    launched: Ints,
    tables: Mapping[str, Table],
    caused: DeviceCauses,
    names: HostNames,
    workload: Workload,
) -> StepKinds:
    """What each step is, and with which others of a kind."""
    steps = len(windows.start)
    if windows.source == WHOLE_SPAN:
        return whole_kind(steps)
    phase, begun = phase_of_steps(tables["iterations"], steps), tables["operator_steps"]
    inside = begun["step"] >= 0
    operators = sum_by(begun["step"][inside], steps, begun["calls"][inside])
    work = step_work(trace, tables, windows, phase, caused, names)
    cut, part = cut_steps(launched, operators, phase, work.calls), incomplete(asdict(windows))
    kinds = step_kinds(work, cut | part, workload.kind == WorkloadKind.SERVING)
    flags = np.where(part, kinds.flags & ~np.uint8(StepFlag.CUT) | StepFlag.INCOMPLETE, kinds.flags)
    return replace(kinds, flags=np.where(cut, flags | StepFlag.CUT, flags).astype(np.uint8))


def _steps(windows: StepWindows, kinds: StepKinds, breakdown: Mapping[str, Array]) -> Table:
    return fact_schema.STEPS.build(
        name=windows.name,
        number=windows.number,
        start=windows.start,
        end=windows.end,
        host_start=windows.host_start,
        host_end=windows.host_end,
        earlier=windows.earlier,
        unrecorded=windows.unrecorded,
        silent=windows.silent,
        launched=windows.launched,
        flags=kinds.flags,
        kind=kinds.kind,
        **breakdown,
    )


def _summary(
    trace: Trace,
    names: HostNames,
    caused: DeviceCauses,
    windows: StepWindows,
    tables: dict[str, Table],
    maker: str,
    named: WorkNames,
    workload: Workload,
) -> Summary:
    spans = trace["spans"]
    kernel = spans["role"][caused.row] == Role.KERNEL
    info = distributed_info(trace)
    backend = info.get("backend")
    return Summary(
        step_source=windows.source,
        span_ns=latest_end(spans),
        has_device=bool(len(caused.row)),
        has_shapes=bool((tables["operators"]["dims"] >= 0).any()),
        has_stacks=bool(tables["stacks"].n or (spans["role"] == Role.PYTHON).any()),
        has_memory=bool(trace["memory"].n),
        device_identified=bool(
            (tables["devices"]["name"] >= 0).any()
            and not any(p.name for p in device_properties(trace).values())
        ),
        vendor=maker,
        attribution=EventCounts(
            device_events=len(caused.row),
            kernels=int(kernel.sum()),
            with_launch=int((kernel & (caused.launch >= 0)).sum()),
            with_operator=int((kernel & (named.operator >= 0)).sum()),
            by=named.counts,
        ),
        rank=integer(info.get("rank")),
        world_size=integer(info.get("world_size")),
        backend=backend if isinstance(backend, str) else None,
        synthetic=trace.header.get("synthetic") is True,
        sums=isinstance(trace.header.get("sums"), str),
        versions=versions(trace),
        data_parallel=names.data_parallel,
        communication_backends=tuple(backends(trace, names, spans["name"][caused.row[kernel]])),
        unplaced=unplaced_events(trace),
        work=_work(trace, caused),
        workload=workload,
        writer=find_writer(trace, workload),
    )


def _work(trace: Trace, caused: DeviceCauses) -> tuple[int, int, int, int]:
    spans = trace["spans"]
    operators = np.flatnonzero(spans["role"] == Role.OPERATOR)
    return (
        len(caused.row),
        int(spans["dur"][caused.row].sum()),
        len(operators),
        int(spans["dur"][operators].sum()),
    )


def break_down(
    sets: Iterable[Intervals], start: Ints, end: Ints, left_out: Intervals
) -> dict[str, Ints]:
    """The eight categories of every window [start, end) without what is left out, int64 ns of shape (steps,).

    ``sets``: the active time of each category but ``other``, in the order of ``CATEGORIES``. Each
        category gets what its set adds to the union of those before it, so the eight add up to end
        − start − what is left out.
    """
    categories: dict[str, Ints] = {}
    covered = np.zeros(len(start), np.int64)
    so_far = left_out
    unseen = measure(left_out, start, end)
    for key, points in zip(CATEGORIES[:-1], sets, strict=True):
        if len(points.start):
            so_far = join(so_far, points)
        upto = measure(so_far, start, end) - unseen
        categories[key] = upto - covered
        covered = upto
    categories["other"] = end - start - unseen - covered
    return categories


def _active_sets(
    trace: Trace, tree: CallTree, names: HostNames, caused: DeviceCauses, communication: Mask
) -> Iterator[Intervals]:
    """The active time of each of the seven categories before ``other``, one after the other.

    ``communication``: whether each device event is a communication kernel, bool of shape (device
        events,).
    """
    spans = trace["spans"]
    device_role = spans["role"][caused.row]
    node_role = spans["role"][tree.row]
    name = spans["name"][tree.row]
    collective, dataloader = names.collective[name], names.dataloader[name]
    step = names.step[name] >= 0
    executing = (node_role == Role.OPERATOR) & ~step & ~dataloader & ~collective

    def of(row: Array) -> Intervals:
        begin = spans["start"][row]
        return union(begin, begin + spans["dur"][row])

    yield of(caused.row[(device_role == Role.KERNEL) & ~communication])
    yield of(caused.row[device_role == Role.MEMCPY])
    yield of(caused.row[device_role == Role.MEMSET])
    yield of(np.sort(np.concatenate((caused.row[communication], tree.row[collective]))))
    yield of(tree.row[node_role == Role.RUNTIME])
    yield of(tree.row[dataloader])
    yield of(tree.row[executing])


def _find_defects(
    trace: Trace,
    overlapping: Array,
    caused: DeviceCauses,
    windows: StepWindows,
    tables: Mapping[str, Table],
) -> tuple[DefectCounts, dict[str, int]]:
    """``(counts, touched)``: the analysis' own defects, and ns of step time per defect.

    ``overlapping``: rows of spans, calls that overlap others of their thread.
    """
    counts = DefectCounts()
    marks: dict[str, Ints] = {}

    def mark(name: str, row: Ints) -> None:
        counts.add(name, len(row))
        if len(row):
            marks[name] = row

    mark(d.OVERLAP_ON_THREAD, overlapping)
    mark(d.OVERLAP_ON_STREAM, _overlaps_on_streams(trace, caused))
    if not (caused.reason == NoOperator.NO_HOST).any():
        mark(d.KERNEL_WITHOUT_LAUNCH, caused.row[caused.launch < 0])
    if windows.source != WHOLE_SPAN:
        mark(d.WORK_OUTSIDE_STEPS, caused.row[windows.device_step < 0])
    counts.add(d.REPEATED_CORRELATION, caused.ambiguous)
    counts.add(d.CUT_STEP, int(((tables["steps"]["flags"] & StepFlag.CUT) > 0).sum()))
    counts.add(d.OTHER_STEPS, windows.left_out)
    counts.add(d.HIDDEN_STEP, int(hidden_steps(asdict(windows)).sum()))
    touched = {
        name: _touched(trace["spans"]["start"][row], trace["spans"]["dur"][row], windows)
        for name, row in marks.items()
    }
    if lacking := tables["unrecorded_work"].n:
        counts.add(d.LAUNCH_WITHOUT_KERNEL, lacking)
        touched[d.LAUNCH_WITHOUT_KERNEL] = int(tables["steps"]["unrecorded"].sum())
    table = trace["marks"]
    for number in distinct(table["defect"], trace.strings):
        is_marked = table["defect"] == number
        touched[trace.strings[number]] = _touched(
            table["start"][is_marked], table["dur"][is_marked], windows
        )
    return counts, touched


def _touched(start: Ints, dur: Ints, windows: StepWindows) -> int:
    return int(measure(union(start, start + dur), windows.start, windows.end).sum())


def _overlaps_on_streams(trace: Trace, caused: DeviceCauses) -> Ints:
    """Device work that starts before earlier work on its stream has ended.

    Work of one launch, a graph replay, may run concurrently and does not count.
    """
    nested = nest_rows(trace["spans"], caused.row)
    order = np.argsort(trace["spans"]["track"][caused.row], kind="stable")
    previous = np.empty(len(order), np.int64)
    previous[order] = np.roll(order, 1)
    same_launch = (caused.launch >= 0) & (caused.launch == caused.launch[previous])
    overlaps = nested.overlapping | (nested.parent >= 0)
    return np.asarray(caused.row[overlaps & ~same_launch])
