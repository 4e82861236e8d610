"""Calls of operators → the tables ``operators`` and ``operator_steps``.

Device time is laid at the innermost operator of every launch and carried up the call tree::

    linear           device self 0,  total 30      the walk from addmm adds its 30 to linear
      └ addmm        device self 30, total 30      ← kernel 30
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by
from torch_tb_profiler.analysis.facts.attribution import Causes
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.analysis.facts.names import distinct
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.hardware.matrix_cores import operator_could
from torch_tb_profiler.store import fact_schema
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

DEEP = 200
"""Levels of calls; deeper ones are found in traces that were made to hurt."""
_DEVICE_SUMS = ("kernel", "matrix_unknown", "matrix", "device")
_KNOWN = {"matrix": Knowledge.YES, "matrix_unknown": Knowledge.UNKNOWN}


@dataclass(frozen=True)
class OperatorFacts:
    """The two tables; ``eligible`` is uint8 ``Knowledge`` of every node of the call tree;
    ``eligible_share`` see ``_eligible_share``.
    """

    operators: Table
    operator_steps: Table
    eligible: Array
    eligible_share: float | None


def operator_facts(
    trace: Trace, tree: CallTree, caused: Causes, matrix: Array, step: Array, stack: Array
) -> OperatorFacts:
    """Both tables.

    Args:
        matrix: uint8 ``Knowledge`` of every device event (copies and memsets: NO).
        step: step of every node of the call tree, −1 outside.
        stack: row of ``stacks`` of every node, −1 none.
    """
    spans = trace["spans"]
    above = np.append(tree.operator, np.int32(-1))[tree.parent]
    device = _DeviceTime(trace, tree, caused, matrix, above)
    eligible = _eligible(trace, tree, device)
    node = np.flatnonzero(tree.is_operator).astype(np.int32)
    row = tree.row[node]
    dims, types = _arguments(trace, tree, node)
    first, of = group_rows((spans["name"][row], dims, types, stack[node], eligible[node]))
    operators = fact_schema.OPERATORS.build(
        name=spans["name"][row][first],
        dims=dims[first],
        types=types[first],
        stack=stack[node][first],
        matrix_eligible=eligible[node][first],
    )
    del dims, types
    # In the order of the steps, so that the rows of a step stand together.
    begin, cell = group_rows((step[node], of))
    n = len(begin)
    where = {"operator": of[begin], "step": step[node[begin]]}
    del of
    summed = {
        "calls": np.bincount(cell, minlength=n),
        "host_total": sum_by(cell, n, spans["dur"][row]),
        "host_self": sum_by(cell, n, np.maximum(spans["dur"][row] - tree.children[node], 0)),
    }
    for key in _DEVICE_SUMS:
        own = device.own(key)
        summed[f"{key}_self"] = sum_by(cell, n, own[node])
        summed[f"{key}_total"] = sum_by(cell, n, _carried_up(own, above)[node])
    return OperatorFacts(
        operators,
        fact_schema.OPERATOR_STEPS.build(**where, **summed),
        eligible,
        _eligible_share(tree, device, eligible),
    )


@dataclass(frozen=True)
class _DeviceTime:
    """Device time by the innermost operator of the launch; ``above``: the operator around every
    node, −1 none.

    Made anew whenever it is asked for: on large traces such columns of nodes are what counts in
    memory.
    """

    trace: Trace
    tree: CallTree
    caused: Causes
    matrix: Array
    above: Array

    def own(self, key: str) -> Ints:
        """Per node: Σ duration of the device work whose innermost operator it is: ``kernel``, of
        those ``matrix`` and ``matrix_unknown`` by what is known of
        them, and ``device``, copies and memsets included."""
        spans, caused = self.trace["spans"], self.caused
        wanted = caused.operator >= 0
        if key != "device":
            wanted &= spans["role"][caused.row] == Role.KERNEL
        if key in _KNOWN:
            wanted &= self.matrix == _KNOWN[key]
        some = np.flatnonzero(wanted)
        return sum_by(caused.operator[some], len(self.tree.row), spans["dur"][caused.row[some]])

    def total(self, key: str) -> Ints:
        """The same with all beneath it."""
        return _carried_up(self.own(key), self.above)


def _carried_up(own: Ints, above: Array) -> Ints:
    """Every node's own value and those of all below it; what is above a node stands before it.

    One round per level of the tree, over the nodes that have a value. A tree deeper than calls nest
    is finished node by node instead, so that the cost does not grow with the square of the depth.
    ``nesting.carried_up`` orders all nodes first; here few of millions have a value.
    """
    total = own.copy()
    source = np.flatnonzero(own)
    at = above[source]
    for _ in range(DEEP):
        inside = at >= 0
        source, at = source[inside], at[inside]
        if not len(source):
            return np.asarray(total)
        np.add.at(total, at, own[source])
        at = above[at]
    carried = np.zeros(len(own), np.int64)
    np.add.at(carried, at[at >= 0], own[source[at >= 0]])
    passing: list[int] = carried.tolist()
    for node, outer in zip(range(len(passing) - 1, -1, -1), reversed(above.tolist()), strict=True):
        if outer >= 0:
            passing[outer] += passing[node]
    return np.asarray(total + np.array(passing, np.int64))


def _eligible(trace: Trace, tree: CallTree, device: _DeviceTime) -> Array:
    """YES by name, by a kernel that uses matrix cores, or because something below is; a name that
    tells nothing is judged by its kernels.
    """
    name = trace["spans"]["name"][tree.row]
    by_name = np.full(len(trace.strings) + 1, Knowledge.NO, np.uint8)
    for number in distinct(name[tree.is_operator], trace.strings):
        by_name[number] = operator_could(trace.strings[number])
    eligible = np.where(tree.is_operator, by_name[name], np.uint8(Knowledge.NO))
    told = (eligible == Knowledge.UNKNOWN) & (device.total("kernel") > 0)
    told &= device.total("matrix_unknown") == 0
    eligible[told] = Knowledge.NO
    eligible[device.own("matrix") > 0] = Knowledge.YES
    above = device.above
    at = above[np.flatnonzero(eligible == Knowledge.YES)]
    while len(at := np.unique(at[at >= 0])):
        at = at[eligible[at] != Knowledge.YES]
        eligible[at] = Knowledge.YES
        at = above[at]
    return eligible


def _eligible_share(tree: CallTree, device: _DeviceTime, eligible: Array) -> float | None:
    """Kernel time of the eligible operators that have no eligible operator below / kernel time of
    all operators; None without kernels.
    """
    own = device.own("kernel")
    everything = int(own.sum())
    if not everything:
        return None
    yes: Mask = (eligible == Knowledge.YES) & tree.is_operator
    lowest = yes.copy()
    outer = device.above[np.flatnonzero(yes)]
    lowest[outer[outer >= 0]] = False
    return int(own[lowest].sum()) / everything


def _arguments(trace: Trace, tree: CallTree, node: Array) -> tuple[Array, Array]:
    """Input shapes and types of the given nodes as numbers of strings; −1 not recorded."""
    arguments = trace["operator_args"]
    columns = []
    at = tree.node[arguments["span"]]
    for key in ("dims", "types"):
        column = np.full(len(tree.row), -1, np.int32)
        column[at[at >= 0]] = arguments[key][at >= 0]
        columns.append(column[node])
    return columns[0], columns[1]
