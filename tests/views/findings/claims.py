"""What no answer may say of a trace, whatever its words: laws that a reader could check by hand.

``broken`` compares the answer of ``findings --json`` with the steps, the critical path and the events of
the same trace, and tells of each claim that is not so. Sentences are read by the numbers that they declare (``told``, and those of
each finding); only names are looked up in their texts.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import torch_tb_profiler
from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS, groups_of_causes
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.findings.order import FEW_STEPS
from torch_tb_profiler.analysis.findings.rules import RULES
from torch_tb_profiler.analysis.findings.step_findings import findings_of
from torch_tb_profiler.api.fleets import fleet_places
from torch_tb_profiler.api.frames import TraceFrames
from torch_tb_profiler.cli.main import main
from torch_tb_profiler.store.columns import Array, Table
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.tables.ranks import path_insight

Answer = Mapping[str, Any]

NEAR = 0.25
"""How far a step's length may be from that of the nearest step."""
MOST = 0.5
"""Share that "most of it" needs, that a step must show of a saving, and the least of a certain one of the most."""
SHOWN = 0.9
"""Share of its steps that show a certain saving."""
THRESHOLD = 0.02
"""Share of a step from which on a saving is no longer "no cause"."""
PART = 1.05
"""How far loading may be above what its frames show: what is gone also leaves no gaps."""
_PLACE = re.compile(
    r"(?P<how>[Mm]ost of it|(?P<part>[\d.]+)\s% of it|[Tt]he largest part(?: of it)?)(?: is)? in (?:\w+'s )?(?P<what>.+?)"
    r"(?: at (?P<file>[^\s()]+\.py):(?P<line>\d+)|(?: in \S+)? of (?P<script>[^\s()]+\.py))?"
    r"(?=[.,;:](?:\s|$)|$)"
)
_LINE = re.compile(r"(?P<file>[^\n]+?)(?:\((?P<line>\d+)\))?: (?P<function>.+)", re.DOTALL)
_BUILT_IN = re.compile(r"<built-in (?:function|method) (\S+)(?: of .*)?>", re.DOTALL)
_OF_RANKS = (
    *("straggler", "late_itself", "unequal_input", "held_once"),
    *("pipeline_bubble", "many_meetings"),
)
_NO_CAUSE = re.compile(r"no cause was found that costs", re.IGNORECASE)
OF_DEVICES = re.compile(
    r"\b(?:(?:GPU|NPU|XPU|accelerator|device|kernel|SM|Tensor Core)s?|TF32|CUDA|ROCm|NCCL|nccl"
    r"|torch\.cuda|launch\w*|pinned|pin_memory|non_blocking)\b",
    re.IGNORECASE,
)
OF_NVIDIA = re.compile(r"\b(?:CUDA|TF32|Tensor Cores?|SMs?)\b")
_PROGRAM = re.compile(
    r"Optimizer\.step#|autograd::engine::|nn\.Module: |.*\(\d+\): forward$|ProfilerStep"
)
"""What a program is there for, and its steps themselves."""


