"""What a run would take without its stragglers.

Ideal durations, slowdown and what single ranks and operations add to it are defined as by StragglerAnalysis (Lin et
al., OSDI 2025): computation takes the mean of its like, a transfer the median of its like, and launches take no time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    group_rows,
    occurrences,
    picked,
    positions_of,
    sum_floats,
)
from torch_tb_profiler.analysis.critical_path.device import device_causes
from torch_tb_profiler.analysis.critical_path.ranks import RankTrace
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.distributed.steps import job_steps
from torch_tb_profiler.analysis.what_if.changes import Applied
from torch_tb_profiler.analysis.what_if.graph import ROOT, Graph
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.ranks import RanksGraph, build_ranks, replay_ranks
from torch_tb_profiler.analysis.what_if.replay import (
    Durations,
    keep_before,
    measured_durations,
    step_times,
)
from torch_tb_profiler.analysis.what_if.simulation import Edit, Prediction
from torch_tb_profiler.analysis.what_if.table import edits, prediction_document
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.strings import StringBuilder
from torch_tb_profiler.units import format_names

LEAST_RANKS = 2
"""Fewer have nothing to be compared with."""
MOST_NAMES = 20
"""Operations that are put back one by one: those that differ most from their ideal."""

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
"""What differs between processes in the name of one thing."""


class _HostAndDevice(msgspec.Struct, frozen=True):
    """How many times as long each host segment and each piece of device work of a rank takes."""

    segment: Array
    work: Array


class _Done(msgspec.Struct, frozen=True):
    """What ranks do, arrays of shape (pieces,): ``place`` of the rank among those read, common ``step``, number of the
    ``name``, ``time`` in ns, whether ``on_host``, and ``index`` among its segments or its device work.
    """

    place: Ints
    step: Ints
    name: Ints
    time: Array
    on_host: Mask
    index: Ints


class Pieces(msgspec.Struct, frozen=True):
    """What the ranks compute, and what they transfer: arrays of shape (pieces,).

    place: index of the rank among those that were read. name: number of its name. step: common step, −1 outside.
    actual, ideal: ns, float64. index: position among the device work of its rank, its host segments (``on_host``)
    or the meetings (``moves``).
    """

    place: Ints
    name: Ints
    step: Ints
    actual: Array
    ideal: Array
    index: Ints
    on_host: Mask
    moves: Mask


class Slowdown(msgspec.Struct, frozen=True):
    """Length of a run over its ideal one; 1.0 is none.

    total: with everything as it was. by_rank: with one rank as it was; index of the rank → slowdown. by_name: with one
    operation as it was, the greatest first.
    """

    total: float
    by_rank: dict[int, float]
    by_name: dict[str, float]


class Stragglers:
    """A run of several ranks that can be replayed; ranks that could not be read are None. ``common``: the common steps that all
    others recorded; all lengths are of these.
    """

    def __init__(self, figures: RunFigures, traces: Sequence[RankTrace | None]) -> None:
        self._figures = figures
        traces = [one if figures.tied[number] else None for number, one in enumerate(traces)]
        self._traces = [one for one in traces if one is not None]
        self._graph = build_ranks(figures, traces)
        self.common = np.flatnonzero(self._windows()[2] >= 0)
        self._names, self._pieces = self._gathered()

    def steps(
        self, equalised: Sequence[int] | None = None, edits: Sequence[Edit] = ()
    ) -> tuple[Array, Array, Array]:
        """``(measured, replayed, predicted)`` length of each common step, ns, float64, launches as recorded.
        ``equalised``: indices of the ranks that take their ideal time, None all; ``edits``: further changes.
        """
        pieces = self._pieces
        chosen = np.ones(len(pieces.place), np.bool_)
        if equalised is not None:
            chosen = np.isin(self._graph.rank[pieces.place], equalised)
        nothing = np.zeros(len(chosen), np.bool_)
        return (
            self._lengths(),
            self._lengths(self._replay(nothing, True)),
            self._lengths(self._replay(chosen, True, edits)),
        )

    def as_fast(self, ranks: Sequence[int], steps: Ints | None = None) -> tuple[Ints, Array]:
        """``(step, saved)``: the common steps, and by how much each is shorter, ns, float64, if some ranks (indices) work
        no longer in it than the others do, in the common ``steps`` or all. Where another rank is nearly as slow, that one
        then holds the step.
        """
        factors = _excess_factors(self._graph, self._traces, self._figures, ranks, steps)
        before = self._lengths()
        replayed, changed = (
            self._lengths(self._replayed(own)) for own in ([None] * len(factors), factors)
        )
        left = np.divide(changed, replayed, out=np.ones(len(before)), where=replayed > 0)
        return self.common, before * np.maximum(1 - left, 0)

    def _replayed(self, factors: Sequence[_HostAndDevice | None]) -> list[Array]:
        """When the points of each rank come, on its own clock, where segments and work take so many times as long."""
        edited = []
        for own, one, factor in zip(self._graph.graphs, self._traces, factors, strict=True):
            durations = measured_durations(own, one.facts)
            if factor is not None:
                durations.segment *= factor.segment
                durations.work *= factor.work
            edited.append(durations)
        times = replay_ranks(self._graph, edited, self._graph.meetings.transfer)
        return [own - ahead for own, ahead in zip(times, self._graph.offset.tolist(), strict=True)]

    @property
    def step_names(self) -> list[str]:
        """Names of the common steps, as of ``steps``."""
        return [self._figures.steps.names[step] for step in self.common.tolist()]

    def slowdown(self) -> Slowdown:
        """How much longer the run takes than its ideal, without launches."""
        pieces = self._pieces

        def length(as_it_was: Mask) -> float:
            return float(self._lengths(self._replay(~as_it_was, False)).sum())

        nothing = np.zeros(len(pieces.place), np.bool_)
        ideal = max(length(nothing), 1.0)
        beyond = sum_floats(pieces.name, len(self._names), np.abs(pieces.actual - pieces.ideal))
        names = np.argsort(-beyond, kind="stable")[:MOST_NAMES]
        by_name = {
            self._names[name]: length(pieces.name == name) / ideal
            for name in names[beyond[names] > 0].tolist()
        }
        return Slowdown(
            length(~nothing) / ideal,
            {
                rank: length(pieces.place == place) / ideal
                for place, rank in enumerate(self._graph.rank.tolist())
            },
            dict(sorted(by_name.items(), key=lambda pair: -pair[1])),
        )

    def _replay(self, equalised: Mask, with_host: bool, edits: Sequence[Edit] = ()) -> list[Array]:
        """When the points of each rank come, on its own clock, if some pieces take their ideal time."""
        pieces, graph = self._pieces, self._graph
        factor = np.where(
            equalised & (pieces.actual > 0), pieces.ideal / np.maximum(pieces.actual, 1e-9), 1.0
        )
        edited = []
        for place, (own, one) in enumerate(zip(graph.graphs, self._traces, strict=True)):
            durations = measured_durations(own, one.facts)
            for edit in edits:
                edit(Scene(one.trace, one.facts, one.insight, own), durations)
            if edits:
                keep_before(own, one.facts, durations, measured_durations(own, one.facts))
            if not with_host:
                _without_launches(own, durations, bool(pieces.on_host.any()))
            mine = (pieces.place == place) & ~pieces.moves
            for side, target in ((False, durations.work), (True, durations.segment)):
                some = mine & (pieces.on_host == side)
                target[pieces.index[some]] *= factor[some]
            edited.append(durations)
        transfer = graph.meetings.transfer.copy()
        transfer[pieces.index[pieces.moves]] *= factor[pieces.moves]
        times = replay_ranks(graph, edited, transfer)
        return [own - ahead for own, ahead in zip(times, graph.offset.tolist(), strict=True)]

    def _lengths(self, times: Sequence[Array] | None = None) -> Array:
        """Length of each step that all ranks recorded; ``times``: of their points, as recorded without."""
        begin, end, _ = self._windows(times)
        return np.asarray(np.maximum(end - begin, 0))[self.common]

    def _windows(self, times: Sequence[Array] | None = None) -> tuple[Array, Array, Ints]:
        own = []
        for place, one in enumerate(self._traces):
            ahead, steps = float(self._graph.offset[place]), one.facts["steps"]
            start, end = steps["start"], steps["end"]
            if times is not None:
                found = step_times(self._graph.graphs[place], one.facts, times[place])
                start, end = found.start, found.end
            own.append((int(self._graph.rank[place]), start + ahead, end + ahead))
        return job_steps(self._figures.ranks, self._figures.steps, own)

    def _gathered(self) -> tuple[tuple[str, ...], Pieces]:
        """The names of all pieces, and the pieces."""
        texts = StringBuilder()
        graph, meetings = self._graph, self._graph.meetings
        computes = any(
            (~np.isin(np.arange(len(own.ends)), meetings.work[meetings.place == place])).any()
            for place, own in enumerate(graph.graphs)
        )
        columns: list[list[Array]] = [[] for _ in range(6)]
        moving = []
        for place, (one, own) in enumerate(zip(self._traces, graph.graphs, strict=True)):
            spans, work = one.trace["spans"], own.work
            met = meetings.place == place
            if computes:
                row, index = work.row, np.arange(len(work.row))
                length = (work.end - work.start).astype(np.float64)
                cause = device_causes(one.trace, one.facts, row)
                kept = cause != PathCause.COMMUNICATION
                kept[meetings.work[met]] = False
                step = own.step
            else:
                row, index = own.host.span.astype(np.int64), np.arange(len(own.host.span))
                length = own.host_time()
                kept = (row >= 0) & (length > 0) & ~np.isin(row, work.row)
                step = picked(one.facts["span_links"]["step"], row)
            row = np.concatenate((row[kept], work.row[meetings.work[met]]))
            step = np.concatenate((step[kept], own.step[meetings.work[met]])).astype(np.int64)
            used, inverse = np.unique(spans["name"][row], return_inverse=True)
            numbers = texts.intern_all([text or "" for text in one.trace.strings.many(used)])
            common = np.append(self._figures.steps.place[int(graph.rank[place])], -1)
            values = (
                np.full(len(row), place),
                np.array(numbers, np.int64)[inverse],
                common[step],
                np.concatenate((length[kept], meetings.transfer[met])),
                np.concatenate((index[kept], np.flatnonzero(met))),
            )
            for column, value in zip(columns, values, strict=False):
                column.append(value)
            moving.append(np.arange(len(row)) >= int(kept.sum()))
        none = np.zeros(0, np.int64)
        where, name, step, actual, index = (np.concatenate([none, *c]) for c in columns[:5])
        moves = np.concatenate([np.zeros(0, np.bool_), *moving])
        ranks = len(graph.graphs)
        computing = (
            _mean_of_like(ranks, where, name, step, actual, ~moves)
            if computes
            else _mean_of_hosts(ranks, where, step, actual, ~moves)
        )
        ideal = np.where(moves, self._typical_transfer(name, index, actual, moves), computing)
        on_host = np.full(len(where), not computes) & ~moves
        return tuple(texts.table().all()), Pieces(
            where, name, step, actual, ideal, index, on_host, moves
        )

    def _typical_transfer(self, name: Ints, index: Ints, actual: Array, moves: Mask) -> Array:
        """The median transfer of those of one name and size of message."""
        typical = actual.copy()
        rows = np.flatnonzero(moves)
        meetings = self._graph.meetings
        size = np.full(len(meetings.work), -1)
        recorded = meetings.match < len(self._figures.waits.last)
        for place, rank in enumerate(self._graph.rank.tolist()):
            own, met = self._figures.ranks[rank], recorded & (meetings.place == place)
            matches = self._figures.matched.matches
            entry = matches.of_rank(rank)
            row = matches.row[entry[positions_of(matches.match[entry], meetings.match[met])]]
            size[met] = np.array([key.bytes for key in own.sorts], np.int64)[own.sort[row]]
        first, group = group_rows((name[rows], size[index[rows]]))
        order = np.lexsort((actual[rows], group))
        bounds = np.searchsorted(group[order], np.arange(len(first) + 1))
        middle = rows[order[(bounds[:-1] + bounds[1:] - 1) // 2]]
        typical[rows] = actual[middle][group]
        return np.asarray(typical)


def _without_launches(graph: Graph, durations: Durations, host_computes: bool) -> None:
    """Launches and gaps take no time; the host neither, unless it is the host that computes."""
    if not host_computes:
        durations.segment[:] = 0
    durations.lead[graph.first[graph.ends] != ROOT] = 0
    durations.latency = np.zeros(len(durations.latency))
    durations.after = np.zeros(len(durations.after))


def _mean_of_like(
    ranks: int, place: Ints, name: Ints, step: Ints, actual: Array, chosen: Mask
) -> Array:
    """The mean of what is alike: where all ranks do something equally often in a step, the n-th of each; else all
    of the name.
    """
    mean = actual.copy()
    rows = np.flatnonzero(chosen & (step >= 0))
    if not len(rows):
        return np.asarray(mean)
    _, of_step = group_rows((step[rows], name[rows]))
    _, of_rank = group_rows((place[rows], of_step))
    count = np.bincount(of_rank)[of_rank]
    groups = int(of_step.max()) + 1
    least, most = np.full(groups, np.iinfo(np.int64).max), np.zeros(groups, np.int64)
    np.minimum.at(least, of_step, count)
    np.maximum.at(most, of_step, count)
    whole = np.bincount(of_step, minlength=groups) == most * ranks
    alike = ((least == most) & whole)[of_step]
    number = np.where(alike, occurrences(of_rank), -1)
    _, group = group_rows((np.where(alike, of_step, -1 - name[rows]), number))
    n = int(group.max()) + 1
    mean[rows] = (sum_floats(group, n, actual[rows]) / np.bincount(group, minlength=n))[group]
    return np.asarray(mean)


def _mean_of_hosts(ranks: int, place: Ints, step: Ints, actual: Array, chosen: Mask) -> Array:
    """Host time such that every rank's host works as long in a step as they do on average."""
    mean = actual.copy()
    rows = np.flatnonzero(chosen & (step >= 0))
    if len(rows):
        steps = int(step[rows].max()) + 1
        key = place[rows] * steps + step[rows]
        own = sum_floats(key, ranks * steps, actual[rows]).reshape(ranks, steps)
        whole = (own > 0).all(axis=0)
        factor = np.where(whole, own.mean(axis=0) / np.maximum(own, 1), 1.0)
        mean[rows] *= factor.ravel()[key]
    return np.asarray(mean)


