"""``torch-tb-profiler event``: everything about single events, by the ids with which the other
commands name them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec

from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.cli.document import Block, Document, Item, Listing
from torch_tb_profiler.cli.output import Printer, Report, place, title
from torch_tb_profiler.errors import NotFound
from torch_tb_profiler.runs.event_text import EventTexts
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.runs.single import timeline_of
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.store.timeline_schema import Look
from torch_tb_profiler.units import and_more, format_count, format_ns
from torch_tb_profiler.views.event import event_payload
from torch_tb_profiler.views.event_arguments import args_payload, cut
from torch_tb_profiler.views.timeline_wire import EventPayload, EventRef

SHOWN, LONGEST_NAME = 10, 200
"""Device works, arrows and frames that a text names; JSON has those of the page."""


def print_events(opened: Opened, settings: Settings, options: argparse.Namespace) -> int:
    """Print the events of ``options.ids``; the exit code.

    Raises:
        NotFound: there is no such event.
        SourceError: with ``--raw``, the file cannot be read any more.
    """
    timeline = timeline_of(opened, settings)
    texts = EventTexts(settings)
    printer = Printer(options)
    for found in _payloads(opened, timeline, options.ids):
        raw = texts.read(opened, found.ref.event) if options.raw else None
        printer.add(
            Report(partial(_document, opened, found, raw), partial(_object, opened, found, raw))
        )
    printer.end()
    return 0


def _payloads(opened: Opened, timeline: Timeline, ids: Sequence[int]) -> list[EventPayload]:
    try:
        return [
            event_payload(opened.trace, opened.facts, timeline, event, opened.memoise)
            for event in dict.fromkeys(ids)
        ]
    except NotFound as error:
        count = opened.trace["spans"].n + opened.trace["instants"].n
        hint = (
            f"Ids run from 0 to {format_count(count - 1)}; those of counters' samples are none."
            if count
            else "The file holds no events."
        )
        raise NotFound(error.message.replace(" on the timeline", ""), hint) from error


def _object(opened: Opened, found: EventPayload, raw: str | None) -> dict[str, Any]:
    payload: dict[str, Any] = msgspec.to_builtins(found)
    return place(opened) | payload | ({} if raw is None else {"raw": raw})


def _document(opened: Opened, found: EventPayload, raw: str | None) -> Document:
    return Document(
        f"#{found.ref.event} {found.ref.name}", (title(opened),), tuple(_blocks(found, raw))
    )


def _blocks(found: EventPayload, raw: str | None) -> Iterator[Block]:
    yield from _listing("Event", [*_itself(found), *_around(found), *_calls(found)])
    yield from _listing(
        "From the program to the device",
        [f"{link.kind}: {_event(link.ref)}" for link in found.chain],
    )
    times = (("launch delay", found.launch_delay_ns), ("of it queued", found.queue_ns))
    launch = [f"{label} {format_ns(value)}" for label, value in times if value is not None]
    behind = f" ({', '.join(launch)})" if launch else ""
    launched = f"Device work launched: {format_count(found.launched_total)}, {format_ns(found.launched_ns)}{behind}"
    yield from _listing(launched, map(_event, found.launched), found.launched_total)
    yield from _listing(
        "Arguments",
        [f"{argument.name}: {argument.value}" for argument in found.arguments],
        most=len(found.arguments),
    )
    yield from _listing(
        "Arrows",
        [f"{arrow.label}, {arrow.direction}: {_event(arrow.other)}" for arrow in found.arrows],
        found.arrows_total,
    )
    yield from _listing("Call stack", found.stack)
    if raw is not None:
        arguments = args_payload(raw)
        yield from _listing(
            "In the file",
            [f"{a.name}: {a.value}" for a in arguments.arguments] or [arguments.text],
            most=len(arguments.arguments) or 1,
        )


def _itself(found: EventPayload) -> Iterator[str]:
    thread, process = (
        text if not text.isdigit() else f"{word} {text}"
        for word, text in (("thread", found.thread.strip()), ("process", found.process))
    )
    yield f"{found.category or 'no category'}, on {thread} of {process}"
    yield (
        f"Begins {format_ns(found.ref.start_ns)} after the first event, lasts"
        f" {format_ns(found.ref.dur_ns)}{f', in {found.step}' if found.step else ''}."
    )


def _around(found: EventPayload) -> Iterator[str]:
    if found.parent is not None:
        yield f"Inside {_event(found.parent)}"
    if found.children and found.first_child is not None:
        yield (
            f"Around {format_count(found.children)} event{'s' if found.children != 1 else ''}, first"
            f" {_event(found.first_child)}"
        )
    beside = [
        f"{word} {_event(ref)}"
        for word, ref in (("before it", found.previous), ("after it", found.next))
        if ref is not None
    ]
    if beside:
        yield f"Beside: {'; '.join(beside)}"


def _calls(found: EventPayload) -> Iterator[str]:
    same = found.siblings
    if same.calls > 1:
        place = "The longest" if same.rank == 1 else f"By length number {format_count(same.rank)}"
        ends = (
            f"from {format_ns(same.shortest_ns)} (#{same.fastest.event}) to"
            f" {format_ns(same.longest_ns)} (#{same.slowest.event})"
        )
        yield (
            f"{place} of {format_count(same.calls)} of this name: {format_ns(same.total_ns)} together, mean"
            f" {format_ns(same.mean_ns)}, {ends}"
        )


def _listing(
    title: str, texts: Iterable[str], total: int = 0, most: int = SHOWN
) -> Iterator[Listing]:
    listed = list(texts)
    if listed:
        yield Listing(
            title,
            [Item(text, (), "- ") for text in listed[:most]],
            and_more(max(total, len(listed)) - most),
        )


def _event(ref: EventRef) -> str:
    name = short_name(ref.name) if ref.look == Look.KERNEL else cut(ref.name, LONGEST_NAME)
    return f"#{ref.event} {name} {format_ns(ref.dur_ns)}"
