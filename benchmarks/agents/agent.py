"""An assistant without a model: it finds what costs a run most time by the tools of the MCP server alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

FOLLOWED, OPENED = 3, 2
"""Findings that are looked at, and events of each."""
ROOM = 300
"""Tokens that an event wants of an answer."""
_FINDING = re.compile(r"^- (?:\\\[\w+\\\] )?(?P<title>[^.]+)\. ")
_SHARE = re.compile(r"\((?P<share>[\d.]+) %\)")
_EVENTS = re.compile(r"^  Events: (?P<events>.*)")
_BRIEF = re.compile(r" \((?P<events>\\#[^()]+)\)$")
_EVENT = re.compile(r"\\#(?P<id>\d+)(?: of (?P<worker>[\w./-]+))?")
_BEGINS = re.compile(
    r"Begins (?P<begin>.+?) after the first event, lasts (?P<dur>[^,.]+(?:\.\d+)?[^,.]*)"
)
_TOKENS = re.compile(r"\*About (?P<tokens>[\d\s]+) tokens\.\*")
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
    """A finding of an answer. ``share``: of the step that it would save, 0 where none is said."""

    title: str
    share: float
    worker: str
    ids: list[tuple[str, int]] = field(default_factory=list)
    events: list[Opened] = field(default_factory=list)


@dataclass
class Report:
    """The findings in their order, the largest first, and the tokens of all answers."""

    findings: list[Told]
    tokens: int = 0
    calls: int = 0


async def investigate(client: Any, run: str, tokens: int) -> Report:
    """Find what costs a run most: its findings, and the events of the first three. Each answer has at
    most ``tokens``.
    """
    report = Report([])

    async def call(tool: str, **arguments: Any) -> str:
        answer = await client.call_tool(tool, {**arguments, "tokens": tokens})
        text = "".join(part.text for part in answer.content)
        if answer.is_error:
            raise RuntimeError(f"{tool} {arguments}: {text}")
        report.calls += 1
        counted = _TOKENS.search(text)
        report.tokens += int(re.sub(r"\s", "", counted["tokens"])) if counted else 0
        return text

    listed = await call("list_runs", match=run)
    paths = dict(re.findall(r"^\| `([^`]+)` \| [^|]+ \| ([^ |]+) ", listed, re.M))
    traces = {worker: path for path, worker in paths.items()}
    report.findings = _distinct(read_findings(await call("findings", trace=run)))
    wanted = [(f, *one) for f in report.findings[:FOLLOWED] for one in f.ids[:OPENED]]
    for worker in dict.fromkeys(worker for _, worker, _ in wanted):
        place = traces.get(worker) or next(iter(traces.values()))
        own = [(finding, event) for finding, name, event in wanted if name == worker]
        # Each event wants some room of an answer.
        at_once = max(1, tokens // ROOM)
        for first in range(0, len(own), at_once):
            part = own[first : first + at_once]
            ids = list(dict.fromkeys(event for _, event in part))
            opened = read_events(worker, await call("event", trace=place, ids=ids))
            for finding, event in part:
                finding.events += opened.get(event, [])
    return report


def read_findings(text: str) -> list[Told]:
    """The findings of an answer, in their order."""
    findings: list[Told] = []
    worker, inside = "", False
    for line in text.splitlines():
        if line.startswith("# "):
            worker = line.split(" · ")[1] if " · " in line else ""
        if line.startswith("#"):
            inside = line == "## Findings"
        match = _FINDING.match(line)
        if inside and match:
            share = _SHARE.search(line)
            findings.append(Told(match["title"], float(share["share"]) if share else 0, worker))
        events = _EVENTS.match(line) or _BRIEF.search(line)
        if inside and findings and events:
            findings[-1].ids = [
                (match["worker"] or worker, int(match["id"]))
                for match in _EVENT.finditer(events["events"])
            ]
    return findings


def _distinct(findings: list[Told]) -> list[Told]:
    """Of several workers the largest of each kind, the largest first; those without a time keep their
    place at the end.
    """
    ordered = sorted(findings, key=lambda finding: -finding.share)
    return list({finding.title: finding for finding in reversed(ordered)}.values())[::-1]


def read_events(worker: str, text: str) -> dict[int, list[Opened]]:
    """The events of an answer by their ids."""
    opened = {}
    for part in re.split(r"^# \\#", text, flags=re.M)[1:]:
        number, _, name = part.splitlines()[0].partition(" ")
        times = _BEGINS.search(part)
        if times:
            event = Opened(worker, _plain(name), _ns(times["begin"]), _ns(times["dur"]))
            opened[int(number)] = [event]
    return opened


def _plain(markdown: str) -> str:
    return re.sub(r"\\(.)", r"\1", markdown)


def _ns(text: str) -> float:
    match = _TIME.search(text)
    return float(match["value"]) * _NS[match["unit"]] if match else 0.0
