"""The tables ``workloads``, ``workload_steps``, ``workload_kernels`` and ``device_workloads``."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    group_rows,
    largest_by,
    mask_of,
    picked,
    places_in,
    positions_of,
    scatter,
    sum_by,
)
from torch_tb_profiler.analysis.arrays.nesting import nearest, subtree_totals, with_ancestors
from torch_tb_profiler.analysis.efficiency.attribution import (
    Pieces,
    attributed_amounts,
    bounded_sums,
    counted_calls,
    lost_calls,
    main_pieces,
)
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.facts.host_names import distinct, name_mask
from torch_tb_profiler.analysis.facts.iterations import said_around
from torch_tb_profiler.analysis.facts.replay_calls import is_operator, joined, replayed_calls
from torch_tb_profiler.hardware.call import read_call
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.hardware.main_kernels import (
    computes_less,
    multiplies,
    only_helps,
    transforms,
)
from torch_tb_profiler.hardware.server_steps import ServerStep
from torch_tb_profiler.hardware.work import model_of, work_of
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import NONE, StringBuilder, StringTable

_ARGUMENTS = ("dims", "types", "strides", "concrete")


class _Operators(msgspec.Struct, frozen=True):
    """All operator calls of the call tree, then those that replays stand for; arrays of shape
    (operators,) unless said otherwise, positions count operators.

    row: rows of spans, ascending; of replayed calls that of the graph launch.
    own: how many are calls of the call tree.
    name: string number.
    captured: of replayed calls, of shape (operators - own,): row of ``captured_calls``.
    step: −1 outside.
    above: position of the enclosing operator, −1 none; int32.
    host, self_time: host time, and that outside the calls beneath, ns; 0 for replayed calls.
    launched: for every device event the operator that launched it, −1 none.
    marked: has device work, its own or beneath.
    served: string number of the annotation of the server's step around it, −1 none.
    """

    row: Ints
    own: int
    name: Array
    captured: Ints
    step: Array
    above: Array
    host: Ints
    self_time: Ints
    launched: Ints
    marked: Mask
    served: Array


class _Works(msgspec.Struct, frozen=True):
    """The work of operator calls.

    table: the table ``workloads``.
    of: for every operator its row, −1 none; int32.
    modelled, products: per row: has a model; does matrix products.
    """

    table: Table
    of: Array
    modelled: Mask
    products: Mask


def build_workloads(
    trace: Trace, facts: Facts, tables: dict[str, Table], texts: StringBuilder, tree: CallTree
) -> tuple[dict[str, Table], dict[str, object]]:
    """The four tables."""
    device = device_rows(trace)
    operators = _operators(trace, facts, tree, device)
    works = _works(trace, operators, bool(len(device)), texts)
    modelled = np.append(works.modelled, np.False_)[works.of]
    dur = trace["spans"]["dur"]
    if len(device):
        call = counted_calls(operators.above, modelled, operators.launched)
        has_call = call >= 0
        counted = mask_of(len(operators.row), call[has_call])
        time = sum_by(call[has_call], len(operators.row), dur[device[has_call]])
    else:
        call = np.zeros(0, np.int64)
        around = np.append(nearest(operators.above, modelled), np.int32(NONE))
        counted = around[operators.above] < 0
        time = np.where(counted, np.where(modelled, operators.host, operators.self_time), 0)
    works, pieces = _pieces(trace, works, call, device)
    return {
        "workloads": works.table,
        "workload_steps": _steps(trace, facts, operators, works, counted, time, device),
        "workload_kernels": _kernels(trace, facts, works, pieces, device, texts),
        "device_workloads": schema.DEVICE_WORKLOADS.build(workload=pieces.workload),
    }, {}


def _operators(trace: Trace, facts: Facts, tree: CallTree, device: Ints) -> _Operators:
    spans, step = trace["spans"], facts["span_links"]["step"]
    node = np.flatnonzero(tree.is_operator)
    row, n = tree.row[node], len(node)
    position = places_in(len(tree.row) + 1, node, np.int32)
    replayed = replayed_calls(
        trace, facts.tables, step[facts["replayed_work"]["span"]], is_operator(trace)
    )
    around = position[picked(tree.operator, tree.node[replayed.launch])]
    above = joined(
        position[picked(tree.operator, tree.parent[node])],
        np.where(replayed.above >= 0, replayed.above + n, around),
    )
    within, operator = replayed.around(device), facts["span_links"]["operator"][device]
    outside = position[picked(tree.node, operator)]
    launched = np.where(within >= 0, within + n, outside).astype(np.int64)
    marked = mask_of(len(above), launched[launched >= 0])
    nothing = np.zeros(len(replayed.call), np.int64)
    host = spans["dur"][row]
    called = joined(row, replayed.launch)
    return _Operators(
        row=called,
        own=n,
        name=joined(spans["name"][row], trace["captured_calls"]["name"][replayed.call]),
        captured=replayed.call,
        step=joined(step[row], replayed.step),
        above=above,
        host=joined(host, nothing),
        self_time=joined(np.maximum(host - tree.children[node], 0), nothing),
        launched=launched,
        marked=with_ancestors(above, marked),
        served=said_around(trace, tree, _states_sums)[tree.node[called]],
    )


def _states_sums(said: ServerStep) -> bool:
    # SGLang's ``step[DECODE bs=32]`` states none, vLLM's words within or around it do.
    return max(said.context.query_keys, said.generation.query_keys) > 0


def _works(trace: Trace, operators: _Operators, has_device: bool, texts: StringBuilder) -> _Works:
    """The distinct calls and their work."""
    name = operators.name
    known, of_step = np.zeros((2, len(trace.strings) + 1), np.bool_)
    for number in distinct(name, trace.strings):
        model = model_of(trace.strings[number])
        known[number], of_step[number] = model is not None, model is not None and model.of_step
    relevant = np.flatnonzero(
        operators.marked | known[name] if has_device else np.ones(len(name), np.bool_)
    )
    arguments, captured = trace["operator_args"], trace["captured_calls"]
    own = relevant[: np.searchsorted(relevant, operators.own)]
    argument_row = positions_of(arguments["span"], operators.row[own])
    again = operators.captured[relevant[len(own) :] - operators.own]
    columns = {"name": name[relevant]} | {
        key: joined(np.append(arguments[key], np.int32(NONE))[argument_row], captured[key][again])
        for key in _ARGUMENTS
    }
    columns["step"] = np.where(of_step[columns["name"]], operators.served[relevant], NONE)
    first, group = group_rows(tuple(columns.values()))
    signatures = {key: column[first] for key, column in columns.items()}
    table = _workloads_table(trace, signatures, texts)
    of_operator = scatter(len(name), relevant, group, NONE, np.int32)
    matrix = np.isin(table["unit"], [texts.intern("matrix")])
    return _Works(table, of_operator, table["flops"] >= 0, matrix)


def _workloads_table(trace: Trace, columns: dict[str, Array], texts: StringBuilder) -> Table:
    """The table ``workloads`` of distinct signatures."""
    used = distinct(np.concatenate(list(columns.values())), trace.strings)
    text = {NONE: ""} | dict(zip(used, trace.strings.many(used), strict=True))
    listed = {key: [text[number] for number in values.tolist()] for key, values in columns.items()}
    own = {key: texts.intern_all(values) for key, values in listed.items()}
    models = {name: model_of(name) for name in set(listed["name"])}
    table: dict[str, list[int]] = {
        key: [] for key in ("family", "flops", "bytes", "unit", "precision", "parameters")
    }
    for name, *recorded in zip(*listed.values(), strict=True):
        model = models[name]
        call = read_call(name, *recorded) if model is not None else None
        work = work_of(call) if call is not None else None
        if model is None or work is None:
            for column in table.values():
                column.append(NONE)
            continue
        table["family"].append(texts.intern(model.family))
        table["flops"].append(work.flops)
        table["bytes"].append(NONE if work.bytes is None else work.bytes)
        table["unit"].append(texts.intern(work.unit) if work.unit else NONE)
        table["precision"].append(texts.intern(work.precision) if work.precision else NONE)
        table["parameters"].append(
            texts.intern(", ".join(f"{key}={value}" for key, value in work.parameters.items()))
        )
    recorded_texts = {
        key: np.where(columns[key] >= 0, np.array(numbers, np.int64), NONE)
        for key, numbers in own.items()
    }
    return schema.WORKLOADS.build(**recorded_texts, **table)


def _steps(
    trace: Trace,
    facts: Facts,
    operators: _Operators,
    works: _Works,
    counted: Mask,
    time: Ints,
    device: Ints,
) -> Table:
    dur = trace["spans"]["dur"]
    n = len(operators.row)
    own = sum_by(
        operators.launched[operators.launched >= 0], n, dur[device[operators.launched >= 0]]
    )
    # Operators without device work beneath them have nothing to sum up.
    marked = np.flatnonzero(operators.marked)
    position = places_in(n + 1, marked, np.int32)
    total = scatter(n, marked, subtree_totals(position[operators.above[marked]], own[marked]), 0)
    counted_or_busy = np.flatnonzero(
        (works.of >= 0) & (counted | (total > 0) | np.append(works.modelled, np.False_)[works.of])
    )
    host, step = operators.host[counted_or_busy], operators.step[counted_or_busy]
    first, group = group_rows((step, works.of[counted_or_busy]))
    groups = len(first)
    return schema.WORKLOAD_STEPS.build(
        workload=works.of[counted_or_busy][first],
        step=step[first],
        calls=np.bincount(group, minlength=groups),
        device_self=sum_by(group, groups, own[counted_or_busy]),
        device_total=sum_by(group, groups, total[counted_or_busy]),
        host_total=sum_by(group, groups, host),
        counted=sum_by(group, groups, counted[counted_or_busy]),
        counted_time=sum_by(group, groups, time[counted_or_busy]),
        event=operators.row[
            counted_or_busy[
                largest_by(group, groups, counted[counted_or_busy], time[counted_or_busy], host)
            ]
        ],
    )


def _kernels(
    trace: Trace, facts: Facts, works: _Works, pieces: Pieces, device: Ints, texts: StringBuilder
) -> Table:
    if not len(device):
        return schema.WORKLOAD_KERNELS.empty()
    used = distinct(pieces.name, trace.strings)
    own = np.full(len(trace.strings) + 1, NONE, np.int64)
    own[used] = texts.intern_all([trace.strings[number] for number in used])
    matrix = np.full(len(facts.strings) + 1, Knowledge.NO, np.uint8)
    matrix[facts["kernels"]["name"]] = facts["kernels"]["matrix"]
    main = main_pieces(pieces)
    step = facts["span_links"]["step"][device]
    first, group = group_rows((pieces.workload, pieces.name, step, pieces.kernel))
    n = len(first)
    amounts = {
        key: bounded_sums(group, n, attributed_amounts(pieces, main, works.table[key]))
        for key in ("flops", "bytes")
    }
    return schema.WORKLOAD_KERNELS.build(
        workload=pieces.workload[first],
        kernel=own[pieces.name[first]],
        step=step[first],
        calls=np.bincount(group, minlength=n),
        total=sum_by(group, n, pieces.dur),
        **amounts,
        fast=np.bincount(group, weights=pieces.fast & main, minlength=n) > 0,
        matrix=np.where(pieces.kernel[first], matrix[pieces.name[first]], Knowledge.NO),
        event=device[largest_by(group, n, pieces.dur)],
    )


def _pieces(trace: Trace, works: _Works, call: Ints, device: Ints) -> tuple[_Works, Pieces]:
    """Device work at its calls, and works where calls without their kernels are unknown."""
    spans = trace["spans"]
    name = spans["name"][device]
    used = np.array(distinct(name, trace.strings), np.int64)
    kernel = spans["role"][device] == Role.KERNEL

    def named(test: Callable[[str], bool]) -> Mask:
        return np.asarray(name_mask(trace.strings, used, test)[name] & kernel)

    def of_products() -> Mask:
        return np.asarray(np.append(works.products, np.False_)[workload])

    workload = _workload_of(works, call)
    able = kernel & ~(named(only_helps) & of_products())
    lost = lost_calls(call, able, np.append(works.table["flops"] > 0, np.False_)[workload])
    if len(lost):
        works = _with_unknown(works, lost)
        workload = _workload_of(works, call)
    fast = np.isin(call, call[named(computes_less) & of_products()])
    main = (named(multiplies) | named(transforms)) & of_products()
    return works, Pieces(call, workload, name, spans["dur"][device], kernel, main, fast)


def _workload_of(works: _Works, call: Ints) -> Array:
    return np.append(works.of, np.int32(NONE))[call]


def _with_unknown(works: _Works, calls: Ints) -> _Works:
    """Give ``calls`` (positions of operators) rows of their own whose work is unknown."""
    rows, group = np.unique(works.of[calls], return_inverse=True)
    nothing = np.full(len(rows), NONE)
    added = works.table.take(rows).replace(
        **dict.fromkeys(("family", "flops", "bytes", "unit", "precision", "parameters"), nothing)
    )
    table = schema.WORKLOADS.build(
        **{key: np.concatenate((works.table[key], added[key])) for key in works.table}
    )
    of_operator = works.of.copy()
    of_operator[calls] = works.table.n + group
    return _Works(
        table,
        of_operator,
        table["flops"] >= 0,
        np.append(works.products, np.zeros(len(rows), np.bool_)),
    )


class AttributedWork(msgspec.Struct, frozen=True):
    """Every piece of device work with the amounts that ``workload_kernels`` sums; arrays of shape
    (device events,), −1 unknown or none.

    row: rows of spans.
    call: row of spans of the call that it is attributed to.
    flops, bytes: its part of that call's amounts.
    of_span: for every row of spans its row of ``workloads``, int32.
    workloads, texts: that table and its strings.
    """

    row: Ints
    call: Ints
    flops: Ints
    bytes: Ints
    of_span: Array
    workloads: Table
    texts: StringTable


def attributed_work(trace: Trace, facts: Facts, tree: CallTree) -> AttributedWork:
    """The work of each kernel, copy and memset, by the same rules as the tables."""
    device = device_rows(trace)
    texts = StringBuilder()
    operators = _operators(trace, facts, tree, device)
    works = _works(trace, operators, bool(len(device)), texts)
    call = counted_calls(
        operators.above, np.append(works.modelled, np.False_)[works.of], operators.launched
    )
    works, pieces = _pieces(trace, works, call, device)
    main = main_pieces(pieces)
    row = operators.row[: operators.own]
    of_span = scatter(trace["spans"].n, row, works.of[: operators.own], NONE, np.int32)
    call = np.where(call < operators.own, call, NONE)
    flops, moved = (
        attributed_amounts(pieces, main, works.table[key]) for key in ("flops", "bytes")
    )
    return AttributedWork(
        device,
        np.append(row, NONE)[call],
        flops,
        moved,
        of_span,
        works.table,
        texts.table(),
    )
