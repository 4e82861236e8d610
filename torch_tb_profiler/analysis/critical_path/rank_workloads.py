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
from msgspec.structs import replace

from torch_tb_profiler.analysis.critical_path.blame import BlamedWork
from torch_tb_profiler.analysis.critical_path.ranks import RankTrace
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints

MOST_READ = 64
"""Most ranks whose traces are read for it, those to blame first."""
MORE = 1.1
"""How many times as much a rank is given from which on that is more."""
_LOOKUP = regex(r"embedding|lookup|index|gather|take")
_OF_PARAMETERS = regex(r"_fused_(?!rms|layer|dropout|sdp|moe)|_foreach_|[Oo]ptimizer")
_INDEX = regex(r"(?:unsigned |c10::)?(?:long|int|short)", re.I)


class _Workloads(msgspec.Struct, frozen=True):
    """Operators of a rank: arrays of shape (rows,) by workload and common step. time: on host and device, ns. elements: of
    the inputs of one call, −1 not recorded.
    """

    name: list[str]
    dims: list[str]
    step: Ints
    calls: Ints
    time: Ints
    elements: Array


class Given(msgspec.Struct, frozen=True):
    """``ranks``: indices of those that were read. ``elements``: of all inputs, float64 of shape (ranks, steps); NaN unknown."""

    ranks: tuple[int, ...]
    elements: Array
    workloads: tuple[_Workloads, ...]

    def most(self, step: int) -> int:
        """The rank that is given clearly most in a step; −1 none, or unknown."""
        own = self.elements[:, step]
        if not len(own) or np.isnan(own).any() or own.max() < MORE * np.median(own):
            return -1
        return self.ranks[int(own.argmax())]

    def uneven(self, steps: Ints) -> tuple[int, int, float] | None:
        """The ranks that are given most and least in some steps, and how many times as much; None about the same, or unknown."""
        if not len(self.ranks) or not len(steps):
            return None
        own = self.elements[:, steps].mean(axis=1)
        if np.isnan(own).any() or own.min() <= 0 or own.max() < MORE * own.min():
            return None
        most, least = int(own.argmax()), int(own.argmin())
        larger = _larger(self, [most], [least], steps.tolist())
        return (self.ranks[most], self.ranks[least], larger.own / larger.others) if larger else None


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
    wanted = [*first, *(n for n in np.flatnonzero(figures.tied).tolist() if n not in first)]
    ranks, found = [], []
    for number in wanted[:MOST_READ]:
        opened = open_rank(number)
        if opened is not None:
            ranks.append(number)
            found.append(_workloads(opened, figures.steps.place[number]))
    steps = len(figures.steps.names)
    elements = np.full((len(ranks), steps), np.nan)
    for place, own in enumerate(found):
        known = (own.step >= 0) & (own.elements >= 0)
        if known.any():
            elements[place] = np.bincount(
                own.step[known],
                weights=(own.elements * own.calls)[known],
                minlength=steps,
            )
    return Given(tuple(ranks), elements, tuple(found))


def _workloads(opened: RankTrace, place: Ints) -> _Workloads:
    insight = opened.insight
    table, steps = insight["workloads"], insight["workload_steps"]
    names = list(insight.strings.many(table["name"]))
    dims = [text or "" for text in insight.strings.many(table["dims"])]
    types = insight.strings.many(table["types"])
    given = [inputs_of(*one) for one in zip(names, dims, types, strict=True)]
    each = np.array([elements_of(text) for text in given], np.float64)
    row = steps["workload"].astype(np.int64)
    return _Workloads(
        [names[i] for i in row.tolist()],
        [dims[i] for i in row.tolist()],
        np.append(place, -1)[steps["step"]],
        steps["calls"].astype(np.int64),
        (steps["host_total"] + steps["device_total"]).astype(np.int64),
        each[row] if len(each) else np.zeros(0),
    )


def inputs_of(name: str, dims: str, types: str | None) -> str:
    """The shapes, as JSON, of those inputs of a call that are work: of what looks rows of a table up its indices, as the table
    is a parameter however large it is; of an optimizer none.
    """
    if _OF_PARAMETERS.search(name):
        return ""
    if not dims or not types or not _LOOKUP.search(name):
        return dims
    try:
        shapes, kinds = json.loads(dims), json.loads(types)
    except (ValueError, RecursionError):
        return dims
    if not isinstance(shapes, list) or not isinstance(kinds, list) or len(shapes) != len(kinds):
        return dims
    indices = [one for one, kind in zip(shapes, kinds, strict=True) if _INDEX.match(str(kind))]
    return json.dumps(indices) if indices else dims


