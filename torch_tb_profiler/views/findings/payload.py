"""Route ``/findings``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.critical_path.verdict import Verdict
from torch_tb_profiler.analysis.critical_path.verdict_texts import in_how_many
from torch_tb_profiler.analysis.critical_path.waiting import with_waiting
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.analysis.figures.missing_data import absent, unplaced, unrecorded
from torch_tb_profiler.analysis.findings.engine import EXPECT_IDLE
from torch_tb_profiler.analysis.findings.lines import line_of
from torch_tb_profiler.analysis.findings.not_judged import UNSURE
from torch_tb_profiler.analysis.findings.rule import Rule
from torch_tb_profiler.analysis.findings.rules import RULES
from torch_tb_profiler.analysis.findings.run_findings import once_rows, with_verdict
from torch_tb_profiler.analysis.findings.step_findings import findings_of
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role
from torch_tb_profiler.store.summary import WorkloadKind
from torch_tb_profiler.units import (
    format_about,
    format_count,
    format_names,
    format_ns,
    format_share,
    format_value,
    plural,
)
from torch_tb_profiler.views.findings.about import about_text, step_name
from torch_tb_profiler.views.findings.headline import LEAST_JUDGED, Answer, answer_of
from torch_tb_profiler.views.findings.path import Path, at_line
from torch_tb_profiler.views.findings.wire import Evidence, Finding, FindingsPayload, Told, Total
from torch_tb_profiler.views.steps import kinds_text, other_kinds, step_noun, subject_of
from torch_tb_profiler.views.wire import Link, Number, Subject
from torch_tb_profiler.views.words.texts import capitalised, cut, filled, missing
from torch_tb_profiler.views.words.vocabulary import allocator_setting, vocabulary

LONGEST_LABEL = 120
UNEVEN = 10
"""Mean count per step below which it is said between which whole ones it lies."""
DIFFERS = 0.1
"""Share from which on a saving of several changes differs from the sum of each."""
LONGEST_LINE = 500
_SENTENCES = ("why",)
"""Words that are sentences, of names that are cut already."""
_BEHIND = "Hidden behind the causes above; alone it saves next to nothing. Once they are mended:"
MOST_ARTEFACTS = 0.5
"""Share of the step beyond which profiler overhead hides the rest."""


class Source(msgspec.Struct, frozen=True):
    """The trace of the findings, and its place in the catalogue. ``job``: its run. ``steps``: rows of steps that the findings
    are about; with all or None, those that the rules judge.
    """

    trace: Trace
    facts: Facts
    insight: Insight
    worker: str
    span: str
    steps: Ints | None = None
    job: str = ""

    def subject(self, rows: Sequence[int]) -> Subject:
        """What figures of some of its steps are of."""
        whose = {"job": self.job, "recording": self.span, "ranks": self.worker}
        return subject_of(self.facts, np.array(rows, np.int64), **whose)

    def analysis(self, apart: Collection[int] = (), speaks: int | None = None) -> dict[str, Any]:
        """The findings that count in these steps (``step_findings.py``); unless steps are chosen, without the rows ``apart``, where
        others are left, and of the row ``speaks`` where one is given.
        """
        chosen = self.steps
        # Of all steps, the rules leave cold and cut ones out.
        if chosen is not None and len(chosen) < self.facts["steps"].n:
            return findings_of(self.facts, self.insight, chosen)
        judged = self.insight.about["findings"]["rows"]
        rest = [row for row in judged if row not in apart] or judged
        if len(rest) == len(judged):
            return findings_of(self.facts, self.insight, None, speaks)
        found = findings_of(self.facts, self.insight, np.array(rest, np.int64), speaks)
        return {**found, "whole": True}


def findings_payload(source: Source, progress: float = 1.0) -> FindingsPayload:
    """The findings of one worker's trace. ``progress``: how far the other workers are read."""
    analysis = source.analysis()
    if progress < 1:
        analysis = {**analysis, "unsure": ["first_look", *analysis["unsure"]]}
    return _payload(source, analysis, progress)


