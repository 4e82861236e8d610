"""Builds a trace's timeline when it is first requested."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of, places_in
from torch_tb_profiler.analysis.arrays.intervals import measure, union
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.facts.host_names import host_names
from torch_tb_profiler.analysis.figures.event_kinds import looks, modules
from torch_tb_profiler.analysis.timeline.arrows import arrows_of
from torch_tb_profiler.analysis.timeline.counters import series_of
from torch_tb_profiler.analysis.timeline.kinds import around
from torch_tb_profiler.analysis.timeline.lanes import Lanes, lay_out
from torch_tb_profiler.analysis.timeline.pyramid import Slices, build_levels, single_events
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store import timeline_schema as schema
from torch_tb_profiler.store.columns import Ints, Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.timeline import Timeline

ACTIVITY_PARTS = 1024
UNSORTED = 1 << 62
_DIGITS = regex(r"\d+", re.ASCII)
Progress = Callable[[int, int], None]


def build_timeline(trace: Trace, facts: Facts, progress: Progress | None = None) -> Timeline:
    """Lanes, levels, arrows and counters of a trace; ``progress`` is called with (done, total)."""
    tell = progress or (lambda done, total: None)
    lanes = lay_out(trace, track_order(trace))
    tell(35, 100)
    places, names = _events_tables(trace, facts, lanes)
    tell(50, 100)
    order = lanes.order
    events = single_events(
        lanes.lane[order], lanes.start[order], lanes.dur[order], order.astype(np.int32)
    )
    levels = build_levels(events)
    tell(70, 100)
    arrow_kinds, arrows = arrows_of(trace, facts, lanes.lane)
    tell(80, 100)
    series, samples = series_of(trace, facts)
    tell(95, 100)
    tables: dict[str, Table] = {
        "groups": _groups(lanes),
        "lanes": schema.LANES.build(
            **{name: getattr(lanes, name) for name in ("group", "depth", "sub", "first", "count")}
        ),
        "slices": schema.SLICES.build(start=events.start, dur=events.dur, event=order),
        "places": places,
        "names": names,
        **_level_tables(levels, len(lanes.first)),
        "arrows": arrows,
        "samples": samples,
    }
    span_ns = int((lanes.start + lanes.dur).max()) if len(lanes.start) else 0
    about: dict[str, Any] = {
        "span_ns": span_ns,
        "work_ns": _work(trace, span_ns),
        "arrow_kinds": arrow_kinds,
        "series": series,
        "has_modules": bool((places["module"] >= 0).any()),
    }
    about |= _activity(trace, span_ns)
    tell(100, 100)
    return Timeline(tables, about)


def _work(trace: Trace, span_ns: int) -> tuple[int, int]:
    """From the begin of the first event with a length to the end of the last, ns: what a view is opened
    on. The profiler's own span and instants (``Record Window End``) may reach far beyond.
    """
    spans = trace["spans"]
    rows = np.flatnonzero((spans["dur"] > 0) & (spans["role"] != Role.PROFILER))
    if not len(rows):
        return 0, span_ns
    start = spans["start"][rows]
    return int(start.min()), int((start + spans["dur"][rows]).max())


def track_order(trace: Trace) -> Ints:
    """The rank of every track: hosts before devices, then by sort metadata, then by number."""
    tracks, spans = trace["tracks"], trace["spans"]
    device = mask_of(tracks.n, spans["track"][device_rows(trace)])
    process_device: dict[int, bool] = {}
    for pid, is_device in zip(tracks["pid"].tolist(), device.tolist(), strict=True):
        process_device[pid] = process_device.get(pid, False) or is_device
    columns = (tracks[name].tolist() for name in ("pid", "process_sort", "thread_sort", "tid"))
    # Processes without sort metadata come last: those are the profiler's own.
    keys = [
        (
            process_device[pid],
            process_sort or UNSORTED,
            _natural(trace.strings[pid]),
            thread_sort,
            _natural(trace.strings[tid]),
            row,
        )
        for row, (pid, process_sort, thread_sort, tid) in enumerate(zip(*columns, strict=True))
    ]
    return places_in(tracks.n, np.array([key[-1] for key in sorted(keys)], np.int64))


def _natural(text: str) -> tuple[int, int, str]:
    return (0, int(text), "") if _DIGITS.fullmatch(text) and len(text) < 19 else (1, 0, text)


def _events_tables(trace: Trace, facts: Facts, lanes: Lanes) -> tuple[Table, Table]:
    """``(places, names)`` of all events."""
    spans, instants = trace["spans"], trace["instants"]
    text = np.concatenate((spans["name"], instants["name"]))
    shown = lanes.lane >= 0
    texts = len(trace.strings) + 1  # the last one is for −1, an event without a name
    events = np.bincount(text[shown] % texts, minlength=texts)
    used = np.flatnonzero(events)
    used = used[np.argsort(-events[used], kind="stable")]
    number = places_in(texts, used, np.int32)
    name = number[text % texts]
    module_row = modules(trace, facts)
    module = np.full(len(text), -1, np.int32)
    if len(module_row):
        module[: spans.n] = np.where(module_row >= 0, name[module_row], -1)
    look = looks(trace, facts)
    places = schema.PLACES.build(
        lane=lanes.lane,
        name=name,
        module=module,
        around=around(spans, np.append(lanes.group, -1)[lanes.lane], look),
        look=look,
    )
    return places, schema.NAMES.build(text=np.where(used == texts - 1, -1, used))


def _groups(lanes: Lanes) -> Table:
    first = np.searchsorted(lanes.group, np.arange(len(lanes.track)))
    count = np.bincount(lanes.group, minlength=len(lanes.track))
    events = np.bincount(lanes.group, weights=lanes.count, minlength=len(lanes.track)).astype(
        np.int64
    )
    return schema.GROUPS.build(
        track=lanes.track,
        kind=lanes.kind,
        lane=first,
        lanes=count,
        events=events,
        overlapping=lanes.overlapping,
    )


def _level_tables(levels: list[tuple[int, Slices]], lane_count: int) -> dict[str, Table]:
    if not levels:
        specs = (schema.LEVELS, schema.LEVEL_LANES, schema.SUMMARIES)
        return {spec.name: spec.empty() for spec in specs}
    count = np.array([len(slices) for _, slices in levels])
    first = np.cumsum(count) - count
    edges = [
        begin + np.searchsorted(slices.lane, np.arange(lane_count + 1))
        for begin, (_, slices) in zip(first.tolist(), levels, strict=True)
    ]

    names = ("start", "dur", "busy", "count", "event", "longest")
    summaries = {
        name: np.concatenate([getattr(slices, name) for _, slices in levels]) for name in names
    }
    return {
        "levels": schema.LEVELS.build(
            level=[level for level, _ in levels], first=first, count=count
        ),
        "level_lanes": schema.LEVEL_LANES.build(first=np.concatenate(edges)),
        "summaries": schema.SUMMARIES.build(**summaries),
    }


def _activity(trace: Trace, span_ns: int) -> dict[str, list[int] | None]:
    """Busy share of equal parts of the span, 0 to 255, of device and of host calls."""
    spans = trace["spans"]
    role = spans["role"]
    calls = (role == Role.OPERATOR) | (role == Role.RUNTIME)
    # Old versions record steps and other regions as operators.
    region = host_names(trace.strings, spans["name"][calls]).region
    called = np.flatnonzero(calls & ~region[spans["name"]])
    return {
        "device_activity": _busy(trace, device_rows(trace), span_ns),
        "host_activity": _busy(trace, called, span_ns),
    }


def _busy(trace: Trace, row: Ints, span_ns: int) -> list[int] | None:
    if not len(row) or span_ns <= 0:
        return None
    start = trace["spans"]["start"][row]
    edge = np.linspace(0, span_ns, ACTIVITY_PARTS + 1).astype(np.int64)
    busy = measure(union(start, start + trace["spans"]["dur"][row]), edge[:-1], edge[1:])
    share: list[int] = (busy * 255 // np.maximum(np.diff(edge), 1)).tolist()
    return share
