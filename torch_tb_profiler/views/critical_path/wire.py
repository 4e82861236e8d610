"""Wire types of the Critical Path view."""

from __future__ import annotations

from typing import Annotated, Any

from torch_tb_profiler.analysis.critical_path.table import (
    PATH_EVENTS,
    PATH_KINDS,
    PATH_STEPS,
    STRIP,
)
from torch_tb_profiler.views.display_wire import table_of
from torch_tb_profiler.views.wire import Missing, Vocabulary, Wire


class PathStrip(Wire, frozen=True, kw_only=True):
    """The path of one step; ``step``: its number in the trace. ``stretches`` cover it."""

    step: int
    name: str
    start_ns: int
    end_ns: int
    stretches: Annotated[dict[str, Any], table_of(STRIP)]


class CriticalPathPayload(Wire, frozen=True, kw_only=True):
    """Route ``/critical_path``. ``headline``: the largest part in words; ``contrast``: what takes a much larger,
    or smaller, part of the path than of all time. ``strips``: the paths of the selected steps, of more than
    three that of the longest. What a kind is called is the label of its column in ``steps``.
    """

    vocabulary: Vocabulary
    headline: list[str]
    contrast: list[str]
    parts: Annotated[dict[str, Any], table_of(PATH_KINDS)]
    steps: Annotated[dict[str, Any], table_of(PATH_STEPS)]
    strips: list[PathStrip]
    missing: list[Missing]


class PathRowsPayload(Wire, frozen=True, kw_only=True):
    """Route ``/critical_path/rows``: the path, or what of it lies in a window, by kind and by what was
    asked. ``pooled``: how many rows the last one stands for.
    """

    parts: Annotated[dict[str, Any], table_of(PATH_KINDS)]
    rows: Annotated[dict[str, Any], table_of(PATH_EVENTS)]
    pooled: int


class PathOverlayPayload(Wire, frozen=True, kw_only=True):
    """Route ``/trace/path``: columns of the segments of the path in a window, by lane and begin, and of
    the arrows where it goes on on another thread or stream; ``arrows_total``: before they are thinned.
    """

    lane: list[int]
    kind: list[str]
    event: list[int]
    start_ns: list[int]
    end_ns: list[int]
    source_lane: list[int]
    target_lane: list[int]
    source_ns: list[int]
    target_ns: list[int]
    arrows_total: int


class EventPathPayload(Wire, frozen=True, kw_only=True):
    """Route ``/trace/event/path``: time of an event on the critical path: in it alone, in it and what it
    called on its thread, and from its launch, or the work before it, until it began. ``step_ns``: length
    of its step; null outside of steps. ``slack_ns``: how much later it could have ended without moving the
    end of any step; null where nothing recorded waits for it.
    """

    itself_ns: int
    within_ns: int
    before_ns: int
    step_ns: int | None
    slack_ns: int | None
