"""What steps take with changes: the graph replayed as measured and as changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of, places_in
from torch_tb_profiler.analysis.arrays.intervals import measure
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.critical_path.evidence import Evidence, gather
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths, stretches
from torch_tb_profiler.analysis.what_if.graph import NONE, build_graph
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.replay import (
    Delays,
    Durations,
    Edited,
    StepTimes,
    acted_on,
    before_steps,
    delays,
    keep_before,
    latest,
    measured_durations,
    step_times,
)
from torch_tb_profiler.analysis.what_if.simulated_path import Stretches, path_stretches
from torch_tb_profiler.analysis.what_if.stages import in_order
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import SLACK, PathCause
from torch_tb_profiler.store.model import Facts, Trace

Edit = Callable[[Scene, Durations], None]
"""Writes a change to the durations."""
SPREAD = (10, 90)
"""Percentiles of the predicted steps that a prediction's interval spans at least; see ``outcomes.py``."""


class _Chains(msgspec.Struct, frozen=True):
    """The points of a graph, chain by chain; a key point stands before its members.

    Replays without a step of Python per point: rows of points that follow each other are computed at once.

    ::

        host      k──L1──L2──L3──k                  k: a key point; the others are members of chains
                    ╲   ╲   ╲
        stream 7   k──E1──E2──E3                    E2 = max(k + lead to E2, host k + launch of E1 or E2 …)

    Each member of a chain comes ``after_key`` after the key point that begins the chain, or ``after_head`` after the one
    key point that all launches of the chain go back to, whichever is later. Both are sums and running maxima over arrays,
    so only key points are computed one by one: where threads or streams waited for each other.

    order: points, of shape (points,). place: where each point stands in ``order``. starts: where each chain
    begins, of shape (chains,); chain: of each place. keys: the key point of each chain, ascending. launched: places
    of members that wait for a second point, too; launches: the places of those. head: chain of the key
    point that these go back to, by chain; 0, that of ``NONE``, where there are none. long: begin and end of
    chains with such members, and others.
    """

    first: Ints
    second: Ints
    order: Ints
    place: Ints
    starts: Ints
    chain: Ints
    keys: Ints
    launched: Ints
    launches: Ints
    head: Ints
    long: list[list[int]]

    def replay(self, delay: Delays) -> Array:
        """When each point comes, ns, float64 of shape (points,)."""
        after_key = delay.first[self.order]
        after_key[self.starts] = 0
        np.cumsum(after_key, out=after_key)
        after_key -= after_key[self.starts][self.chain]
        after_head = np.full(len(after_key), -np.inf)
        after_head[self.launched] = (
            delay.second[self.order[self.launched]]
            + after_key[self.launches]
            - after_key[self.launched]
        )
        for begin, end in self.long:
            np.maximum.accumulate(after_head[begin:end], out=after_head[begin:end])
        after_head += after_key
        at = np.array(self._key_times(delay, after_key, after_head))
        after_key += at[self.chain]
        after_head += at[self.head][self.chain]
        time = np.empty(len(self.order))
        time[self.order] = np.maximum(after_key, after_head)
        return time

    def _key_times(self, delay: Delays, after_key: Array, after_head: Array) -> list[float]:
        """When each key point comes: after the key points and heads of the chains of what it waits for."""
        columns: list[list[float]] = []
        for point, after in ((self.first, delay.first), (self.second, delay.second)):
            place, own = self.place[point[self.keys[2:]]], after[self.keys[2:]]
            chain = self.chain[place]
            # The head may come after the key point of the chain, but it comes before each member.
            head = np.where(place > self.starts[chain], self.head[chain], 0)
            for key, later in ((chain, after_key[place]), (head, after_head[place])):
                columns += [key.tolist(), (later + own).tolist()]
        time = [-np.inf, 0.0]
        # Plain numbers of Python: one by one they are far quicker than elements of arrays.
        for a, after_a, b, after_b, c, after_c, d, after_d in zip(*columns, strict=True):
            latest = time[a] + after_a
            if (other := time[b] + after_b) > latest:
                latest = other
            if (other := time[c] + after_c) > latest:
                latest = other
            if (other := time[d] + after_d) > latest:
                latest = other
            time.append(latest)
        return time


