"""The findings of a rank with what only all ranks of its run tell together: who holds them back (``verdict.py``)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import astuple

from torch_tb_profiler.analysis.critical_path.blame import BlamedWork
from torch_tb_profiler.analysis.critical_path.verdict import SHARED, Hold, Verdict, Wait
from torch_tb_profiler.analysis.critical_path.verdict_texts import once_in, why_texts
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.findings.candidate import CERTAINTIES, THRESHOLD
from torch_tb_profiler.analysis.findings.order import in_order
from torch_tb_profiler.analysis.findings.rule import RankVerdict
from torch_tb_profiler.analysis.findings.rules import RULES
from torch_tb_profiler.analysis.what_if.outcomes import BY_CERTAINTY
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.python_frames import function_name
from torch_tb_profiler.units import agreeing, format_names

LONGEST_LABEL = 120
_SHOWS = (PathCause.KERNEL, PathCause.MEMCPY, PathCause.MEMSET, PathCause.DATALOADER)
"""What shows by itself that a rank is slow."""


def once_rows(verdict: Verdict, place: Ints) -> list[int]:
    """The steps of a rank that a rank holds back once; ``place``: the common step of each of its own."""
    apart = [step for hold in verdict.once for step in hold.steps]
    return [int(row) for row in np.flatnonzero(np.isin(place, apart))]


def with_verdict(
    analysis: Mapping[str, Any],
    verdict: Verdict,
    place: Ints,
    asked: int,
    names: Sequence[tuple[str, str]],
    figures: RunFigures,
) -> dict[str, Any]:
    """The findings (``step_findings.py``) of the trace of the rank ``asked``, and what the verdict says. ``place``: the common
    step of each of its own; ``names``: (worker, span) of every rank.

    The evidence of another rank are events of its own trace, so they are given as they are: ``evidence``, and no ``rows``.
    """
    common = place[np.array(analysis["all_rows"], np.int64)]
    common = common[common >= 0]
    findings = [dict(finding) for finding in analysis["found"]]
    if verdict.waiting is not None:
        analysis = _without_waiting(analysis, findings, verdict.waiting[asked], place)
    waits: dict[RankVerdict, tuple[Wait, ...]] = {"bubble": verdict.stages, "turns": verdict.turns}
    for said, several in waits.items():
        wait = next((one for one in several if one.rank == asked), None)
        findings += _waits(said, analysis, wait, place, figures) if wait else []
    if verdict.hold is not None:
        for one in _always(analysis, verdict, verdict.hold, place, asked, names):
            if _share_a_processor(figures, verdict.hold):
                one["certainty"] = "theoretical"
            _of_the_late(findings, one, verdict.hold)
            findings.append(one)
    findings += [
        _once(verdict, hold, place, names, figures.steps.names, common)
        for hold in verdict.once
        if _is_told(analysis, hold, place)
    ]
    return _combined(analysis, findings)


def _stated(said: RankVerdict, gain: float, length: float, **more: Any) -> dict[str, Any]:
    """The finding of the rule that states a verdict: what it saves of a step, ns, and what else is known of it."""
    key, rule = next((key, rule) for key, rule in RULES.items() if rule.verdict == said)
    # Who holds others back costs them no more than they wait.
    saved = dict.fromkeys(("recoverable_ns", "acted_ns", "mean_saved_ns"), round(gain))
    plain = {"rule": key, "costs": True, "certainty": rule.certainty, "change": None, "once": None}
    plain |= {"artefact": False, "generic": False, "rows": [], "line": None}
    found = {**plain, **saved, "share": gain / length, "length_ns": round(length), **more}
    return {"reach": astuple(rule.reach or BY_CERTAINTY[found["certainty"]]), **found}


def _always(
    analysis: Mapping[str, Any],
    verdict: Verdict,
    hold: Hold,
    place: Ints,
    asked: int,
    names: Sequence[tuple[str, str]],
) -> list[dict[str, Any]]:
    """Of the step that speaks for the run; where steps are chosen, of the one that speaks for them."""
    rows = analysis["all_rows"]
    row = analysis["rows"][0] if analysis["rows"] else -1
    if analysis["whole"] and verdict.median in place[rows]:
        row = rows[place[rows].tolist().index(verdict.median)]
    step = int(place[row]) if row >= 0 else -1
    gain, length = (float(of[step]) if step >= 0 else 0.0 for of in (hold.held, verdict.length))
    if not length or gain < THRESHOLD * length:
        return []
    part, shown = _worst(hold), _shows(hold)
    said: RankVerdict = "itself" if asked in hold.ranks else "other"
    if verdict.kind == "input":
        said, shown = "input", False
    numbers = {
        "held": gain,
        "held_steps": float(len([step for step in verdict.regular if step in hold.steps])),
        "of_steps": float(len(verdict.regular)),
        "extra": float(part.held if part else 0),
        "unexplained": float(part is None),
    }
    more = _details(hold, names, place) | {"row": row, "common": step, "numbers": numbers}
    return [_stated(said, gain, length, certainty="certain" if shown else "likely", **more)]


def _worst(hold: Hold) -> BlamedWork | None:
    """What takes longer on the rank that holds others back most; None where nothing tells."""
    return hold.worst.parts[0] if hold.worst.parts else None


def _of_the_late(findings: Sequence[dict[str, Any]], one: Mapping[str, Any], hold: Hold) -> None:
    """What the late rank's own findings weigh: of what takes longer there than elsewhere the job gains no more than its others wait for,
    and the verdict (``one``) says that; what is left is what they have in common.
    """
    part = _worst(hold)
    if RULES[one["rule"]].verdict != "itself" or part is None:
        return
    for finding in findings:
        about = part.cause in RULES[finding["rule"]].causes or part.event in finding.get("rows", ())
        about |= bool(part.line) and part.line == finding.get("line")
        if finding["costs"] and about:
            left = finding.get("weighs", finding["share"]) - one["share"]
            finding["weighs"] = max(left, 0.0)


def _shows(hold: Hold) -> bool:
    """Whether what takes longer shows by itself that these ranks are slow: they are given more, do what the others do not,
    compute on a device, or wait for data.
    """
    part = _worst(hold)
    slow = part is not None and (part.cause in _SHOWS or hold.times >= SHARED)
    return hold.why is not None or slow


def _share_a_processor(figures: RunFigures, hold: Hold) -> bool:
    """Whether the same host work takes longer on one of several ranks of one machine: which of them the system lets run
    first may change.
    """
    if _shows(hold):
        return False
    hosts = {rank.host_name for rank in figures.ranks}
    return len(hosts) == 1 and "" not in hosts


def _without_waiting(
    analysis: Mapping[str, Any], findings: Sequence[dict[str, Any]], waiting: Array, place: Ints
) -> Mapping[str, Any]:
    """Waiting for a rank can neither be hidden nor made faster: only transfer is, so that goes from what says so, and from the
    totals that hold it.
    """
    totals = analysis["totals"]
    for finding in findings:
        step = int(place[finding["row"]]) if finding["row"] is not None else -1
        if not RULES[finding["rule"]].of_waits or not finding["costs"] or step < 0:
            continue
        gain = finding["recoverable_ns"]
        left = max(gain - round(float(waiting[step])), 0)
        finding |= {
            "recoverable_ns": left,
            "share": left / finding["length_ns"],
            "weighs": finding["weighs"] * left / max(gain, 1),
            "numbers": finding["numbers"] | {"waiting": float(waiting[step])},
        }
        within = CERTAINTIES.index(finding["certainty"])
        if finding["row"] in analysis["rows"]:
            totals = [
                _less(total, gain - left)
                if CERTAINTIES.index(total["certainty"]) >= within
                else total
                for total in totals
            ]
    return {**analysis, "totals": totals}


def _less(total: Mapping[str, Any], by: int) -> dict[str, Any]:
    """A total that saves less by some ns."""
    length = total["recoverable_ns"] + total["step_ns"]
    left = max(total["recoverable_ns"] - by, 0)
    more = {key: min(total[key] + by, length) for key in ("step_ns", "low_ns", "high_ns")}
    return {**total, **more, "recoverable_ns": left, "share": left / max(length, 1)}


def _waits(
    said: RankVerdict, analysis: Mapping[str, Any], wait: Wait, place: Ints, figures: RunFigures
) -> list[dict[str, Any]]:
    """Of the step that speaks for the rank."""
    row = analysis["rows"][0] if analysis["rows"] else -1
    step = int(place[row]) if row >= 0 else -1
    if step < 0 or wait.time[step] < THRESHOLD * wait.length[step]:
        return []
    gain, transfer = float(wait.time[step]), figures.waiting["transfer"][wait.rank, step]
    rows = np.array(analysis["all_rows"], np.int64)
    rows = rows[place[rows] >= 0]
    hit = rows[wait.time[place[rows]] >= THRESHOLD * wait.length[place[rows]]]
    evidence = {"shown_ns": gain, "rows": list(wait.events), "count": len(wait.events)}
    numbers = {"waits": gain, "transfer": float(transfer), "meetings": wait.meetings}
    told = {"words": {"kinds": format_names(wait.kinds)}, "numbers": numbers}
    length = int(wait.length[step])
    return [_stated(said, gain, length, row=row, hit=hit.tolist(), **evidence, **told)]


def _is_told(analysis: Mapping[str, Any], hold: Hold, place: Ints) -> bool:
    """Whether one is asked for all steps, or for such a step."""
    return analysis["whole"] or bool(
        np.isin(place[np.array(analysis["all_rows"], np.int64)], hold.steps).any()
    )


def _once(
    verdict: Verdict,
    hold: Hold,
    place: Ints,
    names: Sequence[tuple[str, str]],
    steps: Sequence[str],
    common: Ints,
) -> dict[str, Any]:
    """It saves what the worst of such steps takes longer than the usual one; this is not averaged over the others. Where nothing but
    such steps are looked at (``common``), it is what counts.
    """
    step = max(hold.steps, key=lambda each: float(hold.held[each]))
    gain, length = float(hold.held[step]), float(verdict.length[step])
    found = _details(hold, names, place)
    row = next(iter(np.flatnonzero(place == step).tolist()), -1)
    chosen = bool(len(common)) and bool(np.isin(common, hold.steps).all())
    whole = float(verdict.length[verdict.judged].sum())
    return _stated("once", gain, length, certainty="certain", **found) | {
        "row": row,
        "common": step,
        "once": row if row >= 0 and not chosen else None,
        "weighs": gain / length if chosen else gain * len(hold.steps) / max(whole, 1.0),
        "words": found["words"] | {"when": _begun(once_in(hold, steps))},
        "numbers": {"held": gain, "held_steps": float(len(hold.steps))},
    }


def _combined(analysis: Mapping[str, Any], findings: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The findings of a rank with those among ranks, without what is left too small."""
    kept = [
        one
        for one in findings
        if one["recoverable_ns"] is None or one["recoverable_ns"] >= THRESHOLD * one["length_ns"]
    ]
    unsure = [key for key in analysis["unsure"] if key != "other_ranks"]
    totals = analysis["totals"]
    stated = {RULES[one["rule"]].verdict for one in kept if one["costs"]} - {""}
    if "turns" in stated:
        totals = [total for total in totals if total["certainty"] != "theoretical"]
    if stated - {"turns"}:
        # Only those with communication hidden hold what late ranks cost, too; of one change alone there is no total, nor of what
        # saves nothing of the step that the totals are of.
        of_it = [finding for finding in kept if finding["row"] in analysis["rows"]]
        most = max((f["recoverable_ns"] or 0 for f in of_it if f["once"] is None), default=0)
        totals = [
            total
            for total in totals
            if total["certainty"] != "certain"
            and total["recoverable_ns"] >= most
            and sum(_counts_in(finding, total["certainty"]) for finding in of_it) > 1
        ]
    found = in_order(kept, analysis["noise_ns"])
    return {**analysis, "found": found, "unsure": unsure, "totals": totals}