def _payload(source: Source, analysis: Mapping[str, Any], progress: float = 1.0) -> FindingsPayload:
    facts = source.facts
    all_rows = np.array(analysis["all_rows"], np.int64)
    others = other_kinds(facts, all_rows)
    analysis = {**analysis, "others": others[0][0] if len(others) == 1 else ""}
    words = _words(source, analysis)
    texts = [_own_words(source, words, analysis, item) for item in analysis["found"]]
    titles = {
        item.get("number"): capitalised(filled(RULES[item["rule"]].title, own))
        for own, item in zip(texts, analysis["found"], strict=True)
    }
    analysis = {**analysis, "titles": titles}
    findings = [
        _finding(source, analysis, own, item)
        for own, item in zip(texts, analysis["found"], strict=True)
    ]
    lacking = absent(facts)
    path = Path.of(facts, source.insight, source.trace["spans"], analysis["rows"])
    # A file of allocations alone has an answer of its own.
    allocations_alone = "events" in lacking
    if allocations_alone:
        from torch_tb_profiler.views.memory.headline import memory_about, memory_headline

        answer = Answer(*memory_headline(source.trace, facts, source.insight))
        about = memory_about(source.trace, facts, source.insight)
    else:
        answer = answer_of(path, analysis, words, texts)
        about = about_text(facts, analysis, _row_told(analysis, answer))
        said = bool(analysis["others"]) and answer.headline.endswith(f"{analysis['others']}.")
        kinds = kinds_text(facts, others, said)
        answer = msgspec.structs.replace(
            answer,
            detail=" ".join(filter(None, (answer.detail, *_remarks(analysis, texts), kinds))),
        )
    return FindingsPayload(
        subject=source.subject(analysis["all_rows"]),
        headline=answer.headline,
        detail=answer.detail,
        told=_with_subject(source, analysis, answer),
        line=answer.line or None,
        about=about,
        median=next(iter(analysis["rows"]), None),
        healthy=not costly(findings)
        and judged(analysis, findings)
        and facts.summary.workload.kind not in EXPECT_IDLE,
        steps=analysis["steps"],
        step_ns=analysis["step_ns"],
        mean_ns=analysis["mean_ns"],
        findings=findings,
        totals=[Total(**total) for total in analysis["totals"]],
        together=_together(analysis),
        unsure=[]
        if allocations_alone
        else [filled(UNSURE[key], words) for key in analysis["unsure"]],
        missing=missing(lacking, ("device", "host", "steps", "stack", "memory", "shapes")),
        progress=progress,
    )


def _row_told(analysis: Mapping[str, Any], answer: Answer) -> int | None:
    """The step of this rank that an answer speaks of."""
    if answer.item and "subject" not in answer.item and answer.item["row"] in analysis["all_rows"]:
        return int(answer.item["row"])
    return next(iter(analysis["rows"]), None)


def _with_subject(source: Source, analysis: Mapping[str, Any], answer: Answer) -> Told:
    """What an answer says as numbers, and whose step it speaks of."""
    if answer.told.whole_ns is None:
        return answer.told
    of_job = (answer.item or {}).get("subject")
    row = _row_told(analysis, answer)
    subject = of_job or source.subject([] if row is None else [row])
    return msgspec.structs.replace(answer.told, subject=subject)


def _remarks(analysis: Mapping[str, Any], texts: Sequence[Mapping[str, str]]) -> Iterator[str]:
    for item, own in zip(analysis["found"], texts, strict=True):
        if not item["costs"] and not item.get("behind_ns"):
            yield capitalised(filled(RULES[item["rule"]].remark, own))


def findings_in_run(
    source: Source,
    figures: RunFigures,
    verdict: Verdict,
    names: Sequence[tuple[str, str]],
) -> FindingsPayload:
    """The findings of a worker of a run whose workers are all known, who holds them back included.
    ``names``: (worker, span) of every rank.
    """
    own = (source.worker, source.span)
    if own not in names or len(names) < 2:
        return _payload(source, source.analysis())
    asked = names.index(own)
    place = figures.steps.place[asked]
    # Where nobody is held back the rank's own median step speaks for it.
    speaks = np.flatnonzero(place == verdict.median).tolist() if verdict.hold else []
    analysis = source.analysis(once_rows(verdict, place), next(iter(speaks), None))
    if not analysis["step_ns"]:
        return _payload(source, analysis)
    told = with_verdict(analysis, verdict, place, asked, names, figures)
    ranks = format_names([worker for worker, _ in names])
    table = source.insight["collectives"]
    for item in told["found"]:
        if RULES[item["rule"]].claim is None and item["rows"] and not item["line"]:
            waits = np.isin(table["event"], item["rows"]) & (table["host"] >= 0)
            called = table["host"][waits].astype(np.int64)
            took = source.trace["spans"]["dur"][called]
            item["line"] = line_of(source.trace, source.facts, source.insight.tables, called, took)[
                0
            ]
        if "common" in item:
            subject = source.subject([item["row"]] if item["row"] >= 0 else [])
            item["subject"] = replace(subject, ranks=ranks, steps=str(item["common"]))
    insight = with_waiting(source.trace, source.facts, source.insight, figures, asked)
    return _payload(replace(source, insight=insight), told)


