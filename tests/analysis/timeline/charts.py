"""Timelines for tests: of drawn traces, of real ones, and of slices that a strategy makes up."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.analysis.figures import opened
from tests.builders.drawn import Event, draw, trace_of
from tests.builders.loop import span
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.timeline.build import build_timeline
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.timeline import Timeline

Chart = tuple[Trace, Facts, Timeline]


def chart(trace: Trace) -> Chart:
    """A trace with its facts and its timeline."""
    facts = derive(trace)
    return trace, facts, build_timeline(trace, facts)


def chart_drawn(drawing: str, *more: Any, **options: Any) -> Chart:
    """The chart of a drawing; further arguments as of ``draw``."""
    return chart(draw(drawing, *more, **options))


@lru_cache(maxsize=1)
def chart_of_file(path: Path) -> Chart:
    """The charts of a file; the last one is kept."""
    trace, facts = opened(path)
    return trace, facts, build_timeline(trace, facts)


def event(category: str, tid: int, ts: float, dur: float, name: str = "e") -> Event:
    """An entry of traceEvents; times in µs with up to three decimals."""
    return span(category, name, 1, tid, ts, dur)


def of_spans(spans: list[tuple[str, int, int, int]]) -> Chart:
    """The chart of (category, thread, start, dur), ns."""
    return chart(
        trace_of(
            event(category, tid, start / 1000, dur / 1000, f"{category} {i}")
            for i, (category, tid, start, dur) in enumerate(spans)
        )
    )


def lane_rows(found: Chart) -> list[tuple[str, str, int, int, list[str]]]:
    """(thread, kind, depth, sub, names in order) of every lane."""
    trace, _, timeline = found
    lanes, groups, slices = timeline["lanes"], timeline["groups"], timeline["slices"]
    rows = []
    for lane in range(lanes.n):
        group = int(lanes["group"][lane])
        track, kind = int(groups["track"][group]), int(groups["kind"][group])
        first, count = int(lanes["first"][lane]), int(lanes["count"][lane])
        names = [
            trace.strings[int(timeline["names"]["text"][timeline["places"]["name"][e]])]
            for e in slices["event"][first : first + count]
        ]
        rows.append(
            (
                trace.strings[int(trace["tracks"]["tid"][track])],
                kind_name(kind),
                int(lanes["depth"][lane]),
                int(lanes["sub"][lane]),
                names,
            )
        )
    return rows


def kind_name(kind: int) -> str:
    """The word of a ``GroupKind``."""
    from torch_tb_profiler.store.timeline_schema import GroupKind

    return GroupKind(kind).name.lower()


def disjoint(timeline: Timeline) -> bool:
    """Whether no two slices of a lane overlap, on the events' level and on every stored one."""
    lanes, slices = timeline["lanes"], timeline["slices"]
    lane = np.repeat(np.arange(lanes.n), lanes["count"])
    ok = _disjoint(lane, slices["start"], slices["dur"])
    per, edges = lanes.n + 1, timeline["level_lanes"]["first"]
    for row in range(timeline["levels"].n):
        edge = edges[row * per : (row + 1) * per]
        part = slice(int(edge[0]), int(edge[-1]))
        table = timeline["summaries"]
        ok = ok and _disjoint(
            np.repeat(np.arange(lanes.n), np.diff(edge)), table["start"][part], table["dur"][part]
        )
    return ok


def _disjoint(lane: np.ndarray, start: np.ndarray, dur: np.ndarray) -> bool:
    same = lane[1:] == lane[:-1]
    return bool((start[1:][same] >= (start + dur)[:-1][same]).all())
