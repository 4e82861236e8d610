"""What a run would take without its stragglers.

Ideal durations, slowdown and what single ranks and operations add to it are defined as by StragglerAnalysis (Lin et
al., OSDI 2025): computation takes the mean of its like, a transfer the median of its like, and launches take no time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    group_rows,
    occurrences,
    sum_floats,
)
from torch_tb_profiler.analysis.critical_path.device import device_causes
from torch_tb_profiler.analysis.critical_path.ranks import RankTrace
from torch_tb_profiler.analysis.distributed.arrivals import arrivals_of
from torch_tb_profiler.analysis.distributed.matching import message_sizes
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.distributed.steps import job_steps
from torch_tb_profiler.analysis.what_if.changes import Applied
from torch_tb_profiler.analysis.what_if.graph import ROOT, Graph
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.ranks import build_ranks, replay_ranks
from torch_tb_profiler.analysis.what_if.replay import (
    Durations,
    Edited,
    before_steps,
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
from torch_tb_profiler.units import format_count, format_names, format_share

WORST_REPLAY = 0.1
"""Share of a step by which its replay may miss what was measured; it is not used of a step that it misses by more."""
LEAST_RANKS = 2
"""Fewer have nothing to be compared with."""
MOST_NAMES = 20
"""Operations that are put back one by one: those that differ most from their ideal."""


class Pieces(msgspec.Struct, frozen=True):
    """What the ranks compute, and what they transfer: arrays of shape (pieces,).

    place: index of the rank among those that were read. name: number of its name. step: common step, −1 outside.
    actual, ideal: ns, float64. index: position among the device work of its rank, or the meetings (``moves``).
    """

    place: Ints
    name: Ints
    step: Ints
    actual: Array
    ideal: Array
    index: Ints
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
        measured, replayed = self._unchanged
        nobody = np.zeros(len(chosen), np.bool_)
        predicted, as_slow = (
            self._lengths(self._replay(one, True, edits)) for one in (chosen, nobody)
        )
        ranks = range(len(self._figures.ranks)) if equalised is None else equalised
        waited = np.array([self._held[rank] for rank in ranks]).sum(axis=0)
        left = (1 - np.minimum(waited / np.maximum(measured, 1), 1)) * as_slow
        return measured, replayed, np.where(self.used, predicted, left)

    @cached_property
    def _unchanged(self) -> tuple[Array, Array]:
        """``(measured, replayed)`` length of each common step, ns."""
        nothing = np.zeros(len(self._pieces.place), np.bool_)
        return self._lengths(), self._lengths(self._replay(nothing, True))

    @cached_property
    def used(self) -> Mask:
        """In which steps the replay is used; of the others what the ranks waited for each other tells. Of hosts alone in none: what
        holds them up, such as a lock or a sleep, need not be work that others do, too.
        """
        measured, replayed = self._unchanged
        right = np.abs(replayed - measured) <= WORST_REPLAY * measured
        return np.asarray(right & self._computes)

    @cached_property
    def _held(self) -> Array:
        """How long the others waited for each rank in each common step, ns, of shape (ranks, steps)."""
        came, every = arrivals_of(self._figures), range(len(self._figures.ranks))
        return np.array([came.held(np.array([rank]))[self.common] for rank in every])

    @property
    def step_names(self) -> list[str]:
        """Names of the common steps, as of ``steps``."""
        return [self._figures.steps.names[step] for step in self.common.tolist()]

    def slowdown(self) -> Slowdown:
        """How much longer the run takes than its ideal, without launches."""
        pieces = self._pieces
        if not self.used.any():
            whole = float(self._unchanged[0].sum())
            ideal = max(whole - float(self._held.sum()), 1.0)
            by_rank = {
                rank: 1 + float(self._held[rank].sum()) / ideal
                for rank in self._graph.rank.tolist()
            }
            return Slowdown(whole / ideal, by_rank, {})

        def length(as_it_was: Mask) -> float:
            return float(self._lengths(self._replay(~as_it_was, False))[self.used].sum())

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
            measured = measured_durations(own, one.facts)
            durations = Edited(measured)
            for edit in edits:
                edit(Scene(one.trace, one.facts, one.insight, own), durations)
            if edits:
                keep_before(before_steps(own, one.facts), durations, measured)
            if not with_host:
                _without_launches(own, durations)
            mine = (pieces.place == place) & ~pieces.moves
            durations.work[pieces.index[mine]] *= factor[mine]
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
        columns: list[list[Array]] = [[] for _ in range(5)]
        moving = []
        for place, (one, own) in enumerate(zip(self._traces, graph.graphs, strict=True)):
            spans, work = one.trace["spans"], own.work
            met = meetings.place == place
            length = (work.end - work.start).astype(np.float64)
            kept = device_causes(one.trace, one.facts, work.row) != PathCause.COMMUNICATION
            kept[meetings.work[met]] = False
            at = np.concatenate((np.flatnonzero(kept), meetings.work[met]))
            row, step = work.row[at], own.step[at].astype(np.int64)
            used, inverse = np.unique(spans["name"][row], return_inverse=True)
            numbers = texts.intern_all([text or "" for text in one.trace.strings.many(used)])
            common = np.append(self._figures.steps.place[int(graph.rank[place])], -1)
            values = (
                np.full(len(row), place),
                np.array(numbers, np.int64)[inverse],
                common[step],
                np.concatenate((length[kept], meetings.transfer[met])),
                np.concatenate((np.flatnonzero(kept), np.flatnonzero(met))),
            )
            for column, value in zip(columns, values, strict=True):
                column.append(value)
            moving.append(np.arange(len(row)) >= int(kept.sum()))
        none = np.zeros(0, np.int64)
        where, name, step, actual, index = (np.concatenate([none, *c]) for c in columns)
        moves = np.concatenate([np.zeros(0, np.bool_), *moving])
        computing = _mean_of_like(len(graph.graphs), where, name, step, actual, ~moves)
        ideal = np.where(moves, self._typical_transfer(name, index, actual, moves), computing)
        return tuple(texts.table().all()), Pieces(where, name, step, actual, ideal, index, moves)

    @property
    def _computes(self) -> bool:
        """Whether a device computes."""
        return bool((~self._pieces.moves).any())

    def _typical_transfer(self, name: Ints, index: Ints, actual: Array, moves: Mask) -> Array:
        """The median transfer of those of one name and size of message."""
        typical = actual.copy()
        rows = np.flatnonzero(moves)
        meetings = self._graph.meetings
        size = np.full(len(meetings.work), -1)
        matches = self._figures.matched.matches
        sizes = matches.reduced(np.maximum, message_sizes(self._figures.ranks, matches))
        recorded = meetings.match < len(sizes)
        size[recorded] = sizes[meetings.match[recorded]]
        first, group = group_rows((name[rows], size[index[rows]]))
        order = np.lexsort((actual[rows], group))
        bounds = np.searchsorted(group[order], np.arange(len(first) + 1))
        middle = rows[order[(bounds[:-1] + bounds[1:] - 1) // 2]]
        typical[rows] = actual[middle][group]
        return np.asarray(typical)


def _without_launches(graph: Graph, durations: Durations) -> None:
    """Launches, gaps and the host take no time."""
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
        "not_replayed": int((~stragglers.used).sum()),
        "slowdown": slowdown.total,
        "by_worker": [
            {"rank": ranks[index], "slowdown": value} for index, value in slowdown.by_rank.items()
        ],
        "by_operation": [
            {"name": name, "slowdown": value} for name, value in slowdown.by_name.items()
        ],
        "steps": per_step,
    }


def not_replayed_text(steps: int, of: int) -> str:
    """Of which steps the replay is not used; empty where it is of all."""
    if not steps:
        return ""
    return (
        f"In {format_count(steps)} of {format_count(of)} steps what the ranks waited for each other counts, not the replay: it"
        f" misses the measured time by more than {format_share(WORST_REPLAY)}, or hosts alone compute."
    )


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
