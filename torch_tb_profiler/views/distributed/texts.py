"""Sentences of the Distributed view: who is late, clocks, unmatched collectives, notes, missing data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch_tb_profiler.analysis.critical_path.verdict import Verdict
from torch_tb_profiler.analysis.critical_path.verdict_texts import verdict_sentences
from torch_tb_profiler.analysis.distributed.matching import UnmatchedCollectives
from torch_tb_profiler.analysis.distributed.message import WORDS
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.distributed.spread import Outlier
from torch_tb_profiler.analysis.facts.host_names import HOST_LIBRARIES
from torch_tb_profiler.store.summary import Writer
from torch_tb_profiler.units import format_count, format_names, format_ns
from torch_tb_profiler.views.distributed.wire import (
    BlamedPart,
    DistributedPayload,
    DistributedWorker,
    Unmatched,
)
from torch_tb_profiler.views.wire import Missing
from torch_tb_profiler.views.words.texts import capitalised, cut, profile_call

LONGEST_NAME = 80
MOST_UNMATCHED = 1 << 14
"""Unmatched kinds and groups, times workers."""
_REASONS = {
    "alone": "Only one worker recorded them.",
    "counts": "The workers recorded different numbers of them, so their order says nothing.",
    "arguments": "At the same position the workers moved different sizes or data types.",
    "group": (
        "More workers name this group than it has ranks: several groups share the name, and the"
        " traces do not list their ranks."
    ),
}

_FEW = 3
"""So many matched collectives say little."""


def verdict_lines(
    verdict: Verdict, figures: RunFigures, ranks: Sequence[Named], total: int
) -> list[str]:
    """What the verdict says, at every door. ``ranks``: who those of the figures are; ``total``: workers of the run."""
    read = len(figures.ranks)
    world = max(world_size(figures) or 0, total, read)
    names = figures.steps.names
    return verdict_sentences(verdict, lambda own: all_called(ranks, own), names, read, world)


def headline_of(payload: DistributedPayload, known: bool, told: Sequence[str]) -> list[str]:
    """What the verdict ``told``; while workers are read, only that they are. ``known``: whether it says who holds back."""
    if payload.progress < 1:
        return ["The workers are still being read."]
    workers = payload.workers
    if not any(worker.collectives for worker in workers):
        return ["No communication was recorded."]
    if len(workers) < 2:
        return ["This is the recording of one worker: who waits for whom is not known."]
    if not payload.matched:
        return [
            "No collective could be matched across the workers, so who waits for whom is not known."
        ]
    rests = _rests_on(payload)
    return [*told, *([f"This {rests}."] if rests and known else [])]


def _rests_on(payload: DistributedPayload) -> str:
    """``rests on 2 of 128 ranks and 2 matched collectives`` where that is little to judge by; else empty."""
    ranks, world = payload.ready, payload.world_size or payload.workers_total
    if ranks >= world and payload.matched >= _FEW:
        return ""
    one = "" if payload.matched == 1 else "s"
    return (
        f"rests on {format_count(ranks)} of {format_count(world)} ranks and"
        f" {format_count(payload.matched)} matched collective{one}"
    )


def all_called(workers: Sequence[Named], places: Sequence[int]) -> str:
    """``rank 1``, ``ranks 6 and 7``, ``ranks 1, 2, 3 and 5 more``."""
    named = [workers[place] for place in places]
    if len(named) == 1 or any(worker.rank is None for worker in named):
        names, word = [called(worker) for worker in named], ""
    else:
        names, word = [str(worker.rank) for worker in named], "ranks "
    return word + format_names(names)


class Named(Protocol):
    """A worker and its rank."""

    @property
    def worker(self) -> str: ...
    @property
    def rank(self) -> int | None: ...


def called(worker: Named) -> str:
    return worker.worker if worker.rank is None else f"rank {worker.rank}"


def parts_text(parts: Sequence[BlamedPart]) -> str:
    """What takes a worker longer than the others; empty if it is not known."""
    texts = []
    for part in parts:
        where = ", ".join(text for text in (part.module, part.line) if text and text != part.name)
        told = f"{cut(part.name, LONGEST_NAME)}{f' in {where}' if where else ''}"
        texts.append(f"{told} ({part.kind}), by {format_ns(part.held_ns)}")
    return "; ".join(texts)


def outlier_text(worker: Named, outlier: Outlier) -> str:
    """How far a worker is above the others, per step."""
    name = worker.worker if worker.rank is None else capitalised(called(worker))
    return (
        f"{name}: {format_ns(round(outlier.mean))} per step; the median of all workers is"
        f" {format_ns(round(outlier.median))}."
    )


def world_size(figures: RunFigures) -> int | None:
    """Ranks of the job by what the traces say."""
    return max((rank.world_size or 0 for rank in figures.ranks), default=0) or None


def unmatched_of(unlike: Sequence[UnmatchedCollectives], places: Sequence[int]) -> list[Unmatched]:
    """Unmatched collectives. ``places``: each worker's index among the ranks; -1 none."""
    return [
        Unmatched(
            kind=WORDS.get(item.kind, item.kind),
            group=item.group or None,
            counts=[item.counts.get(rank, 0) for rank in places],
            reason=_REASONS[item.reason],
        )
        for item in unlike[: max(1, MOST_UNMATCHED // max(1, len(places)))]
    ]


def clock_text(figures: RunFigures) -> str:
    """How the clocks were aligned, and how well."""
    if len(figures.ranks) < 2:
        return "There is no other worker to compare clocks with."
    methods = [clock.method for clock in figures.aligned]
    errors = [clock.error for clock in figures.aligned if clock.error is not None]
    left = (
        f" In the worst case a worker's median end is {format_ns(max(errors))} from the median over"
        " the workers."
        if errors
        else ""
    )
    if not figures.waits.arrival_rule.any() and len(figures.matched.matches):
        return (
            "The traces do not align the workers' clocks: the shortest duration of each collective"
            " counts as transfer, the rest as waiting." + left
        )
    if all(method == "collectives" for method in methods):
        return (
            f"The clocks are aligned on the ends of {format_count(len(figures.matched.matches))}"
            " collectives." + left
        )
    if all(method == "clock" for method in methods):
        doubt = (
            "the ends of the collectives differ only by chance"
            if errors
            else "they share too few collectives to correct them"
        )
        return f"The workers' own clocks are used: {doubt}." + left
    odd = sum(method == "none" for method in methods)
    return (
        f"Clocks are aligned on the ends of collectives where a worker shares enough of them; {odd}"
        f" of {len(methods)} workers are not aligned." + left
    )


def notes_of(
    figures: RunFigures, workers: Sequence[DistributedWorker], workers_total: int
) -> list[str]:
    """Whose recording could not be read, and caveats about the figures."""
    ranks, matched = figures.ranks, figures.matched
    world = world_size(figures) or 0
    notes = []
    failed = [called(worker) for worker in workers if worker.state == "failed"]
    if failed:
        names = ", ".join(failed) if len(failed) <= 4 else f"{format_count(len(failed))} workers"
        notes.append(
            f"The recording of {names} could not be read; why is in the table of nodes, processes and"
            " devices."
        )
    if len(workers) < workers_total:
        notes.append(
            f"The run has {format_count(workers_total)} workers; the {format_count(len(workers))} with the nearest ranks are"
            " shown."
        )
    if world > workers_total:
        notes.append(
            f"{format_count(workers_total)} of {format_count(world)} ranks were recorded: waiting for one of the others"
            " cannot be told from transferring."
        )
    launched = {sort.library for rank in ranks if not rank.on_device for sort in rank.sorts} - {
        *HOST_LIBRARIES,
        "",
    }
    if launched:
        notes.append(
            f"No communication kernel was recorded: the times of {', '.join(sorted(launched))} are"
            " those of the host's calls, which do not wait."
        )
    if matched.cut and len(ranks) > 1:
        notes.append(
            "Only the first collectives of each worker are matched: nothing is said of waiting in"
            f" the other {format_count(matched.cut)}."
        )
    if matched.likely:
        notes.append(
            f"{format_count(matched.likely)} of {format_count(len(matched.matches))} matched collectives: without a number, and not"
            " at one time by the clocks of the ranks. That they are the same is likely by their order, not certain."
        )
    if figures.steps.cut:
        notes.append(
            f"{format_count(figures.steps.cut)} steps beyond the first {format_count(len(figures.steps.names))} are not"
            " shown."
        )
    doubted = int((~figures.waits.arrival_rule).sum()) if figures.waits.arrival_rule.any() else 0
    if doubted:
        notes.append(
            f"In {format_count(doubted)} collectives a rank ends before another begins, by the clocks: there"
            " the shortest duration is taken for the transfer."
        )
    return notes


def missing_of(figures: RunFigures, listed: int) -> list[Missing]:
    """What cannot be shown and how to record it."""
    alone = listed < 2 and (world_size(figures) or 1) < 2
    writer = figures.ranks[0].writer if figures.ranks else Writer.LOOP
    if figures.ranks and not any(len(rank) for rank in figures.ranks):
        why = (
            "One process was recorded, and it called no collective. The view compares the ranks of a"
            " distributed job."
            if alone
            else "No worker recorded a collective: none was called, or neither host nor device was"
            " recorded."
        )
        call = "" if alone else profile_call("collectives", writer)
        return [Missing(key="collectives", what="Collectives", why=why, call=call)]
    if listed < 2:
        return [
            Missing(
                key="waiting",
                what="Waiting and who is late",
                why=(
                    "The run has one worker; waiting shows only in the traces of several."
                    " Record on every rank into one folder."
                ),
                call=profile_call("collectives", writer),
            )
        ]
    return []
