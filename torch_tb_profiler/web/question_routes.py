"""The routes of questions about a timeline: search, areas, arrows and counters."""

from __future__ import annotations

from typing import Annotated, Literal

from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.runs.model import OpenedTimeline
from torch_tb_profiler.views.timeline import wire as timeline_wire
from torch_tb_profiler.views.timeline.questions import (
    LONGEST_QUERY,
    ChosenKind,
    Kind,
    Searched,
    area_flame_payload,
    area_payload,
    arrows_payload,
    counters_payload,
)
from torch_tb_profiler.web.parameters import (
    Names,
    OfTrace,
    OneOf,
    Ranges,
    Switch,
    Text,
    Time,
    Whole,
    Wholes,
    Window,
)
from torch_tb_profiler.web.route import route
from torch_tb_profiler.web.trace_routes import LAST_LANE, Lanes, all_lanes

LAST_SERIES = OfTrace("the last series", lambda t, _: len(t.timeline.about["series"]) - 1)
Words = Annotated[str, Text("The text to search for.", longest=LONGEST_QUERY)]
Pattern = Annotated[bool, Switch("`q` is a regular expression in RE2's syntax.")]
Arguments = Annotated[bool, Switch("Search the arguments that the import keeps, too.")]
Case = Annotated[bool, Switch("Match case; else `ß` equals `ss`.")]
KindOfEvent = Annotated[
    ChosenKind,
    OneOf("Events of one kind; `first`: of the first kind, in this order, that there is any of."),
]
Parts = Annotated[int, Whole("Equal parts of the window.", 1, 4096)]


def _searched(
    timeline: OpenedTimeline, q: str, regex: bool, args: bool, case: bool, kind: ChosenKind
) -> Searched:
    opened = timeline.opened
    return Searched(
        opened.trace,
        timeline.timeline,
        opened.memoise,
        q,
        regex=regex,
        arguments=args,
        case=case,
        kind=kind,
    )


@route("/trace/search")
def search(
    timeline: OpenedTimeline,
    q: Words,
    re: Pattern = False,
    args: Arguments = False,
    case: Case = False,
    kind: KindOfEvent = "all",
) -> timeline_wire.SearchPayload:
    """Events whose name contains a text. A regular expression sees the first 16,384 bytes of a text;
    one of more than 4,096 instructions, or of more than a second over all texts, is refused.
    """
    return _searched(timeline, q, re, args, case, kind).found()


@route("/trace/search/heat")
def heat(
    timeline: OpenedTimeline,
    window: Window,
    n: Parts,
    q: Words,
    re: Pattern = False,
    args: Arguments = False,
    case: Case = False,
    kind: KindOfEvent = "all",
) -> timeline_wire.HeatPayload:
    """Where in the window the hits of a search are."""
    begin, end = window
    return _searched(timeline, q, re, args, case, kind).heat(begin, end, n)


@route("/trace/search/next")
def next_hit(
    timeline: OpenedTimeline,
    q: Words,
    re: Pattern = False,
    args: Arguments = False,
    case: Case = False,
    kind: KindOfEvent = "all",
    after: Annotated[int | None, Whole("The hit that follows this event in time order.")] = None,
    before: Annotated[int | None, Whole("The hit that comes before this event.")] = None,
    t: Annotated[int | None, Time("The first hit from this time on.")] = None,
    dir: Annotated[Literal["next", "previous"], OneOf("From `t` on, or before it.")] = "next",
) -> timeline_wire.NextHitPayload:
    """One hit of a search, from one of ``after``, ``before`` and ``t``; null without hits."""
    starts = {"after": after, "before": before, "t": t}
    given = [name for name, value in starts.items() if value is not None]
    if len(given) != 1:
        raise BadRequest(
            f"{' and '.join(given) or 'None'} of the parameters after, before and t given, expected"
            " one.",
            "Give an event or a time.",
        )
    searched = _searched(timeline, q, re, args, case, kind)
    if after is not None:
        return searched.beside(after, forwards=True)
    if before is not None:
        return searched.beside(before, forwards=False)
    assert t is not None
    return searched.from_time(t, forwards=dir == "next")


@route("/trace/area")
def area(
    timeline: OpenedTimeline, window: Window, lanes: Lanes = None, kind: KindOfEvent = "all"
) -> timeline_wire.AreaPayload:
    """Statistics of a window on some lanes, events clipped to it. ``rows``: by name and look, at most
    1,000 of the kind. ``groups``: busy time on the selected lanes of each group. ``overlap``: device work on the
    selected lanes; its four parts add up to the window.
    """
    begin, end = window
    rows = all_lanes(timeline, lanes)
    return area_payload(timeline.opened.trace, timeline.timeline, begin, end, rows, kind)


@route("/trace/area/flame")
def area_flame(
    timeline: OpenedTimeline,
    window: Window,
    kind: Annotated[Kind, OneOf("The kind of events.")],
    lanes: Lanes = None,
) -> timeline_wire.AreaFlamePayload:
    """What called what in a window on some lanes: events under those of the same kind around them,
    device work under the operators that launched it. Times are clipped to the window.
    """
    begin, end = window
    opened = timeline.opened
    rows = all_lanes(timeline, lanes)
    return area_flame_payload(
        (opened.trace, opened.facts, timeline.timeline), begin, end, rows, kind
    )


@route("/trace/arrows")
def arrows(
    timeline: OpenedTimeline,
    window: Window,
    cap: Annotated[int, Whole("At most so many, thinned evenly.", 1, 5000)] = 1000,
    kinds: Annotated[list[str] | None, Names("Names of `arrow_kinds`. Default: all.")] = None,
    lanes: Annotated[
        list[int] | None, Ranges("One end lies on one. Default: all.", highest=LAST_LANE)
    ] = None,
) -> timeline_wire.ArrowsPayload:
    """Arrows that touch a window."""
    begin, end = window
    return arrows_payload(timeline.timeline, begin, end, kinds=kinds, lanes=lanes, cap=cap)


@route("/trace/counters")
def counters(
    timeline: OpenedTimeline,
    series: Annotated[
        list[int], Wholes("Places among its `counters`.", most=64, highest=LAST_SERIES)
    ],
    window: Window,
    n: Parts,
) -> timeline_wire.CountersPayload:
    """Curves of a window, where a value holds until the next sample: lowest, highest and mean value of
    each part; null before the first sample.
    """
    begin, end = window
    return counters_payload(timeline.timeline, series, begin, end, n)
