"""By how much a rank comes to the collectives after the one before it, in the steps in which the
others wait for it most.

Formula: mean per step; of the worker that is looked at at most what its exposed communication costs,
which is where it waited: what is saved here is taken from there.
Change: that rank is as fast as the next one. Certain.
Up to 16 workers are read for it; of larger runs the Distributed view has it done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from torch_tb_profiler.analysis.distributed.cause import Cause
from torch_tb_profiler.analysis.distributed.late_ranks import StepStraggler
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.findings.candidate import THRESHOLD
from torch_tb_profiler.analysis.findings.rule import Rule
from torch_tb_profiler.analysis.findings.rules.late_itself import RULE as LATE_ITSELF
from torch_tb_profiler.units import format_ns

SHOWN = 20
"""Steps that are kept as evidence, the most expensive."""


def with_stragglers(
    analysis: Mapping[str, Any],
    late: Iterable[tuple[StepStraggler, Cause | None]],
    figures: RunFigures,
    asked: int,
    names: Sequence[tuple[str, str]],
) -> dict[str, Any]:
    """The findings (``selected.py``) of the trace of the rank ``asked``, and who holds it and the
    others up for 2 % of its own steps or more, the worst first; ``names``: (worker, span) of every
    rank.

    A straggler's evidence are events of its own trace, so they are given as they are: ``evidence``,
    and no ``rows``.
    """
    length = analysis["step_ns"]
    common = {int(step) for step in figures.steps.place[asked][analysis["rows"]] if step >= 0}
    by_rank: dict[int, list[tuple[StepStraggler, Cause | None]]] = {}
    for straggler, cause in sorted(late, key=lambda finding: -finding[0].caused):
        if straggler.step in common:
            by_rank.setdefault(straggler.rank, []).append((straggler, cause))
    lead = {
        rank: sum(straggler.lead for straggler, _ in items) // analysis["steps"]
        for rank, items in by_rank.items()
    }
    findings = [dict(finding) for finding in analysis["found"]]
    exposed = next(
        (finding for finding in findings if finding["rule"] == "exposed_communication"), None
    )
    for rank in sorted(lead, key=lambda rank: -lead[rank]):
        claim = (
            None if rank == asked else min(lead[rank], exposed["recoverable_ns"] if exposed else 0)
        )
        if min(lead[rank], lead[rank] if claim is None else claim) < THRESHOLD * length:
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
                **_details(by_rank[rank], lead[rank], analysis["steps"], figures, names[rank]),
            }
        )
    findings = [
        finding
        for finding in findings
        if finding["recoverable_ns"] is None or finding["recoverable_ns"] >= int(THRESHOLD * length)
    ]
    findings.sort(
        key=lambda finding: (finding["recoverable_ns"] is None, -(finding["recoverable_ns"] or 0))
    )
    unsure = [key for key in analysis["unsure"] if key != "other_ranks"]
    totals = analysis["totals"]
    if any(finding["rule"] == "straggler" for finding in findings):
        # Only those with communication hidden hold what late ranks cost, too.
        totals = [total for total in totals if total["certainty"] != "certain"]
    return {**analysis, "found": findings, "unsure": unsure, "totals": totals}


def _details(
    late: Sequence[tuple[StepStraggler, Cause | None]],
    lead: int,
    steps: int,
    figures: RunFigures,
    name: tuple[str, str],
) -> dict[str, Any]:
    _, cause = late[0]
    return {
        "artefact": False,
        "shown_ns": float(lead),
        "rows": [],
        "evidence": [_event(straggler, figures, *name) for straggler, _ in late[:SHOWN]],
        "count": len(late),
        "line": cause.line if cause else None,
        "numbers": {
            "lead": float(lead),
            "caused": float(sum(straggler.caused for straggler, _ in late) // steps),
            "late_steps": float(len(late)),
            "of_steps": float(steps),
            "extra": float(cause.extra if cause else 0),
            "unexplained": float(not _doing(cause)),
        },
        "words": {"worker": name[0], "doing": _doing(cause), "where": _longer(cause)},
    }


def _doing(cause: Cause | None) -> str:
    """``aten::mm in Linear_0``: what took longer on a late rank; empty where it is not known."""
    if cause is None:
        return ""
    return f"{cause.name} in {cause.module}" if cause.module else cause.name


def _longer(cause: Cause | None) -> str:
    """The end of the headline: what of the late rank takes longer."""
    return f"; its {_doing(cause)} takes {format_ns(cause.extra)} longer" if cause else ""


def _event(late: StepStraggler, figures: RunFigures, worker: str, span: str) -> dict[str, Any]:
    """The collective at which a straggler cost most in a step."""
    own = figures.ranks[late.rank]
    row = int(figures.matched.matches.row[late.rank, late.match])
    return {
        "label": own.sorts[int(own.sort[row])].kind,
        "worker": worker,
        "span": span,
        "event": int(own.event[row]),
        "start_ns": int(own.start[row]),
        "dur_ns": int(own.end[row] - own.start[row]),
    }


RULE = Rule(
    place=62,
    claim=None,
    title="{worker} keeps this rank waiting",
    sentence="""Worker {worker} comes last to the collectives in {late_steps} of {of_steps} steps;
    if it were as fast as the next one, this worker would wait {gain} less per {step}
    ({share}).""",
    attempt="""Look at what that worker does before it arrives: more data, slower kernels, a stalled
    DataLoader, another program on its machine. Give it less, or the same as the others.""",
    caveat=LATE_ITSELF.caveat,
    views=("overview", "distributed"),
    cause="{worker} holds this rank back: {gain} of {the_step}{where}",
    without="With all ranks as fast as this one",
    details=LATE_ITSELF.details,
    numbers=LATE_ITSELF.numbers,
)
