"""The rows of one side's tables: categories, operators, device work, runtime calls."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import largest_by, scatter
from torch_tb_profiler.analysis.diff.side import Side, distinct
from torch_tb_profiler.analysis.diff.significance import Floats, Moments
from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.analysis.match.names import stable_name
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.categories import CATEGORIES
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.insight_schema import PathKind

_VENDOR = regex(r"^(?:cuda|cu|hip|ze|ur|mtia|musa|acl(?:rt)?)(?=[A-Z])")
"""Prefixes of runtime calls."""


class Rows(msgspec.Struct, frozen=True):
    """One table of one side; sequences of one entry per row.

    keys: for each round of ``pair_by`` the key of every row.
    calls: None where rows have none.
    host: mean host self time per step, ns; NaN where rows have none.
    event: an example, −1 none.
    """

    name: list[str]
    short: list[str]
    keys: tuple[list[Hashable], ...]
    time: Moments
    calls: Moments | None
    host: Floats
    event: Array


def category_rows(side: Side) -> Rows:
    """The eight categories of the step."""
    steps, n, count = side.facts["steps"], len(CATEGORIES), len(side.steps)
    value = np.concatenate([steps[key][side.steps] for key in CATEGORIES])
    time = side.moments(np.repeat(np.arange(n), count), np.tile(side.steps, n), value, n)
    if side.unit is not None:
        # The ends of a recording are not of a unit.
        time.mean[-1] = max(side.mean - float(time.mean[:-1].sum()), 0.0)
    names = list(CATEGORIES)
    return Rows(names, names, (list(names),), time, None, np.full(n, np.nan), np.full(n, -1))


def operator_rows(side: Side, columns: Sequence[str]) -> list[Rows]:
    """Operators by name: one table for each of the given columns of ``name_steps``."""
    cells = side.cells(side.insight["name_steps"])
    numbers, row = distinct(cells["name"])
    n, names = len(numbers), side.facts.strings.many(numbers)
    calls = side.moments(row, cells["step"], cells["calls"], n)
    host = side.mean_of(row, cells["host_self"], n)
    keys: tuple[list[Hashable], ...] = list(names), [stable_name(text) for text in names]
    event = _examples(side, names)
    return [
        Rows(
            names, names, keys, side.moments(row, cells["step"], cells[key], n), calls, host, event
        )
        for key in columns
    ]


def kernel_rows(side: Side) -> Rows:
    """Device work by full name; renamed work pairs by readable name and operator, then by operator."""

    def keys(names: list[str], numbers: Ints) -> tuple[list[Hashable], ...]:
        operator = _main_launchers(side, numbers)
        readable: list[Hashable] = [
            (stable_name(short_name(text)), by) for text, by in zip(names, operator, strict=True)
        ]
        return list(names), readable, [by or None for by in operator]

    return _by_name(side, side.insight["work_name_steps"], "most", keys, short_name)


def runtime_rows(side: Side) -> Rows:
    """Runtime and driver calls by name, host time; those of another vendor pair without the prefix."""
    table = side.insight["runtime_steps"]
    return _by_name(
        side,
        table,
        "total",
        lambda names, numbers: (list(names), [_VENDOR.sub("", t) for t in names]),
        lambda name: name,
    )


def _by_name(
    side: Side,
    table: Table,
    size: str,
    keys: Callable[[list[str], Ints], tuple[list[Hashable], ...]],
    readable: Callable[[str], str],
) -> Rows:
    """The rows of a table with a ``name``; ``size``: the column that chooses the example."""
    cells = side.cells(table)
    numbers, row = distinct(cells["name"])
    n = len(numbers)
    names = side.facts.strings.many(numbers)
    event = cells["event"][largest_by(row, n, cells[size])]
    return Rows(
        names,
        [readable(text) for text in names],
        keys(names, numbers),
        side.moments(row, cells["step"], cells["total"], n),
        side.moments(row, cells["step"], cells["calls"], n),
        np.full(n, np.nan),
        event,
    )


def _examples(side: Side, names: list[str]) -> Ints:
    """For each operator the longest call of its most expensive path; −1 if no path has the name."""
    paths, sums = side.insight["paths"], side.of_paths
    cost = (sums["host_total"] + sums["device_self"]) / max(len(side.steps), 1)
    row_of_name = {text: row for row, text in enumerate(names)}
    table = np.array([row_of_name.get(text, -1) for text in side.insight.strings.all()], np.int64)
    operator = np.flatnonzero((paths["kind"] == PathKind.OPERATOR) & (cost > 0))
    operator = operator[np.argsort(cost[operator], kind="stable")]
    event = scatter(len(names) + 1, table[paths["name"][operator]], paths["event"][operator])
    return event[:-1]


def _launchers(side: Side) -> list[str]:
    """The plain name of each path's operator, else empty; one more empty entry for −1."""
    paths = side.insight["paths"]
    texts = side.insight.strings.many(paths["name"])
    return [
        *(
            stable_name(t) if k == PathKind.OPERATOR else ""
            for t, k in zip(texts, paths["kind"].tolist(), strict=True)
        ),
        "",
    ]


def _main_launchers(side: Side, numbers: Ints) -> list[str]:
    """For each name of device work (string numbers, ascending) the launcher of most of its time."""
    launcher = _launchers(side)
    of_text = {text: number for number, text in enumerate(dict.fromkeys(launcher))}
    texts, n = list(of_text), len(numbers)
    work = side.insight["work"]
    used = np.flatnonzero(side.of_work["calls"])
    by = np.array([of_text[text] for text in launcher], np.int64)[work["path"][used]]
    pairs, group = distinct(np.searchsorted(numbers, work["name"][used]) * len(texts) + by)
    total = np.bincount(group, weights=side.of_work["total"][used], minlength=len(pairs))
    order = np.argsort(total, kind="stable")
    main = scatter(n, pairs[order] // len(texts), pairs[order] % len(texts), 0)
    return [texts[number] for number in main.tolist()]
