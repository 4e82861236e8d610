"""The rows of the module table: time of what runs in the modules of one class at one place of the
model, outside inner modules.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.diff.matching import MatchedPaths
from torch_tb_profiler.analysis.diff.pairing import plain_name
from torch_tb_profiler.analysis.diff.side import PathCosts, Side
from torch_tb_profiler.analysis.diff.table_rows import Rows
from torch_tb_profiler.analysis.module.path_modules import modules_of_paths
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight_schema import PathKind

OUTSIDE = "outside modules"
_MODULE = int(PathKind.MODULE)
BETWEEN = " › "
"""Stands between the classes of a way from an outermost module to an inner one."""


@dataclass(frozen=True)
class _Places:
    """Places of modules in the matched trees. ``of``: the place of every matched node. ``around``:
    the place around each, -1 for place 0.

    ``name_*``: per place, empty where a side has no such module.

    Place 0 is outside all modules.
    """

    of: Ints
    around: list[int]
    name_a: list[str]
    name_b: list[str]


def module_rows(
    sides: tuple[Side, Side],
    costs: tuple[PathCosts, PathCosts],
    matched: MatchedPaths,
    device: bool,
) -> tuple[Rows, Rows]:
    """The tables of both sides, device time or host time; without any module they are empty."""
    places = _places(costs, matched)
    paths = (np.array(matched.a, np.int64), np.array(matched.b, np.int64))
    names = (places.name_a, places.name_b)
    made = [
        _rows(one, cost, path, places, name, device)
        for one, cost, path, name in zip(sides, costs, paths, names, strict=True)
    ]
    return made[0], made[1]


def _places(costs: tuple[PathCosts, PathCosts], matched: MatchedPaths) -> _Places:
    numbers: dict[tuple[int, str], int] = {}
    of: list[int] = []
    ways: tuple[list[str], list[str]] = ([OUTSIDE], [OUTSIDE])
    kinds = [cost.kind.tolist() for cost in costs]
    for parent, i, j in zip(matched.parent, matched.a, matched.b, strict=True):
        around = of[parent] if parent >= 0 else 0
        classes = [
            plain_name(cost.name[at]) if at >= 0 and kind[at] == _MODULE else ""
            for cost, kind, at in zip(costs, kinds, (i, j), strict=True)
        ]
        if not any(classes):
            of.append(around)
            continue
        place = numbers.setdefault((around, classes[0] or classes[1]), len(numbers) + 1)
        for way, own in zip(ways, classes, strict=True):
            way += [""] * (place + 1 - len(way))
            if own and not way[place]:
                way[place] = BETWEEN.join(
                    part for part in (way[around] if around else "", own) if part
                )
        of.append(place)
    return _Places(np.array(of, np.int64), [-1, *(around for around, _ in numbers)], *ways)


def _rows(
    one: Side, costs: PathCosts, path: Ints, places: _Places, names: list[str], device: bool
) -> Rows:
    paths = one.insight["paths"]
    there = np.flatnonzero(path >= 0)
    place_of_path = _everywhere(paths["parent"], costs.row[path[there]], places.of[there])
    used = [place for place, name in enumerate(names) if name and len(names) > 1]
    rows = {place: row for row, place in enumerate(used)}
    # What matches a module of the other side and is none here, runs in the module around it.
    for place, around in enumerate(places.around[: len(names)]):
        rows.setdefault(place, rows.get(around, -1))
    new = np.array([rows[place] for place in range(len(names))], np.int64)
    own, n = [names[place] for place in used], len(used)
    at = new[place_of_path]
    # Either every path has a row, or there are no modules at all.
    row, step, calls, host, work = _entries(one, at) if n else [np.zeros(0, np.int64)] * 5
    return Rows(
        own,
        own,
        (list(used),),
        one.moments(row, step, work if device else host, n),
        one.moments(row, step, calls, n),
        one.mean_of(row, host, n),
        _examples(costs, at, n),
    )


def _entries(one: Side, row: Ints) -> list[Ints]:
    """Row, step (from 0), calls, host and device time of what runs in modules; ``row``: that of
    every path, and for -1 last.

    A path has the row of the module around it, unless it matches a module of the other side, or
    that module matches nothing: then its own entries move.
    """
    paths, cells = one.insight["paths"], one.cells(one.insight["module_steps"])
    found = [row[cells["module"]], cells.place, cells["calls"], cells["host"], cells["device_self"]]
    around = row[modules_of_paths(paths)[:-1]]
    apart = np.append(row[:-1] != around, np.False_)
    if apart.any():
        of = one.cells(one.insight["path_steps"])
        of = of.taken(np.flatnonzero(apart[of["path"]]))
        host = of["host_self"] + of["runtime"]
        for sign, to in ((1, row), (-1, around)):
            moved = (
                to[of["path"]],
                of.place,
                np.zeros(len(host), np.int64),
                sign * host,
                sign * of["device_self"],
            )
            found = [np.concatenate(both) for both in zip(found, moved, strict=True)]
    return found


def _everywhere(parent: Array, row: Ints, place: Ints) -> Ints:
    """The place of every path, and for -1 last; paths that were not matched stand where their
    parent does.
    """
    found = [0] * (len(parent) + 1)
    known = dict(zip(row.tolist(), place.tolist(), strict=True))
    for at, above in enumerate(parent.tolist()):
        found[at] = known.get(at, found[above])
    return np.array(found, np.int64)


def _examples(costs: PathCosts, row_of_path: Ints, n: int) -> Ints:
    module = np.flatnonzero(costs.kind == PathKind.MODULE)
    order = module[np.argsort(costs.host[module], kind="stable")]
    found = np.full(n, -1, np.int64)
    row = row_of_path[costs.row[order]]
    found[row[row >= 0]] = costs.event[order][row >= 0]
    return found