def run_document(
    stragglers: Stragglers,
    ranks: Sequence[int | None],
    changes: Sequence[Applied],
) -> dict[str, Any]:
    """The prediction of a run without stragglers and with all other changes as plain values; times in integer ns, per
    step. ``ranks``: the rank of each index, as people call it.

    Raises:
        BadRequest: the change names a rank that the run does not have.
    """
    equalised = [number for applied in changes for number in _ranks(applied, ranks)]
    others = [applied for applied in changes if applied.change.name != "no-stragglers"]
    prediction = Prediction.of(*stragglers.steps(equalised, edits(others)))
    plain = prediction_document(prediction, changes, stragglers.step_names)
    slowdown = stragglers.slowdown()
    per_step = plain.pop("steps")
    return {
        **plain,
        "slowdown": slowdown.total,
        "by_worker": [
            {"rank": ranks[index], "slowdown": value} for index, value in slowdown.by_rank.items()
        ],
        "by_operation": [
            {"name": name, "slowdown": value} for name, value in slowdown.by_name.items()
        ],
        "steps": per_step,
    }


def _ranks(applied: Applied, ranks: Sequence[int | None]) -> list[int]:
    """Indices of the ranks that a change equalises."""
    if applied.change.name != "no-stragglers":
        return []
    wanted = applied.values["rank"]
    chosen = [i for i, rank in enumerate(ranks) if wanted in ("*", str(rank))]
    if not chosen:
        known = format_names([str(rank) for rank in ranks])
        raise BadRequest(f"The run has no rank {wanted!r}. It has: {known}.")
    return chosen


