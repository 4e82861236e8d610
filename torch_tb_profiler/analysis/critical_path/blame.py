"""Who holds each step of a run back: the rank that the others wait for longest in its collectives, and what it does longer.

::

    rank 0   [ 20 ]──[ all_reduce: waits | transfer ]     the others wait 40 for rank 1 beyond the next-latest: it holds
    rank 1   [       60       ]──────────[ transfer ]     the step back by 40, whatever holds the end of the step back
    rank 2   [ 20 ]──[ all_reduce: waits | transfer ]

Who comes last may have waited for a third rank itself since it met the others: the path back from where it came ends with
what began the delay. Of the work on it a rank is blamed for what all work of its kind in the step takes longer than on the
other ranks: ``path × (1 − median of the others ÷ own)``. Where the collectives of a step begin together whatever a rank does, as
those that run beside its work, the path to the end of the step tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.arrays.grouping import group_rows, largest_by, sum_by
from torch_tb_profiler.analysis.critical_path.origins import origins
from torch_tb_profiler.analysis.critical_path.ranks import RanksPath, RankTrace
from torch_tb_profiler.analysis.distributed.arrivals import Latest
from torch_tb_profiler.analysis.distributed.rank import Rank
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table, unique_values
from torch_tb_profiler.store.insight_schema import PathCause

OWN_WORK = (
    PathCause.KERNEL,
    PathCause.MEMCPY,
    PathCause.MEMSET,
    PathCause.OPERATOR,
    PathCause.PYTHON,
    PathCause.RUNTIME,
    PathCause.DATALOADER,
    PathCause.ANNOTATION,
    PathCause.LAUNCH,
    PathCause.NOT_RECORDED,
)
"""What a rank can be blamed for."""
ALIKE, LEAST_EXCESS = 0.8, 0.05
"""Ranks that exceed the others by so large a share of the excess of the one on the path are to blame with it, where
that takes longer by this share at least."""
NAMED = (PathCause.KERNEL, PathCause.MEMCPY, PathCause.MEMSET, PathCause.OPERATOR)
"""Work that is compared by the name of its operator; the rest by its cause."""
MOST_PARTS, LEAST_PART = 3, 0.05
"""What takes longer is named up to so many, from this share of the whole on."""


LEAST_WAIT = 0.01
"""Share of a step that the others wait for a rank at least, or its collectives do not tell who came last."""


class BlamedWork(msgspec.Struct, frozen=True):
    """Work on the path that takes longer than on other ranks.

    name: of the operator, else of the event. held: ns of the path that the other ranks would not take. event: the
    longest on the path; start, duration: its own, ns of its trace. module, line: empty unknown.
    """

    cause: PathCause
    name: str
    held: int
    event: int
    start: int
    duration: int
    module: str
    line: str


class Blame(msgspec.Struct, frozen=True):
    """Who holds a step back. rank, also: indices of ranks; ``also`` are as late.

    held: ns that the others wait for them, or by which the rank exceeds the others on the path to the end of the step.
    on_path: ns of the path on it. parts: the most first. waits: whether the others wait for them in its collectives.
    """

    step: int
    rank: int
    also: tuple[int, ...]
    held: int
    on_path: int
    parts: tuple[BlamedWork, ...]
    waits: bool = False


def blames(
    figures: RunFigures,
    paths: tuple[RanksPath, RanksPath],
    latest: Sequence[Latest],
    settled: Ints,
    open_rank: Callable[[int], RankTrace | None],
) -> tuple[Blame, ...]:
    """The rank that holds each step back, in the order of the steps; none where no rank does or none compares, and none at
    all while somebody may be missing who kept them waiting. ``paths``: to the end of each step, and to where those of
    ``latest`` came. ``settled``: steps of which what the ranks waited for is known, and is of the step before: their path tells no other.
    """
    if not figures.whole:
        return ()
    work = _Work(figures)
    length = paths[0].stop - paths[0].begin
    waited = {one.step: one for one in latest if one.held >= LEAST_WAIT * length[one.step]}
    known, found = {*waited, *settled.tolist()}, []
    for path, last in ((paths[0], {}), (paths[1], waited)):
        bounds = np.searchsorted(path.step, np.arange(len(path.begin) + 1)).tolist()
        own = [
            _blame(work, path, step, slice(*pair), last.get(step))
            for step, pair in enumerate(pairwise(bounds))
            if (step in waited if path is paths[1] else step not in known)
        ]
        found += _with_parts(work, path, [one for one in own if one is not None], open_rank)
    return tuple(sorted(found, key=lambda blame: blame.step))


_Blamed = tuple[Blame, Ints, Array]
"""A blame without parts; the stretches of the path by which its rank exceeds the others, and that by cause, ns."""


def _blame(
    work: _Work, path: RanksPath, step: int, own: slice, last: Latest | None
) -> _Blamed | None:
    """Of the stretches ``own`` of a path. ``last``: whom the others waited for; None where that is not known."""
    none = np.zeros(0, np.int64), np.zeros(len(PathCause))
    silent = None
    if last is not None:
        silent = Blame(step, last.rank, last.also, last.held, 0, (), True), *none
    # What a rank did before it met the one that waited delays both.
    since = path.end[own] > (last.since if last else 0)
    ranks = unique_values(path.rank[own][since])
    ranks = ranks[work.compares(step, ranks)]
    if not len(ranks):
        return silent
    time = (path.end - path.start)[own]
    on_path, held = work.held(step, ranks, path.rank[own], path.cause[own], time)
    at = int(held.sum(axis=1).argmax())
    total, rank = round(float(held[at].sum())), int(ranks[at])
    if not total:
        return silent
    row = own.start + np.flatnonzero(path.rank[own] == rank)
    row = row[(held[at] > 0)[path.cause[row]] & (path.event[row] >= 0)]
    also = work.alike(step, rank, int(held[at].argmax()))
    if last is not None:
        also, total = (last.also if rank == last.rank else also), last.held
    blame = Blame(step, rank, also, total, int(on_path[at].sum()), (), last is not None)
    return blame, row[path.cause[row] != PathCause.NOT_RECORDED], held[at]


def _with_parts(
    work: _Work,
    path: RanksPath,
    blamed: Sequence[_Blamed],
    open_rank: Callable[[int], RankTrace | None],
) -> list[Blame]:
    """What these ranks do longer, as far as their traces can be read."""
    found = []
    for rank in sorted({blame.rank for blame, _, _ in blamed}):
        own = [one for one in blamed if one[0].rank == rank]
        rows = np.concatenate([row for _, row, _ in own])
        opened = open_rank(rank) if len(rows) else None
        texts, first = origins(opened, path.event[rows]) if opened else {}, 0
        for blame, row, held in own:
            parts: list[BlamedWork] = []
            if opened is not None and len(row):
                here = {key: of[first : first + len(row)] for key, of in texts.items()}
                parts = _parts(work, path, row, held, here, opened.trace["spans"])
            first += len(row)
            # They may do something else longer than the others wait for.
            share = min(1.0, blame.held / max(sum(part.held for part in parts), 1))
            told = tuple(replace(part, held=round(part.held * share)) for part in parts)
            found.append(replace(blame, parts=told))
    return found


def to_blame(blames: Sequence[Blame]) -> list[int]:
    """The ranks that are to blame for more than half of some steps, on the path or alike; ascending."""
    times = Counter(rank for blame in blames for rank in {blame.rank, *blame.also})
    return sorted(rank for rank, count in times.items() if 2 * count > len(blames))


class _Work:
    """What all ranks did in every common step, by cause and name. Other stages of its pipeline do other work than a rank, and
    are not compared with it.
    """

    def __init__(self, figures: RunFigures) -> None:
        self._pipeline = figures.pipeline
        steps, ranks = len(figures.steps.names), len(figures.ranks)
        self._names: dict[str, int] = {}
        columns = [self._of_rank(figures, number, own) for number, own in enumerate(figures.ranks)]
        step, rank, cause, name, time = (
            np.concatenate([np.zeros(0, np.int64), *parts])
            for parts in (zip(*columns, strict=True) if columns else ((),) * 5)
        )
        order = np.argsort(step, kind="stable")
        self._rank, self._cause, self._name, self._time = (
            column[order] for column in (rank, cause, name, time)
        )
        self._bounds = np.searchsorted(step[order], np.arange(steps + 1))
        shape = (steps, ranks, len(PathCause))
        key = np.ravel_multi_index((step, rank, cause), shape) if time.size else step
        self._sums = sum_by(key, steps * ranks * len(PathCause), time).reshape(shape)
        self._present = np.zeros(shape[:2], np.bool_)
        for number in np.flatnonzero(figures.tied).tolist():
            place = figures.steps.place[number]
            self._present[place[place >= 0], number] = True
        self._ranks = ranks

    def _of_rank(self, figures: RunFigures, number: int, own: Rank) -> tuple[Ints, ...]:
        place = np.append(figures.steps.place[number], -1)[own.work.step]
        known = np.flatnonzero(place >= 0)
        names = [self._names.setdefault(name, len(self._names)) for name in own.work.names]
        name = np.array([*names, -1], np.int64)[own.work.name[known]]
        rank = np.full(len(known), number)
        return place[known], rank, own.work.cause[known], name, own.work.time[known]

    def compares(self, step: int, ranks: Ints) -> Mask:
        """Which ranks have others beside them in a step."""
        present: Mask = self._present[step]
        others = [len(self._others(step, rank)) > 0 for rank in ranks.tolist()]
        return np.asarray(present[ranks] & np.array(others, np.bool_))

    def held(
        self, step: int, ranks: Ints, rank: Ints, cause: Array, time: Ints
    ) -> tuple[Ints, Array]:
        """``(time, held)`` of the path on each of some ranks, of shape (ranks, causes)."""
        shape = (len(ranks), len(PathCause))
        place = np.minimum(np.searchsorted(ranks, rank), len(ranks) - 1)
        own: Mask = ranks[place] == rank
        key = place[own] * shape[1] + cause[own]
        on_path = sum_by(key, shape[0] * shape[1], time[own]).reshape(shape)
        excess = np.zeros(shape)
        for i, number in enumerate(ranks.tolist()):
            excess[i, OWN_WORK] = self._excess(self._sums[step][:, OWN_WORK], step, number)
        return on_path, on_path * excess

    def _excess(self, work: Array, step: int, rank: int) -> Array:
        """Share of a rank's work, of shape (ranks, columns), beyond the median of the others."""
        own = work[rank]
        usual = np.median(work[self._others(step, rank)], axis=0)
        return np.where(own > usual, 1 - usual / np.maximum(own, 1), 0.0)

    def _others(self, step: int, rank: int) -> Ints:
        return np.flatnonzero(self._present[step] & (self._pipeline != self._pipeline[rank]))

    def alike(self, step: int, rank: int, cause: int) -> tuple[int, ...]:
        """Ranks that exceed the others in a cause as the given one does."""
        work, others = self._sums[step, :, cause], self._others(step, rank)
        usual = float(np.median(work[others]))
        least = usual + max(ALIKE * (work[rank] - usual), LEAST_EXCESS * work[rank])
        return tuple(others[work[others] >= least].tolist())

    def named(self, step: int, rank: int, cause: int, name: str) -> float:
        """The excess of a rank in work of a name."""
        own = slice(int(self._bounds[step]), int(self._bounds[step + 1]))
        same = (self._name[own] == self._names.get(name, -2)) & (self._cause[own] == cause)
        work = sum_by(self._rank[own][same], self._ranks, self._time[own][same])
        return float(self._excess(work[:, None], step, rank)[0])


