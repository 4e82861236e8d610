"""The tables ``operators``, ``operator_steps``, ``operator_sums`` and ``operator_calls``.

Device time is attributed to the innermost operator of each launch and summed up the call tree::

    linear           device self 0,  total 30
      └ addmm        device self 30, total 30      ← kernel 30
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    group_rows,
    picked,
    places_in,
    sorted_within,
    sum_by,
    sum_rows,
)
from torch_tb_profiler.analysis.arrays.nesting import subtree_totals, with_ancestors
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.analysis.facts.device_causes import DeviceCauses
from torch_tb_profiler.analysis.facts.flags import Within
from torch_tb_profiler.analysis.facts.host_names import distinct
from torch_tb_profiler.analysis.facts.replay_calls import ReplayedCalls, joined
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.hardware.matrix_cores import operator_could
from torch_tb_profiler.store import fact_schema
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.memory import give_back_memory
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

DEEP = 200
"""Levels of calls that are walked one by one; only hostile traces nest deeper."""
_DEVICE_SUMS = ("kernel", "matrix_unknown", "matrix", "device", "lacking")
_KNOWN = {"matrix": Knowledge.YES, "matrix_unknown": Knowledge.UNKNOWN}


class OperatorFacts(msgspec.Struct, frozen=True):
    """``tables``: by name; ``eligible``: uint8 ``Knowledge`` of the operator of every device event;
    ``stack``: int32, row of ``stacks`` of that operator, −1 none;
    ``eligible_share``: see ``_eligible_share``.
    """

    tables: dict[str, Table]
    eligible: Array
    stack: Array
    eligible_share: float | None


def operator_facts(
    trace: Trace,
    tree: CallTree,
    caused: DeviceCauses,
    replayed: ReplayedCalls,
    matrix: Array,
    step: Array,
    stack: Array,
    attribution: Array,
    lacking: Array,
) -> OperatorFacts:
    """All four tables.

    matrix: uint8 ``Knowledge`` of every device event (copies and memsets: NO).
    step, stack: of every node of the call tree and then of every replayed call: step, −1 outside;
        row of ``stacks``, −1 none.
    attribution: likewise, uint8 ``Attribution``. lacking: rows of spans of launches that lack device work.
    """
    spans, captured = trace["spans"], trace["captured_calls"]
    n = len(tree.row)
    operator_at = np.append(tree.operator, np.int32(-1))
    # Replayed calls are nodes behind those of the call tree.
    above = joined(
        operator_at[tree.parent],
        np.where(replayed.above >= 0, replayed.above + n, operator_at[tree.node[replayed.launch]]),
    )
    within = replayed.around(caused.row)
    launcher = np.where(within >= 0, within + n, caused.operator)
    lacking = operator_at[tree.node[lacking]]
    device = _DeviceTime(trace, caused, launcher, matrix, above, lacking)
    is_operator = joined(tree.is_operator, np.ones(len(replayed), np.bool_))
    names = joined(spans["name"][tree.row], captured["name"][replayed.call])
    eligible = _eligible(trace, names, is_operator, device)
    node = np.flatnonzero(is_operator).astype(np.int32)
    row = tree.row[node[: len(node) - len(replayed)]]
    dims, types = (
        joined(operator_arguments(trace, key)[row], captured[key][replayed.call])
        for key in ("dims", "types")
    )
    name = names[node]
    keys = (name, dims, types, stack[node], eligible[node], attribution[node])
    first, operator = group_rows(keys)
    alike = _alike(node, above, name, dims, operator, step[node])
    if alike.any():
        first, operator = group_rows((operator, alike))  # In the order of the keys, as groups are.
    operators = fact_schema.OPERATORS.build(
        name=name[first],
        dims=dims[first],
        types=types[first],
        stack=stack[node][first],
        matrix_eligible=eligible[node][first],
        within=alike[first],
        attribution=attribution[node][first],
    )
    del dims, types, keys, name, names, row, alike, operator_at
    give_back_memory()
    sums = _sums(trace, tree, device, node, operator, step, operators.n)
    share = _eligible_share(is_operator, device, eligible)
    of_work = np.append(eligible, np.uint8(Knowledge.UNKNOWN))[launcher]
    return OperatorFacts({"operators": operators, **sums}, of_work, picked(stack, launcher), share)


def _sums(
    trace: Trace,
    tree: CallTree,
    device: _DeviceTime,
    node: Array,
    operator: Ints,
    step: Array,
    operators: int,
) -> dict[str, Table]:
    """Sums over ``node``, the operators, and their durations; those behind the call tree have no
    host time. ``operators``: number of rows.
    """
    # Sorted by step, so that the rows of a step are adjacent.
    begin, cell = group_rows((step[node], operator))
    n = len(begin)
    where = {"operator": operator[begin], "step": step[node[begin]]}
    del begin, operator
    own = node[: np.searchsorted(node, len(tree.row))]
    host, dur = cell[: len(own)], trace["spans"]["dur"][tree.row[own]]
    summed = {
        "calls": np.bincount(cell, minlength=n),
        "host_total": sum_by(host, n, dur),
        "host_self": sum_by(host, n, np.maximum(dur - tree.children[own], 0)),
        "runtime": sum_by(host, n, _runtime(trace, tree)[own]),
    }
    row, duration = sorted_within(host, dur)
    calls = fact_schema.OPERATOR_CALLS.build(cell=row, duration=duration)
    # On large traces these dominate memory, as each sum below does.
    del host, dur, row, duration
    for key in _DEVICE_SUMS:
        launched = device.own(key)
        summed[f"{key}_self"] = sum_by(cell, n, launched[node])
        summed[f"{key}_total"] = sum_by(cell, n, _carried_up(launched, device.above)[node])
        del launched
    steps = fact_schema.OPERATOR_STEPS.build(**where, **summed)
    return {
        "operator_steps": steps,
        "operator_sums": sum_rows(fact_schema.OPERATOR_SUMS, steps, "operator", operators),
        "operator_calls": calls,
    }


def _runtime(trace: Trace, tree: CallTree) -> Ints:
    """Σ duration of the runtime calls directly beneath each node, ns."""
    spans = trace["spans"]
    call = np.flatnonzero((spans["role"][tree.row] == Role.RUNTIME) & (tree.parent >= 0))
    return sum_by(tree.parent[call], len(tree.row), spans["dur"][tree.row[call]])


def _alike(
    node: Array, above: Array, name: Array, dims: Array, operator: Ints, step: Array
) -> Array:
    """``Within`` of each operator, uint8: how like it the most alike call around it is.

    ``node``: its position in the call tree, ascending; ``above``: see ``_DeviceTime``.
    """
    position = places_in(len(above) + 1, node, np.int32)
    outer = position[above]
    alike = np.zeros(len(node), np.uint8)
    inner, around = np.arange(len(node)), outer[node]
    for _ in range(DEEP):
        inside = around >= 0
        inner, around = inner[inside], around[inside]
        if not len(inner):
            break
        same = np.flatnonzero((name[inner] == name[around]) & (step[inner] == step[around]))
        a, b = inner[same], around[same]
        likeness = np.where(
            operator[a] == operator[b],
            Within.SAME,
            np.where(dims[a] == dims[b], Within.SHAPES, Within.NAME),
        )
        alike[a] = np.maximum(alike[a], likeness)
        around = outer[node[around]]
    return alike


class _DeviceTime(msgspec.Struct, frozen=True):
    """Device time by innermost operator: that of each event is ``launcher``, a node, −1 none.
    ``above``: the operator around every node, −1 none; ``lacking``: that of each launch that lacks work.

    Recomputed on each request: on large traces a column of nodes dominates memory.
    """

    trace: Trace
    caused: DeviceCauses
    launcher: Ints
    matrix: Array
    above: Array
    lacking: Ints

    def own(self, key: str) -> Ints:
        """Σ duration of the device work launched directly by each node.

        ``kernel``; of those ``matrix`` and ``matrix_unknown`` by ``Knowledge``; ``device`` includes
        copies and memsets. ``lacking``: how many of its launches lack work.
        """
        if key == "lacking":
            return np.bincount(self.lacking[self.lacking >= 0], minlength=len(self.above))
        spans, caused = self.trace["spans"], self.caused
        wanted = self.launcher >= 0
        if key != "device":
            wanted &= spans["role"][caused.row] == Role.KERNEL
        if key in _KNOWN:
            wanted &= self.matrix == _KNOWN[key]
        rows = np.flatnonzero(wanted)
        return sum_by(self.launcher[rows], len(self.above), spans["dur"][caused.row[rows]])

    def total(self, key: str) -> Ints:
        """Σ duration of the device work launched by each node and everything beneath it."""
        return _carried_up(self.own(key), self.above)


def _carried_up(own: Ints, above: Array) -> Ints:
    """Each node's own value plus those of all its descendants. Few of millions have any: only these are summed up."""
    used = np.flatnonzero(with_ancestors(above, own != 0))
    outer = above[used]
    total: Ints = own.copy()
    total[used] = subtree_totals(np.searchsorted(used, outer) - (outer < 0), own[used])
    return total