def costly(findings: list[Finding]) -> list[Finding]:
    """Findings that cost step time even without the profiler."""
    return [item for item in findings if item.recoverable_ns is not None and not item.artefact]


def judged(analysis: Mapping[str, Any], findings: list[Finding]) -> bool:
    """Whether enough was recorded to call a trace healthy: steps, device work if there was any that could
    mostly be compared with the device's peaks, and not mostly profiler overhead.
    """
    artefacts = sum(finding.share or 0.0 for finding in findings if finding.artefact)
    return (
        analysis["step_ns"] is not None
        and not {"device_lost", "device_profiled", "sums"}.intersection(analysis["unsure"])
        and artefacts <= MOST_ARTEFACTS
        and (analysis["judged"] is None or analysis["judged"] >= LEAST_JUDGED)
    )


def _own_words(
    source: Source,
    words: Mapping[str, str],
    analysis: Mapping[str, Any],
    item: Mapping[str, Any],
) -> dict[str, str]:
    """What the texts of a finding may name."""
    rule, numbers = RULES[item["rule"]], item["numbers"]
    units = {key: unit for key, (_, unit) in rule.numbers.items()}
    own = dict(words) | {key: _number(value, units.get(key, "")) for key, value in numbers.items()}
    own |= {
        key: cut(text, LONGEST_LINE if key in _SENTENCES else LONGEST_LABEL)
        for key, text in item["words"].items()
    }
    hit = numbers.get("in_steps", numbers.get("held_steps"))
    if hit is not None and "of_steps" in numbers:
        own["which_steps"] = _which_steps(round(hit), round(numbers["of_steps"]), own["step"])
    own["at"] = at_line(item["line"] or "")
    if item["recoverable_ns"] is not None:
        left = max(item["length_ns"] - item["recoverable_ns"], 0)
        own |= {
            "gain": format_ns(item["recoverable_ns"]),
            "share": format_share(item["share"]),
            "left": format_about(left),
        }
    elif item.get("behind_ns") is not None:
        gain = item["behind_ns"]
        own |= {
            "gain": format_ns(gain),
            "share": format_share(gain / analysis["step_ns"]),
            "left": format_about(analysis["step_ns"] - gain),
        }
    return own


def _which_steps(hit: int, of: int, step: str) -> str:
    """``every step``, of a single one ``the step``; ``3 of 12 steps``."""
    if hit >= of:
        return f"{'every' if of > 1 else 'the'} {step}"
    return f"{format_count(hit)} of {format_count(of)} {plural(step)}"


def _number(value: float, unit: str) -> str:
    """A figure in a text; a count per step that is no whole one lies between two."""
    if unit == "count" and value != int(value) and value < UNEVEN:
        return f"{format_count(int(value))} to {format_count(int(value) + 1)}"
    return format_count(round(value)) if unit == "count" else format_value(value, unit)


def _finding(
    source: Source, analysis: Mapping[str, Any], words: Mapping[str, str], item: Mapping[str, Any]
) -> Finding:
    rule, numbers = RULES[item["rule"]], item["numbers"]
    sentences = [
        rule.sentence,
        *(text for key, text in rule.details if item["words"].get(key) or numbers.get(key)),
    ]
    sentence = capitalised(filled(" ".join(sentences), words))
    if item.get("behind_ns"):
        sentence = f"{_BEHIND} {sentence}"
    sentence = " ".join(filter(None, (sentence, item["words"].get("library"))))
    if told := analysis["titles"].get(item.get("holds", -1)):
        sentence = f"{sentence} Most of this time is that of “{told}”."
    return Finding(
        rule=item["rule"],
        title=capitalised(filled(rule.title, words)),
        sentence=sentence,
        action=capitalised(filled(item["words"].get("action") or rule.action, words)),
        fact=_fact(rule, item, words),
        often=_often(source, analysis, item),
        steps=list(item["hit"]),
        step=None if item["row"] in analysis["rows"] else item["row"],
        subject=item.get("subject"),
        views=list(rule.views),
        recoverable_ns=item["recoverable_ns"],
        recoverable_low_ns=_whole(item["low_ns"]),
        recoverable_high_ns=_whole(item["high_ns"]),
        recoverable_mean_ns=item["mean_saved_ns"],
        acted_ns=item["acted_ns"],
        holds=next(
            (at for at, other in enumerate(analysis["found"]) if _is_held(item, other)), None
        ),
        share=item["share"],
        certainty=item["certainty"],
        change=item["change"],
        artefact=item["artefact"],
        evidence=[_evidence(source, row) for row in item["rows"]]
        + [Evidence(**event) for event in item.get("evidence", ())],
        evidence_count=item["count"],
        line=cut(item["line"], LONGEST_LINE) if item["line"] else None,
        attempt=filled(item["words"].get("attempt") or rule.attempt, words),
        caveat=filled(rule.caveat, words),
        edit=rule.edit,
        numbers=[
            Number(label=filled(label, words), value=numbers[key], unit=unit)
            for key, (label, unit) in rule.numbers.items()
            if label and key in numbers
        ],
        links=[Link(text=name, url=url) for name, url in (*rule.links, *_source(item))],
    )


