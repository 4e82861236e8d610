"""Route ``/critical_path``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS, groups_of_causes
from torch_tb_profiler.analysis.critical_path.lane_stretches import step_segments
from torch_tb_profiler.analysis.critical_path.lanes import LaneWork, PathSegments, Source
from torch_tb_profiler.analysis.critical_path.overlay import event_on_path, path_overlay
from torch_tb_profiler.analysis.critical_path.table import (
    KINDS,
    PATH_EVENTS,
    PATH_KINDS,
    PATH_STEPS,
    PathGroup,
    Window,
    event_table,
    hidden_work,
    kind_table,
    largest_part,
    step_causes,
)
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.analysis.figures.median_step import median_step
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.analysis.figures.operators import operators_have_device_time
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.python_frames import PythonFrame
from torch_tb_profiler.store.roles import DEVICE_ROLES
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.units import format_ns, format_share
from torch_tb_profiler.views.critical_path.glyph import Glyph, glyph_of
from torch_tb_profiler.views.display_wire import table_of, wire_columns
from torch_tb_profiler.views.steps import step_rows, subject_of
from torch_tb_profiler.views.timeline.event import track_text
from torch_tb_profiler.views.wire import Missing, Subject, Vocabulary, Wire
from torch_tb_profiler.views.words.texts import group_label, missing
from torch_tb_profiler.views.words.vocabulary import vocabulary


class PathStrip(Wire, frozen=True, kw_only=True):
    """The path of one step; ``step``: its number in the trace."""

    step: int
    name: str
    start_ns: int
    end_ns: int
    glyph: Glyph


class CriticalPathPayload(Wire, frozen=True, kw_only=True):
    """Route ``/critical_path``. ``headline``: the largest part in words; ``contrast``: what takes a much larger,
    or smaller, part of the path than of all time. ``strips``: the paths of the selected steps, of more than
    three that of the median one; ``parts``: what those that are drawn are made of. What a kind is called is the label of its column in ``steps``.
    """

    subject: Subject
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
    the arrows where it goes on on another thread or stream, thinned.
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


__all__ = [
    "PathGroup",
    "critical_path_payload",
    "event_path_payload",
    "path_overlay_payload",
    "path_rows_payload",
]
OF_DEVICE_WORK = (
    "kernel",
    "memcpy",
    "memset",
    "communication",
    "launch",
    "before_recording",
    "waiting",
)
"""Kinds whose events are device work."""
MOST_STRIPS = 3
"""Of more steps only the median one is drawn."""
STRIKING_SHARE, STRIKING_FACTOR = 0.1, 3
"""Work is worth a sentence when so much of the steps is hidden, and a part of it at most on the path."""


def critical_path_payload(
    facts: Facts, insight: Insight, selection: Selection, lanes: Callable[[], LaneWork]
) -> CriticalPathPayload:
    """What the ends of the selected steps waited for. ``lanes``: what the trace shows of its lanes."""
    drawn = _drawn(facts, selection)
    parts = kind_table(facts, insight, drawn)
    return CriticalPathPayload(
        subject=subject_of(facts, selection.steps),
        vocabulary=vocabulary(facts),
        headline=headline(facts, insight, drawn, parts, len(selection.steps)),
        contrast=contrast(facts, insight, selection),
        parts=wire_columns(parts),
        steps=wire_columns(step_rows(step_causes(facts, insight, selection))),
        strips=_strips(facts, insight, drawn.steps, lanes),
        missing=missing(absent(facts), ("host", "device", "stacks")),
    )


def _drawn(facts: Facts, selection: Selection) -> Selection:
    """The steps that are drawn, and that the figures beside them are of."""
    if len(selection.steps) <= MOST_STRIPS:
        return selection
    return msgspec.structs.replace(selection, steps=np.array([median_step(facts, selection.steps)]))


def _strips(
    facts: Facts, insight: Insight, drawn: Ints, lanes: Callable[[], LaneWork]
) -> list[PathStrip]:
    paths = {step: step_segments(facts, insight, step) for step in drawn.tolist()}
    return [
        path_strip(facts, step, path, lanes()) for step, path in paths.items() if len(path.start)
    ]


def path_strip(facts: Facts, step: int, path: PathSegments, work: LaneWork) -> PathStrip:
    """A step (row of steps) of a trace alone, drawn."""
    return PathStrip(
        step=step,
        name=facts.strings[int(facts["steps"]["name"][step])],
        start_ns=path.bounds[0],
        end_ns=path.bounds[1],
        glyph=glyph_of(path, {0: Source(work)}),
    )


def path_rows_payload(
    trace: Trace,
    facts: Facts,
    insight: Insight,
    selection: Selection,
    by: PathGroup,
    window: Window | None,
    limit: int,
) -> PathRowsPayload:
    """The path of the selected steps, or what of it lies in a window; rows beyond ``limit`` are pooled."""
    rows = event_table(facts, insight, selection, by, window)
    if by == "track":
        rows = rows.with_columns(name=_track_names(trace, facts, rows))
    return PathRowsPayload(
        parts=wire_columns(kind_table(facts, insight, selection, window)),
        rows=wire_columns(rows.head(limit)),
        pooled=max(rows.n - limit, 0),
    )


def _track_names(trace: Trace, facts: Facts, rows: DisplayTable) -> list[str | None]:
    tracks, events, role = rows["track"].tolist(), rows["event"].tolist(), trace["spans"]["role"]

    def name(track: int, on_device: bool) -> str:
        process, thread = track_text(trace, facts, track, on_device)
        # Numbers alone say nothing.
        process = f"process {process}" if process.isdecimal() else process
        thread = f"{'stream' if on_device else 'thread'} {thread}" if thread.isdecimal() else thread
        return f"{process} · {thread}"

    return [
        name(track, int(role[event]) in DEVICE_ROLES) if track >= 0 else None
        for track, event in zip(tracks, events, strict=True)
    ]


def path_overlay_payload(
    trace: Trace,
    timeline: Timeline,
    insight: Insight,
    window: Window,
    parts: int,
    most: tuple[int, int],
) -> PathOverlayPayload:
    """The path in a window of ``parts`` pixels, on lanes; ``most`` segments and arrows."""
    found = path_overlay(trace, insight, timeline["places"]["lane"], window, parts, most)
    keys = list(KINDS)
    return PathOverlayPayload(
        lane=found.lane.tolist(),
        kind=[keys[cause] for cause in found.cause.tolist()],
        event=found.event.tolist(),
        start_ns=found.start.tolist(),
        end_ns=found.end.tolist(),
        source_lane=found.source_lane.tolist(),
        target_lane=found.target_lane.tolist(),
        source_ns=found.source_time.tolist(),
        target_ns=found.target_time.tolist(),
    )


def event_path_payload(
    trace: Trace, facts: Facts, insight: Insight, event: int
) -> EventPathPayload:
    """What the path has of an event; instants have no time."""
    if event >= trace["spans"].n:
        return EventPathPayload(itself_ns=0, within_ns=0, before_ns=0, step_ns=None, slack_ns=None)
    found = event_on_path(trace, insight, event)
    step = int(facts["span_links"]["step"][event])
    wall = int(step_lengths(facts["steps"])[step]) if step >= 0 else None
    return EventPathPayload(
        itself_ns=found.itself,
        within_ns=found.within,
        before_ns=found.before,
        step_ns=wall,
        slack_ns=found.slack if found.slack >= 0 else None,
    )


def contrast(facts: Facts, insight: Insight, selection: Selection) -> list[str]:
    """The kernel, or else the operator, that a table of plain times shows far above its part of the path."""
    wall = int(step_lengths(facts["steps"])[selection.steps].sum())
    if not operators_have_device_time(facts) or not wall:
        return []
    kinds: tuple[tuple[Literal["event", "operator"], str], ...] = (
        ("event", "kernel time"),
        ("operator", f"operators' {vocabulary(facts).device} time"),
    )
    for by, of in kinds:
        name, work, path = hidden_work(facts, insight, selection, by)
        hidden = work - path
        striking = (hidden >= STRIKING_SHARE * wall) & (work >= STRIKING_FACTOR * path)
        if striking.any():
            row = int(np.where(striking, hidden, -1).argmax())
            plain = format_share(int(work[row]) / int(work.sum()))
            return [
                f"{short_name(facts.strings[int(name[row])])} takes {plain} of the {of}, but"
                f" {format_share(int(path[row]) / wall)} of the critical path: the rest is hidden"
                " behind other work."
            ]
    return []


def headline(
    facts: Facts, insight: Insight, selection: Selection, parts: DisplayTable, chosen: int
) -> list[str]:
    """``GPU compute takes 5.97 ms of the median step of 6.47 ms.``: the group that takes most of the path, and what of it
    most. ``chosen``: of how many steps those of the selection are drawn.
    """
    if not parts.n:
        return []
    steps, each = max(len(selection.steps), 1), parts["path_ns"].astype(np.int64)
    kinds = list(KINDS)
    group = groups_of_causes(facts.summary.has_device)[[kinds.index(k) for k in parts["kind"]]]
    most = int(np.bincount(group, weights=each).argmax())
    time, total = (format_ns(int(some.sum()) / steps) for some in (each[group == most], each))
    device = vocabulary(facts).device if facts.summary.has_device else "CPU"
    name = group_label(list(GROUPS)[most], device)
    only = f"the {total} step" if chosen <= 1 else f"the median step of {total}"
    step = only if steps == 1 else f"a step of {total}"
    sentences = [f"{name} takes {time} of {step}."]
    kind = parts["kind"][int(np.flatnonzero(group == most)[0])]
    largest = largest_part(facts, insight, selection, kind)
    name, line = facts.strings[largest.name], facts.strings[largest.line]
    if name:
        frame, around = PythonFrame.of(name), PythonFrame.of(line)
        place = f" at {around.place}" if around is not None and around.is_source else ""
        short = short_name(name) if kind in OF_DEVICE_WORK else name
        what, part = frame.function if frame else short, format_share(largest.share)
        sentences.append(f"The largest part of it, {part} of the path, is {what}{place}.")
    return sentences
