"""The routes of questions about a timeline: search, areas, arrows and counters."""

from __future__ import annotations

from typing import Literal

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.runs.model import OpenedTimeline
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.area import area_payload
from torch_tb_profiler.views.arrows import arrows_payload
from torch_tb_profiler.views.counters import counters_payload
from torch_tb_profiler.views.search import LONGEST_QUERY, Searched
from torch_tb_profiler.web import parameters
from torch_tb_profiler.web.parameters import LARGEST_NS, Query
from torch_tb_profiler.web.replies import Handler
from torch_tb_profiler.web.timeline_host import (
    Timelines,
    event_number,
    immutable,
    lanes,
    opened_timeline,
)

MOST_PARTS = 4096
MOST_SERIES = 64
MOST_ARROWS = 5000
SOME_ARROWS = 1000
_DIRECTIONS: tuple[Literal["next", "previous"], ...] = ("next", "previous")


def handlers(timelines: Timelines, settings: Settings) -> dict[str, Handler]:
    """Path → handler."""
    return {
        "/trace/search": lambda request: search(timelines, request),
        "/trace/search/heat": lambda request: heat(timelines, request),
        "/trace/search/next": lambda request: next_hit(timelines, request),
        "/trace/area": lambda request: area(timelines, request),
        "/trace/arrows": lambda request: arrows(timelines, request),
        "/trace/counters": lambda request: counters(timelines, request),
    }


def search(timelines: Timelines, request: Request) -> Response:
    """Names and events that a text or pattern is in."""
    return immutable(request, _searched(opened_timeline(timelines, request), request.args).found())


def heat(timelines: Timelines, request: Request) -> Response:
    """Where in a window the hits are."""
    found = opened_timeline(timelines, request)
    begin, end = _window(request.args)
    parts = parameters.integer(request.args, "n", 1, MOST_PARTS)
    return immutable(request, _searched(found, request.args).heat(begin, end, parts))


def next_hit(timelines: Timelines, request: Request) -> Response:
    """The hit after or before an event or a time."""
    found, args = opened_timeline(timelines, request), request.args
    given = [
        name
        for name in ("after", "before", "t")
        if parameters.optional_text(args, name) is not None
    ]
    if len(given) != 1:
        raise BadRequest(
            f"{' and '.join(given) or 'None'} of the parameters after, before and t given, expected"
            " one.",
            "Give an event or a time.",
        )
    if given == ["t"]:
        time = parameters.integer(args, "t", 0, LARGEST_NS)
        forwards = parameters.word(args, "dir", _DIRECTIONS, "next") == "next"
        return immutable(request, _searched(found, args).from_time(time, forwards=forwards))
    event = event_number(args, given[0])
    searched = _searched(found, args)
    return immutable(
        request, searched.after(event) if given == ["after"] else searched.before(event)
    )


def area(timelines: Timelines, request: Request) -> Response:
    """Statistics of a window on some lanes."""
    found = opened_timeline(timelines, request)
    begin, end = _window(request.args)
    chosen = lanes(request.args, found)
    return immutable(request, area_payload(found.opened.trace, found.timeline, begin, end, chosen))


def arrows(timelines: Timelines, request: Request) -> Response:
    """Arrows that touch a window."""
    found, args = opened_timeline(timelines, request), request.args
    begin, end = _window(args)
    cap = parameters.integer(args, "cap", 1, MOST_ARROWS, SOME_ARROWS)
    text = parameters.optional_text(args, "kinds")
    kinds = None if text is None else list(dict.fromkeys(text.split(",")))
    chosen = parameters.ranges(args, "lanes", found.timeline["lanes"].n)
    return immutable(
        request,
        arrows_payload(
            found.timeline, found.opened.memoise, begin, end, kinds=kinds, lanes=chosen, cap=cap
        ),
    )


def counters(timelines: Timelines, request: Request) -> Response:
    """Curves of a window."""
    found, args = opened_timeline(timelines, request), request.args
    series = parameters.integers(
        args, "series", 0, len(found.timeline.about["series"]) - 1, MOST_SERIES
    )
    begin, end = _window(args)
    parts = parameters.integer(args, "n", 1, MOST_PARTS)
    return immutable(request, counters_payload(found.timeline, series, begin, end, parts))


def _window(query: Query) -> tuple[int, int]:
    window = parameters.time_window(query)
    if window is None:
        raise BadRequest("Parameter t0 is missing.", "Add t0=... and t1=... to the URL.")
    return window


def _searched(found: OpenedTimeline, query: Query) -> Searched:
    text = parameters.text(query, "q", longest=LONGEST_QUERY)
    regex, arguments, case = (parameters.switch(query, name) for name in ("re", "args", "case"))
    return Searched(
        found.opened.trace,
        found.timeline,
        found.opened.memoise,
        text,
        regex=regex,
        arguments=arguments,
        case=case,
    )
