"""Routes ``/trace/timeline`` and ``/trace/names``."""

from __future__ import annotations

from typing import cast

import msgspec
import numpy as np

from torch_tb_profiler.analysis.facts.earlier_work import left_out
from torch_tb_profiler.analysis.facts.profiled_ranges import sliced_tracks
from torch_tb_profiler.analysis.timeline.tiles import TILE_BITS, highest_level
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.summary import Writer
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.store.timeline_schema import GroupKind
from torch_tb_profiler.units import fit_text
from torch_tb_profiler.untrusted import prepared
from torch_tb_profiler.views.steps import first_steps, row_names
from torch_tb_profiler.views.timeline.wire import (
    ArrowKind,
    CounterSeries,
    GroupKindName,
    NamesPayload,
    TimelineGroup,
    TimelineMark,
    TimelinePayload,
    TimelineStep,
)
from torch_tb_profiler.views.wire import Vocabulary
from torch_tb_profiler.views.words.vocabulary import device_title, named_device, vocabulary

NAME_PAGE = 4096
LONGEST_NAME = 240
MOST_MARKS = 2000
MOST_GROUPS = 2000
MOST_SERIES = 2000
_RANGES = {True: "ranges, not in time", False: "profiled ranges"}


def timeline_payload(
    trace: Trace, facts: Facts, timeline: Timeline, content_id: str
) -> TimelinePayload:
    """The description of a timeline."""
    about = timeline.about
    return TimelinePayload(
        id=content_id,
        span_ns=about["span_ns"],
        work_start_ns=_opened_at(facts, about["work_ns"][0]),
        work_end_ns=about["work_ns"][1],
        origin_ns=str(trace.origin_ns + trace.base_ns),
        events=timeline["slices"].n,
        level_max=highest_level(about["span_ns"]),
        tile_bits=TILE_BITS,
        name_count=timeline["names"].n,
        name_page=NAME_PAGE,
        has_modules=bool(about["has_modules"]),
        groups=_groups(trace, facts, timeline),
        groups_total=timeline["groups"].n,
        counters=_counters(trace, timeline, vocabulary(facts)),
        arrow_kinds=msgspec.convert(about["arrow_kinds"], prepared(list[ArrowKind])),
        steps=_steps(facts),
        marks=_marks(trace),
        device_activity=about["device_activity"],
        host_activity=about["host_activity"],
    )


def _opened_at(facts: Facts, begin: int) -> int:
    """Where a view begins: of a stretch at the begin that no figure counts it shows as much as is before it."""
    gone = left_out(facts)
    if not len(gone.start):
        return begin
    before, end = max(int(gone.start[0]) - begin, 0), int(gone.end[0])
    return max(end - before, begin) if before < end - int(gone.start[0]) else begin


def _groups(trace: Trace, facts: Facts, timeline: Timeline) -> list[TimelineGroup]:
    groups = timeline["groups"]
    lanes = timeline["lanes"]
    tracks = trace["tracks"]
    strings = trace.strings
    is_device = _device_tracks(trace, timeline)
    ranges = sliced_tracks(trace) if facts.summary.profiled_ranges else {}
    listed = []
    for row in _largest(groups["events"]).tolist():
        track, first, count = (int(groups[name][row]) for name in ("track", "lane", "lanes"))
        pid, tid = strings[int(tracks["pid"][track])], strings[int(tracks["tid"][track])]
        listed.append(
            TimelineGroup(
                key=group_key(trace, timeline, row),
                kind=_kind(timeline, row),
                process_key=pid,
                process=process_text(trace, facts, track, track in is_device),
                thread=(
                    _RANGES[ranges[track]]
                    if track in ranges
                    else strings[int(tracks["thread_name"][track])]
                ),
                pid=pid,
                tid=tid,
                device=track in is_device,
                lane=first,
                lanes=count,
                events=int(groups["events"][row]),
                overlapping=int(groups["overlapping"][row]),
                depth=lanes["depth"][first : first + count].tolist(),
                sub=lanes["sub"][first : first + count].tolist(),
            )
        )
    return listed