class Prediction(msgspec.Struct, frozen=True):
    """Steps with changes; float64 of shape (steps,), ns.

    measured: wall time. replayed: of the graph as recorded. predicted: of the graph as changed, times measured ÷
    replayed.
    """

    measured: Array
    replayed: Array
    predicted: Array

    @classmethod
    def of(cls, measured: Array, replayed: Array, simulated: Array) -> Prediction:
        """From what was simulated without and with changes."""
        scale = np.divide(measured, replayed, out=np.ones(len(measured)), where=replayed > 0)
        return cls(measured, replayed, simulated * scale)

    @property
    def error(self) -> float:
        """Share by which the replay misses the measured time of all steps."""
        measured = float(self.measured.sum())
        return float(self.replayed.sum()) / measured - 1 if measured else 0.0


class Simulation:
    """A trace that can be replayed with changes; ``measured``: what lasts how long without any."""

    def __init__(
        self,
        trace: Trace,
        facts: Facts,
        insight: Insight,
        peaks_file: str = "",
        evidence: Evidence | None = None,
    ) -> None:
        evidence = evidence or gather(trace, facts, insight["collectives"])
        graph = build_graph(trace, facts, evidence)
        self.scene = Scene(trace, facts, insight, graph, peaks_file)
        self._chains = find_chains(graph.first, graph.second)
        self._before = before_steps(graph, facts)
        self.measured = measured_durations(graph, facts)
        # Where what a device did is unknown it may have been busy: nothing shortens that time.
        missing = stretches(facts["unrecorded_work"])
        self._unknown = np.zeros(0)
        if len(missing.start):
            unknown = measure(missing, graph.host.start, graph.host.end)
            self._unknown = np.minimum(unknown, graph.host.lengths)
        self._between = graph.between(self.measured.segment)
        self._base = self.replay(self.measured)
        self._lengths: dict[str, Ints] = {}

    def changed(self, edits: Sequence[Edit]) -> Durations:
        """What lasts how long with all changes at once."""
        edited = Edited(self.measured)
        # What a profiler does itself is nothing to save.
        for edit in in_order(edits) if self.scene.has_program else ():
            edit(self.scene, edited)
        keep_before(self._before, edited, self.measured)
        if self._unknown.any() and "segment" in vars(edited):
            edited.segment = np.maximum(edited.segment, self._unknown)
        return edited.changed()

    def predict(self, edits: Sequence[Edit], steps: Ints) -> tuple[Prediction, Array]:
        """Some steps (rows of steps) with all changes at once; and what the changed steps are spent on, by
        ``PathCause``, ns, float64.
        """
        durations = self.changed(edits)
        delay, time, changed = self.replay(durations) if edits else self._base
        base, table = self._base[2], self.scene.facts["steps"]
        earlier = table["earlier"][steps]
        told = (changed.end - changed.start)[steps]
        simulated = np.maximum(told, self._least(durations)[steps]) if edits else told
        prediction = Prediction.of(
            step_lengths(table)[steps].astype(np.float64),
            np.maximum((base.end - base.start)[steps] - earlier, 0),
            np.maximum(simulated - earlier, 0),
        )
        path = _path(
            path_stretches(self.scene, delay, time, changed, steps, durations), changed, steps
        )
        return prediction, path * (simulated.sum() / max(float(told.sum()), 1.0))

    def step_lengths(self, change: str, edits: Sequence[Edit]) -> Ints | None:
        """Length of every step with a change, ns; None where it changes nothing."""
        durations = self.changed(edits)
        if not durations.differs:
            return None
        return self.lengths(durations, change)

    def lengths(self, durations: Durations, change: str | None = None, capped: bool = True) -> Ints:
        """Length of every step if things last so long, ns. ``change``: the one that made them last so long, as
        ``whatif`` takes it; each is replayed once. capped: no step is shorter by more than what was changed in it; else
        what ran ahead of its step counts in a later one.
        """
        if change in self._lengths:
            return self._lengths[change]
        lengths = _lengths(self.replay(durations)[2])
        if capped:
            lengths = np.maximum(lengths, np.rint(self._least(durations)).astype(np.int64))
        if change is not None:
            self._lengths[change] = lengths
        return lengths

    @property
    def replayed(self) -> Ints:
        """Length of every step without a change, ns."""
        return _lengths(self._base[2])

    def slack_table(self) -> Table:
        """The table ``slack``."""
        graph = self.scene.graph
        delay, time, steps = self._base
        left = latest(graph, delay, steps)
        arrival = time[graph.first[graph.hosts]] + delay.first[graph.hosts]
        on_host = left[graph.hosts] - np.where(np.isfinite(arrival), arrival, time[graph.hosts])
        spans, work = self.scene.trace["spans"], graph.work
        track = np.concatenate((graph.points.track, spans["track"][work.row]))
        when = np.concatenate((graph.points.reach, work.end))
        slack = np.concatenate((on_host, left[graph.ends] - time[graph.ends]))
        order = np.lexsort((when, track))
        slack = np.where(np.isfinite(slack), np.maximum(slack, 0), -1)[order]
        return SLACK.build(
            track=track[order], time=when[order], slack=np.rint(slack).astype(np.int64)
        )

    def _least(self, durations: Durations) -> Array:
        """How long each step lasts at least if things last so long: none is shorter by more than what was changed in it, ns."""
        base, graph = self._base[2], self.scene.graph
        changed = acted_on(graph, self.scene.facts, self.measured, durations)
        return np.asarray(base.end - base.start - changed)

    def replay(self, durations: Durations) -> tuple[Delays, Array, StepTimes]:
        """Delays, when each point comes, ns, and the steps if things last so long."""
        graph, facts = self.scene.graph, self.scene.facts
        same = durations.segment is self.measured.segment
        delay = delays(graph, durations, self._between if same else None)
        time = self._chains.replay(delay)
        return delay, time, step_times(graph, facts, time, durations.floor)


