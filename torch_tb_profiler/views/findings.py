"""Route ``/findings``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch_tb_profiler.analysis.critical_path.blame import Blame
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.figures.absent import absent
from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.analysis.findings.ledger import THRESHOLD
from torch_tb_profiler.analysis.findings.rules import RULES
from torch_tb_profiler.analysis.findings.rules.straggler import with_stragglers
from torch_tb_profiler.analysis.findings.unsure import UNSURE
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role
from torch_tb_profiler.units import format_limit, format_ns, format_share, format_value
from torch_tb_profiler.views.event_arguments import cut
from torch_tb_profiler.views.findings_wire import Evidence, Finding, FindingsPayload
from torch_tb_profiler.views.texts import capitalised, missing
from torch_tb_profiler.views.vocabulary import vocabulary
from torch_tb_profiler.views.wire import Link, Number

LONGEST_LABEL = 120
LONGEST_LINE = 500
MOST_ARTEFACTS = 0.5
"""Share of the step beyond which profiler overhead hides the rest."""


@dataclass(frozen=True)
class Source:
    """The trace of the findings, and its place in the catalogue."""

    trace: Trace
    facts: Facts
    worker: str
    span: str


def findings_payload(
    source: Source, analysis: Mapping[str, Any], progress: float = 1.0
) -> FindingsPayload:
    """The findings of one worker's trace; ``made``: what ``analysis.findings`` found. ``progress``:
    how far the other workers are read.
    """
    facts = source.facts
    words = _words(source, analysis)
    findings = [_finding(source, words, item) for item in analysis["found"]]
    left_out = facts["steps"].n - analysis["steps"]
    return FindingsPayload(
        headline=_headline(analysis, findings, words, left_out),
        healthy=not costly(findings) and judged(analysis, findings),
        steps=analysis["steps"],
        step_ns=analysis["step_ns"],
        findings=findings,
        unsure=[_filled(UNSURE[key], words) for key in analysis["unsure"]],
        missing=missing(absent(facts), ("device", "host", "steps", "stack", "memory", "shapes")),
        progress=progress,
    )


def findings_in_run(
    source: Source,
    analysis: Mapping[str, Any],
    figures: RunFigures,
    blames: Sequence[Blame],
    names: Sequence[tuple[str, str]],
) -> FindingsPayload:
    """The findings of a worker of a run whose workers are all known, stragglers included.
    ``names``: (worker, span) of every rank.
    """
    own = (source.worker, source.span)
    if own not in names or len(names) < 2 or not analysis["step_ns"]:
        return findings_payload(source, analysis)
    told = with_stragglers(analysis, blames, figures, names.index(own), names)
    return findings_payload(source, told)


def costly(findings: list[Finding]) -> list[Finding]:
    """Findings that cost step time even without the profiler."""
    return [item for item in findings if item.recoverable_ns is not None and not item.artefact]


def judged(analysis: Mapping[str, Any], findings: list[Finding]) -> bool:
    """Whether enough was recorded to call a trace healthy: steps, device work if there was any, and
    not mostly profiler overhead.
    """
    artefacts = sum(finding.share or 0.0 for finding in findings if finding.artefact)
    return (
        analysis["step_ns"] is not None
        and not {"device_lost", "device_profiled", "sums"}.intersection(analysis["unsure"])
        and artefacts <= MOST_ARTEFACTS
    )


def _finding(source: Source, words: dict[str, str], item: Mapping[str, Any]) -> Finding:
    rule, numbers = RULES[item["rule"]], item["numbers"]
    on_host = not source.facts.summary["has_device"]
    units = {key: unit for key, (_, unit) in rule.numbers.items()}
    words = words | {key: format_value(value, units.get(key, "")) for key, value in numbers.items()}
    words |= {key: cut(text, LONGEST_LABEL) for key, text in item["words"].items()}
    if item["recoverable_ns"] is not None:
        words |= {"gain": format_ns(item["recoverable_ns"]), "share": format_share(item["share"])}
    sentences = [
        (on_host and rule.host_sentence) or rule.sentence,
        *(text for key, text in rule.details if item["words"].get(key) or numbers.get(key)),
    ]
    return Finding(
        rule=item["rule"],
        title=capitalised(_filled(rule.title, words)),
        sentence=capitalised(_filled(" ".join(sentences), words)),
        views=list(rule.views),
        recoverable_ns=item["recoverable_ns"],
        share=item["share"],
        artefact=item["artefact"],
        evidence=[_evidence(source, row) for row in item["rows"]]
        + [Evidence(**event) for event in item.get("evidence", ())],
        evidence_count=item["count"],
        line=cut(item["line"], LONGEST_LINE) if item["line"] else None,
        attempt=_filled(rule.attempt, words),
        caveat=_filled(rule.caveat, words),
        numbers=[
            Number(label=_filled(label, words), value=numbers[key], unit=unit)
            for key, (label, unit) in rule.numbers.items()
            if label and key in numbers
        ],
        links=[Link(text=name, url=url) for name, url in rule.links],
    )


def _filled(text: str, words: Mapping[str, str]) -> str:
    """A text with its words filled in, on one line."""
    return " ".join(text.split()).format_map(words)


def _words(source: Source, analysis: Mapping[str, Any]) -> dict[str, str]:
    words = vocabulary(source.facts)
    return {
        "device": words.device,
        "multiprocessor": words.multiprocessor,
        "matrix_cores": words.matrix_cores,
        "step": "recording" if "no_steps" in analysis["unsure"] else "step",
    }


def _evidence(source: Source, row: int) -> Evidence:
    spans = source.trace["spans"]
    return Evidence(
        label=_label(source, row),
        worker=source.worker,
        span=source.span,
        event=row,
        start_ns=int(spans["start"][row]),
        dur_ns=int(spans["dur"][row]),
    )


def _label(source: Source, row: int) -> str:
    """Name of an event; a runtime call with the operator around it."""
    spans = source.trace["spans"]
    text, role = source.trace.strings[int(spans["name"][row])], int(spans["role"][row])
    if role in DEVICE_ROLES:
        return cut(short_name(text), LONGEST_LABEL)
    operator = int(source.facts["span_links"]["operator"][row])
    if role == Role.RUNTIME and operator >= 0:
        text = f"{text} in {source.trace.strings[int(spans['name'][operator])]}"
    return cut(text, LONGEST_LABEL)


def _headline(
    analysis: Mapping[str, Any], findings: list[Finding], words: dict[str, str], left_out: int
) -> str:
    if analysis["step_ns"] is None:
        return "Nothing to analyse: the trace holds no steps and no events that could form one."
    if "sums" in analysis["unsure"]:
        return (
            f"The file holds only sums ({format_ns(analysis['step_ns'])} in total): it tells where time"
            " was spent, not when."
        )
    word = words["step"]
    # Not called utilization: that is of kernels alone, on the same page.
    busy = (
        ""
        if analysis["busy"] is None
        else f" {capitalised(words['device'])} active {format_share(analysis['busy'])} (incl. copies)."
    )
    costing = costly(findings)
    if not costing:
        lost = sum(finding.share or 0.0 for finding in findings)
        own = f" Recording itself accounts for {format_share(lost)} of the {word}." if lost else ""
        return (
            f"{'Healthy: nothing' if judged(analysis, findings) else 'Nothing'} found that costs"
            f" {format_limit(THRESHOLD)} of the {word} or more.{busy}{own}"
        )
    total = sum(finding.recoverable_ns or 0 for finding in costing)
    share = sum(finding.share or 0.0 for finding in costing)
    left = (
        f" ({left_out} cold or cut step{'s' if left_out > 1 else ''} left out)" if left_out else ""
    )
    cause = costing[0].title
    # A title that starts with a name keeps its capital.
    named = RULES[costing[0].rule].title.startswith("{")
    cause = cause if named else cause[:1].lower() + cause[1:]
    return (
        f"Up to {format_ns(total)} ({format_share(share)}) of a {word} of"
        f" {format_ns(analysis['step_ns'])}{left} is recoverable. Main cause: {cause}.{busy}"
    )
