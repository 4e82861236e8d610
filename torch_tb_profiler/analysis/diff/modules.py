"""The rows of the module table: self time of the modules of one class at one position in the model."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.diff.side import Side
from torch_tb_profiler.analysis.diff.table_rows import Rows
from torch_tb_profiler.analysis.match.names import stable_name
from torch_tb_profiler.analysis.match.paths import MatchedPaths, PathCosts
from torch_tb_profiler.analysis.module.path_modules import modules_of_paths
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight_schema import PathKind

OUTSIDE = "outside modules"
_MODULE = int(PathKind.MODULE)
BETWEEN = " › "
"""Separates the classes on the path from an outermost module to an inner one."""


class _Places(msgspec.Struct, frozen=True):
    """Positions of modules in the matched trees; position 0 is outside all modules.

    of: the position of every matched node.
    around: the enclosing position, −1 for position 0.
    name_a, name_b: per position, empty where the side has no such module.
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
    """The tables of both sides, by device or host time; empty without any module."""
    places = _places(costs, matched)
    paths = (np.array(matched.a, np.int64), np.array(matched.b, np.int64))
    names = (places.name_a, places.name_b)
    left, right = (
        _rows(side, cost, path, places, name, device)
        for side, cost, path, name in zip(sides, costs, paths, names, strict=True)
    )
    return left, right


def _places(costs: tuple[PathCosts, PathCosts], matched: MatchedPaths) -> _Places:
    numbers: dict[tuple[int, str], int] = {}
    position: list[int] = []
    names: tuple[list[str], list[str]] = ([OUTSIDE], [OUTSIDE])
    kinds = [cost.kind.tolist() for cost in costs]
    for parent, i, j in zip(matched.parent, matched.a, matched.b, strict=True):
        around = position[parent] if parent >= 0 else 0
        classes = [
            stable_name(cost.name[path]) if path >= 0 and kind[path] == _MODULE else ""
            for cost, kind, path in zip(costs, kinds, (i, j), strict=True)
        ]
        if not any(classes):
            position.append(around)
            continue
        index = numbers.setdefault((around, classes[0] or classes[1]), len(numbers) + 1)
        for listed, own in zip(names, classes, strict=True):
            listed += [""] * (index + 1 - len(listed))
            if own and not listed[index]:
                prefix = listed[around] if around else ""
                listed[index] = BETWEEN.join(part for part in (prefix, own) if part)
        position.append(index)
    return _Places(np.array(position, np.int64), [-1, *(around for around, _ in numbers)], *names)


def _rows(
    side: Side, costs: PathCosts, path: Ints, places: _Places, names: list[str], device: bool
) -> Rows:
    paths = side.insight["paths"]
    matched = np.flatnonzero(path >= 0)
    place_of_path = _everywhere(paths["parent"], costs.row[path[matched]], places.of[matched])
    used = [position for position, name in enumerate(names) if name and len(names) > 1]
    rows = {position: row for row, position in enumerate(used)}
    # A module of the other side that this side lacks runs in the module around it.
    for position, around in enumerate(places.around[: len(names)]):
        rows.setdefault(position, rows.get(around, -1))
    new = np.array([rows[position] for position in range(len(names))], np.int64)
    own, n = [names[position] for position in used], len(used)
    row_of_path = new[place_of_path]
    # Either every path has a row, or there are no modules at all.
    row, step, calls, host, work = _entries(side, row_of_path) if n else [np.zeros(0, np.int64)] * 5
    return Rows(
        own,
        own,
        (list(used),),
        side.moments(row, step, work if device else host, n),
        side.moments(row, step, calls, n),
        side.mean_of(row, host, n),
        _examples(costs, row_of_path, n),
    )


def _entries(side: Side, row: Ints) -> list[Ints]:
    """Row, step, calls, host and device time of the entries of the module table.

    ``row``: the row of every path, last for −1. A path belongs to the row of the module around it,
        except where either side's structure differs: then its own entries move.
    """
    paths, cells = side.insight["paths"], side.cells(side.insight["module_steps"])
    columns = ("step", "calls", "host", "device_self")
    entries = [row[cells["module"]], *(cells[name] for name in columns)]
    around = row[modules_of_paths(paths)[:-1]]
    apart = np.append(row[:-1] != around, np.False_)
    if apart.any():
        own = side.cells(side.insight["path_steps"])
        own = own.take(np.flatnonzero(apart[own["path"]]))
        host, none = own["host_self"] + own["runtime"], np.zeros(own.n, np.int64)
        for sign, target in ((1, row), (-1, around)):
            moved = (target[own["path"]], own["step"], none, sign * host, sign * own["device_self"])
            entries = [np.concatenate(both) for both in zip(entries, moved, strict=True)]
    return entries


def _everywhere(parent: Array, row: Ints, position: Ints) -> Ints:
    """The position of every path, and last for −1; unmatched paths have that of their parent."""
    positions = [0] * (len(parent) + 1)
    known = dict(zip(row.tolist(), position.tolist(), strict=True))
    for path, above in enumerate(parent.tolist()):
        positions[path] = known.get(path, positions[above])
    return np.array(positions, np.int64)


def _examples(costs: PathCosts, row_of_path: Ints, n: int) -> Ints:
    module = np.flatnonzero(costs.kind == PathKind.MODULE)
    order = module[np.argsort(costs.host[module], kind="stable")]
    event = np.full(n, -1, np.int64)
    row = row_of_path[costs.row[order]]
    event[row[row >= 0]] = costs.event[order][row >= 0]
    return event