def _largest(events: Array) -> Ints:
    """Rows of the groups that are shown, ascending."""
    return np.sort(np.argsort(-events.astype(np.int64), kind="stable")[:MOST_GROUPS])


def _kind(timeline: Timeline, row: int) -> GroupKindName:
    return cast(GroupKindName, GroupKind(timeline["groups"]["kind"][row]).name.lower())


def group_key(trace: Trace, timeline: Timeline, row: int) -> str:
    """A group's name in URLs, stable over reloads."""
    tracks, track = trace["tracks"], int(timeline["groups"]["track"][row])
    pid, tid = (trace.strings[int(tracks[name][track])] for name in ("pid", "tid"))
    return f"{pid}/{tid}/{_kind(timeline, row)}"


def process_text(trace: Trace, facts: Facts, track: int, on_device: bool) -> str:
    """The process of a track for people: the device that it is, else what the trace calls it; empty
    where neither is known.
    """
    tracks = trace["tracks"]
    label, name, pid = (
        trace.strings[int(tracks[column][track])]
        for column in ("process_label", "process_name", "pid")
    )
    words = vocabulary(facts)
    of_other = bool(name) and facts.summary.writer in (Writer.TORCH_NPU, Writer.OTHER)
    text = " · ".join(dict.fromkeys(text for text in (label, name) if text))
    if not on_device:
        return name if of_other else text
    if of_other and label:
        # Other profilers divide what one device did over several processes.
        return f"{named_device(words, label)}, {name}"
    return named_device(words, text) or (device_title(words, int(pid)) if pid.isdecimal() else "")


def _device_tracks(trace: Trace, timeline: Timeline) -> set[int]:
    """Tracks that are streams: those with device work, and the others of a process that has such."""
    groups, tracks = timeline["groups"], trace["tracks"]
    pids = set(tracks["pid"][groups["track"][groups["kind"] == GroupKind.WORK]].tolist())
    return {track for track, pid in enumerate(tracks["pid"].tolist()) if pid in pids}


def _counter_name(words: Vocabulary, text: str) -> str:
    device, colon, what = text.partition(": ")
    return f"{named_device(words, device)}{colon}{what}"


def _counters(trace: Trace, timeline: Timeline, words: Vocabulary) -> list[CounterSeries]:
    tracks = trace["tracks"]
    return [
        CounterSeries(
            key=s["key"],
            name=_counter_name(words, s["name"]),
            process_key=trace.strings[int(tracks["pid"][s["track"]])] if s["track"] >= 0 else "",
            unit=s["unit"],
            mean=s["mean"],
            lowest=s["lowest"],
            highest=s["highest"],
        )
        for s in timeline.about["series"]
    ]


def _steps(facts: Facts) -> list[TimelineStep]:
    steps = facts["steps"]
    first = first_steps(steps.n)
    if not len(first):
        return []
    count = np.diff(np.append(first, steps.n))
    names = row_names(facts.strings.many(steps["name"]), first)
    bounds = [
        values.tolist()
        for begin, end in (("start", "end"), ("host_start", "host_end"))
        for values in (steps[begin][first], np.maximum.reduceat(steps[end], first))
    ]
    return [
        TimelineStep(
            step=step,
            steps=several,
            name=name,
            start_ns=start,
            end_ns=end,
            host_start_ns=host_start,
            host_end_ns=host_end,
        )
        for step, several, name, start, end, host_start, host_end in zip(
            first.tolist(), count.tolist(), names, *bounds, strict=True
        )
    ]


def _marks(trace: Trace) -> list[TimelineMark]:
    columns = (trace["marks"][name][:MOST_MARKS].tolist() for name in ("defect", "start", "dur"))
    return [
        TimelineMark(defect=trace.strings[defect], start_ns=start, dur_ns=dur)
        for defect, start, dur in zip(*columns, strict=True)
    ]


def names_payload(trace: Trace, timeline: Timeline, first: int) -> NamesPayload:
    """One page of names, cut for labels."""
    numbers = timeline["names"]["text"][first : first + NAME_PAGE]
    return NamesPayload(
        first=first, names=[fit_text(text, LONGEST_NAME) for text in trace.strings.many(numbers)]
    )
