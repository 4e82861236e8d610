"""Sentences of the Distributed view: who is late, clocks, unmatched collectives, notes, missing data."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from torch_tb_profiler.analysis.distributed.cause import Cause
from torch_tb_profiler.analysis.distributed.collectives import HOST_LIBRARIES
from torch_tb_profiler.analysis.distributed.matching import UnmatchedCollectives
from torch_tb_profiler.analysis.distributed.message import WORDS
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.units import format_count, format_ns, format_share
from torch_tb_profiler.views.distributed_wire import (
    DistributedPayload,
    DistributedWorker,
    LateItem,
    Unmatched,
)
from torch_tb_profiler.views.texts import capitalised, profile_call
from torch_tb_profiler.views.wire import Missing

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

_WORTH = 0.01
"""A gain below this share of the steps is no news."""
_SECOND = 0.2
"""A second worker is named if the others waited for it this share of their wait for the first."""


def headline_of(payload: DistributedPayload) -> list[str]:
    """Who holds the others back, and why, the answer first; while workers are read, of those that
    are there.
    """
    late = _late_workers(payload.late)
    if payload.progress < 1 and not late:
        return ["The workers are still being read."]
    first, *rest = _judged(payload, late)
    return [first if payload.progress >= 1 else f"So far: {first}", *rest]


def _late_workers(late: Sequence[LateItem]) -> list[list[LateItem]]:
    """The steps in which others waited for a worker, per worker; of both the most expensive first."""
    by_worker: dict[int, list[LateItem]] = {}
    for item in sorted(late, key=lambda item: -item.caused_ns):
        if item.caused_ns > 0:
            by_worker.setdefault(item.worker, []).append(item)
    return sorted(by_worker.values(), key=lambda items: -_caused(items))


def _caused(items: Sequence[LateItem]) -> int:
    return sum(item.caused_ns for item in items)


def _judged(payload: DistributedPayload, late: Sequence[list[LateItem]]) -> list[str]:
    workers, steps = payload.workers, len(payload.steps)
    if not any(worker.collectives for worker in workers):
        return ["No communication was recorded."]
    if len(workers) < 2:
        return ["This is the recording of one worker: who waits for whom is not known."]
    if not payload.matched:
        return [
            "No collective could be matched across the workers, so who waits for whom is not known."
        ]
    if not late:
        return ["No worker holds the others back: they arrive at every collective together."]
    first, lead = late[0], sum(item.lead_ns for item in late[0])
    own = (table[first[0].worker] for table in structs.astuple(payload.overlap))
    wall = sum(value or 0 for values in own for value in values)
    share = lead / wall if wall else None
    if share is not None and share < _WORTH:
        return [
            "No worker holds the others back for long: the latest,"
            f" {_called(workers[first[0].worker])}, costs {format_share(share)} of the steps."
        ]
    again = len(first) > 1
    of_all = "" if share is None else f", {format_share(share)} of the time of all steps"
    return [
        _late_text(workers, first, steps),
        f"On time it could save up to {format_ns(lead / len(first))}"
        f"{' in each of them' if again else ''}{of_all}.",
        *_cause_text(first[0], " in the step that cost most" if again else ""),
        *(
            _late_text(workers, items, steps)
            for items in late[1:2]
            if _caused(items) >= _SECOND * _caused(first)
        ),
    ]


def _called(worker: DistributedWorker) -> str:
    return worker.worker if worker.rank is None else f"rank {worker.rank}"


def _late_text(workers: Sequence[DistributedWorker], items: list[LateItem], steps: int) -> str:
    worker = workers[items[0].worker]
    name = _called(worker) if worker.rank is None else capitalised(_called(worker))
    often = f" in {len(items)} of {format_count(steps)} steps" if steps > 1 else ""
    wait = format_ns(sum(item.longest_ns for item in items) / len(items))
    per_step = "per step " if len(items) > 1 else ""
    return f"{name} is late{often}: the others wait up to {wait} {per_step}for it."


def _cause_text(item: LateItem, in_step: str) -> list[str]:
    """What a late worker did longer than the one that waited longest."""
    if not item.before:
        return []
    if not item.before_side or not item.before_side_ns:
        return [f"What took longer on it{in_step}: {item.before}."]
    return [
        f"Before that its {item.before_side} works {format_ns(item.before_side_ns)} longer than that"
        f" of the rank that waits longest{in_step}; the largest part: {item.before}."
    ]


def before_text(cause: Cause | None, name: str | None) -> str:
    """What took longer on a late worker before it arrived; ``name``: that of its longest call."""
    what = cause and (cause.operator or name)
    if not cause or not what:
        return ""
    where = ", ".join(text for text in (cause.module, cause.line) if text and text != what)
    side = "device" if cause.on_device else "host"
    return f"{what}{f' in {where}' if where else ''}, by {format_ns(cause.extra)} on the {side}"


def unmatched_of(unlike: Sequence[UnmatchedCollectives], places: Sequence[int]) -> list[Unmatched]:
    """Unmatched collectives. ``places``: each worker's index among the ranks; -1 none."""
    return [
        Unmatched(
            kind=WORDS.get(item.kind, item.kind),
            group=item.group or None,
            counts=[item.counts[rank] if rank >= 0 else 0 for rank in places],
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
    if not figures.waits.arrival_rule.any() and figures.matched.matches.row.shape[1]:
        return (
            "The traces do not align the workers' clocks: the shortest duration of each collective"
            " counts as transfer, the rest as waiting." + left
        )
    if all(method == "collectives" for method in methods):
        return (
            f"The clocks are aligned on the ends of {format_count(figures.matched.matches.row.shape[1])}"
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
    world = max((rank.world_size or 0 for rank in ranks), default=0)
    notes = []
    failed = [_called(worker) for worker in workers if worker.state == "failed"]
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
    call = profile_call("record_shapes=True", devices=True)
    if figures.ranks and not any(len(rank) for rank in figures.ranks):
        return [
            Missing(
                key="collectives",
                what="Collectives",
                why=(
                    "No worker recorded a collective: none was called, or neither host nor device"
                    " was recorded."
                ),
                call=call,
            )
        ]
    if listed < 2:
        return [
            Missing(
                key="waiting",
                what="Waiting and who is late",
                why=(
                    "The run has one worker; waiting shows only in the traces of several."
                    " Record on every rank into one folder."
                ),
                call=call,
            )
        ]
    return []
