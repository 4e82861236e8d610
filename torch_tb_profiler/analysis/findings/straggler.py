"""Ranks that keep the others waiting: what a run tells beyond one worker's trace.

A rank that came last claims, of the worker that is looked at, no more than its distance to the one
before it (what the step could gain from that rank alone), and no more than this worker's exposed
communication: that is where it waited. What it claims is taken from there, so no time is claimed
twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch_tb_profiler.analysis.distributed.cause import Cause
from torch_tb_profiler.analysis.distributed.late_ranks import StepStraggler
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.findings.ledger import THRESHOLD
from torch_tb_profiler.store.columns import Ints

SHOWN = 20
"""Steps that are kept as evidence, the dearest."""


@dataclass(frozen=True)
class Straggler:
    """A rank (place among the ranks of the figures) that came last in some of the steps that are
    looked at.

    lead: mean per step by how much it came after the one before it, ns. caused: mean per step of
        the waiting of all others, ns. steps: how many are
    looked at. late: those in which it came last, the dearest first, each with what took longer on
    it.
    """

    rank: int
    lead: int
    caused: int
    steps: int
    late: tuple[tuple[StepStraggler, Cause | None], ...]


def find_stragglers(
    figures: RunFigures,
    late: Sequence[tuple[StepStraggler, Cause | None]],
    asked: int,
    steps: Ints,
    step_ns: int,
) -> tuple[Straggler, ...]:
    """Who keeps the rank ``asked`` and the others waiting in the asked rank's own ``steps`` (of
    ``step_ns`` on average), the worst first.

    Only who holds them up for 2 % of the step or more.
    """
    common = {int(place) for place in figures.steps.place[asked][steps] if place >= 0}
    by_rank: dict[int, list[tuple[StepStraggler, Cause | None]]] = {}
    for one, cause in late:
        if one.step in common:
            by_rank.setdefault(one.rank, []).append((one, cause))
    found = []
    for rank, items in by_rank.items():
        lead, caused = (
            sum(getattr(one, key) for one, _ in items) // len(steps) for key in ("lead", "caused")
        )
        if lead >= THRESHOLD * step_ns and lead > 0:
            found.append(
                Straggler(
                    rank,
                    lead,
                    caused,
                    len(steps),
                    tuple(sorted(items, key=lambda item: -item[0].caused)),
                )
            )
    return tuple(sorted(found, key=lambda one: -one.lead))


def with_stragglers(
    made: Mapping[str, Any],
    stragglers: Sequence[Straggler],
    figures: RunFigures,
    asked: int,
    seats: Sequence[tuple[str, str]],
) -> dict[str, Any]:
    """What ``find_findings`` found in the trace of the rank ``asked``, and who keeps it waiting;
    ``seats``: (worker, span) of every rank.

    A straggler's evidence are events of its own trace, so they are given as they are: ``evidence``,
    and no ``rows``.
    """
    found = [dict(item) for item in made["found"]]
    exposed = next((item for item in found if item["rule"] == "exposed_communication"), None)
    length = made["step_ns"] or 1
    for one in stragglers:
        claim = (
            min(one.lead, exposed["recoverable_ns"])
            if exposed is not None and one.rank != asked
            else 0
        )
        if one.rank != asked and claim < THRESHOLD * length:
            continue
        if exposed is not None and claim:
            exposed["recoverable_ns"] -= claim
            exposed["share"] -= claim / length
        found.append(_plain(one, figures, asked, claim, claim / length, seats))
    found = [
        item
        for item in found
        if item["recoverable_ns"] is None or item["recoverable_ns"] >= int(THRESHOLD * length)
    ]
    found.sort(key=lambda item: (item["recoverable_ns"] is None, -(item["recoverable_ns"] or 0)))
    return {
        **made,
        "found": found,
        "unsure": [key for key in made["unsure"] if key != "other_ranks"],
    }


def _plain(
    one: Straggler,
    figures: RunFigures,
    asked: int,
    claim: int,
    share: float,
    seats: Sequence[tuple[str, str]],
) -> dict[str, Any]:
    itself = one.rank == asked
    _, cause = one.late[0]
    worker, span = seats[one.rank]
    return {
        "rule": "late_itself" if itself else "straggler",
        "recoverable_ns": None if itself else claim,
        "share": None if itself else share,
        "artefact": False,
        "rows": [],
        "evidence": [_event(one.rank, late, figures, worker, span) for late, _ in one.late[:SHOWN]],
        "count": len(one.late),
        "line": cause.line if cause else None,
        "numbers": {
            "lead": float(one.lead),
            "caused": float(one.caused),
            "late_steps": float(len(one.late)),
            "of_steps": float(one.steps),
            "extra": float(cause.extra if cause else 0),
        },
        "words": {
            "worker": worker,
            "doing": (cause.name if cause else ""),
            "module": (cause.module or "" if cause else ""),
        },
    }


def _event(
    rank: int, late: StepStraggler, figures: RunFigures, worker: str, span: str
) -> dict[str, Any]:
    """The collective at which a straggler cost most in a step."""
    own = figures.ranks[rank]
    row = int(figures.matched.matches.row[rank, late.match])
    return {
        "label": own.sorts[int(own.sort[row])].kind,
        "worker": worker,
        "span": span,
        "event": int(own.event[row]),
        "start_ns": int(own.start[row]),
        "dur_ns": int(own.end[row] - own.start[row]),
    }
