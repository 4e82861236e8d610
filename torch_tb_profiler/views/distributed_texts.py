"""Sentences of the Distributed view: clocks, unmatched collectives, notes, missing data."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.distributed.collectives import HOST_LIBRARIES
from torch_tb_profiler.analysis.distributed.matching import UnmatchedCollectives
from torch_tb_profiler.analysis.distributed.message import WORDS
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.units import format_count, format_ns
from torch_tb_profiler.views.distributed_wire import Unmatched
from torch_tb_profiler.views.texts import profile_call
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


def notes_of(figures: RunFigures, listed: int, workers_total: int) -> list[str]:
    """Caveats about the figures."""
    ranks, matched = figures.ranks, figures.matched
    world = max((rank.world_size or 0 for rank in ranks), default=0)
    notes = []
    if listed < workers_total:
        notes.append(
            f"The run has {format_count(workers_total)} workers; the {format_count(listed)} with the nearest ranks are"
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