def _counts_in(finding: Mapping[str, Any], certainty: str) -> bool:
    """Whether a total of this certainty is of this finding's change, too."""
    within = CERTAINTIES[: CERTAINTIES.index(certainty) + 1]
    if finding["once"] is not None:
        return False
    return finding["costs"] and not finding["artefact"] and finding["certainty"] in within


def _details(hold: Hold, names: Sequence[tuple[str, str]], place: Ints) -> dict[str, Any]:
    part, (worker, span) = _worst(hold), names[hold.worst.rank]
    # Of unequal inputs in the step that costs most.
    ranks = [hold.worst.rank] if hold.varies else hold.ranks
    called = format_names([_called(names[rank][0]) for rank in ranks])
    found: dict[str, Any] = {"hit": np.flatnonzero(np.isin(place, hold.steps)).tolist()}
    found |= {"shown_ns": hold.each, "evidence": [], "count": int(part is not None)}
    words = {
        "worker": called,
        "holds": agreeing(len(ranks), "holds", "hold"),
        "is": agreeing(len(ranks), "is", "are"),
        "did": "held all others back",
        "why": " ".join(why_texts(hold, called)).removesuffix("."),
    }
    if part:
        event = {"worker": worker, "span": span, "event": part.event, "start_ns": part.start}
        event |= {"label": part.name[:LONGEST_LABEL], "dur_ns": part.duration}
        found |= {"evidence": [event], "line": part.line or None}
        if part.cause == PathCause.DATALOADER:
            words["did"] = "waited for its data"
        # Of a frame its function, the line stands beside it; of a mark nothing: nothing but the step was recorded.
        if not part.name.startswith("ProfilerStep"):
            name = function_name(part.name)
            words["doing"] = f"{name} in {part.module}" if part.module else name
            words["slow"] = f"{words['doing']} takes longer"
    return found | {"words": words}


def _begun(text: str) -> str:
    """Within a sentence."""
    return text[:1].lower() + text[1:]


def _called(worker: str) -> str:
    """A rank is called the same everywhere: ``rank 5`` for the worker ``rank5``."""
    return re.sub(r"^rank[ _-]?(\d+)$", r"rank \1", worker)