def elements_of(dims: str) -> float:
    """Elements of all inputs whose shapes are noted as JSON; −1 not recorded."""
    if not dims:
        return -1.0
    try:
        return _elements(json.loads(dims))
    except (ValueError, RecursionError):
        return -1.0


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
    mine = [place for place, rank in enumerate(given.ranks) if rank in ranks]
    others = [place for place, rank in enumerate(given.ranks) if rank not in ranks]
    if not mine or not others:
        return None
    names = list(dict.fromkeys(part.name for part in parts))
    calls = {name: _both(given, mine, others, steps, name, False) for name in names}
    for name, (own, usual) in calls.items():
        if own >= 1 and usual < 0.5:
            return Unequal("calls", name, own, usual)
    larger = _larger(given, mine, others, steps)
    if larger is not None:
        return larger
    for name, (own, usual) in calls.items():
        if own > MORE * usual and own - usual >= 1:
            return Unequal("calls", name, own, usual)
    total = given.elements[:, list(steps)].mean(axis=1)
    own, usual = _of(total, mine), _of(total, others)
    if np.isfinite(own) and usual > 0 and own > MORE * usual:
        return Unequal("elements", "", own, usual)
    return None


def _both(
    given: Given,
    mine: Sequence[int],
    others: Sequence[int],
    steps: Sequence[int],
    name: str,
    elements: bool,
) -> tuple[float, float]:
    """Calls, or elements, of a name per step: of some places, and of the others."""
    each = [_sum(own, steps, name, elements) for own in given.workloads]
    return _of(each, mine), _of(each, others)


def _larger(
    given: Given, mine: Sequence[int], others: Sequence[int], steps: Sequence[int]
) -> Unequal | None:
    """The operator that all call equally often, but some on larger inputs: that which takes most time more."""
    own, other = given.workloads[mine[0]], given.workloads[others[0]]
    best: Unequal | None = None
    longest = 0
    for name in set(_names(own, steps)) & set(_names(other, steps)):
        if _sum(own, steps, name, False) != _sum(other, steps, name, False):
            continue
        more, usual = _both(given, mine, others, steps, name, True)
        time = _time(other, steps, name)
        longer = _time(own, steps, name) - time
        # What takes no longer on more elements does not work on all of them.
        if usual > 0 and more > MORE * usual and longer > max(longest, (MORE - 1) * time):
            longest = longer
            best = Unequal("elements", name, more, usual)
    if best is None:
        return None
    shapes = [_largest(one, steps, best.name) for one in (own, other)]
    sizes = [elements_of(shape) for shape in shapes]
    if sizes[1] > 0 and sizes[0] > MORE * sizes[1]:
        # Beside the weights the input itself differs more.
        best = replace(best, own=sizes[0], others=sizes[1])
    return replace(best, shape=shapes[0], other_shape=shapes[1])


def _time(own: _Workloads, steps: Sequence[int], name: str) -> int:
    return sum(
        int(own.time[i])
        for i in np.flatnonzero(np.isin(own.step, list(steps))).tolist()
        if own.name[i] == name
    )


def _names(own: _Workloads, steps: Sequence[int]) -> list[str]:
    return [own.name[i] for i in np.flatnonzero(np.isin(own.step, list(steps))).tolist()]


def _of(values: Sequence[float] | Array, places: Sequence[int]) -> float:
    return float(np.median([values[place] for place in places]))


def _sum(own: _Workloads, steps: Sequence[int], name: str, elements: bool) -> float:
    """Calls, or elements, of a name per step."""
    row = np.flatnonzero(np.isin(own.step, list(steps)))
    row = row[[own.name[i] == name for i in row.tolist()]] if len(row) else row
    times = np.maximum(own.elements[row], 0) if elements else np.ones(len(row))
    return float((own.calls[row] * times).sum()) / max(len(steps), 1)


def _largest(own: _Workloads, steps: Sequence[int], name: str) -> str:
    """The first input of the largest call of a name."""
    row = [
        i for i in np.flatnonzero(np.isin(own.step, list(steps))).tolist() if own.name[i] == name
    ]
    if not row:
        return ""
    dims = own.dims[max(row, key=lambda i: own.elements[i])]
    try:
        first = next((one for one in json.loads(dims) if isinstance(one, list) and one), None)
    except ValueError:
        return ""
    return json.dumps(first) if first and len(dims) < 200 else ""
