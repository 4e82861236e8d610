"""``event PATH ID…``: everything about events that other commands print as ``#1234``: enclosing calls, the path from the program to the
device, arguments, call stack
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.argument_types import event_number, path_or_url
from torch_tb_profiler.cli.document import Block, Document, Item, Listing
from torch_tb_profiler.cli.output import Printer, Report, identity, settings_of, single_trace
from torch_tb_profiler.errors import NotFound
from torch_tb_profiler.units import and_more, format_count, format_counted, format_ns

if TYPE_CHECKING:
    from torch_tb_profiler.runs.model import Opened
    from torch_tb_profiler.store.timeline import Timeline
    from torch_tb_profiler.views.critical_path.payload import EventPathPayload
    from torch_tb_profiler.views.timeline.wire import EventPayload, EventRef

HELP = "show everything about single events"
SHOWN, LONGEST_NAME = 10, 200
"""Device events, arrows and frames that text lists, and characters of a name; JSON has all that the
page has.
"""


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    text = "trace file, or folder with one trace: a path or a URL"
    parser.add_argument("path", metavar="PATH", type=path_or_url, help=text)
    parser.add_argument(
        "ids", metavar="ID", nargs="+", type=event_number, help="event ids, like 1234 or '#1234'"
    )
    arguments.workers(parser)
    arguments.cache(parser)
    arguments.form(parser)
    parser.add_argument(
        "--raw", action="store_true", help="also print all arguments as written in the file"
    )


def run(options: argparse.Namespace) -> int:
    """Print the events of ``options.ids`` in the one trace at ``options.path``."""
    settings = settings_of(options)
    opened = single_trace(options.path, settings, options.worker)
    from torch_tb_profiler.runs.event_text import EventTexts
    from torch_tb_profiler.runs.loading import insight_of, timeline_of
    from torch_tb_profiler.views.critical_path.payload import event_path_payload

    timeline = timeline_of(opened, settings)
    texts = EventTexts()
    printer = Printer(options)
    printer.about(opened)
    payloads = _payloads(opened, timeline, options.ids)
    insight = insight_of(opened, settings)
    for payload in payloads:
        raw = texts.read(opened, payload.ref.event) if options.raw else None
        path = event_path_payload(opened.trace, opened.facts, insight, payload.ref.event)
        printer.add(
            Report(
                partial(_document, opened, payload, path, raw),
                partial(_object, opened, payload, path, raw),
            )
        )
    printer.end()
    return 0


def _payloads(opened: Opened, timeline: Timeline, ids: Sequence[int]) -> list[EventPayload]:
    from torch_tb_profiler.views.timeline.event import event_payload

    try:
        return [
            event_payload(opened.trace, opened.facts, timeline, event, opened.memoise)
            for event in dict.fromkeys(ids)
        ]
    except NotFound as error:
        count = opened.trace["spans"].n + opened.trace["instants"].n
        hint = (
            f"Ids run from 0 to {format_count(count - 1)}; ids of counter samples do not count."
            if count
            else "The file holds no events."
        )
        raise NotFound(error.message.replace(" on the timeline", ""), hint) from error


def _object(
    opened: Opened, payload: EventPayload, path: EventPathPayload, raw: str | None
) -> dict[str, Any]:
    import msgspec

    fields: dict[str, Any] = msgspec.to_builtins(payload)
    on_path = {"critical_path": msgspec.to_builtins(path)}
    return identity(opened) | fields | on_path | ({} if raw is None else {"raw": raw})


def _document(
    opened: Opened, payload: EventPayload, path: EventPathPayload, raw: str | None
) -> Document:
    return Document(
        f"#{payload.ref.event} {payload.ref.name}",
        (opened.title,),
        tuple(_blocks(payload, path, raw)),
    )


def _blocks(payload: EventPayload, path: EventPathPayload, raw: str | None) -> Iterator[Block]:
    about = [*_itself(payload), *_on_path(path), *_around(payload), *_calls(payload)]
    yield from _listing("Event", about)
    yield from _listing(
        "From Python to the device", [f"{link.kind}: {_event(link.ref)}" for link in payload.chain]
    )
    times = (("launch delay", payload.launch_delay_ns), ("of which queued", payload.queue_ns))
    launch = [f"{label} {format_ns(value)}" for label, value in times if value is not None]
    behind = f" ({', '.join(launch)})" if launch else ""
    launched = f"Device work launched: {format_count(payload.launched_total)}, {format_ns(payload.launched_ns)}{behind}"
    yield from _listing(launched, map(_event, payload.launched), payload.launched_total)
    yield from _listing(
        "Arguments",
        [f"{argument.name}: {argument.value}" for argument in payload.arguments],
        most=len(payload.arguments),
    )
    yield from _listing(
        "Captured",
        [f"{argument.name}: {argument.value}" for argument in payload.captured],
        most=len(payload.captured),
    )
    yield from _listing(
        "Arrows",
        [f"{arrow.label}, {arrow.direction}: {_event(arrow.other)}" for arrow in payload.arrows],
        payload.arrows_total,
    )
    yield from _listing("Call stack", payload.stack)
    if raw is not None:
        from torch_tb_profiler.views.timeline.event_arguments import args_payload

        found = args_payload(raw)
        yield from _listing(
            "In the file",
            [f"{a.name}: {a.value}" for a in found.arguments] or [found.text],
            most=len(found.arguments) or 1,
        )


def _itself(payload: EventPayload) -> Iterator[str]:
    thread, process = (
        text if not text.isdigit() else f"{word} {text}"
        for word, text in (("thread", payload.thread.strip()), ("process", payload.process))
    )
    yield f"{payload.category or 'no category'}, on {thread} of {process}"
    yield (
        f"Begins {format_ns(payload.ref.start_ns)} after the first event, lasts"
        f" {format_ns(payload.ref.dur_ns)}{f', in {payload.step}' if payload.step else ''}."
    )


def _on_path(path: EventPathPayload) -> Iterator[str]:
    slack = "" if path.slack_ns is None else f"; slack {format_ns(path.slack_ns)}"
    if path.within_ns:
        yield f"On the critical path for {format_ns(path.within_ns)}{slack}"
    elif slack:
        yield f"Not on the critical path{slack}"


def _around(payload: EventPayload) -> Iterator[str]:
    if payload.parent is not None:
        yield f"Inside {_event(payload.parent)}"
    if payload.children and payload.first_child is not None:
        yield (
            f"Around {format_counted(payload.children, 'event')}, first"
            f" {_event(payload.first_child)}"
        )
    beside = [
        f"{word} {_event(ref)}"
        for word, ref in (("before it", payload.previous), ("after it", payload.next))
        if ref is not None
    ]
    if beside:
        yield f"Neighbours: {'; '.join(beside)}"


def _calls(payload: EventPayload) -> Iterator[str]:
    same = payload.siblings
    if same.calls > 1:
        rank = "The longest" if same.rank == 1 else f"Number {format_count(same.rank)} by length"
        ends = (
            f"from {format_ns(same.shortest_ns)} (#{same.fastest.event}) to"
            f" {format_ns(same.longest_ns)} (#{same.slowest.event})"
        )
        yield (
            f"{rank} of {format_count(same.calls)} of this name: {format_ns(same.total_ns)} together, mean"
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
    from torch_tb_profiler.analysis.figures.kernels import short_name
    from torch_tb_profiler.store.timeline_schema import Look
    from torch_tb_profiler.views.words.texts import cut

    name = short_name(ref.name) if ref.look == Look.KERNEL else cut(ref.name, LONGEST_NAME)
    return f"#{ref.event} {name} {format_ns(ref.dur_ns)}"
