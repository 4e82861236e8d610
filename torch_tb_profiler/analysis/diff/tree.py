"""Both call trees as one: what each matched path cost on either side, down to the device work that
it launched.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import subtree_totals
from torch_tb_profiler.analysis.diff.changes import status_of
from torch_tb_profiler.analysis.diff.matching import MatchedPaths
from torch_tb_profiler.analysis.diff.pairing import pair_by, plain_name
from torch_tb_profiler.analysis.diff.side import PathCosts, Side, distinct
from torch_tb_profiler.analysis.diff.significance import LEAST_EFFECT, LEAST_ROW_EFFECT, Floats
from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.store.columns import Array, Ints, Mask

KERNEL = 3
"""Kind of device work, beside those of ``PathKind``."""
MOST_NODES = 5_000


@dataclass(frozen=True)
class Column:
    """Of one side, one entry per node: whether it is there, its name, means per step (float64, ns)
    and an example (-1 none).
    """

    present: Mask
    name: list[str]
    calls: Floats
    host: Floats
    device: Floats
    event: Array


@dataclass(frozen=True)
class DiffTree:
    """Nodes, parents before children. ``kind``: ``PathKind`` or ``KERNEL``. ``pooled``: nodes left
    out because they changed least.
    """

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
    """The matched paths and the device work beneath them; of more than ``MOST_NODES`` those that
    changed most, and all above them.
    """
    launched = [_Launched.of(one, cost) for one, cost in zip(sides, costs, strict=True)]
    parents, left, right = list(matched.parent), list(matched.a), list(matched.b)
    work: list[tuple[int, int]] = [(-1, -1)] * len(parents)
    for node, (i, j) in enumerate(zip(matched.a, matched.b, strict=True)):
        for pair in _pair_work(
            launched[0], launched[1], launched[0].below.get(i, []), launched[1].below.get(j, [])
        ):
            parents.append(node)
            left.append(-1)
            right.append(-1)
            work.append(pair)
    parent = np.array(parents, np.int64)
    a = _column(
        costs[0],
        launched[0],
        np.array(left, np.int64),
        np.array([i for i, _ in work], np.int64),
        parent,
    )
    b = _column(
        costs[1],
        launched[1],
        np.array(right, np.int64),
        np.array([j for _, j in work], np.int64),
        parent,
    )
    kind, backward = _kinds(costs, matched, parent)
    kept = _kept(parent, np.maximum(np.abs(b.device - a.device), np.abs(b.host - a.host)))
    place = np.full(len(parent) + 1, -1, np.int64)
    place[kept] = np.arange(len(kept))
    a, b = _taken(a, kept), _taken(b, kept)
    return DiffTree(
        place[parent[kept]],
        kind[kept],
        backward[kept],
        _statuses(a, b, sides[0].mean),
        a,
        b,
        len(parent) - len(kept),
    )


@dataclass(frozen=True)
class _Launched:
    """Device work per path of one side. ``below``: position of a path → rows of the arrays, the
    costliest first.
    """

    name: list[str]
    calls: Floats
    total: Floats
    event: Array
    below: dict[int, list[int]]

    @staticmethod
    def of(one: Side, costs: PathCosts) -> _Launched:
        work, sums = one.insight["work"], one.of_work
        place = np.full(one.insight["paths"].n + 1, -1, np.int64)
        place[costs.row] = np.arange(len(costs.row))
        rows = np.flatnonzero((sums["calls"] > 0) & (place[work["path"]] >= 0))
        names, name = distinct(work["name"][rows].astype(np.int64), len(one.facts.strings))
        pairs = place[work["path"][rows]] * len(names) + name
        order = np.argsort(pairs)
        rows, pairs = rows[order], pairs[order]
        calls, total = (sums[key][rows] / max(len(one.steps), 1) for key in ("calls", "total"))
        cells = one.cells(one.insight["work_steps"])
        example = np.zeros(work.n, np.int64)
        example[cells["work"]] = cells["event"]
        event = example[rows]
        below: dict[int, list[int]] = {}
        path = pairs // max(len(names), 1)
        for row in np.argsort(-total, kind="stable").tolist():
            below.setdefault(int(path[row]), []).append(row)
        texts = one.facts.strings.many(names)
        return _Launched(
            [texts[i] for i in (pairs % max(len(names), 1)).tolist()], calls, total, event, below
        )


def _pair_work(
    a: _Launched, b: _Launched, of_a: list[int], of_b: list[int]
) -> list[tuple[int, int]]:
    """The work that one path launched on either side: by full name, by readable name, then what
    alone is left.
    """
    if not of_a and not of_b:
        return []
    keys: list[tuple[Mapping[int, Hashable], Mapping[int, Hashable]]] = [
        ({i: a.name[i] for i in of_a}, {j: b.name[j] for j in of_b}),
        (
            {i: plain_name(short_name(a.name[i])) for i in of_a},
            {j: plain_name(short_name(b.name[j])) for j in of_b},
        ),
        (dict.fromkeys(of_a, True), dict.fromkeys(of_b, True)),
    ]
    pairs = pair_by(of_a, of_b, keys, alone=2)
    with_a, with_b = {i for i, _ in pairs}, {j for _, j in pairs}
    return [
        *pairs,
        *((i, -1) for i in of_a if i not in with_a),
        *((-1, j) for j in of_b if j not in with_b),
    ]


def _column(costs: PathCosts, launched: _Launched, path: Ints, work: Ints, parent: Ints) -> Column:
    def both(of_path: Floats, of_work: Floats) -> Floats:
        values = np.zeros(len(path))
        values[path >= 0], values[work >= 0] = of_path[path[path >= 0]], of_work[work[work >= 0]]
        return values

    host = both(costs.host, np.zeros(len(launched.total)))
    device = both(costs.device, launched.total)
    absent = np.flatnonzero((path < 0) & (work < 0))
    if len(absent):
        # A wrapper that this side lacks has what it wraps here.
        inside = {"host": np.zeros(len(path)), "device": np.zeros(len(path))}
        missing = set(absent.tolist())
        for node in range(len(path) - 1, -1, -1):
            above = int(parent[node])
            for key, values in (("host", host), ("device", device)):
                if node in missing:
                    values[node] = inside[key][node]
                if above in missing:
                    inside[key][above] += values[node]
    event = np.full(len(path), -1, np.int64)
    event[path >= 0] = costs.event[path[path >= 0]]
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
    """Kind and direction of every node, those of A where it is on both sides; device work runs in
    the direction of what launched it.
    """
    kind, backward = np.full(len(parent), KERNEL, np.int64), np.zeros(len(parent), np.bool_)
    for cost, path in (
        (costs[1], np.array(matched.b, np.int64)),
        (costs[0], np.array(matched.a, np.int64)),
    ):
        there = np.flatnonzero(path >= 0)
        kind[there], backward[there] = cost.kind[path[there]], cost.backward[path[there]]
    work = np.flatnonzero(kind == KERNEL)
    backward[work] = backward[parent[work]]
    return kind, backward


def _kept(parent: Ints, change: Floats) -> Ints:
    """The nodes that changed most; what is above a node changed, or holds something that changed,
    no less.
    """
    n = len(parent)
    if n <= MOST_NODES:
        return np.arange(n)
    return np.sort(
        np.lexsort((np.arange(n), -subtree_totals(parent, change, np.maximum)))[:MOST_NODES]
    )


def _taken(column: Column, kept: Ints) -> Column:
    names = [column.name[i] for i in kept.tolist()]
    return Column(
        column.present[kept],
        names,
        column.calls[kept],
        column.host[kept],
        column.device[kept],
        column.event[kept],
    )


def _statuses(a: Column, b: Column, step: float) -> list[str]:
    """Whether a node differs by more than the least effects; nodes are too many to be tested one by
    one.
    """
    changed = np.abs(a.calls - b.calls) > LEAST_EFFECT * np.maximum(a.calls, b.calls)
    for x, y in ((a.device, b.device), (a.host, b.host)):
        changed |= (np.abs(x - y) >= LEAST_ROW_EFFECT * step) & (
            np.abs(x - y) >= LEAST_EFFECT * np.maximum(x, y)
        )
    return [
        status_of(i, j, c)
        for i, j, c in zip(a.present.tolist(), b.present.tolist(), changed.tolist(), strict=True)
    ]
