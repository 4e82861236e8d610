"""What no answer may say of a trace, whatever its words: laws that a reader could check by hand.

``broken`` compares the answer of ``findings --json`` with the steps, the critical path and the events of
the same trace, and tells of each claim that is not so.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import torch_tb_profiler
from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS, groups_of_causes
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.findings.step_findings import findings_of
from torch_tb_profiler.api.fleets import fleet_places
from torch_tb_profiler.api.frames import TraceFrames
from torch_tb_profiler.cli.main import main
from torch_tb_profiler.store.columns import Array, Table
from torch_tb_profiler.tables.ranks import path_insight

Answer = Mapping[str, Any]

NEAR = 0.25
"""How far a step's length may be from that of the nearest step."""
MOST = 0.5
"""Share that "most of it" needs."""
THRESHOLD = 0.02
"""Share of a step from which on a saving is no longer "no cause"."""
PART = 1.05
"""How far a simulated saving may be above the part that it acts on: what is gone also leaves no gaps."""
ROUNDED = 1.006
"""Three digits are shown."""
_UNITS = {"ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 6e10, "h": 3.6e12}
_AMOUNT = r"(\d[\d\u202f ,]*(?:\.\d+)?) (ns|µs|ms|s|min|h)\b"
_PART = re.compile(rf"{_AMOUNT} of (?:each|the|its|an?|one|every)? ?{_AMOUNT}")
_STEP = re.compile(rf"(?:each|the|an?|one) {_AMOUNT} (?:step|iteration|recording)")
_LEFT = re.compile(
    rf"(?:step|iteration|recording) (?:takes|would take) (?:about )?{_AMOUNT}(?: \((\d[\d.]*) to (\d[\d.]*)\))?"
)
_SHARE = re.compile(r"\((\d+(?:\.\d+)?) %\)")
_PLACE = re.compile(
    r"(?P<how>[Mm]ost of it|[Tt]he largest part(?: of it)?)(?: is)? in (?:\w+'s )?(?P<what>.+?)"
    r"(?: at (?P<file>[^\s()]+\.py):(?P<line>\d+)| of (?P<script>[^\s()]+\.py))?"
    r"(?=[.,;:](?:\s|$)|$)"
)
_LINE = re.compile(r"(?P<file>[^\n]+?)(?:\((?P<line>\d+)\))?: (?P<function>.+)", re.DOTALL)
_BUILT_IN = re.compile(r"<built-in (?:function|method) (\S+)(?: of .*)?>", re.DOTALL)
_SOME_STEPS = re.compile(r"every \S+ step|of \d+ steps|some steps|once", re.IGNORECASE)
_ONE_STEP = re.compile(r"\bof (?:a|one) [\d.]+ \S+ step")
_GROUPS = {
    "Loading data takes": "data_loading",
    r"The \w+ computes for": "compute",
    "Copies take": "copies",
    "Communication takes": "communication",
    "Waiting for a rank takes": "waiting",
    "Host code takes": "host_code",
}
"""How a headline begins that speaks of a group of the strip."""
_OF_RANKS = ("straggler", "late_itself", "unequal_input", "held_once")
_NO_CAUSE = re.compile(r"no cause", re.IGNORECASE)


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
    traces = {(each.worker, each.span): each for each in torch_tb_profiler.open_all(str(path))}
    return [
        Answered(answer, traces[answer["worker"], answer["span"]], list(traces.values()))
        for answer in printed_by("findings", str(path), "--json")
    ]


def broken(told: Answered) -> list[str]:
    """The claims of an answer that are not so."""
    answer, trace, said = told.answer, told.trace, told.said
    wrong = [*_of_texts(said, answer), *_of_steps(told)]
    if answer["step_ns"]:
        wrong += [*_of_savings(said, answer), *_of_totals(answer), *_of_loading(answer, trace)]
        wrong += [*_of_groups(told), *_of_places(told)]
    return wrong


def _ns(number: str, unit: str) -> float:
    return float(re.sub("[\u202f ,]", "", number)) * _UNITS[unit]


def _rounding(number: str, unit: str) -> float:
    """By how much a shown number of at least two digits may differ from what it was, ns."""
    digits = len(number.partition(".")[2]) or 2 - len(number.strip())
    return float(0.5 * 10.0**-digits * _UNITS[unit])


def _whole(answer: Answer) -> int:
    """The step that savings are taken from, ns."""
    return int(answer["step_ns"])


def _texts(said: str, answer: Answer) -> Iterator[str]:
    yield said
    for finding in answer["findings"]:
        yield f"{finding['title']} {finding['sentence']}"


def _of_texts(said: str, answer: Answer) -> Iterator[str]:
    """A part is not greater than its whole, nor a share than all."""
    for text in _texts(said, answer):
        for part in _PART.finditer(text):
            if _ns(*part.group(1, 2)) > ROUNDED * _ns(*part.group(3, 4)):
                yield f"a part above its whole: {part[0]}"
        for share in _SHARE.finditer(text):
            if float(share[1]) > 100:
                yield f"a share above all: {text}"


def _of_groups(told: Answered) -> Iterator[str]:
    """What is called as on the strip of the step takes what its legend says; loading and communication may take
    plainly more, which lies beside the path.
    """
    trace, said, step = told.trace, told.answer["headline"], told.answer["median"]
    path = told.strip
    on_device = trace.facts.summary.has_device
    group = groups_of_causes(on_device)[path["cause"]]
    for text, key in _GROUPS.items():
        amount = re.match(rf"{text} {_AMOUNT}", said)
        if not amount or " of one " in said:
            continue
        own = (group == list(GROUPS).index(key)) & (path["step"] == step)
        takes = float(path["time"][own].sum())
        over = _ns(*amount.groups()) - takes
        beside = key in ("data_loading", "communication") and over > (PART - 1) * takes
        if abs(over) > _rounding(*amount.groups()) and not beside:
            yield f"{text} {amount[1]} {amount[2]}, on the strip {takes / 1e6:.4g} ms"


def _of_steps(told: Answered) -> Iterator[str]:
    """A step that is spoken of is one that there is on a rank of the run, or nearly."""
    answer, said = told.answer, told.said
    tables = [trace.facts["steps"] for trace in told.run]
    each = [(table["end"] - table["start"], step_lengths(table)) for table in tables]
    walls = np.concatenate([wall for both in each for wall in both]).astype(np.float64)
    if not answer["step_ns"] or not len(walls):
        return
    lengths = [float(answer["step_ns"])]
    if "on average" not in said:  # the kinds of steps are told then
        lengths += [_ns(*step.group(1, 2)) for step in _STEP.finditer(said)]
    for length in lengths:
        nearest = walls[np.abs(walls - length).argmin()]
        if abs(nearest / length - 1) > NEAR:
            yield f"no step takes {length / 1e6:.3g} ms; the nearest takes {nearest / 1e6:.3g}"


def _of_savings(said: str, answer: Answer) -> Iterator[str]:
    counted = []
    for finding in answer["findings"]:
        saving, rule = finding["recoverable_ns"], finding["rule"]
        low, high = finding["recoverable_low_ns"], finding["recoverable_high_ns"]
        if saving is None:
            continue
        # Who holds others back is told of the step through all ranks, what happens apart of such a step.
        own = finding["step"] is None and finding["rule"] not in _OF_RANKS
        step = _whole(answer) if own else round(saving / finding["share"])
        if not 0 < saving <= step:
            yield f"{rule} saves {saving} of {step} ns"
        if not 0 <= low <= saving <= high <= step + 1:
            yield f"{rule}: {saving} ns is not within {low} to {high} of {step}"
        if abs(finding["share"] - saving / step) > 0.001:
            yield f"{rule}: {saving} of {step} ns is said to be {finding['share']}"
        if finding["certainty"] != "theoretical" and not finding["artefact"]:
            counted.append(finding["share"])
    if _NO_CAUSE.search(said) and max(counted, default=0) >= THRESHOLD:
        yield f"no cause, and yet one of {max(counted):.1%}"
    left, part = _LEFT.search(said), _PART.search(said)
    if not left:
        return
    if left[3] and not float(left[3]) <= float(left[1]) <= float(left[4]):
        yield f"outside its interval: {left[0]}"
    if part:
        amounts = [part.group(1, 2), part.group(3, 4), left.group(1, 2)]
        acted_on, whole, rest = (_ns(*amount) for amount in amounts)
        if whole - rest > PART * acted_on + sum(_rounding(*amount) for amount in amounts):
            yield f"saves more than its part: {said}"


def _of_totals(answer: Answer) -> Iterator[str]:
    """All changes at once save no less than each, no more than the step, and more with every certainty."""
    before, step = 0, _whole(answer)
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
        if len(single) == 1 and saving > single[0] + 0.01 * step:
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
    """ "Most of it is in X at L": X at L takes half of what is spoken of, on a critical path."""
    said = told.said
    for place in _PLACE.finditer(said):
        amounts = re.findall(_AMOUNT, said[: place.start()])
        paths = [_time_at(place, trace, said) for trace in told.run if _has_lines(trace)]
        if not amounts or not paths:
            continue
        some = _SOME_STEPS.search(said) or _ONE_STEP.search(said)
        time = max(each.max() if some else each.mean() for each in paths)
        share = time / _ns(*amounts[0])
        least = MOST if "ost of it" in place["how"] else 0.1
        if share < least / ROUNDED:
            yield f"{place[0]}: {share:.0%} ({said})"


def _judged(trace: TraceFrames) -> list[int]:
    """The row of the step that the findings are about."""
    return list(findings_of(trace.facts, trace.insight, None)["rows"])


def _time_at(place: re.Match[str], trace: TraceFrames, said: str) -> Array:
    """How long the critical path is at a place, ns: in the median step, of "a step" in each of them."""
    table, strings = trace.insight["critical_path_steps"], trace.facts.strings
    what, script, rows = place["what"].strip(), place["file"] or place["script"], _judged(trace)
    if _ONE_STEP.search(said):
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
