"""All workers of a run with their insights, and what they tell together: who waits for whom.

::

    asked trace ─▶ companions (one span per worker) ─▶ index of each, made where it is missing ─▶
    ranks ─▶ figures
                                                         └─ not there yet: the fleet is told without
                                                         it
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from hashlib import sha256
from typing import Literal, Protocol

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.analysis.critical_path.blame import Blame, blames
from torch_tb_profiler.analysis.critical_path.ranks import RanksPath, RanksWalk, RankTrace
from torch_tb_profiler.analysis.critical_path.verdict import UNKNOWN, Verdict, verdict_of
from torch_tb_profiler.analysis.critical_path.waiting import with_waiting
from torch_tb_profiler.analysis.distributed.arrivals import (
    Arrivals,
    Latest,
    arrivals_of,
    latest_of_steps,
)
from torch_tb_profiler.analysis.distributed.rank import Rank, rank_of
from torch_tb_profiler.analysis.distributed.run import RunFigures, run_figures
from torch_tb_profiler.errors import NotReady, ProfilerError
from torch_tb_profiler.runs.aligned_run import nearest_spans
from torch_tb_profiler.runs.memo import Memo
from torch_tb_profiler.runs.model import Opened, OpenedInsight, OpenedRank, Span, State, Worker

MOST_RANKS = 2048
"""Workers of a run that are looked at together, those with the nearest ranks."""
MOST_SPANS = 1 << 22
"""Spans of the traces that the critical path through all ranks goes through, those of the longest steps first; of further
ranks it takes their own critical paths.
"""
GROWTH = 2
"""How many more ranks must be ready for another look at a run that is not complete."""
NEARLY = 0.999
MOST_FLEETS = 16
"""Fleets that are kept."""
MOST_MEMBERS = MOST_RANKS
"""Cached per-worker results: of the largest run, or of two of half its size."""
MemberState = Literal["ready", "waiting", "failed"]


class Source(Protocol):
    """What opens traces and insights: the catalogue."""

    def open(self, run: str, worker: str, span: str) -> Opened: ...
    def ask_ranks(
        self, run: str, names: Sequence[tuple[str, str]]
    ) -> list[OpenedRank | float | ProfilerError]: ...
    def ask_insight(self, run: str, worker: str, span: str) -> OpenedInsight | float: ...


class FleetMember(msgspec.Struct, frozen=True):
    """A worker and its span. When ready it has a ``rank``, and ``id`` names the content."""

    worker: Worker
    span: Span
    state: MemberState
    progress: float
    message: str
    id: str = ""
    rank: Rank | None = None


class Walk(msgspec.Struct, frozen=True, eq=False):
    """What goes through the traces of a run once somebody asks for the path; see ``RanksWalk``. An object of its own, as
    copies of a fleet share what was walked. ``kept``: that; ``cached_property`` would let no two runs be walked at once.
    """

    figures: RunFigures
    open_rank: Callable[[int], RankTrace | None]
    most_spans: int | None
    kept: Memo = msgspec.field(default_factory=partial(Memo, weighed=False))

    @property
    def path(self) -> RanksPath:
        """Through all ranks."""
        return self._walked[0]

    @property
    def _walked(self) -> tuple[RanksPath, RanksPath, Arrivals, list[Latest]]:
        """The paths to the end of each step and to where the latest rank came, and who that is."""

        def walked() -> tuple[RanksPath, RanksPath, Arrivals, list[Latest]]:
            walk = RanksWalk(self.figures, self.open_rank, self.most_spans)
            came = arrivals_of(self.figures)
            latest = latest_of_steps(came) if self.figures.whole else []
            return walk.paths(), walk.to_latest(latest), came, latest

        return self.kept.get("path", walked)

    @property
    def blames(self) -> tuple[Blame, ...]:
        """Who holds each step back; nobody a single rank."""
        if len(self.figures.ranks) < 2:
            return ()
        path, to_latest, came, latest = self._walked
        asked = self.figures, (path, to_latest), latest, came.settled, self.open_rank
        return self.kept.get("blames", lambda: blames(*asked))

    @property
    def verdict(self) -> Verdict:
        """Who holds the run back."""
        if not self.figures.whole or len(self.figures.ranks) < 2:
            return UNKNOWN
        asked = self.path, self.blames, self._walked[2], self.open_rank
        return self.kept.get("verdict", lambda: verdict_of(*asked))


class Fleet(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The workers of a run. ``place``: which member each rank of ``figures`` is. ``walk``: None until the fleet is complete,
    and nobody is blamed. ``open_rank``: the trace of a rank of ``figures``, None if it cannot be had.
    """

    members: tuple[FleetMember, ...]
    place: tuple[int, ...]
    figures: RunFigures
    workers_total: int
    walk: Walk | None
    open_rank: Callable[[int], RankTrace | None]

    @property
    def path(self) -> RanksPath | None:
        """Through all ranks; None until the fleet is complete."""
        return self.walk.path if self.walk else None

    @property
    def blames(self) -> tuple[Blame, ...]:
        """Who holds each step back; nobody until the fleet is complete."""
        return self.walk.blames if self.walk else ()

    @property
    def verdict(self) -> Verdict:
        """Who holds the run back; unknown until the fleet is complete."""
        return self.walk.verdict if self.walk else UNKNOWN

    @cached_property
    def id(self) -> str:
        """Short; differs for any two fleets of a run that differ, and for no others. Unlike the fleet itself it may be kept
        with what was made of it.
        """
        of_members = [
            (
                m.worker.name,
                m.span.name,
                m.worker.rank,
                m.worker.rank_source,
                m.state,
                m.message,
                m.id,
            )
            for m in self.members
        ]
        content = repr((of_members, self.workers_total, self.progress))
        return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:24]

    @property
    def ranks(self) -> list[FleetMember]:
        """Which member each rank of ``figures`` is."""
        return [self.members[number] for number in self.place]

    @property
    def names(self) -> list[tuple[str, str]]:
        """(worker, span) of each rank of ``figures``."""
        return [(member.worker.name, member.span.name) for member in self.ranks]

    def rank_of(self, opened: Opened) -> int:
        """The rank of ``figures`` that a trace is; −1 none, or not read yet."""
        own, names = (opened.worker.name, opened.span.name), self.names
        return names.index(own) if own in names else -1

    @property
    def complete(self) -> bool:
        """Whether nothing is awaited any more."""
        return all(member.state != "waiting" for member in self.members)

    @property
    def progress(self) -> float:
        """How far all of it is, 0 to 1 in thousandths; 1 only when nothing is awaited any more."""
        if self.complete:
            return 1.0
        done = sum(member.progress for member in self.members) / len(self.members)
        return min(round(done, 3), NEARLY)