def printed_by(*arguments: str) -> Any:
    """What a command prints as JSON."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        assert main(arguments) == 0
    return json.loads(printed.getvalue())


@dataclass(frozen=True)
class Answered:
    """The answer about a trace, and the traces of its run: what holds a rank up may be on another."""

    answer: Answer
    trace: TraceFrames
    run: Sequence[TraceFrames]

    @property
    def strip(self) -> Table:
        """Where the path of each step goes; waiting for another rank of the run is told apart."""
        contexts = [each._context for each in self.run]
        [place] = [
            place
            for each, place in zip(self.run, fleet_places(contexts), strict=True)
            if each is self.trace
        ]
        return path_insight(self.trace._context.source(member=place))["critical_path_steps"]

    @property
    def said(self) -> str:
        """The headline and what follows it."""
        return " ".join(filter(None, (self.answer["headline"], self.answer.get("detail"))))


def answers_of(path: Path) -> list[Answered]:
    """The answers about the traces of a file or run folder."""
    traces = torch_tb_profiler.open_all(str(path))
    left = list(traces)
    found = []
    for answer in printed_by("findings", str(path), "--json"):
        # Independent recordings may share a name: they are told in the order in which they are opened.
        own = next(
            one for one in left if (one.worker, one.span) == (answer["worker"], answer["span"])
        )
        left.remove(own)
        found.append(Answered(answer, own, list(traces)))
    return found


def broken(told: Answered) -> list[str]:
    """The claims of an answer that are not so."""
    answer, trace = told.answer, told.trace
    wrong = [*broken_alone(answer), *_of_steps(told), *_of_words(told)]
    if answer["step_ns"]:
        wrong += [*_of_loading(answer, trace), *_of_certainty(told)]
        wrong += [*_of_groups(told), *_of_places(told)]
    return wrong


def broken_alone(answer: Answer) -> list[str]:
    """The claims of an answer that its own numbers tell not to be so."""
    said = " ".join(filter(None, (answer["headline"], answer.get("detail"))))
    wrong = list(_of_told(said, answer["told"]))
    if answer["step_ns"]:
        wrong += [*_of_savings(said, answer), *_of_totals(answer), *_of_order(answer)]
    return wrong


def _of_told(said: str, figures: Mapping[str, Any]) -> Iterator[str]:
    """A part is no more than its whole, what is at a place no more than that part, "most" is more than half of it, and no more is saved
    than the part.
    """
    part, whole, place, left = (
        figures[key] for key in ("part_ns", "whole_ns", "place_ns", "left_ns")
    )
    if part is not None and not 0 <= part <= whole:
        yield f"a part above its whole: {part} of {whole} ns ({said})"
    if place is not None and not place <= 1.001 * (part or whole):
        yield f"a place above its part: {place} of {part} ns ({said})"
    if place is not None and "Most of it is in" in said and place < MOST * (part or whole):
        yield f"most is {place} of {part} ns ({said})"
    if left is not None and not 0 <= left <= whole:
        yield f"{left} of {whole} ns are left"
    if left is not None and part is not None and whole - left > part + 1:
        yield f"saves more than its part: {whole - left} of {part} ns ({said})"


def _of_steps(told: Answered) -> Iterator[str]:
    """The step that is spoken of is one that there is on a rank of the run, or nearly."""
    answer, whole = told.answer, told.answer["told"]["whole_ns"]
    tables = [trace.facts["steps"] for trace in told.run]
    each = [(table["end"] - table["start"], step_lengths(table)) for table in tables]
    walls = np.concatenate([wall for both in each for wall in both]).astype(np.float64)
    for length in filter(None, (answer["step_ns"], whole)) if len(walls) else ():
        nearest = walls[np.abs(walls - length).argmin()]
        if abs(nearest / length - 1) > NEAR:
            yield f"no step takes {length / 1e6:.3g} ms; the nearest takes {nearest / 1e6:.3g}"


def _of_words(told: Answered) -> Iterator[str]:
    vendors = {trace.facts.summary.vendor for trace in told.run}
    yield from broken_words(told.answer, vendors, any(map(_knows_devices, told.run)))


def broken_words(answer: Answer, vendors: Collection[str], on_device: bool) -> Iterator[str]:
    """No share is above all; of a recording of a host alone nothing is said about accelerators, in what to try and the code for it
    neither, and of other ``vendors``' devices nothing that is NVIDIA's.
    """
    for finding in answer["findings"]:
        if finding["share"] is not None and finding["share"] > 1:
            yield f"a share above all: {finding['rule']}"
    if not answer["step_ns"]:
        return
    pattern = None if "nvidia" in vendors or not any(vendors) else OF_NVIDIA
    if not on_device:
        pattern = OF_DEVICES
    for text in texts_of(answer):
        if pattern and (found := pattern.search(text)):
            yield f"a word of accelerators on a host, or of another vendor: {found[0]} ({text})"


def texts_of(answer: Answer) -> Iterator[str]:
    """All that is said in our own words: neither names of events nor addresses of links."""
    yield from (answer["headline"], answer.get("detail") or "", *answer["unsure"])
    for one in answer["findings"]:
        yield from (one[key] for key in ("title", "sentence", "action", "fact", "attempt"))
        yield from (one["caveat"], one["edit"])
        yield from (each["label"] for each in one["numbers"])
        yield from (each["text"] for each in one["links"])


def _knows_devices(trace: TraceFrames) -> bool:
    """Whether a device did something, or its runtime was called."""
    called = (trace.trace["spans"]["role"] == Role.RUNTIME).any()
    return bool(called) or trace.facts.summary.has_device


def _of_groups(told: Answered) -> Iterator[str]:
    """What is called as on the strip of the step takes what its legend says."""
    figures, path = told.answer["told"], told.strip
    if figures["group"] == "nothing":
        yield from _of_silence(told)
    if figures["group"] in ("", "nothing"):
        return
    group = groups_of_causes(told.trace.facts.summary.has_device)[path["cause"]]
    own = group == list(GROUPS).index(figures["group"])
    takes = float(path["time"][own & (path["step"] == told.answer["median"])].sum())
    if abs(figures["part_ns"] - takes) > 1:
        yield f"{figures['group']} takes {figures['part_ns']} ns, on the strip {takes:.0f}"


def _of_silence(told: Answered) -> Iterator[str]:
    """While nothing was recorded, no event but the mark of a step is open."""
    figures, spans, steps = (
        told.answer["told"],
        told.trace.trace["spans"],
        told.trace.facts["steps"],
    )
    row = int(figures["subject"]["steps"] or 0)
    begin, end = int(steps["start"][row]), int(steps["end"][row])
    other = ~np.isin(spans["name"], steps["name"])
    reached, busy = begin, 0
    start, stop = spans["start"][other], (spans["start"] + spans["dur"])[other]
    for a, b in sorted(zip(start.tolist(), stop.tolist(), strict=True)):
        a, b = max(a, reached), min(b, end)
        busy, reached = busy + max(b - a, 0), max(reached, b)
    if figures["part_ns"] > end - begin - busy + 1:
        yield f"something was recorded: {busy} of {end - begin} ns ({told.said})"


def _of_savings(said: str, answer: Answer) -> Iterator[str]:
    """0 <= low <= saved <= acted on <= step, saved <= high <= step, and of the mean step."""
    counted = []
    for finding in answer["findings"]:
        saving, rule = finding["recoverable_ns"], finding["rule"]
        low, high = finding["recoverable_low_ns"], finding["recoverable_high_ns"]
        mean, acted = finding["recoverable_mean_ns"], finding["acted_ns"]
        if saving is None:
            continue
        # Who holds others back is told of the step through all ranks, what happens apart of such a step.
        own = finding["step"] is None and rule not in _OF_RANKS
        step = answer["step_ns"] if own else round(saving / finding["share"])
        if not 0 < saving <= step:
            yield f"{rule} saves {saving} of {step} ns"
        if not 0 <= low <= saving <= high <= step or not saving <= acted + 1 <= step + 2:
            yield f"{rule}: {saving} ns is not within {low} to {high} of {acted} of {step}"
        if abs(finding["share"] - saving / step) > 0.001:
            yield f"{rule}: {saving} of {step} ns is said to be {finding['share']}"
        if not saving <= (taken := _taken(finding)) + 1 or taken > acted + 1:
            yield f"{rule} saves {saving} of {taken} ns, of {acted} that its change acts on"
        if mean < 0 or (rule not in _OF_RANKS and mean > answer["mean_ns"]):
            yield f"{rule}: {mean} of the mean step"
        if finding["certainty"] == "certain" and low <= MOST * min(high, acted) - 1:
            yield f"{rule} is certain: {low} to {high} ns"
        if finding["certainty"] != "theoretical" and not finding["artefact"]:
            counted.append(finding["share"])
    if _NO_CAUSE.search(said) and max(counted, default=0) >= THRESHOLD:
        yield f"no cause, and yet one of {max(counted):.1%}"


def _taken(finding: Mapping[str, Any]) -> float:
    """What a finding declares that it takes of the step; else what it saves of that."""
    rule, saving = RULES[finding["rule"]], float(finding["recoverable_ns"])
    label = rule.numbers.get(rule.part, ("", ""))[0]
    return next((one["value"] for one in finding["numbers"] if label == one["label"]), saving)


def _of_certainty(told: Answered) -> Iterator[str]:
    """What is certain is so in most steps that it speaks of; what could be taken away is not what the program is there for."""
    saving, found = (
        told.trace.insight["finding_steps"],
        told.trace.insight.about["findings"]["found"],
    )
    for finding in told.answer["findings"]:
        if finding["certainty"] in ("certain", "likely") and found_generic(found, finding["rule"]):
            for event in finding["evidence"]:
                if _PROGRAM.match(event["label"]):
                    yield f"{finding['rule']} takes away {event['label']}"
    for item in findings_of(told.trace.facts, told.trace.insight, None)["found"]:
        if item["certainty"] != "certain" or not item["hit"]:
            continue
        own = saving["finding"] == item["number"]
        gains = dict(zip(saving["step"][own].tolist(), saving["saved"][own].tolist(), strict=True))
        shown = [gains.get(row, 0) >= MOST * item["recoverable_ns"] for row in item["hit"]]
        if sum(shown) < SHOWN * len(shown):
            yield f"{item['rule']} is certain: {sum(shown)} of {len(shown)} steps show it"


def found_generic(found: Sequence[Mapping[str, Any]], rule: str) -> bool:
    """Whether a rule names a place and no cause."""
    return any(item["rule"] == rule and item["generic"] for item in found)


def _of_order(answer: Answer) -> Iterator[str]:
    """What happened once is never first where something else costs time; what another finding tells of stands behind it."""
    timed = [one for one in answer["findings"] if one["recoverable_ns"] and not one["artefact"]]
    once = [one["often"].startswith("once") for one in timed]
    # Of two steps none is one alone.
    if once and once[0] and not all(once) and answer["steps"] >= FEW_STEPS:
        yield f"first is what happened once: {timed[0]['rule']}"
    for number, finding in enumerate(answer["findings"]):
        other = finding["holds"]
        if (
            other is not None
            and other >= number
            and not answer["findings"][other]["often"].startswith("once")
            and not answer["findings"][other]["artefact"]
        ):
            yield f"{finding['rule']} stands before {answer['findings'][other]['rule']}"


def _of_totals(answer: Answer) -> Iterator[str]:
    """All changes at once save no less than each, no more than the step, and more with every certainty."""
    before, step = 0, int(answer["step_ns"])
    certainties = ["certain", "likely", "theoretical"]
    for total in answer["totals"]:
        within = certainties[: certainties.index(total["certainty"]) + 1]
        single = [
            finding["recoverable_ns"]
            for finding in answer["findings"]
            if finding["certainty"] in within
            and not finding["artefact"]
            and finding["step"] is None
        ]
        saving = total["recoverable_ns"]
        if not before <= saving <= step:
            yield f"all that is {total['certainty']} saves {saving} of {step}, after {before} ns"
        if abs(total["step_ns"] + saving - step) > 2:
            yield f"{total['step_ns']} ns are left and {saving} saved of {step}"
        if not total["low_ns"] <= total["step_ns"] <= total["high_ns"]:
            yield f"{total['step_ns']} ns is not within {total['low_ns']} to {total['high_ns']}"
        if saving < max(single, default=0) - 0.01 * step:
            yield f"all that is {total['certainty']} saves {saving} ns, one of it {max(single)}"
        alone = sum(
            one["certainty"] in within and not one["artefact"] for one in answer["findings"]
        )
        if alone == len(single) == 1 and saving > single[0] + 0.01 * step:
            yield f"the only change that is {total['certainty']} saves {single[0]} or {saving} ns"
        before = saving


def _of_loading(answer: Answer, trace: TraceFrames) -> Iterator[str]:
    """Batches that are ready save no more than the DataLoader takes."""
    savings = [
        finding["recoverable_ns"]
        for finding in answer["findings"]
        if finding["rule"] == "input_bound"
        and finding["recoverable_ns"]
        and finding["step"] is None
    ]
    if not savings:
        return
    spans, rows = trace.trace["spans"], _judged(trace)
    numbers, inverse = np.unique(spans["name"], return_inverse=True)
    loads = np.array(
        [
            "DataLoader" in name or "DataPipe" in name or "data.loader" in name
            for name in trace.trace.strings.many(numbers)
        ]
    )[inverse]
    table, taken = trace.facts["steps"], 0
    begin, end = spans["start"][loads], (spans["start"] + spans["dur"])[loads]
    for row in rows:
        reached = int(table["start"][row])
        for a, b in sorted(zip(begin.tolist(), end.tolist(), strict=True)):
            b = min(b, int(table["end"][row]))
            taken += max(0, b - max(a, reached))
            reached = max(reached, b)
    if max(savings) > PART * taken / len(rows) + 1000:
        yield f"input_bound saves {max(savings)} ns of a DataLoader of {taken / len(rows):.0f} ns"


def _of_places(told: Answered) -> Iterator[str]:
    """ "Most of it is in X at L": X at L takes half of what is spoken of, on a critical path; "20 % of it" as much as that."""
    said, amount = told.said, told.answer["told"]["part_ns"]
    for place in _PLACE.finditer(said):
        paths = [_time_at(place, trace) for trace in told.run if _has_lines(trace)]
        if not amount or not paths:
            continue
        share = max(each.max() for each in paths) / amount
        least = MOST if "ost of it" in place["how"] else float(place["part"] or 10) / 100
        if share < least / 1.006:
            yield f"{place[0]}: {share:.0%} ({said})"


def _judged(trace: TraceFrames) -> list[int]:
    """The row of the step that the findings are about."""
    return list(findings_of(trace.facts, trace.insight, None)["rows"])


def _time_at(place: re.Match[str], trace: TraceFrames) -> Array:
    """How long the critical path of each step is at a place, ns."""
    table, strings = trace.insight["critical_path_steps"], trace.facts.strings
    what, script = place["what"].strip(), place["file"] or place["script"]
    rows = list(findings_of(trace.facts, trace.insight, None)["all_rows"])
    chosen = np.flatnonzero(np.isin(table["step"], rows))
    total = dict.fromkeys(rows, 0)
    for row in chosen.tolist():
        line, name, operator = (
            strings[int(table[key][row])] if table[key][row] >= 0 else ""
            for key in ("line", "name", "operator")
        )
        found = _LINE.fullmatch(line)
        if script and (
            not found
            or not found["file"].replace("\\", "/").endswith(script.lstrip("…"))
            or (place["line"] and found["line"] and found["line"] != place["line"])
        ):
            continue
        if _is(what, found["function"] if found else "") or _is(what, name) or _is(what, operator):
            total[int(table["step"][row])] += int(table["time"][row])
    return np.array(list(total.values()), np.float64)


def _has_lines(trace: TraceFrames) -> bool:
    """Whether lines are known of the path: old recordings have them of operators, but no frames."""
    table = trace.insight["critical_path_steps"]
    return bool((table["line"][np.isin(table["step"], _judged(trace))] >= 0).any())


def _is(what: str, name: str) -> bool:
    """Whether a name may be shown as ``what``."""
    built_in, line = _BUILT_IN.fullmatch(name), _LINE.fullmatch(name)
    shown = built_in[1] if built_in else line["function"] if line else name
    if "…" in what:
        return shown.startswith(what.partition("…")[0])
    return bool(shown) and (
        what in (name, shown) or bool(re.search(rf"(?<!\w){re.escape(what)}(?!\w)", shown))
    )
