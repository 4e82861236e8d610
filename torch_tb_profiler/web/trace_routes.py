"""The routes of the Trace view: file, timeline, names, tiles."""

from __future__ import annotations

from typing import Annotated

from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.runs.download import cut, original
from torch_tb_profiler.runs.model import Opened, OpenedTimeline
from torch_tb_profiler.runs.text_filters import packed
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views import wire
from torch_tb_profiler.views.steps import step_columns
from torch_tb_profiler.views.timeline import wire as timeline_wire
from torch_tb_profiler.views.timeline.payload import names_payload, timeline_payload
from torch_tb_profiler.views.timeline.tiles import encode_tiles, last_tile, top_level
from torch_tb_profiler.web.downloads import GZIP, Download, Pieces, base_name, file_name, stem
from torch_tb_profiler.web.parameters import OfTrace, Ranges, Steps, Whole, Wholes, Window
from torch_tb_profiler.web.route import chosen, route

MOST_CELLS = 1 << 14
"""Tiles times lanes per request: twice what 1,600 px and a thousand rows need."""


LAST_NAME = OfTrace("the last name", lambda t, _: max(0, t.timeline["names"].n - 1))
LEVEL_MAX = OfTrace("`level_max`", lambda t, _: top_level(t.timeline))
LAST_TILE = OfTrace("the last tile", lambda t, values: last_tile(t.timeline, values["level"]))
LAST_LANE = OfTrace("the last lane", lambda t, _: t.timeline["lanes"].n - 1)
LANES = Ranges("Lanes, both ends of a range included. Default: all.", highest=LAST_LANE)
Lanes = Annotated[list[int] | None, LANES]


def all_lanes(timeline: OpenedTimeline, lanes: list[int] | None) -> list[int]:
    """The requested lanes, ascending; by default all."""
    return list(range(timeline.timeline["lanes"].n)) if lanes is None else lanes


@route("/trace")
def trace(opened: Opened, settings: Settings, steps: Steps) -> wire.TracePayload:
    """Name and size of the file, number of events, span, time of the first event, steps."""
    return wire.TracePayload(
        file=file_name(base_name(opened.span.path)),
        bytes=opened.span.bytes,
        events=opened.trace.entries,
        span_ns=opened.facts.summary.span_ns,
        origin_ns=str(opened.trace.origin_ns),
        perfetto_url=settings.perfetto_url,
        steps=step_columns(opened.facts, chosen(opened, steps)),
    )


@route("/trace/file", kept=False)
def trace_file(opened: Opened, settings: Settings, window: Window | None = None) -> Download:
    """A download. Without a window the file as it is; no other route serves what the trace says about
    its environment. With a window a gzipped trace of the events that touch it, and of all metadata.
    """
    path = opened.span.path
    if window is None:
        source, size = original(opened)
        pieces = Pieces(source)
        return Download(base_name(path), pieces.content_type, pieces, size)
    start, end = window
    pieces = Pieces(packed(cut(opened, start, end, settings)))
    return Download(f"{stem(path)}.{start}-{end}.pt.trace.json.gz", GZIP, pieces)


@route("/trace/timeline", identified=False)
def timeline(timeline: OpenedTimeline) -> timeline_wire.TimelinePayload:
    """The timeline: groups of lanes (one kind of event of one thread or stream, with the depth of each
    lane), counter series, kinds of arrows, steps, marks of defects. Routes with ``id`` answer 409
    ``outdated`` after the file changed; browsers may cache their replies for ever. *Event* and *lane*
    numbers hold for one content: events are rows of ``spans``, then rows of ``instants``.
    """
    opened = timeline.opened
    return timeline_payload(opened.trace, opened.facts, timeline.timeline, timeline.id)


@route("/trace/names")
def names(
    timeline: OpenedTimeline,
    first: Annotated[int, Whole("The number of the first one.", 0, LAST_NAME)] = 0,
) -> timeline_wire.NamesPayload:
    """``name_page`` names, the most frequent first. A name is cut to 240 characters."""
    return names_payload(timeline.opened.trace, timeline.timeline, first)


@route("/trace/tiles", limits={"cells": MOST_CELLS})
def tiles(
    timeline: OpenedTimeline,
    level: Annotated[int, Whole("The level.", 0, LEVEL_MAX)],
    k: Annotated[list[int], Wholes("Tile numbers.", most=64, highest=LAST_TILE)],
    lanes: Lanes = None,
) -> bytes:
    """Slices to draw, in the binary layout of ``torch_tb_profiler/views/timeline/tiles.py``. Tile k of level L
    covers ``k · 2^(L+9)`` to ``(k+1) · 2^(L+9)`` ns. Events of 2^L ns or more are slices of their own;
    shorter ones in a bucket of 2^L ns share one, with their number, busy share and longest event. At
    most 16,384 tiles times lanes per request.
    """
    rows = all_lanes(timeline, lanes)
    if len(k) * len(rows) > MOST_CELLS:
        raise BadRequest(
            f"{len(k)} tiles of {len(rows)} lanes are requested, at most {MOST_CELLS} tiles times lanes"
            " are allowed.",
            "Request fewer.",
        )
    return encode_tiles(timeline.timeline, level, k, rows)