def _fact(rule: Rule, item: Mapping[str, Any], words: Mapping[str, str]) -> str:
    """The fact that decides; where it is not known the first detail that holds."""
    try:
        return filled(item["words"].get("fact") or rule.fact, words)
    except KeyError:
        own = item["words"] | item["numbers"]
        told = next((text for key, text in rule.details if own.get(key)), "")
        return filled(told, words).removesuffix(".")


def _often(source: Source, analysis: Mapping[str, Any], item: Mapping[str, Any]) -> str:
    """In which of several steps: ``every step``, ``every step but one``, ``once, in step 7``, ``in 3 of 12 steps``."""
    judged = source.insight.about["findings"]["rows"]
    steps, hit = judged if analysis["whole"] else analysis["all_rows"], item["hit"]
    if not item["costs"] or not hit or (len(steps) == 1 and item["row"] in steps):
        return ""
    # A finding counts in steps of one kind.
    kind = source.facts["steps"]["kind"]
    steps = [row for row in steps if kind[row] == kind[hit[0]]]
    if len(hit) == 1:
        return f"once, in step {step_name(source.facts, hit[0])}"
    own = sum(row in hit for row in steps)
    return in_how_many(own, len(steps)) if own else f"in {format_count(len(hit))} steps"


def _source(item: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Title and address of where a known fix is described."""
    text, _, url = item["words"].get("source", "").partition("\n")
    return [(text, url)] if url else []


def _is_held(item: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether most of the time of a finding is told of by another one."""
    return bool(item.get("holds", -1) == other.get("number", -2))


def _whole(time: float | None) -> int | None:
    return None if time is None else round(time)


def _together(analysis: Mapping[str, Any]) -> str:
    """Why several changes at once save something else than the sum of each alone."""
    total = next((t for t in analysis["totals"][::-1] if t["certainty"] != "theoretical"), None)
    single = [
        item["recoverable_ns"]
        for item in analysis["found"]
        if item["certainty"] in ("certain", "likely")
        and not item["artefact"]
        and item["row"] in analysis["rows"]
    ]
    if total is None or len(single) < 2:
        return ""
    alone, both = sum(single), total["recoverable_ns"]
    if abs(both - alone) < DIFFERS * alone:
        return ""
    why = (
        "while one cause remains, part of what the others cost is hidden behind it"
        if both > alone
        else "some of them act on the same time"
    )
    return f"Each alone they save {format_ns(alone)} in sum, together {format_ns(both)}: {why}."


def _words(source: Source, analysis: Mapping[str, Any]) -> dict[str, str]:
    words, step = vocabulary(source.facts), _step_word(source.facts, analysis)
    summary = source.facts.summary
    return {
        "recorded": f"device {summary.vendor}" if summary.has_device else "host",
        "unplaced": unplaced(source.facts) or "",
        "unrecorded": unrecorded(source.facts),
        "device": words.device,
        "multiprocessor": words.multiprocessor,
        "matrix_cores": words.matrix_cores,
        "step": step,
        "several": plural(step),
        "allocator_setting": allocator_setting(
            summary.vendor, source.trace.header.get("memory_backend", "")
        ),
    }


def _step_word(facts: Facts, analysis: Mapping[str, Any]) -> str:
    if "no_steps" in analysis["unsure"]:
        return "recording"
    noun = step_noun(facts, np.array(analysis["all_rows"], np.int64))
    if noun != "step":
        return noun
    return "iteration" if facts.summary.workload.kind == WorkloadKind.SERVING else "step"


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
