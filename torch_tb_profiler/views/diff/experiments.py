"""Route ``/experiments``: recordings side by side, and which one to compare with."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Annotated, Any

from torch_tb_profiler.analysis.diff.experiments import (
    EXPERIMENTS,
    LIKE_PROGRAM,
    Experiment,
    ExperimentRow,
    age,
    common_operators,
    experiment_of,
    experiment_table,
    suggested,
)
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.units import format_count, format_limit, format_share
from torch_tb_profiler.views.display_wire import table_of, wire_columns
from torch_tb_profiler.views.findings.payload import Source, costly, findings_payload
from torch_tb_profiler.views.wire import Wire
from torch_tb_profiler.views.work.efficiency import mfu_of

ExperimentTable = Annotated[dict[str, Any], table_of(EXPERIMENTS)]


class Suggestion(Wire, frozen=True, kw_only=True):
    """The recording that the asked one is best compared with: its row and why."""

    row: int
    reason: str


class ExperimentsPayload(Wire, frozen=True, kw_only=True):
    """Route ``/experiments``. ``base``: the row of the asked recording, which the others are compared with.
    ``total``: rows in all. ``progress`` below 1: ask again, recordings are still being read.
    ``suggestion``: null while the base is read, and where no earlier recording is of the same work. ``rules``: how rows,
    differences and the suggestion are made.
    """

    rows: ExperimentTable
    base: int
    total: int
    progress: float
    suggestion: Suggestion | None
    rules: list[str]


__all__ = ["Experiment", "ExperimentRow", "experiment", "experiments_payload", "row_of_workers"]
_AGES = ((86_400, "day"), (3_600, "h"), (60, "min"), (1, "s"))
RULES = (
    "Steps are the usual ones: without cold and odd ones and those that the recording cuts off. A change is tested as in Diff.",
    "Recordings are of the same work if they have at least {like} of their operator names in common, spend at least as much of"
    " their time in these, and call them on the same shapes or on such as grew by one factor; no others are compared.",
    "Suggested is an earlier recording of the same work: one with the same device first, then of the same worker, then the last"
    " one before.",
)


def experiment(trace: Trace, facts: Facts, insight: Insight, peaks: str = "") -> Experiment:
    """The figures of one recording. ``peaks``: the user's file of device peaks.

    Raises:
        SourceError: that file cannot be read.
    """
    findings = costly(findings_payload(Source(trace, facts, insight, "", "")).findings)
    # Of the median step: what happens in some steps only is no property of the run.
    told = tuple((one.title, one.share or 0.0) for one in findings if one.step is None)
    return experiment_of(trace, facts, insight, mfu_of(facts, insight, select(facts), peaks), told)


def experiments_payload(
    rows: Sequence[ExperimentRow], base: int, total: int, progress: float
) -> ExperimentsPayload:
    """Everything about the rows; ``base``: the one that the others are compared with."""
    best = suggested(rows, base)
    return ExperimentsPayload(
        rows=wire_columns(experiment_table(rows, base)),
        base=base,
        total=total,
        progress=progress,
        suggestion=None
        if best is None
        else Suggestion(row=best, reason=reason(rows[base], rows[best])),
        rules=[rule.format(like=format_limit(LIKE_PROGRAM)) for rule in RULES]
        + (
            [
                f"{format_count(len(rows))} of {format_count(total)} runs are listed, those beside it."
            ]
            if len(rows) < total
            else []
        ),
    )


def reason(own: ExperimentRow, other: ExperimentRow) -> str:
    """Why a row is suggested."""
    a, b = own.first, other.first
    parts = [f"{format_share(common_operators(a, b))} of the operators in common"]
    if a.device and a.device == b.device:
        parts.append(f"also on {a.device}")
    if own.worker == other.worker:
        parts.append("same worker")
    parts.append(f"{age_text(age(a, b) or 0)} earlier")
    return f"Previous recording of the same work: {', '.join(parts)}."


def age_text(ns: int) -> str:
    """``2 h``, ``3 days``: the whole number of the largest unit that fits."""
    seconds = ns // 1_000_000_000
    for size, word in _AGES:
        if seconds >= size:
            n = seconds // size
            return f"{n} {word}{'s' if word == 'day' and n > 1 else ''}"
    return "less than 1 s"


def row_of_workers(
    run: str,
    span: str,
    workers: Sequence[tuple[str, int | None]],
    told: Sequence[tuple[Experiment | None, str]],
) -> ExperimentRow:
    """A row of workers (name, rank) and what is told of each, else why nothing ever will be. Workers of different runs are
    matched by rank, else by name.
    """
    members: dict[Hashable, Experiment] = {
        name if rank is None else rank: found
        for (name, rank), (found, _) in zip(workers, told, strict=True)
        if found is not None
    }
    waiting = any(found is None and not message for found, message in told)
    return ExperimentRow(
        run,
        workers[0][0] if len(workers) == 1 else f"{format_count(len(workers))} workers",
        span,
        "waiting" if waiting else "ready" if members else "failed",
        next((message for _, message in told if message), ""),
        {} if waiting else members,
    )