def _excess_factors(
    graph: RanksGraph,
    traces: Sequence[RankTrace],
    figures: RunFigures,
    ranks: Sequence[int],
    steps: Ints | None,
) -> list[_HostAndDevice | None]:
    """Of each rank that was read, what makes it work no longer than the others; None of those that are not among
    ``ranks`` (indices). ``steps``: the common steps in which, None all.

    By how much ranks work longer than the others, name by name.

    ::

        rank 0   forward 8 | mm 4              others: forward 8, smooth 0, mm 4
        rank 1   forward 8 | smooth 9 | mm 5   excess: smooth 9, mm 1; no more than all of it: 22 − 12 = 10

    Of what the ranks do under one name in a step the others' median is usual. Names of which a rank does less pay for those
    of which it does more: all of it shrinks to what all of the others take.
    """
    chosen = np.isin(graph.rank, list(ranks))
    found: list[_HostAndDevice | None] = [None] * len(traces)
    if not chosen.any() or chosen.all():
        return found
    done = _done(graph, traces, figures)
    factor = np.ones(len(done.time))
    counted = done.step >= 0 if steps is None else np.isin(done.step, steps)
    for on_host in (False, True):
        rows = np.flatnonzero(counted & (done.on_host == on_host))
        if len(rows):
            factor[rows] = _factors(done, rows, chosen)
    for place in np.flatnonzero(chosen).tolist():
        own = graph.graphs[place]
        segment, work = np.ones(len(own.host.span)), np.ones(len(own.work.row))
        for target, on_host in ((segment, True), (work, False)):
            mine = (done.place == place) & (done.on_host == on_host)
            target[done.index[mine]] = factor[mine]
        found[place] = _HostAndDevice(segment, work)
    return found


