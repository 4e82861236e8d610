"""The rows of each table of one side: categories, operators, device work, runtime calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.diff.pairing import plain_name
from torch_tb_profiler.analysis.diff.side import Side, distinct
from torch_tb_profiler.analysis.diff.significance import Floats, Moments
from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.step_categories import CATEGORIES

_VENDOR = re.compile(r"^(?:cuda|cu|hip|ze|ur|mtia|musa|acl(?:rt)?)(?=[A-Z])")
"""What the names of runtime calls begin with."""


@dataclass(frozen=True)
class Rows:
    """One table of one side; sequences of one entry per row.

    ``keys``: of each round of ``pairing.pair_by`` the key of every row. ``calls``: None where rows
        have none. ``host``: mean host self time per step,
    ns, NaN likewise. ``event``: an example, -1 none.
    """

    name: list[str]
    short: list[str]
    keys: tuple[list[Hashable], ...]
    time: Moments
    calls: Moments | None
    host: Floats
    event: Array


def category_rows(one: Side) -> Rows:
    """The eight categories of the step."""
    steps, n, count = one.facts["steps"], len(CATEGORIES), len(one.steps)
    value = np.concatenate([steps[key][one.steps] for key in CATEGORIES])
    time = one.moments(np.repeat(np.arange(n), count), np.tile(np.arange(count), n), value, n)
    names = list(CATEGORIES)
    return Rows(names, names, (list(names),), time, None, np.full(n, np.nan), np.full(n, -1))


def operator_rows(one: Side, columns: Sequence[str]) -> list[Rows]:
    """Operators by name: of each of the columns of ``name_steps`` a table that measures it."""
    cells = one.cells(one.insight["name_steps"])
    numbers, row = distinct(cells["name"].astype(np.int64), len(one.facts.strings))
    n, names = len(numbers), one.facts.strings.many(numbers)
    calls = one.moments(row, cells.place, cells["calls"], n)
    host = one.mean_of(row, cells["host_self"], n)
    keys: tuple[list[Hashable], ...] = list(names), [plain_name(text) for text in names]
    event = _examples(one, names)
    return [
        Rows(names, names, keys, one.moments(row, cells.place, cells[key], n), calls, host, event)
        for key in columns
    ]


def kernel_rows(one: Side) -> Rows:
    """Device work by full name. Renamed work is found by its readable name and launching operator,
    then by the operator where nothing else is left there.
    """

    def keys(names: list[str], numbers: Ints) -> tuple[list[Hashable], ...]:
        operator = _main_launchers(one, numbers)
        readable: list[Hashable] = [
            (plain_name(short_name(text)), by) for text, by in zip(names, operator, strict=True)
        ]
        return list(names), readable, [by or None for by in operator]

    return _by_name(one, one.insight["work_name_steps"], "most", keys, short_name)


def runtime_rows(one: Side) -> Rows:
    """Calls into the runtime or driver by name, host time; those of another vendor by what they do."""
    table = one.insight["runtime_steps"]
    return _by_name(
        one,
        table,
        "total",
        lambda names, numbers: (list(names), [_VENDOR.sub("", t) for t in names]),
        lambda name: name,
    )


def _by_name(
    one: Side,
    table: Table,
    size: str,
    keys: Callable[[list[str], Ints], tuple[list[Hashable], ...]],
    readable: Callable[[str], str],
) -> Rows:
    """The rows of a table with a ``name``; ``size``: the column by which an example is chosen."""
    cells = one.cells(table)
    numbers, row = distinct(cells["name"].astype(np.int64), len(one.facts.strings))
    n = len(numbers)
    names = one.facts.strings.many(numbers)
    largest = np.zeros(n, np.int64)
    np.maximum.at(largest, row, cells[size])
    event = np.full(n, -1, np.int64)
    most = np.flatnonzero(cells[size] == largest[row])
    event[row[most]] = cells["event"][most]
    return Rows(
        names,
        [readable(text) for text in names],
        keys(names, numbers),
        one.moments(row, cells.place, cells["total"], n),
        one.moments(row, cells.place, cells["calls"], n),
        np.full(n, np.nan),
        event,
    )


def _examples(one: Side, names: list[str]) -> Ints:
    """For each operator the longest call of its costliest path; −1 where no path has the name."""
    paths, sums = one.insight["paths"], one.of_paths
    cost = (sums["host_total"] + sums["device_self"]) / max(len(one.steps), 1)
    of_text = {text: at for at, text in enumerate(names)}
    table = [of_text.get(text, -1) for text in one.insight.strings.all()]
    operator = np.flatnonzero((paths["kind"] == PathKind.OPERATOR) & (cost > 0))
    at = np.array(table, np.int64)[paths["name"][operator]] if len(operator) else operator
    operator, at = operator[at >= 0], at[at >= 0]
    found = np.full(len(names), -1, np.int64)
    order = np.argsort(cost[operator], kind="stable")
    found[at[order]] = paths["event"][operator[order]]
    return found


def _launchers(one: Side) -> list[str]:
    """Of every path the name that its device work is laid at: the operator's; the last entry, for
    -1, is empty.
    """
    paths = one.insight["paths"]
    texts = one.insight.strings.many(paths["name"])
    return [
        *(
            plain_name(t) if k == PathKind.OPERATOR else ""
            for t, k in zip(texts, paths["kind"].tolist(), strict=True)
        ),
        "",
    ]


def _main_launchers(one: Side, numbers: Ints) -> list[str]:
    """Of each name of device work (numbers of strings, ascending) the launcher of most of its time
    in the compared steps.
    """
    launcher = _launchers(one)
    of_text = {text: number for number, text in enumerate(dict.fromkeys(launcher))}
    texts, n = list(of_text), len(numbers)
    work = one.insight["work"]
    there = np.flatnonzero(one.of_work["calls"])
    by = np.array([of_text[text] for text in launcher], np.int64)[work["path"][there]]
    pairs, group = distinct(
        np.searchsorted(numbers, work["name"][there]) * len(texts) + by, n * len(texts)
    )
    total = np.bincount(group, weights=one.of_work["total"][there], minlength=len(pairs))
    order = np.argsort(total, kind="stable")
    main = np.zeros(n, np.int64)
    main[pairs[order] // len(texts)] = pairs[order] % len(texts)
    return [texts[number] for number in main.tolist()]
