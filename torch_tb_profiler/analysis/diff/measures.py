"""The rows of each table of one side: categories, operators, device work, runtime calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.breakdown import CATEGORIES
from torch_tb_profiler.analysis.diff.noise import Floats, Moments
from torch_tb_profiler.analysis.diff.pairing import plain_name
from torch_tb_profiler.analysis.diff.sides import Side
from torch_tb_profiler.analysis.grouping import group_rows
from torch_tb_profiler.analysis.kernels import short_name
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.insight_schema import PathKind

_VENDOR = re.compile(r"^(?:cuda|cu|hip|ze|ur|mtia|musa|acl(?:rt)?)(?=[A-Z])")
"""What the names of runtime calls begin with."""


@dataclass(frozen=True)
class Rows:
    """One table of one side; sequences of one entry per row.

    ``keys``: of each round of ``pairing.pair_by`` the key of every row. ``calls``: None where rows have none. ``host``: mean host self time per step,
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
    steps, n = one.facts["steps"], len(CATEGORIES)
    row = np.repeat(np.arange(n), steps.n)
    value = np.concatenate([steps[key] for key in CATEGORIES])
    time = one.moments(row, np.tile(np.arange(steps.n), n), value, n)
    names = list(CATEGORIES)
    return Rows(names, names, (list(names),), time, None, np.full(n, np.nan), np.full(n, -1))


def operator_rows(one: Side, device: bool) -> Rows:
    """Operators by name; device self time or host self time."""
    steps = one.facts["operator_steps"]
    name = one.facts["operators"]["name"][steps["operator"]]
    numbers, of = _used(one, name, steps["step"])
    step, n = steps["step"][of >= 0], len(numbers)
    row = of[of >= 0]

    def column(key: str) -> Array:
        return np.asarray(steps[key][of >= 0])

    names = one.facts.strings.many(numbers)
    return Rows(
        names, names, (list(names), [plain_name(text) for text in names]),
        one.moments(row, step, column("device_self" if device else "host_self"), n), one.moments(row, step, column("calls"), n),
        one.per_step(row, step, column("host_self"), n), _examples(one, names),
    )


def kernel_rows(one: Side) -> Rows:
    """Device work by full name. Renamed work is found by its readable name and launching operator, then by the operator where nothing else is left there."""
    table = one.insight["work_steps"]
    launcher = _launchers(one)

    def keys(names: list[str], row: Ints, cells: Table) -> tuple[list[Hashable], ...]:
        operator = _main_launcher(launcher, row, cells, len(names))
        readable: list[Hashable] = [(plain_name(short_name(text)), by) for text, by in zip(names, operator, strict=True)]
        return list(names), readable, [by or None for by in operator]

    return _by_name(one, table, keys, short_name)


def runtime_rows(one: Side) -> Rows:
    """Calls into the runtime or driver by name, host time; those of another vendor by what they do."""
    return _by_name(one, one.insight["runtime_steps"], lambda names, row, cells: (list(names), [_VENDOR.sub("", t) for t in names]), lambda name: name)


def _by_name(
    one: Side, table: Table, keys: Callable[[list[str], Ints, Table], tuple[list[Hashable], ...]], readable: Callable[[str], str]
) -> Rows:
    numbers, of = _used(one, table["name"], table["step"])
    cells, row, n = table.take(of >= 0), of[of >= 0], len(numbers)
    names = one.facts.strings.many(numbers)
    event = np.full(n, -1, np.int64)
    order = np.argsort(cells["total"], kind="stable")
    inside = order[np.isin(cells["step"][order], one.steps)]
    event[row[inside]] = cells["event"][inside]
    return Rows(
        names, [readable(text) for text in names], keys(names, row, cells), one.moments(row, cells["step"], cells["total"], n),
        one.moments(row, cells["step"], cells["calls"], n), np.full(n, np.nan), event,
    )


def _used(one: Side, name: Array, step: Array) -> tuple[Ints, Ints]:
    """(numbers of the names that occur in the compared steps, of every row which of them it has; −1 none)."""
    inside: Mask = np.isin(step, one.steps)
    numbers = np.unique(name[inside]).astype(np.int64)
    place = np.minimum(np.searchsorted(numbers, name), max(len(numbers) - 1, 0))
    known = numbers[place] == name if len(numbers) else np.zeros(len(name), np.bool_)
    return numbers, np.where(known, place, -1).astype(np.int64)


def _examples(one: Side, names: list[str]) -> Ints:
    """For each operator the longest call of its costliest path; −1 where no path has the name."""
    paths, steps = one.insight["paths"], one.insight["path_steps"]
    inside = steps["path"] >= 0
    cost = one.per_step(steps["path"][inside], steps["step"][inside], steps["host_total"][inside] + steps["device_self"][inside], paths.n)
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
    """Of every path the name that its device work is laid at: the operator's; the last entry, for -1, is empty."""
    paths = one.insight["paths"]
    texts = one.insight.strings.many(paths["name"])
    return [*(plain_name(t) if k == PathKind.OPERATOR else "" for t, k in zip(texts, paths["kind"].tolist(), strict=True)), ""]


def _main_launcher(launcher: list[str], row: Ints, cells: Table, n: int) -> list[str]:
    """Of each row the launcher of most of its time."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(launcher))}
    texts = list(numbers)
    of = np.array([numbers[text] for text in launcher], np.int64)[cells["path"]]
    first, group = group_rows((row, of))
    total = np.bincount(group, weights=cells["total"], minlength=len(first))
    order = np.argsort(total, kind="stable")
    main = np.zeros(n, np.int64)
    main[row[first[order]]] = of[first[order]]
    return [texts[number] for number in main.tolist()]