def _factors(done: _Done, rows: Ints, chosen: Mask) -> Array:
    """For pieces of one kind by how much they are shortened."""
    place, step, time = done.place[rows], done.step[rows], done.time[rows]
    ranks, others = len(chosen), np.flatnonzero(~chosen)
    _, like = group_rows((step, done.name[rows]))
    own, beyond = _beyond(ranks, others, place, like, time)
    _, of_step = group_rows((step,))
    total, most = _beyond(ranks, others, place, of_step, time)
    step_of = np.zeros(own.shape[1], np.int64)
    step_of[like] = of_step
    gains = np.stack([sum_floats(step_of, total.shape[1], one) for one in beyond])
    part = np.minimum(np.divide(most, gains, out=np.zeros(most.shape), where=gains > 0), 1.0)
    gone = beyond * part[:, step_of]
    left = 1 - np.divide(gone, own, out=np.zeros(own.shape), where=own > 0)
    return np.where(chosen[place], left[place, like], 1.0)


def _beyond(ranks: int, others: Ints, place: Ints, group: Ints, time: Array) -> tuple[Array, Array]:
    """``(time, time beyond the others' median)`` of each rank in each group, of shape (ranks, groups)."""
    groups = int(group.max(initial=-1)) + 1
    own = sum_floats(place * groups + group, ranks * groups, time).reshape(ranks, groups)
    return own, np.maximum(own - np.median(own[others], axis=0), 0)