def _parts(
    work: _Work,
    path: RanksPath,
    row: Ints,
    held: Array,
    texts: Mapping[str, list[str]],
    spans: Table,
) -> list[BlamedWork]:
    """Of some stretches of the path on one rank in one step the work by which it exceeds the others, the most first.
    ``held``: ns by cause. ``texts``: ``origins`` of the stretches; ``spans``: of the rank's trace.
    """
    step, rank = int(path.step[row[0]]), int(path.rank[row[0]])
    cause, time = path.cause[row].astype(np.int64), (path.end - path.start)[row]
    names = [op or name for op, name in zip(texts["operator"], texts["name"], strict=True)]
    numbers: dict[str, int] = {}
    number = np.array([numbers.setdefault(name, len(numbers)) for name in names])
    number[~np.isin(cause, NAMED)] = -1
    first, group = group_rows((cause, number))
    time_of, longest = sum_by(group, len(first), time), largest_by(group, len(first), time)
    parts = []
    for i, at in zip(first.tolist(), longest.tolist(), strict=True):
        kind, event = int(cause[i]), int(path.event[row[at]])
        excess = work.named(step, rank, kind, names[i]) if number[i] >= 0 else 1.0
        by = round(min(float(held[kind]), float(time_of[group[i]]) * excess))
        begin, lasts = (int(spans[key][event]) for key in ("start", "dur"))
        where = texts["module"][at], texts["line"][at]
        parts.append(BlamedWork(PathCause(kind), names[at], by, event, begin, lasts, *where))
    parts.sort(key=lambda part: -part.held)
    # What is compared by name may exceed what is compared as a whole: the rank does less of something else.
    share = min(1.0, float(held.sum()) / max(sum(part.held for part in parts), 1))
    parts = [replace(part, held=round(part.held * share)) for part in parts[:MOST_PARTS]]
    return [part for part in parts if part.held >= LEAST_PART * held.sum()]
