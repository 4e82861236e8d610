"""By how much longer the work of another rank on the critical path through all ranks takes than that of the rest.

Formula: mean per step of what holds the steps back (see ``distributed_blame``); of the worker that is looked at at most
what its exposed communication costs, which is where it waits: what is saved here is taken from there.
Change: that rank is as fast as the others. Certain; another rank may be nearly as slow, and then the path goes on there.
All workers of the run are read for it; of more than 2,048 those with the nearest ranks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from torch_tb_profiler.analysis.critical_path.blame import Blame, BlamedWork, to_blame
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.findings.candidate import THRESHOLD
from torch_tb_profiler.analysis.findings.order import FEW_STEPS, in_order
from torch_tb_profiler.analysis.findings.rule import Rule
from torch_tb_profiler.analysis.findings.rules.late_itself import RULE as LATE_ITSELF
from torch_tb_profiler.units import format_ns

LONGEST_LABEL = 120
SHOWN = 20
"""Steps that are kept as evidence, the most expensive."""


def with_stragglers(
    analysis: Mapping[str, Any],
    blames: Iterable[Blame],
    figures: RunFigures,
    asked: int,
    names: Sequence[tuple[str, str]],
) -> dict[str, Any]:
    """The findings (``selected.py``) of the trace of the rank ``asked``, and who holds it and the
    others back for 2 % of its own steps or more, the worst first; ``names``: (worker, span) of every
    rank.

    The evidence of another rank are events of its own trace, so they are given as they are: ``evidence``,
    and no ``rows``.
    """
    length = analysis["mean_ns"]
    common = {int(step) for step in figures.steps.place[asked][analysis["rows"]] if step >= 0}
    by_rank: dict[int, list[Blame]] = {}
    for blame in sorted(blames, key=lambda blame: -blame.held):
        if blame.step in common:
            by_rank.setdefault(blame.rank, []).append(blame)
    held = {
        rank: sum(blame.held for blame in items) // analysis["steps"]
        for rank, items in by_rank.items()
    }
    findings = [dict(finding) for finding in analysis["found"]]
    exposed = next(
        (finding for finding in findings if finding["rule"] == "exposed_communication"), None
    )
    for rank in sorted(held, key=lambda rank: -held[rank]):
        claim = (
            None
            if asked in to_blame(by_rank[rank])
            else min(held[rank], exposed["recoverable_ns"] if exposed else 0)
        )
        if min(held[rank], held[rank] if claim is None else claim) < THRESHOLD * length:
            continue
        if exposed and claim:
            exposed["recoverable_ns"] -= claim
            exposed["share"] -= claim / length
        findings.append(
            {
                "rule": "late_itself" if claim is None else "straggler",
                "costs": claim is not None,
                "certainty": None if claim is None else "certain",
                "change": None,
                "recoverable_ns": claim,
                "share": None if claim is None else claim / length,
                "once": _only_step(by_rank[rank], figures, asked, analysis["rows"]),
                **_details(by_rank[rank], held[rank], analysis["steps"], names),
            }
        )
    return _combined(analysis, findings)


def _only_step(
    blames: Sequence[Blame], figures: RunFigures, asked: int, rows: Sequence[int]
) -> int | None:
    """The row of the only step of several in which the rank is late."""
    if len(blames) > 1 or len(rows) < FEW_STEPS:
        return None
    return next(
        (row for row in rows if int(figures.steps.place[asked][row]) == blames[0].step), None
    )


def _combined(analysis: Mapping[str, Any], findings: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The findings of a rank with those among ranks, without what is left too small."""
    least = int(THRESHOLD * analysis["mean_ns"])
    findings = [
        finding
        for finding in findings
        if finding["recoverable_ns"] is None or finding["recoverable_ns"] >= least
    ]
    unsure = [key for key in analysis["unsure"] if key != "other_ranks"]
    totals = analysis["totals"]
    if any(finding["rule"] == "straggler" for finding in findings):
        # Only those with communication hidden hold what late ranks cost, too.
        totals = [total for total in totals if total["certainty"] != "certain"]
    return {**analysis, "found": in_order(findings), "unsure": unsure, "totals": totals}


def _details(
    blames: Sequence[Blame],
    held: int,
    steps: int,
    names: Sequence[tuple[str, str]],
) -> dict[str, Any]:
    first = blames[0]
    part = first.parts[0] if first.parts else None
    worker, span = names[first.rank]
    return {
        "artefact": False,
        "shown_ns": float(held),
        "rows": [],
        "evidence": [
            _event(blame.parts[0], worker, span) for blame in blames[:SHOWN] if blame.parts
        ],
        "count": sum(bool(blame.parts) for blame in blames),
        "line": part.line or None if part else None,
        "numbers": {
            "held": float(held),
            "held_steps": float(len(blames)),
            "of_steps": float(steps),
            "extra": float(part.held if part else 0),
            "unexplained": float(part is None),
        },
        "words": {
            "worker": ", ".join(_called(names[rank][0]) for rank in to_blame(blames)[:SHOWN]),
            "doing": _doing(part),
            "where": _longer(part),
        },
    }


def _doing(part: BlamedWork | None) -> str:
    """``aten::mm in Linear_0``: what takes longer; empty where it is not known."""
    if part is None:
        return ""
    return f"{part.name} in {part.module}" if part.module else part.name


def _longer(part: BlamedWork | None) -> str:
    """The end of the headline: what of that rank takes longer."""
    if part is None:
        return ""
    return f"; in the worst step, its {_doing(part)} takes {format_ns(part.held)} longer"


def _event(part: BlamedWork, worker: str, span: str) -> dict[str, Any]:
    """The longest event of what takes longer in a step."""
    return {
        "label": part.name[:LONGEST_LABEL],
        "worker": worker,
        "span": span,
        "event": part.event,
        "start_ns": part.start,
        "dur_ns": part.duration,
    }


RULE = Rule(
    place=62,
    claim=None,
    title="This rank waits for {worker}",
    sentence="""The critical path through all ranks stays longer on {worker} than on the others in {held_steps} of
    {of_steps} steps; if it were as fast as they are, this worker would wait {gain} less per {step}
    ({share}).""",
    attempt="""Look at what that worker does: more data or layers, slower kernels, a stalled
    DataLoader, another program on its machine. Give it less, or the same as the others.""",
    caveat=LATE_ITSELF.caveat,
    views=("overview", "distributed"),
    cause="{worker} holds this rank back: {gain} of {the_step}",
    without="With {worker} as fast as the others",
    details=LATE_ITSELF.details,
    numbers=LATE_ITSELF.numbers,
)


def _called(worker: str) -> str:
    """A rank is called the same everywhere: ``rank 5`` for the worker ``rank5``."""
    return re.sub(r"^rank[ _-]?(\d+)$", r"rank \1", worker)