def _lengths(times: StepTimes) -> Ints:
    return np.asarray(np.rint(times.end - times.start), np.int64)


def _path(stretches: Stretches, times: StepTimes, steps: Ints) -> Array:
    """What the changed steps are spent on, by ``PathCause``."""
    length = stretches.end - stretches.start
    total = np.bincount(stretches.cause, length, len(PathCause))
    wall = times.end[steps] - times.start[steps]
    total[PathCause.NOT_RECORDED] += max(float(wall.sum() - total.sum()), 0.0)
    return np.asarray(total)


def find_chains(first: Ints, second: Ints) -> _Chains:
    """The chains of a graph; ``first``, ``second``: as of ``Graph``.

    Members wait for their ``first`` alone; or for a second point, too, where that does so back to
    the same key point as for the member before.
    """
    n = len(first)
    alone = second == NONE
    plain = _heirs(first, alone & (first != NONE))
    leads = mask_of(n, first[plain])
    some = ~(alone | leads | alone[first] | leads[first]) & alone[second]
    launched = _heirs(first, some)
    head = np.where(launched, nearest(first, ~plain)[second], NONE)
    launched &= ~launched[first] | (head == head[first])
    key = ~(plain | launched)
    order = np.argsort(nearest(first, key), kind="stable")
    place = places_in(n, order)
    keys = np.flatnonzero(key)
    starts = place[keys]
    chain = np.repeat(np.arange(len(keys)), np.diff(starts, append=n))
    member = np.flatnonzero(launched)
    of_chain = np.zeros(len(keys), np.int64)
    of_chain[chain[place[member]]] = chain[place[head[member]]]
    ends = np.append(starts[1:], n)
    # A single member has none before it.
    several = np.bincount(chain[place[member]], minlength=len(keys)) > 0
    long = np.flatnonzero(several & (ends - starts > 2))
    return _Chains(
        first=first,
        second=second,
        order=order,
        place=place,
        starts=starts,
        chain=chain,
        keys=keys,
        launched=place[member],
        launches=place[second[member]],
        head=of_chain,
        long=np.stack((starts[long], ends[long]), axis=1).tolist(),
    )


def _heirs(first: Ints, some: Mask) -> Mask:
    """Of ``some`` points that follow the same one, one: if possible, one that others follow."""
    followed = mask_of(len(first), first)
    heir = np.zeros(len(first), np.int64)
    for part in (some & ~followed, some & followed):
        row = np.flatnonzero(part)
        heir[first[row]] = row
    return np.asarray(some & (heir[first] == np.arange(len(first))))
