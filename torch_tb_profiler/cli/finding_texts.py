"""Findings in words, for reports on a trace and on a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torch_tb_profiler.cli.document import Item, Listing
from torch_tb_profiler.cli.hints import event_hint, hint, recording_line
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.units import and_more, format_ns, format_share
from torch_tb_profiler.views.findings.wire import Evidence, Finding, FindingsPayload

_CHANGES = {
    "certain": "certain",
    "likely": "certain and likely",
    "theoretical": "certain, likely and theoretical",
}
EVENTS, BRIEF = 5, 2
"""Events that text names, and shortened text; JSON has all that the page lists."""


def findings_block(payload: FindingsPayload, opened: Opened) -> Listing:
    """The headline, every finding with its evidence, and what could not be judged."""
    items = [
        *(finding_item(finding, opened) for finding in payload.findings),
        *unsure_items(payload),
    ]
    shown = any(finding.evidence for finding in payload.findings)
    return Listing("Findings", items, event_hint() if shown else "", (lead_of(payload, opened),))


def lead_of(payload: FindingsPayload, opened: Opened, named: bool = False) -> Item:
    """The answer: headline, what follows it, what all of it is about, and what all changes save. ``named``: with the worker."""
    worker = opened.worker.name
    names = (worker, *(name for finding in payload.findings for name in _names(finding)))
    answer = f"{worker}: {answer_of(payload)}" if named else answer_of(payload)
    details = (*filter(None, (payload.about,)), *_together(payload))
    return Item(answer, details, "", names=names)


def answer_of(payload: FindingsPayload) -> str:
    """The headline and what follows it."""
    return " ".join(filter(None, (payload.headline, payload.detail)))


def unsure_items(payload: FindingsPayload) -> Iterator[Item]:
    """What could not be judged, and how to see lines where no stacks were recorded."""
    for text in payload.unsure:
        yield Item(text, (), "? ")
    for gap in payload.missing:
        if gap.key == "stack" and payload.step_ns and (call := recording_line(gap.call)):
            yield Item(
                f"To see lines of the program, record again: {call}", (), "? ", names=(call,)
            )


def _together(payload: FindingsPayload) -> Iterator[str]:
    """What the step would be with all changes of some certainty, and why that is not the sum of what each saves."""
    for total in payload.totals:
        low, high = format_ns(total.low_ns), format_ns(total.high_ns)
        yield (
            f"With all {_CHANGES[total.certainty]} changes: {format_ns(payload.step_ns)} →"
            f" {format_ns(total.step_ns)} ({low} to {high}), simulated together."
        )
    if payload.together:
        yield payload.together


def finding_item(finding: Finding, opened: Opened, where: str = "") -> Item:
    """A finding with its place, saving, attempt and evidence. ``where``: the workers of a run that have it."""
    events = finding.evidence
    more = and_more(finding.evidence_count - len(events[:EVENTS]))
    change = finding.change
    details = (
        where,
        f"At {finding.line}" if finding.line else "",
        _saving(finding),
        f"Try: {finding.attempt}" if finding.attempt else "",
        f"Events: {_events(events[:EVENTS], opened, bool(where))} {more}".rstrip()
        if events
        else "",
        hint(
            f"Simulate: torch-tb-profiler whatif PATH --change {change}",
            f"Simulate: what_if with changes {change}",
        )
        if change
        else "",
        f"But: {finding.caveat}" if finding.caveat else "",
    )
    sure = f"[{finding.certainty}] " if finding.certainty else ""
    brief = ", ".join(
        f"#{event.event}{_of(event, opened, bool(where))}" for event in events[:BRIEF]
    )
    return Item(
        f"{sure}{finding.title}. {finding.sentence}",
        tuple(filter(None, details)),
        brief=f"({brief})" if brief else "",
        names=(*_names(finding), opened.worker.name, *_code(change)),
    )


def _code(change: str | None) -> tuple[str, ...]:
    """A change that is to be copied as it is; one of letters alone may also be a word of the text."""
    return (change,) if change and not change.isalpha() else ()


def _saving(finding: Finding) -> str:
    if finding.recoverable_ns is None:
        return ""
    low, high = finding.recoverable_low_ns, finding.recoverable_high_ns
    between = f", {format_ns(low)} to {format_ns(high)} to be expected" if high is not None else ""
    often = f" {finding.often}" if finding.often else ""
    own = " of the job’s step" if finding.subject else ""
    saved = f"{format_ns(finding.recoverable_ns)} ({format_share(finding.share)}{own})"
    return f"Saves {saved}{often}{between}"


def _names(finding: Finding) -> tuple[str, ...]:
    """What the recording calls things that the finding speaks of."""
    labels = tuple(event.label for event in finding.evidence[:EVENTS])
    workers = tuple(event.worker for event in finding.evidence[:EVENTS])
    return (*((finding.line,) if finding.line else ()), *dict.fromkeys((*labels, *workers)))


def _events(events: Sequence[Evidence], opened: Opened, always: bool) -> str:
    """Events with their times, those of one name and worker together."""
    each: dict[str, list[str]] = {}
    for event in events:
        named = f"{event.label}{_of(event, opened, always)}"
        each.setdefault(named, []).append(f"#{event.event} {format_ns(event.dur_ns)}")
    return "; ".join(f"{named} {', '.join(numbers)}" for named, numbers in each.items())


def _of(event: Evidence, opened: Opened, always: bool) -> str:
    """The worker of an event where that is another one, or ``always``."""
    own_trace = not always and (event.worker, event.span) == (opened.worker.name, opened.span.name)
    return "" if own_trace else f" of {event.worker}"
