"""Runs the rules over one trace and lets each claim its time.

``find_findings`` returns plain values, as they go into the insight's sidecar:

==========  =======================================================================================================
steps       number of steps that were looked at
rows        their rows in ``facts["steps"]``
step_ns     their mean length, ns; None without a step
busy        share of them in which the device worked; None without a device
unsure      keys of what could not be judged, see ``unsure.py``
found       the findings, the largest first, those that cost no time last; each with
              ``rule``, ``recoverable_ns`` and ``share`` (None where it costs no time),
              ``artefact``, ``rows`` (the most expensive evidence, rows of spans), ``count`` (of all
              evidence), ``line`` (source line or None), ``numbers``, ``words``
==========  =======================================================================================================

Σ ``recoverable_ns`` ≤ ``step_ns``: every nanosecond of the steps is claimed at most once.
"""

from __future__ import annotations

from typing import Any

from torch_tb_profiler.analysis.arrays.intervals import measure
from torch_tb_profiler.analysis.findings.case import Case
from torch_tb_profiler.analysis.findings.ledger import NOTHING, Claim, settle, take, worth
from torch_tb_profiler.analysis.findings.lines import line_of
from torch_tb_profiler.analysis.findings.rules import RULES
from torch_tb_profiler.analysis.findings.unsure import unsure
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace

SHOWN = 20
"""Pieces of evidence that are kept of a finding, the most expensive."""


def find_findings(
    trace: Trace, facts: Facts, insight: Insight, peaks_file: str = ""
) -> dict[str, Any]:
    """The findings of one trace; see above. ``peaks_file``: path of a file of peaks that can be
    read, empty none.
    """
    case = Case(trace, facts, insight, peaks_file)
    findings = [_plain(case, key, claim) for key, claim in _claims(case)]
    findings.sort(key=lambda item: (item["recoverable_ns"] is None, -(item["recoverable_ns"] or 0)))
    steps, length = len(case.steps), case.windows.length
    busy = int(measure(case.work.busy, case.windows.start, case.windows.end).sum())
    return {
        "steps": steps,
        "rows": case.steps.tolist(),
        "step_ns": round(length / steps) if steps and length else None,
        "busy": busy / length if length and len(case.work.row) else None,
        "unsure": unsure(case),
        "found": findings,
    }


def _claims(case: Case) -> list[tuple[str, Claim]]:
    taken, claims = NOTHING, []
    # Sums that were laid end to end have neither gaps nor order.
    if not case.windows.length or case.facts.summary["sums"]:
        return []
    for key, rule in RULES.items():
        candidate = rule.claim(case, taken) if rule.claim else None
        if candidate is None:
            continue
        claim = settle(candidate, taken, case.windows)
        if worth(claim, case.windows):
            taken = take(taken, claim)
            claims.append((key, claim))
    return claims


def _plain(case: Case, key: str, claim: Claim) -> dict[str, Any]:
    candidate, own = claim.candidate, claim.own.length
    return {
        "rule": key,
        # Rounded down, so that the sum stays below the step.
        "recoverable_ns": own // len(case.steps) if candidate.costs else None,
        "share": own / case.windows.length if candidate.costs else None,
        "artefact": RULES[key].artefact,
        "rows": [int(row) for row in claim.row[:SHOWN]],
        "count": len(claim.row),
        "line": line_of(case.trace, case.facts, claim.row, claim.cost),
        "numbers": {key: float(value) for key, value in candidate.numbers.items()},
        "words": dict(candidate.words),
    }
