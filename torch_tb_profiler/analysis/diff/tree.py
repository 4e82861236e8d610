"""Both call trees as one: the cost of each matched path on either side, down to its device work."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import places_in, scatter
from torch_tb_profiler.analysis.arrays.nesting import subtree_totals
from torch_tb_profiler.analysis.diff.changes import status_of
from torch_tb_profiler.analysis.diff.side import Side, distinct
from torch_tb_profiler.analysis.diff.significance import LEAST_EFFECT, LEAST_ROW_EFFECT, Floats
from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.analysis.match.names import pair_all, stable_name
from torch_tb_profiler.analysis.match.paths import MatchedPaths, PathCosts
from torch_tb_profiler.store.columns import Array, Ints, Mask

KERNEL = 3
"""Kind of device work, beside those of ``PathKind``."""
MOST_NODES = 5_000


@dataclass(frozen=True)
class Column:
    """One side, one entry per node; means per step are float64, ns; ``event``: −1 none."""

    present: Mask
    name: list[str]
    calls: Floats
    host: Floats
    device: Floats
    event: Array


@dataclass(frozen=True)
class DiffTree:
    """Nodes, parents before children. ``pooled``: number of nodes left out."""

    parent: Ints
    kind: Array
    backward: Array
    status: list[str]
    a: Column
    b: Column
    pooled: int


def diff_tree(
    sides: tuple[Side, Side], costs: tuple[PathCosts, PathCosts], matched: MatchedPaths
) -> DiffTree:
    """The matched paths and their device work, at most the ``MOST_NODES`` largest changes."""
    launched = [_Launched.of(recording, cost) for recording, cost in zip(sides, costs, strict=True)]
    parents = list(matched.parent)
    work: list[tuple[int, int]] = [(-1, -1)] * len(parents)
    for node, (i, j) in enumerate(zip(matched.a, matched.b, strict=True)):
        of_a, of_b = launched[0].below.get(i, []), launched[1].below.get(j, [])
        pairs = _pair_work(launched[0], launched[1], of_a, of_b)
        parents += [node] * len(pairs)
        work += pairs
    parent = np.array(parents, np.int64)
    a, b = (
        _column(
            costs[side],
            launched[side],
            np.array(paths + [-1] * (len(parents) - len(paths)), np.int64),
            np.array([pair[side] for pair in work], np.int64),
            parent,
        )
        for side, paths in enumerate((matched.a, matched.b))
    )
    kind, backward = _kinds(costs, matched, parent)
    chosen = _kept(parent, np.maximum(np.abs(b.device - a.device), np.abs(b.host - a.host)))
    position = places_in(len(parent) + 1, chosen)
    a, b = _taken(a, chosen), _taken(b, chosen)
    return DiffTree(
        position[parent[chosen]],
        kind[chosen],
        backward[chosen],
        _statuses(a, b, sides[0].mean),
        a,
        b,
        len(parent) - len(chosen),
    )


@dataclass(frozen=True)
class _Launched:
    """Device work by path; ``below``: path → rows of the arrays, most expensive first."""

    name: list[str]
    calls: Floats
    total: Floats
    event: Array
    below: dict[int, list[int]]

    @staticmethod
    def of(side: Side, costs: PathCosts) -> _Launched:
        work, sums = side.insight["work"], side.of_work
        position = places_in(side.insight["paths"].n + 1, costs.row)
        rows = np.flatnonzero((sums["calls"] > 0) & (position[work["path"]] >= 0))
        names, name = distinct(work["name"][rows])
        pairs = position[work["path"][rows]] * len(names) + name
        order = np.argsort(pairs)
        rows, pairs = rows[order], pairs[order]
        calls, total = (sums[key][rows] / max(side.count, 1) for key in ("calls", "total"))
        cells = side.cells(side.insight["work_steps"])
        example = scatter(work.n, cells["work"], cells["event"], 0)
        event = example[rows]
        below: dict[int, list[int]] = {}
        path = pairs // max(len(names), 1)
        for row in np.argsort(-total, kind="stable").tolist():
            below.setdefault(int(path[row]), []).append(row)
        texts = side.facts.strings.many(names)
        return _Launched(
            [texts[i] for i in (pairs % max(len(names), 1)).tolist()], calls, total, event, below
        )


def _pair_work(
    a: _Launched, b: _Launched, of_a: list[int], of_b: list[int]
) -> list[tuple[int, int]]:
    """Pair the work of one path by full name, by readable name, then single leftovers."""
    if not of_a and not of_b:
        return []
    keys: list[tuple[Mapping[int, Hashable], Mapping[int, Hashable]]] = [
        ({i: a.name[i] for i in of_a}, {j: b.name[j] for j in of_b}),
        (
            {i: stable_name(short_name(a.name[i])) for i in of_a},
            {j: stable_name(short_name(b.name[j])) for j in of_b},
        ),
        (dict.fromkeys(of_a, True), dict.fromkeys(of_b, True)),
    ]
    return pair_all(of_a, of_b, keys, unique_from=2)


def _column(costs: PathCosts, launched: _Launched, path: Ints, work: Ints, parent: Ints) -> Column:
    def both(of_path: Floats, of_work: Floats) -> Floats:
        values = np.zeros(len(path))
        values[path >= 0], values[work >= 0] = of_path[path[path >= 0]], of_work[work[work >= 0]]
        return values

    host = both(costs.host, np.zeros(len(launched.total)))
    device = both(costs.device, launched.total)
    absent = np.flatnonzero((path < 0) & (work < 0))
    if len(absent):
        # A wrapper that this side lacks gets the time of what it wraps.
        inside = {"host": np.zeros(len(path)), "device": np.zeros(len(path))}
        missing = set(absent.tolist())
        for node in range(len(path) - 1, -1, -1):
            above = int(parent[node])
            for key, values in (("host", host), ("device", device)):
                if node in missing:
                    values[node] = inside[key][node]
                if above in missing:
                    inside[key][above] += values[node]
    event = scatter(len(path), path >= 0, costs.event[path[path >= 0]])
    event[work >= 0] = launched.event[work[work >= 0]]
    names = [
        costs.name[i] if i >= 0 else launched.name[k] if k >= 0 else ""
        for i, k in zip(path.tolist(), work.tolist(), strict=True)
    ]
    return Column(
        (path >= 0) | (work >= 0), names, both(costs.calls, launched.calls), host, device, event
    )


def _kinds(
    costs: tuple[PathCosts, PathCosts], matched: MatchedPaths, parent: Ints
) -> tuple[Array, Array]:
    """Kind and direction of every node, by A if on both sides; device work as its launcher."""
    kind, backward = np.full(len(parent), KERNEL, np.int64), np.zeros(len(parent), np.bool_)
    for cost, path in (
        (costs[1], np.array(matched.b, np.int64)),
        (costs[0], np.array(matched.a, np.int64)),
    ):
        present = np.flatnonzero(path >= 0)
        kind[present], backward[present] = cost.kind[path[present]], cost.backward[path[present]]
    work = np.flatnonzero(kind == KERNEL)
    backward[work] = backward[parent[work]]
    return kind, backward


def _kept(parent: Ints, change: Floats) -> Ints:
    """The nodes that changed most, with all their ancestors."""
    n = len(parent)
    if n <= MOST_NODES:
        return np.arange(n)
    return np.sort(
        np.lexsort((np.arange(n), -subtree_totals(parent, change, np.maximum)))[:MOST_NODES]
    )


def _taken(column: Column, rows: Ints) -> Column:
    """Some rows of a column."""
    arrays = {key: values[rows] for key, values in vars(column).items() if key != "name"}
    return Column(name=[column.name[i] for i in rows.tolist()], **arrays)


def _statuses(a: Column, b: Column, step: float) -> list[str]:
    """The status of each node, by the least effects: there are too many nodes to test each."""
    changed = np.abs(a.calls - b.calls) > LEAST_EFFECT * np.maximum(a.calls, b.calls)
    for x, y in ((a.device, b.device), (a.host, b.host)):
        changed |= (np.abs(x - y) >= LEAST_ROW_EFFECT * step) & (
            np.abs(x - y) >= LEAST_EFFECT * np.maximum(x, y)
        )
    return [
        status_of(i, j, c)
        for i, j, c in zip(a.present.tolist(), b.present.tolist(), changed.tolist(), strict=True)
    ]