class Fleets:
    """Fleets of the runs of a catalogue. What was made of a trace is kept by its content, a
    complete fleet as long as nothing in the catalogue changes.
    """

    def __init__(self, source: Source, most_spans: int | None = MOST_SPANS) -> None:
        """``most_spans``: None all."""
        self._source, self._most_spans = source, most_spans
        self._figures = Memo(MOST_FLEETS, weighed=False)
        self._whole = Memo(MOST_FLEETS, weighed=False)
        """(run, complete fleet) by (run, worker, span), as those below."""
        self._partial = Memo(MOST_FLEETS, weighed=False)
        self._members = Memo(MOST_MEMBERS, weighed=False)

    def of(self, asked: Opened) -> Fleet:
        """The fleet of a trace as far as it is ready; missing insights are made from now on."""
        if (complete := self.already_read(asked)) is not None:
            return complete
        workers = asked.beside
        members = self._members_of(asked, nearest_spans(workers, asked.worker, MOST_RANKS))
        figures = self._enough(asked, members)
        if figures is None:
            content = tuple((member.id, member.worker.rank) for member in members)
            figures = self._figures.get(
                (asked.run.name, content), lambda: self._fleet(asked, members)
            )
        fleet = replace(figures, members=members, workers_total=len(workers))
        if fleet.complete:
            self._whole.put(asked.key, (asked.run, fleet))
            self._partial.drop(asked.key)
        else:
            self._partial.put(asked.key, figures)
        return fleet

    def _enough(self, asked: Opened, members: Sequence[FleetMember]) -> Fleet | None:
        """What was told of fewer ranks while others are still awaited and not many more have come: so the figures of a large
        run are not computed for each of its ranks.
        """
        known: Fleet | None = self._partial.kept(asked.key)
        ready = sum(member.rank is not None for member in members)
        if known is None or all(member.state != "waiting" for member in members):
            return None
        same = len(known.members) == len(members) and all(
            (known.members[i].id, known.members[i].worker.rank)
            == (members[i].id, members[i].worker.rank)
            for i in known.place
        )
        return known if same and ready < GROWTH * len(known.place) else None

    def already_read(self, asked: Opened) -> Fleet | None:
        """All ranks beside a trace if each of them is known already; nothing is made now."""
        run, fleet = self._whole.kept(asked.key) or (None, None)
        # The catalogue gives the same run until anything of it changes.
        return fleet if run is asked.run else None

    def known_beside(self, asked: Opened) -> Fleet | None:
        """A fleet of which all is known already and that holds the asked trace, whoever it was made for."""
        fleets: list[Fleet] = [fleet for run, fleet in self._whole.results() if run is asked.run]
        return next((fleet for fleet in reversed(fleets) if fleet.rank_of(asked) >= 0), None)

    def with_waiting(self, insight: OpenedInsight) -> OpenedInsight:
        """An insight whose critical path tells waiting for other ranks apart, if these are known by now."""
        opened, fleet = insight.opened, self.already_read(insight.opened)
        if fleet is None or len(fleet.place) < 2 or (rank := fleet.rank_of(opened)) < 0:
            return insight
        told = opened.memoise(
            (insight.id, "waiting", fleet.id),
            lambda: with_waiting(opened.trace, opened.facts, insight.insight, fleet.figures, rank),
        )
        return replace(insight, insight=told)

    def _members_of(
        self, asked: Opened, wanted: Sequence[tuple[Worker, Span]]
    ) -> tuple[FleetMember, ...]:
        """Some workers and what their traces tell; only traces that are not known yet are asked for."""
        run, members = asked.run.name, dict[int, FleetMember]()
        for place, (worker, span) in enumerate(wanted):
            kept: FleetMember | None = self._members.kept((run, worker.name, span.name))
            if kept is not None and (kept.worker.rank, kept.span) == (worker.rank, span):
                members[place] = kept
        missing = [place for place in range(len(wanted)) if place not in members]
        names = [(wanted[place][0].name, wanted[place][1].name) for place in missing]
        found = self._source.ask_ranks(run, names) if names else []
        for place, name, answer in zip(missing, names, found, strict=True):
            members[place] = _member(*wanted[place], answer)
            if members[place].state == "ready":
                self._members.put((run, *name), members[place])
        return tuple(members[place] for place in range(len(wanted)))

    def _fleet(self, asked: Opened, members: Sequence[FleetMember]) -> Fleet:
        place = tuple(i for i, member in enumerate(members) if member.rank is not None)
        ranks = [member.rank for member in members if member.rank is not None]
        figures = run_figures(ranks)
        open_rank = partial(self._open_rank, asked, members, place)
        complete = all(member.state != "waiting" for member in members)
        walk = Walk(figures, open_rank, self._most_spans) if complete else None
        return Fleet(tuple(members), place, figures, len(members), walk, open_rank)

    def _open_rank(
        self, asked: Opened, members: Sequence[FleetMember], place: Sequence[int], rank: int
    ) -> RankTrace | None:
        member = members[place[rank]]
        try:
            insight = self._source.ask_insight(asked.run.name, member.worker.name, member.span.name)
        except ProfilerError:
            return None
        if not isinstance(insight, OpenedInsight):
            # Without it other figures would be told, and kept.
            raise NotReady("A rank is read again.", "Wait a moment.", progress=insight)
        if insight.id != member.id:
            return None
        return RankTrace(insight.opened.trace, insight.opened.facts, insight.insight)


def _member(worker: Worker, span: Span, answer: OpenedRank | float | ProfilerError) -> FleetMember:
    if isinstance(answer, ProfilerError):
        failed = span.state is State.FAILED and span.message
        return FleetMember(worker, span, "failed", 1.0, failed or answer.message)
    if not isinstance(answer, OpenedRank):
        return FleetMember(worker, span, "waiting", (span.progress + answer) / 2, "")
    # Asking may have been what made the catalogue see that a trace is ready, and what rank it has.
    rank = rank_of(answer.index, answer.worker.rank)
    return FleetMember(answer.worker, answer.span, "ready", 1.0, "", answer.id, rank)
