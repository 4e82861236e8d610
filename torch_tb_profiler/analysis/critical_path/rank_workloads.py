"""What ranks are given to do in each common step: calls of operators, and elements of their inputs where shapes were
recorded. Ranks that do the same work, but longer, are slow; ranks that are given more have more to do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_floats
from torch_tb_profiler.analysis.critical_path.blame import BlamedWork
from torch_tb_profiler.analysis.critical_path.ranks import RankTrace
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.facts.header import json_list
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints

MOST_READ = 64
"""Most ranks whose traces are read for it, those to blame first."""
MORE = 1.1
"""How many times as much a rank is given from which on that is more."""
_LOOKUP = regex(r"embedding|lookup|index|gather|take")
_OF_PARAMETERS = regex(r"_fused_(?!rms|layer|dropout|sdp|moe)|_foreach_|[Oo]ptimizer")
_INDEX = regex(r"(?:unsigned |c10::)?(?:long|int|short)", re.I)


class Given(msgspec.Struct, frozen=True):
    """What ranks are given. ``ranks``: indices of those that were read, int64. ``elements``: of all inputs, float64 of shape
    (ranks, steps); NaN unknown. Their operators by workload and common step, arrays of shape (rows,): ``place`` among ``ranks``,
    ``name`` as numbered by ``names``, ``time`` on host and device in ns, ``size`` elements of the inputs of one call, −1 not
    recorded.
    """

    ranks: Ints
    elements: Array
    names: dict[str, int]
    place: Ints
    name: Ints
    dims: list[str]
    step: Ints
    calls: Ints
    time: Ints
    size: Array

    def most(self, step: int) -> int:
        """The rank that is given clearly most in a step; −1 none, or unknown."""
        own = self.elements[:, step]
        if not len(own) or np.isnan(own).any() or own.max() < MORE * np.median(own):
            return -1
        return int(self.ranks[own.argmax()])

    def uneven(self, steps: Ints) -> tuple[int, int, float] | None:
        """The ranks that are given most and least in some steps, and how many times as much; None about the same, or unknown."""
        if not len(self.ranks) or not len(steps):
            return None
        own = self.elements[:, steps].mean(axis=1)
        if np.isnan(own).any() or own.min() <= 0 or own.max() < MORE * own.min():
            return None
        ends = [int(own.argmax())], [int(own.argmin())]
        larger, (most, least) = _larger(self, *ends, steps), self.ranks[np.ravel(ends)].tolist()
        return (most, least, larger.own / larger.others) if larger else None

    def sums(self, steps: Ints) -> list[Array]:
        """Calls, elements of inputs and time in some steps, float64 of shape (names, ranks)."""
        row, shape = np.flatnonzero(np.isin(self.step, steps)), (len(self.names), len(self.ranks))
        key = self.name[row] * shape[1] + self.place[row]
        columns = (self.calls, self.calls * np.maximum(self.size, 0), self.time)
        return [sum_floats(key, shape[0] * shape[1], c[row]).reshape(shape) for c in columns]

    def largest(self, place: int, name: int, steps: Ints) -> str:
        """Shapes of the largest call of a name on a rank, as JSON; empty unknown."""
        own = (self.place == place) & (self.name == name) & np.isin(self.step, steps)
        row = np.flatnonzero(own)
        return self.dims[int(row[self.size[row].argmax()])] if len(row) else ""


class Unequal(msgspec.Struct, frozen=True):
    """What a rank is given more per step than the others: calls of ``name``, or elements of the inputs of ``name`` (empty: of
    all operators). shape, other_shape: of the largest inputs; empty unknown.
    """

    of: Literal["calls", "elements"]
    name: str
    own: float
    others: float
    shape: str = ""
    other_shape: str = ""

    @property
    def is_shared(self) -> bool:
        """Whether the others do the same on less: it could be dealt out."""
        return self.of == "elements" or self.others >= 0.5


def rank_workloads(
    figures: RunFigures, open_rank: Callable[[int], RankTrace | None], first: Sequence[int]
) -> Given:
    """What at most ``MOST_READ`` ranks are given, those of ``first`` among them."""
    tied = np.flatnonzero(figures.tied)
    wanted = [*first, *np.setdiff1d(tied, first).tolist()][:MOST_READ]
    steps, names, dims = len(figures.steps.names), dict[str, int](), list[str]()
    read, elements = list[int](), list[Array]()
    parts: list[tuple[Array, ...]] = [(np.zeros(0, np.int64),) * 6]
    for number in wanted:
        # One at a time: an open trace holds a descriptor.
        if (opened := open_rank(number)) is None:
            continue
        table, strings = opened.insight["workloads"], opened.insight.strings
        columns = [strings.many(table[key]) for key in ("name", "dims", "types")]
        given = [inputs_of(*one) for one in zip(*columns, strict=True)]
        numbers = [names.setdefault(name, len(names)) for name in columns[0]]
        each = np.array([elements_of(text) for text in given], np.float64)
        own = opened.insight["workload_steps"]
        row, calls = own["workload"].astype(np.int64), own["calls"].astype(np.int64)
        step = np.append(figures.steps.place[number], -1)[own["step"]]
        known = (step >= 0) & (each[row] >= 0)
        total = sum_floats(step[known], steps, (each[row] * calls)[known])
        elements.append(total if known.any() else np.full(steps, np.nan))
        dims += [columns[1][i] for i in row.tolist()]
        time = (own["host_total"] + own["device_total"]).astype(np.int64)
        name = np.array(numbers, np.int64)[row]
        parts.append((np.full(len(row), len(read)), name, step, calls, time, each[row]))
        read.append(number)
    of_place, of_name, of_step, calls, time, size = map(np.concatenate, zip(*parts, strict=True))
    totals = np.array(elements).reshape(len(read), steps)
    return Given(
        np.array(read, np.int64), totals, names, of_place, of_name, dims, of_step, calls, time, size
    )


def inputs_of(name: str, dims: str, types: str | None) -> str:
    """The shapes, as JSON, of those inputs of a call that are work: of what looks rows of a table up its indices, as the table
    is a parameter however large it is; of an optimizer none.
    """
    if _OF_PARAMETERS.search(name):
        return ""
    shapes, kinds = json_list(dims), json_list(types or "")
    if not _LOOKUP.search(name) or not shapes or not kinds or len(shapes) != len(kinds):
        return dims
    indices = [one for one, kind in zip(shapes, kinds, strict=True) if _INDEX.match(str(kind))]
    return json.dumps(indices) if indices else dims


def elements_of(dims: str) -> float:
    """Elements of all inputs whose shapes are noted as JSON; −1 not recorded."""
    shapes = json_list(dims)
    return -1.0 if shapes is None else _elements(shapes)


def _elements(value: Any) -> float:
    if not isinstance(value, list):
        return 0.0
    if value and all(isinstance(one, int) for one in value):
        return float(prod(max(one, 0) for one in value))
    return sum(_elements(one) for one in value)


def unequal(
    given: Given, ranks: Sequence[int], steps: Sequence[int], parts: Sequence[BlamedWork]
) -> Unequal | None:
    """What some ranks are given more than the others in some steps: of what takes them longest, else of all."""
    mine = np.isin(given.ranks, ranks)
    if not mine.any() or mine.all():
        return None
    of, chosen = (np.flatnonzero(mine), np.flatnonzero(~mine)), np.array(steps, np.int64)
    calls = _medians(given.sums(chosen)[0] / len(steps), *of).T.tolist()
    names = dict.fromkeys(part.name for part in parts if part.name in given.names)
    more = [Unequal("calls", name, *calls[given.names[name]]) for name in names]
    others = next((one for one in more if one.own >= 1 and one.others < 0.5), None)
    longer = (one for one in more if one.own > MORE * one.others and one.own - one.others >= 1)
    found = others or _larger(given, *of, chosen) or next(longer, None)
    if found is None:
        own, usual = _medians(given.elements[:, chosen].mean(axis=1), *of).tolist()
        if np.isfinite(own) and usual > 0 and own > MORE * usual:
            return Unequal("elements", "", own, usual)
    return found


def _medians(values: Array, mine: Sequence[int] | Ints, others: Sequence[int] | Ints) -> Array:
    """The medians over some places of the last axis, and over others, stacked."""
    return np.stack([np.median(values[..., own], axis=-1) for own in (mine, others)])


def _larger(
    given: Given, mine: Sequence[int] | Ints, others: Sequence[int] | Ints, steps: Ints
) -> Unequal | None:
    """The operator that all call equally often, but some on larger inputs: that which takes most time more."""
    calls, elements, time = given.sums(steps)
    first = int(mine[0]), int(others[0])
    own, usual = _medians(elements, mine, others) / len(steps)
    before, longer = time[:, first[1]], time[:, first[0]] - time[:, first[1]]
    # What takes no longer on more elements does not work on all of them.
    found = (usual > 0) & (own > MORE * usual) & (longer > np.maximum((MORE - 1) * before, 0))
    found &= (calls[:, first[0]] == calls[:, first[1]]) & (calls[:, first[1]] > 0)
    if not found.any():
        return None
    best = int(np.where(found, longer, -1).argmax())
    shape, other = (_first_input(given.largest(place, best, steps)) for place in first)
    more, less = elements_of(shape), elements_of(other)
    if not more > MORE * less > 0:
        more, less = float(own[best]), float(usual[best])
    # Beside the weights the input itself differs more.
    return Unequal("elements", list(given.names)[best], more, less, shape, other)


def _first_input(dims: str) -> str:
    """The first shape of some, as JSON; empty where there is none, and of very many."""
    first = next((one for one in json_list(dims) or () if isinstance(one, list) and one), None)
    return json.dumps(first) if first and len(dims) < 200 else ""
