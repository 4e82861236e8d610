"""An assistant without a model: it finds what costs a run most time by the tools of the MCP server alone.

``investigate`` opens all events that the first findings show; ``solve`` has four calls.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

FOLLOWED, OPENED = 3, 2
"""Findings that are looked at, and events of each."""
ROOM = 300
"""Tokens that an event wants of an answer."""
_FINDING = re.compile(r"^- (?:\\\[\w+\\\] )?(?P<title>[^.]+)\. ")
_EVENTS = re.compile(r"^  Events: (?P<events>.*)")
_BRIEF = re.compile(r" \((?P<events>\\#[^()]+)\)$")
_EVENT = re.compile(r"\\#(?P<id>\d+)(?: of `(?P<worker>[^`]+)`)?")
_WORKER = re.compile(r" of `(?P<worker>[^`]+)` \\#")
_CHANGE = re.compile(r"^  Simulate: what\\_if with changes `?(?P<change>.+?)`?$")
_LINE = re.compile(r"\.py\(\d+\)")
_AT = re.compile(r"^  At `(?P<line>[^`]+)`$")
_BEGINS = re.compile(
    r"Begins (?P<begin>.+?) after the first event, lasts (?P<dur>[^,.]+(?:\.\d+)?[^,.]*)"
)
_TOKENS = re.compile(r"\*About (?P<tokens>[\d\s]+) tokens\.")
_TIME = re.compile(r"(?P<value>[\d.]+)\s*(?P<unit>ns|µs|ms|s)")
_NS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}


@dataclass
class Opened:
    """An event as the tool ``event`` tells it; times in ns, as precise as they are printed."""

    worker: str
    name: str
    start: float
    dur: float


@dataclass
class Told:
    """A finding of an answer. ``text``: what it says first; ``line`` and ``change`` where they are told."""

    title: str
    text: str = ""
    line: str = ""
    change: str = ""
    ids: list[tuple[str, int]] = field(default_factory=list)
    events: list[Opened] = field(default_factory=list)


@dataclass
class Report:
    """The headline, the findings in their order, all answers, and the tokens of these."""

    findings: list[Told]
    tokens: int = 0
    calls: int = 0
    headline: str = ""
    answers: list[str] = field(default_factory=list)
    most_tokens: int = 0


class _Calls:
    """Calls of tools, each with a budget, noted in a report."""

    def __init__(self, client: Any, tokens: int) -> None:
        self.client, self.tokens, self.report = client, tokens, Report([])

    async def __call__(self, tool: str, **arguments: Any) -> str:
        answer = await self.client.call_tool(tool, {**arguments, "tokens": self.tokens})
        text = "".join(part.text for part in answer.content)
        if answer.is_error:
            raise RuntimeError(f"{tool} {arguments}: {text}")
        counted = _TOKENS.search(text)
        tokens = int(re.sub(r"\s", "", counted["tokens"])) if counted else 0
        report = self.report
        report.calls += 1
        report.tokens += tokens
        report.most_tokens = max(report.most_tokens, tokens)
        report.answers.append(text)
        return text

    async def findings(self, run: str) -> dict[str, str]:
        """Note the findings of a run; its traces by worker."""
        listed = await self("list_runs", match=run)
        paths = dict(re.findall(r"^\| `([^`]+)` \| [^|]+ \| ([^ |]+) ", listed, re.M))
        answer = await self("findings", trace=run)
        self.report.headline, self.report.findings = read_findings(answer)
        return {worker: path for path, worker in paths.items()}


async def investigate(client: Any, run: str, tokens: int) -> Report:
    """Find what costs a run most: its findings, and the events of the first three. Each answer has at
    most ``tokens``.
    """
    call = _Calls(client, tokens)
    traces = await call.findings(run)
    wanted = [(f, *one) for f in call.report.findings[:FOLLOWED] for one in f.ids[:OPENED]]
    for worker in dict.fromkeys(worker for _, worker, _ in wanted):
        own = [(finding, event) for finding, name, event in wanted if name == worker]
        # Each event wants some room of an answer.
        at_once = max(1, tokens // ROOM)
        for first in range(0, len(own), at_once):
            part = own[first : first + at_once]
            ids = list(dict.fromkeys(event for _, event in part))
            place = _trace_of(traces, worker)
            opened = read_events(
                worker or next(iter(traces)), await call("event", trace=place, ids=ids)
            )
            for finding, event in part:
                finding.events += opened.get(event, [])
    return call.report


async def solve(client: Any, run: str, tokens: int) -> Report:
    """What is slow and where, in four calls: the traces, their findings, the events of the first finding that shows
    any, and the change that it names, or, where no line was seen, the critical path.
    """
    call = _Calls(client, tokens)
    traces = await call.findings(run)
    findings = call.report.findings[:FOLLOWED]
    shown = next((finding for finding in findings if finding.ids), None)
    seen = any(finding.line for finding in findings)
    if shown:
        worker = shown.ids[0][0]
        ids = [event for name, event in shown.ids[:OPENED] if name == worker]
        answer = await call("event", trace=_trace_of(traces, worker), ids=ids)
        seen = seen or bool(_LINE.search(answer))
    change = findings[0].change if findings else ""
    if seen and change and change != "no-stragglers":
        await call("what_if", trace=run, changes=[change])
    else:
        await call("critical_path", trace=run)
    return call.report


def _trace_of(traces: dict[str, str], worker: str) -> str:
    return traces.get(worker) or next(iter(traces.values()))


def read_findings(text: str) -> tuple[str, list[Told]]:
    """The headline and the findings of the first list of an answer: of a run it is that of all workers."""
    findings: list[Told] = []
    headline, inside = "", False
    for line in text.splitlines():
        if line.startswith("#"):
            if inside:
                break
            inside = line == "## Findings"
        elif inside and line.startswith("- ") and not headline:
            headline = plain(line[2:])
        elif inside and (match := _FINDING.match(line)):
            findings.append(Told(match["title"], plain(line[2:])))
        if not inside or not findings:
            continue
        if events := _EVENTS.match(line) or _BRIEF.search(line):
            findings[-1].ids = _ids(events["events"])
        elif at := _AT.match(line):
            findings[-1].line = at["line"]
        elif change := _CHANGE.match(line):
            findings[-1].change = change["change"]
    return headline, findings


def _ids(events: str) -> list[tuple[str, int]]:
    """Worker and number of each event; those of one name and worker stand together."""
    ids = []
    for group in events.split("; "):
        worker = _WORKER.search(group)
        for one in _EVENT.finditer(group):
            ids.append((one["worker"] or (worker["worker"] if worker else ""), int(one["id"])))
    return ids


def read_events(worker: str, text: str) -> dict[int, list[Opened]]:
    """The events of an answer by their ids."""
    opened = {}
    for part in re.split(r"^# \\#", text, flags=re.M)[1:]:
        number, _, name = part.splitlines()[0].partition(" ")
        times = _BEGINS.search(part)
        if times:
            event = Opened(worker, plain(name), _ns(times["begin"]), _ns(times["dur"]))
            opened[int(number)] = [event]
    return opened


def plain(markdown: str) -> str:
    """A text without its marks of Markdown."""
    return re.sub(r"\\(.)|`", r"\1", markdown)


def _ns(text: str) -> float:
    match = _TIME.search(text)
    return float(match["value"]) * _NS[match["unit"]] if match else 0.0