def _eligible(trace: Trace, name: Array, is_operator: Mask, device: _DeviceTime) -> Array:
    """Whether each node could use matrix cores: by name, by its kernels, or by a descendant."""
    by_name = np.full(len(trace.strings) + 1, Knowledge.NO, np.uint8)
    for number in distinct(name[is_operator], trace.strings):
        by_name[number] = operator_could(trace.strings[number])
    eligible = np.where(is_operator, by_name[name], np.uint8(Knowledge.NO))
    vector_only = (eligible == Knowledge.UNKNOWN) & (device.total("kernel") > 0)
    vector_only &= device.total("matrix_unknown") == 0
    eligible[vector_only] = Knowledge.NO
    eligible[device.own("matrix") > 0] = Knowledge.YES
    eligible[with_ancestors(device.above, eligible == Knowledge.YES)] = Knowledge.YES
    return eligible


def _eligible_share(is_operator: Mask, device: _DeviceTime, eligible: Array) -> float | None:
    """Kernel time of the innermost eligible operators / of all operators; None without kernels."""
    own = device.own("kernel")
    everything = int(own.sum())
    if not everything:
        return None
    yes: Mask = (eligible == Knowledge.YES) & is_operator
    lowest = yes.copy()
    outer = device.above[np.flatnonzero(yes)]
    lowest[outer[outer >= 0]] = False
    return int(own[lowest].sum()) / everything


def operator_arguments(trace: Trace, column: str) -> Array:
    """A column of ``operator_args`` for every row of spans, behind them for row −1; −1 none."""
    arguments = trace["operator_args"]
    values = np.full(trace["spans"].n + 1, -1, arguments[column].dtype)
    values[arguments["span"]] = arguments[column]
    return values
