"""Route ``/findings``: what costs time that could be had back, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch_tb_profiler.analysis.figures.absent import absent
from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.analysis.findings.ledger import THRESHOLD
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role
from torch_tb_profiler.units import format_limit, format_ns, format_share, format_value
from torch_tb_profiler.views.event_arguments import cut
from torch_tb_profiler.views.findings_texts import NUMBERS, RULES, UNSURE, RuleText
from torch_tb_profiler.views.findings_wire import Evidence, Finding, FindingsPayload
from torch_tb_profiler.views.texts import capitalised, missing
from torch_tb_profiler.views.vocabulary import vocabulary
from torch_tb_profiler.views.wire import Link, Number

LONGEST_LABEL = 120
LONGEST_LINE = 500
MOST_ARTEFACTS = 0.5
"""Share of the step beyond which the profiler's own doing hides the rest."""


@dataclass(frozen=True)
class Source:
    """The trace that findings are of, and its place in the catalogue."""

    trace: Trace
    facts: Facts
    worker: str
    span: str


def findings_payload(
    source: Source, made: Mapping[str, Any], progress: float = 1.0
) -> FindingsPayload:
    """The findings of one worker's trace; ``made``: what ``analysis.findings`` found. ``progress``:
    how far the other workers are read.
    """
    facts = source.facts
    found = [_finding(source, made, item) for item in made["found"]]
    words = _words(source, made)
    return FindingsPayload(
        headline=_headline(made, found, words["device"], source.facts["steps"].n - made["steps"]),
        healthy=not costly(found) and judged(made, found),
        steps=made["steps"],
        step_ns=made["step_ns"],
        findings=found,
        unsure=[UNSURE[key].format_map(words) for key in made["unsure"]],
        missing=missing(absent(facts), ("device", "host", "steps", "stack", "memory", "shapes")),
        progress=progress,
    )


def costly(findings: list[Finding]) -> list[Finding]:
    """Those that cost step time which a run without the profiler would lose, too."""
    return [
        finding
        for finding in findings
        if finding.recoverable_ns is not None and not finding.artefact
    ]


def judged(made: Mapping[str, Any], found: list[Finding]) -> bool:
    """Whether enough was recorded to call a trace healthy: steps, the accelerator's work if its
    runtime was called, and not mostly the profiler itself.
    """
    artefacts = sum(finding.share or 0.0 for finding in found if finding.artefact)
    return (
        made["step_ns"] is not None
        and not {"device_lost", "device_profiled", "sums"}.intersection(made["unsure"])
        and artefacts <= MOST_ARTEFACTS
    )


def _finding(source: Source, made: Mapping[str, Any], item: Mapping[str, Any]) -> Finding:
    text, numbers = RULES[item["rule"]], dict(item["numbers"])
    words = _words(source, made) | {key: _printed(key, value) for key, value in numbers.items()}
    words |= {key: cut(text, LONGEST_LABEL) for key, text in item["words"].items()}
    words |= _gain(item)
    if "doing" in words:
        words["doing"] = _doing(words)
    return Finding(
        rule=item["rule"],
        title=capitalised(text.title.format_map(words)),
        sentence=_sentence(source, text, words),
        views=list(text.views),
        recoverable_ns=item["recoverable_ns"],
        share=item["share"],
        artefact=item["artefact"],
        evidence=[_evidence(source, row) for row in item["rows"]]
        + [Evidence(**event) for event in item.get("evidence", ())],
        evidence_count=item["count"],
        line=cut(item["line"], LONGEST_LINE) if item["line"] else None,
        attempt=text.attempt.format_map(words),
        caveat=text.caveat.format_map(words),
        numbers=[
            Number(label=label.format_map(words), value=numbers[key], unit=unit)
            for key, (label, unit) in NUMBERS.items()
            if key in numbers
        ],
        links=[Link(text=name, url=url) for name, url in text.links],
    )


def _sentence(source: Source, text: RuleText, words: Mapping[str, str]) -> str:
    on_host = text.host_sentence and not source.facts.summary["has_device"]
    sentence = (text.host_sentence if on_host else text.sentence).format_map(words)
    if words.get("operators") and "waits" in words:
        sentence += f" Most of them are in {words['operators']}."
    if words.get("largest"):
        sentence += f" Most of it is {words['largest']}."
    if words.get("padding"):
        sentence += f" There, pad {words['padding']}."
    if words.get("loading"):
        sentence += f" {words['loading']}"
    return capitalised(sentence)


def _doing(words: Mapping[str, str]) -> str:
    """What a late rank did before it came."""
    if not words["doing"]:
        return "What kept it, the trace does not say."
    where = f" in {words['module']}" if words["module"] else ""
    return (
        f"Before that {words['doing']}{where} takes {words['extra']} more on it than on the rank"
        " that waits longest."
    )


def _gain(item: Mapping[str, Any]) -> dict[str, str]:
    if item["recoverable_ns"] is None:
        return {}
    found = {"gain": format_ns(item["recoverable_ns"]), "share": format_share(item["share"])}
    if item["rule"] == "input_bound":
        numbers = item["numbers"]
        single, several = numbers["single_process"] > 0, numbers["worker_processes"] > 0
        found["loading"] = (
            "The batches are made in the training process (num_workers=0)."
            if single and not several
            else (
                "Worker processes make the batches, and the program still waits for them."
                if several and not single
                else ""
            )
        )
    return found


def _words(source: Source, made: Mapping[str, Any]) -> dict[str, str]:
    words = vocabulary(source.facts)
    return {
        "device": words.device,
        "multiprocessor": words.multiprocessor,
        "matrix_cores": words.matrix_cores,
        "step": "recording" if "no_steps" in made["unsure"] else "step",
    }


def _printed(key: str, value: float) -> str:
    return format_value(value, NUMBERS[key][1] if key in NUMBERS else "")


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


def _headline(made: Mapping[str, Any], found: list[Finding], device: str, left_out: int) -> str:
    if made["step_ns"] is None:
        return (
            "There is nothing to look at: the trace holds no step and no event that could make one."
        )
    word = "recording" if "no_steps" in made["unsure"] else "step"
    # Utilization is of kernels alone and of all selected steps: the two figures stand on one page
    # and must not seem to be one.
    busy = (
        ""
        if made["busy"] is None
        else f" {device} active {format_share(made['busy'])} (incl. copies)."
    )
    costing = costly(found)
    if "sums" in made["unsure"]:
        return (
            f"The file holds sums, {format_ns(made['step_ns'])} in all: where they were spent is"
            " known, when is not."
        )
    if not costing:
        lost = sum(finding.share or 0.0 for finding in found)
        own = (
            f" {format_share(lost)} of the {word} is attributed to the recording itself."
            if lost
            else ""
        )
        return (
            f"{'Healthy: nothing' if judged(made, found) else 'Nothing'} was found that costs"
            f" {format_limit(THRESHOLD)} of the {word} or more.{busy}{own}"
        )
    total, share = (
        sum(finding.recoverable_ns or 0 for finding in costing),
        sum(finding.share or 0.0 for finding in costing),
    )
    left = (
        f" ({left_out} cold or cut step{'s' if left_out > 1 else ''} left out)" if left_out else ""
    )
    most = costing[0].title
    # A title that begins with a name keeps its capital.
    most = most if RULES[costing[0].rule].title.startswith("{") else most[:1].lower() + most[1:]
    return (
        f"Up to {format_ns(total)} ({format_share(share)}) of a {word} of"
        f" {format_ns(made['step_ns'])}{left} could be had back. Most of it: {most}.{busy}"
    )
