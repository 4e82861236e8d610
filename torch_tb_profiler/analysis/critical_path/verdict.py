"""One verdict on the ranks of a run: who holds the others back, and whether always, once, or because of its input.

==============  ================================================================================================
unknown         not all ranks of the groups were read, or nothing ties them: nobody is named
straggler       the same ranks hold most steps back, more often than chance would have it
input           the ranks that are given more than the others do, always the same or each time others
none            nobody does for long
==============  ================================================================================================

Beside any of these, single steps are told apart that a rank holds back which else does not (``once``): these are not
averaged over the others. All views, findings and commands say what this says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import comb
from typing import Literal

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.critical_path.blame import Blame, to_blame
from torch_tb_profiler.analysis.critical_path.rank_workloads import (
    Given,
    Unequal,
    rank_workloads,
    unequal,
)
from torch_tb_profiler.analysis.critical_path.ranks import RanksPath, RankTrace
from torch_tb_profiler.analysis.distributed.arrivals import Arrivals
from torch_tb_profiler.analysis.distributed.measures import step_times
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.distributed.slow_links import SlowLink, late_start, slow_links
from torch_tb_profiler.analysis.facts.step_kinds import odd_limit
from torch_tb_profiler.analysis.figures.median_step import middle
from torch_tb_profiler.analysis.figures.selection import recurring
from torch_tb_profiler.store.columns import Array, Ints, Mask

VerdictKind = Literal["unknown", "none", "straggler", "input"]
WORTH = 0.02
"""Share of the steps from which on it is said who holds them back."""
PLAIN = 0.1
"""Share of each of a few steps from which on these need no more."""
SHARED = 2.0
"""Ranks that share a processor do the same work so many times as long as others at most: each gets its part."""
RECURS = 3
"""Steps from which on it can recur that the same ranks hold them back."""
MOST_EVENTS, MOST_KINDS = 5, 3
"""Of the collectives at which a rank waits, those that are told."""
CHANCE = 0.05
"""How likely equal ranks may seem to have a straggler."""
DRAWS, DRAWN_STEPS = 4096, 256
"""So often it is drawn who came last in each of so many steps at most, to tell how often chance has a rank come as late."""


class Hold(msgspec.Struct, frozen=True):
    """Who holds some steps back. ranks: indices. steps: common steps, ascending.

    held: ns of each of all common steps, float64; of one that is not in ``steps`` 0. What the others waited for these ranks
    beyond the next-latest: that one then holds the step.
    worst: the blame that costs most. why: what these ranks are given more than the others; None the same.
    times: how many times as long what takes longer does on these ranks; infinite where the others do not do it.
    varies: whether it is now one, now another of them.
    """

    ranks: tuple[int, ...]
    steps: tuple[int, ...]
    held: Array
    worst: Blame
    why: Unequal | None = None
    times: float = 1.0
    varies: bool = False

    @property
    def each(self) -> float:
        """Mean of its steps, ns."""
        return float(self.held[list(self.steps)].mean())


class Wait(msgspec.Struct, frozen=True):
    """A rank that waits. time: how long in each common step, and length: of its own, ns; −1 where it has none. usual: of the two,
    in the step of median length. meetings: collectives per step at which it waits; events, kinds: rows of spans of those where it
    waits longest, and their kinds, the most frequent first.
    """

    rank: int
    time: Array
    length: Ints
    usual: tuple[float, float]
    meetings: float
    events: tuple[int, ...]
    kinds: tuple[str, ...]


class Verdict(msgspec.Struct, frozen=True):
    """judged: the common steps whose path is known. length: of the path of each common step through all ranks, ns.

    hold: who holds back most of them, or those of which the input is largest. once: who holds back single ones, the
    worst first. varying: ns by which now one, now another rank holds back the median one of the regular steps. uneven: who is given most
    and least input in all, and how many times as much. links: between whom transfers are slow. late: who begins the
    first step late, and by how much, ns. waiting: how long each rank waits for others in each common step with nothing beside
    it, ns, float64 of shape (ranks, steps). stages: of a pipeline, that wait for each other for long. turns: ranks of which within
    a step now one, now another comes last; what even the one that waits least would not wait if they met once in it.
    part: half of the ranks or more that come later than the others.
    """

    kind: VerdictKind
    judged: Ints
    length: Array
    hold: Hold | None = None
    once: tuple[Hold, ...] = ()
    varying: float = 0.0
    uneven: tuple[int, int, float] | None = None
    links: tuple[SlowLink, ...] = ()
    late: tuple[int, float] | None = None
    waiting: Array | None = None
    stages: tuple[Wait, ...] = ()
    turns: tuple[Wait, ...] = ()
    part: tuple[int, ...] = ()

    @property
    def regular(self) -> list[int]:
        """The judged steps that nobody holds back once."""
        apart = {step for hold in self.once for step in hold.steps}
        return [step for step in self.judged.tolist() if step not in apart]

    @property
    def median(self) -> int | None:
        """The step that speaks for the regular ones, of those that somebody holds back where most are: of median length."""
        steps = [s for s in self.regular if self.hold is None or s in self.hold.steps]
        steps = steps or self.regular
        return steps[middle(self.length[steps])] if steps else None

    @property
    def usual(self) -> float:
        """How long that step is, ns."""
        return 0.0 if self.median is None else float(self.length[self.median])

    @property
    def per_step(self) -> float:
        """What of that is held back, ns."""
        if self.hold is None or self.median is None:
            return 0.0
        return float(self.hold.held[self.median])


UNKNOWN = Verdict("unknown", np.zeros(0, np.int64), np.zeros(0))
"""Of a run of which too little is known."""


def verdict_of(
    path: RanksPath,
    blames: Sequence[Blame],
    came: Arrivals,
    open_rank: Callable[[int], RankTrace | None],
) -> Verdict:
    """The verdict on a complete run."""
    found, figures = _who(path, blames, came, open_rank), came.figures
    if found is UNKNOWN:
        return found
    links = [link for link in slow_links(figures) if link.lost >= WORTH * found.usual]
    waiting = came.waiting()
    stages = _waits(came, came.waiting(of_stages=True), found.judged, WORTH)
    turns = np.where(figures.tied[:, None], waiting[figures.tied].min(axis=0), 0)
    return replace(
        found,
        links=tuple(links),
        late=late_start(figures, found.usual),
        waiting=waiting,
        stages=stages,
        turns=() if stages else _waits(came, turns, found.judged, PLAIN),
    )


def _waits(came: Arrivals, time: Array, judged: Ints, least: float) -> tuple[Wait, ...]:
    """The ranks that wait for that share of their steps at ``least``; ``time``: ns in each common step, of shape (ranks, steps)."""
    lengths, matches = step_times(came.figures), came.figures.matched.matches
    found = []
    for rank in np.flatnonzero(time.any(axis=1)).tolist():
        steps = judged[lengths[rank, judged] > 0]
        if len(steps):
            at = steps[middle(lengths[rank, steps])]
            usual = float(np.median(time[rank, steps])), float(lengths[rank, at])
            if usual[0] >= least * usual[1]:
                entry, at_step = came.meetings(rank)
                entry, at_step = entry[np.isin(at_step, steps)], at_step[np.isin(at_step, steps)]
                often = float(np.median(np.bincount(at_step, minlength=len(lengths[rank]))[steps]))
                kinds = Counter(
                    matches.labels[n].kind for n in matches.label[matches.match[entry]].tolist()
                )
                events = came.figures.ranks[rank].event[matches.row[entry[:MOST_EVENTS]]].tolist()
                told = tuple(kind for kind, _ in kinds.most_common(MOST_KINDS))
                found.append(
                    Wait(rank, time[rank], lengths[rank], usual, often, tuple(events), told)
                )
    return tuple(found)


def _who(
    path: RanksPath,
    blames: Sequence[Blame],
    came: Arrivals,
    open_rank: Callable[[int], RankTrace | None],
) -> Verdict:
    """Who holds the steps back."""
    figures, length = came.figures, path.stop - path.begin
    judged = np.flatnonzero((length > 0) & _speaks(figures, open_rank))
    if len(judged) > 1 and judged[-1] in came.settled:
        # Who falls behind in the last one was not recorded.
        judged = judged[:-1]
    if not len(judged):
        return UNKNOWN
    ranks = int(figures.tied.sum())
    blames = [blame for blame in blames if blame.step in judged]
    typical, limit = odd_limit(length[judged])
    odd = _odd(blames, length, typical, limit)
    often = next((hold for hold in odd if _recurs(hold, odd, ranks, typical)), None)
    once = tuple(hold for hold in odd if hold is not often)
    if 4 * sum(len(hold.steps) for hold in once) > len(judged):
        once = ()
    apart = {step for hold in once for step in hold.steps}
    rest = [blame for blame in blames if blame.step not in apart]
    usual = np.array([step for step in judged.tolist() if step not in apart], np.int64)
    always = _always(rest, usual, length, came) or often
    once = tuple(_after(hold, length, typical) for hold in once)
    part: tuple[int, ...] = ()
    if always is not None and 2 * len(always.ranks) >= ranks > 2:
        # What half of the ranks do longer is their part of the job.
        part, always = always.ranks, None
    given = rank_workloads(figures, open_rank, always.ranks if always else ())
    if always is not None:
        why = unequal(given, always.ranks, always.steps, always.worst.parts)
        always = replace(always, why=why, times=_times(figures, always))
        given_more = always.why is not None and always.why.is_shared
        if given_more:
            # What one rank is given less another has more: all end at the mean.
            always = replace(always, held=always.held * (1 - len(always.ranks) / ranks))
        if _share(always, usual, length) >= WORTH:
            kind: VerdictKind = "input" if given_more else "straggler"
            return Verdict(kind, judged, length, always, once)
    shared = _by_input(rest, usual, length, given, ranks)
    if shared is not None:
        return Verdict("input", judged, length, shared, once)
    by_step = np.zeros(len(length))
    for blame in rest:
        by_step[blame.step] = blame.held
    held = float(np.median(by_step[usual])) if len(usual) else 0.0
    return Verdict("none", judged, length, None, once, held, given.uneven(usual), part=part)


def _speaks(figures: RunFigures, open_rank: Callable[[int], RankTrace | None]) -> Mask:
    """The common steps that speak for the program, as far as the first rank that can be read tells; all if none does."""
    speaks = np.ones(len(figures.steps.names), np.bool_)
    for number in np.flatnonzero(figures.tied).tolist():
        opened = open_rank(number)
        if opened is None:
            continue
        place, own = figures.steps.place[number], recurring(opened.facts)
        if own.any():
            known = place >= 0
            speaks[place[known]] = own[: len(place)][known]
        break
    return speaks


def _hold(ranks: Sequence[int], blames: Sequence[Blame], steps: int) -> Hold:
    held = np.zeros(steps)
    for blame in blames:
        held[blame.step] = blame.held
    worst = max(blames, key=lambda blame: blame.held)
    return Hold(tuple(ranks), tuple(sorted(blame.step for blame in blames)), held, worst)


def _share(hold: Hold, steps: Ints, length: Ints) -> float:
    """Of those steps."""
    return float(hold.held[steps].sum()) / max(int(length[steps].sum()), 1)


def _always(blames: Sequence[Blame], steps: Ints, length: Ints, came: Arrivals) -> Hold | None:
    """The ranks that hold most of some steps back for a part worth telling, more often than chance has it."""
    worth = [blame for blame in blames if blame.held >= WORTH * length[blame.step]]
    groups: list[tuple[set[int], list[Blame]]] = []
    for blame in sorted(worth, key=lambda blame: -blame.held):
        own = next((group for group in groups if blame.rank in group[0]), None)
        if own is None:
            groups.append(({blame.rank, *blame.also}, [blame]))
        else:
            own[0].update((blame.rank, *blame.also))
            own[1].append(blame)
    if not groups:
        return None
    _, most = max(groups, key=lambda group: len(group[1]))
    named = to_blame(most) or [most[0].rank]
    most = [blame for blame in most if not {blame.rank, *blame.also}.isdisjoint(named)]
    if 2 * len(most) <= len(steps):
        return None
    plain = len(most) == len(steps) and all(
        blame.held >= PLAIN * length[blame.step] for blame in most
    )
    ranks = int(came.figures.tied.sum())
    chance = by_chance(len(most), len(steps), ranks, len(named))
    # Two tests have two occasions to err.
    if not plain and 2 * min(chance, _by_lateness(came, named, steps)) > CHANCE:
        return None
    hold, waited = _hold(named, most, len(length)), came.held(np.array(named))
    own = came.waiting()[named][:, hold.steps].min(axis=0)
    if 2 * np.median(own) >= np.median(hold.held[list(hold.steps)]):
        # Within a step now these, now the others come last.
        return None
    for blame in most:
        if blame.waits:
            hold.held[blame.step] = waited[blame.step]
    return hold


def _by_lateness(came: Arrivals, named: Sequence[int], steps: Ints) -> float:
    """How likely one of the ranks, were they equal, comes as late in all as the named one does; 1 of several."""
    late = np.maximum(came.figures.waiting["late"][came.figures.tied], 0)[:, steps[:DRAWN_STEPS]]
    if len(named) > 1:
        return 1.0
    place = int(came.figures.tied[: named[0]].sum())
    # A single step that is far later than all others is no proof of more than itself.
    late = np.delete(late, late[place].argmax(), axis=1) if late.shape[1] > 1 else late
    drawn = np.random.default_rng(0).integers(len(late), size=(DRAWS, late.shape[1]))
    as_late = late[drawn, np.arange(late.shape[1])].sum(axis=1) >= late[place].sum() - 1
    return float(len(late) * (1 + as_late.sum()) / (1 + DRAWS))


def by_chance(often: int, steps: int, ranks: int, named: int = 1) -> float:
    """How likely one of some equal ranks (or sets of so many of them) is last ``often`` times or more in so many steps."""
    share = min(named / max(ranks, 1), 1.0)
    tail = sum(
        comb(steps, k) * share**k * (1 - share) ** (steps - k) for k in range(often, steps + 1)
    )
    return min(tail * max(ranks, 1) / named, 1.0)


def _times(figures: RunFigures, hold: Hold) -> float:
    """How many times as long work of the kind that takes longest does on the ranks that hold back as on the others."""
    parts = hold.worst.parts
    if not parts:
        return 1.0
    time = np.zeros(len(figures.ranks))
    for number, own in enumerate(figures.ranks):
        step = np.append(figures.steps.place[number], -1)[own.work.step]
        mine = (own.work.cause == parts[0].cause) & np.isin(step, hold.steps)
        time[number] = own.work.time[mine].sum()
    others = np.setdiff1d(np.flatnonzero(figures.tied), hold.ranks)
    if not len(others):
        return 1.0
    usual = float(np.median(time[others]))
    return float(np.median(time[list(hold.ranks)])) / usual if usual else float("inf")


def _odd(blames: Sequence[Blame], length: Ints, usual: float, limit: float) -> tuple[Hold, ...]:
    """Steps that are longer than the usual one by more than a limit, of which whoever holds them back explains most, by who that is."""
    found: dict[tuple[int, ...], list[Blame]] = {}
    for blame in blames:
        more = length[blame.step] - usual
        if more > limit and 2 * blame.held >= more:
            found.setdefault((blame.rank, *blame.also), []).append(blame)
    holds = [_hold(ranks, own, len(length)) for ranks, own in found.items()]
    return tuple(sorted(holds, key=lambda hold: -hold.held.sum()))


def _recurs(hold: Hold, odd: Sequence[Hold], ranks: int, usual: float) -> bool:
    """Whether the same ranks hold odd steps back at a regular distance, or by as much as a step, more of them than chance would have it."""
    own, every = len(hold.steps), sum(len(one.steps) for one in odd)
    if own < RECURS:
        return False
    regular = len(set(np.diff(hold.steps).tolist())) == 1 and own == every
    often = by_chance(own, every, ranks, len(hold.ranks)) <= CHANCE
    return regular or (often and hold.each >= usual)


def _after(hold: Hold, length: Ints, usual: float) -> Hold:
    """A single step that is as long as the usual one saves the rest."""
    held = np.where(hold.held > 0, np.minimum(hold.held, np.maximum(length - usual, 0)), 0.0)
    return replace(hold, held=held)


def _by_input(
    blames: Sequence[Blame], steps: Ints, length: Ints, given: Given, ranks: int
) -> Hold | None:
    """The steps that whoever is given most holds back, in each another rank."""
    worth = [blame for blame in blames if blame.held >= WORTH * length[blame.step]]
    if 2 * len(worth) <= len(steps):
        return None
    own = [blame for blame in worth if given.most(blame.step) in (blame.rank, *blame.also)]
    # That whoever holds a step back is the one of so many that is given most could be chance in each step.
    if 2 * len(own) <= len(worth) or by_chance(len(own), len(worth), ranks) > CHANCE:
        return None
    hold = _hold(sorted({blame.rank for blame in own}), own, len(length))
    hold = replace(hold, held=hold.held * (1 - 1 / ranks))
    why = unequal(given, (hold.worst.rank,), (hold.worst.step,), hold.worst.parts)
    if why is None or _share(hold, steps, length) < WORTH:
        return None
    return replace(hold, why=why, varies=True)