def _done(graph: RanksGraph, traces: Sequence[RankTrace], figures: RunFigures) -> _Done:
    texts = StringBuilder()
    columns: list[tuple[Array, ...]] = []
    for place, (one, own) in enumerate(zip(traces, graph.graphs, strict=True)):
        spans, work = one.trace["spans"], own.work
        met = graph.meetings.work[graph.meetings.place == place]
        computes = device_causes(one.trace, one.facts, work.row) != PathCause.COMMUNICATION
        computes[met] = False
        device = np.flatnonzero(computes)
        span, host_time = own.host.span.astype(np.int64), own.host_time()
        host = np.flatnonzero((span >= 0) & (host_time > 0) & ~np.isin(span, work.row))
        row = np.concatenate((work.row[device], span[host]))
        step = np.concatenate((own.step[device], one.facts["span_links"]["step"][span[host]]))
        common = np.append(figures.steps.place[int(graph.rank[place])], -1)
        used, inverse = np.unique(spans["name"][row], return_inverse=True)
        names = [_ADDRESS.sub("", text or "") for text in one.trace.strings.many(used)]
        columns.append(
            (
                np.full(len(row), place),
                common[step],
                np.array(texts.intern_all(names), np.int64)[inverse],
                np.concatenate(((work.end - work.start)[device].astype(float), host_time[host])),
                np.arange(len(row)) >= len(device),
                np.concatenate((device, host)),
            )
        )
    return _Done(*map(np.concatenate, zip(*columns, strict=True)))
