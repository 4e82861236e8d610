"""The path on lanes: which events, arrows between tracks, and what is drawn as one; a column is a
microsecond.
"""

from __future__ import annotations

import numpy as np

from tests.builders.drawn import events, trace_of
from torch_tb_profiler.analysis.critical_path.overlay import (
    PathOverlay,
    event_on_path,
    path_overlay,
)
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Trace

US = 1000
DRAWING = """
main    [ProfilerStep#1                                     ]
main     [aten::mm][aten::add]       [aten::item            ]
main      <run #1> <run #2>           <cudaStreamSynchronize>
gpu 7             {a #1           }{b #2              }
"""


def made(drawing: str = DRAWING) -> tuple[Trace, Insight]:
    trace = trace_of(events(drawing))
    return trace, build_insight(trace, derive(trace))


def overlay(
    begin: int = 0, end: int = 100, parts: int = 10_000, most: tuple[int, int] = (1000, 1000)
) -> tuple[PathOverlay, Trace]:
    """Every event has a lane of its own: its number."""
    trace, insight = made()
    lanes = np.arange(trace["spans"].n)
    return path_overlay(trace, insight, lanes, (begin * US, end * US), parts, most), trace


def names(found: PathOverlay, trace: Trace) -> list[str]:
    return trace.strings.many(trace["spans"]["name"][found.event])


def test_events_on_the_path_have_segments_and_what_is_off_it_has_none() -> None:
    found, trace = overlay()
    assert {"a", "b", "aten::mm", "cudaStreamSynchronize"} <= set(names(found, trace))
    assert "aten::add" not in names(found, trace)
    assert np.array_equal(found.lane, found.event)
    assert (found.start < found.end).all()


def test_launch_latency_is_not_in_the_event_that_was_launched() -> None:
    found, trace = overlay()
    row = names(found, trace).index("b")
    spans = trace["spans"]
    event = int(found.event[row])
    assert found.start[row] == spans["start"][event]
    assert found.end[row] == spans["start"][event] + spans["dur"][event]


def test_arrows_lead_from_track_to_track() -> None:
    found, trace = overlay()
    track = trace["spans"]["track"]
    assert len(found.source_lane) == 2
    name = trace.strings.many(trace["spans"]["name"])
    assert [name[lane] for lane in found.source_lane] == ["run", "b"]
    assert [name[lane] for lane in found.target_lane] == ["a", "cudaStreamSynchronize"]
    assert (track[found.source_lane] != track[found.target_lane]).all()
    assert (found.source_time <= found.target_time).all()


def test_a_window_has_what_touches_it() -> None:
    whole, trace = overlay()
    row = names(whole, trace).index("a")
    begin, end = int(whole.start[row]) // US + 1, int(whole.end[row]) // US - 1
    found, _ = overlay(begin, end)
    assert names(found, trace) == ["a"]
    assert len(found.source_lane) == 0


def test_segments_of_a_lane_nearer_than_a_pixel_are_one_with_the_longest_of_them() -> None:
    trace, insight = made()
    lanes = np.zeros(trace["spans"].n, np.int64)
    found = path_overlay(trace, insight, lanes, (0, 100 * US), 4, (1000, 0))
    assert len(found.lane) == 1
    assert names(found, trace) == ["b"]
    assert found.cause.tolist() == [PathCause.KERNEL]
    assert len(found.source_lane) == 0


def test_segments_of_other_causes_stay_apart_where_both_are_wider_than_a_pixel() -> None:
    trace, insight = made()
    lanes = np.zeros(trace["spans"].n, np.int64)
    found = path_overlay(trace, insight, lanes, (0, 100 * US), 12, (1000, 0))
    assert names(found, trace)[-1] == "b"
    assert found.cause.tolist() == [PathCause.RUNTIME, PathCause.KERNEL]


def test_too_many_segments_are_merged_further_but_never_over_lanes() -> None:
    found, _ = overlay(most=(1, 1))
    assert len(found.lane) == len(set(found.lane.tolist()))
    assert len(found.source_lane) == 1


def test_events_without_a_lane_are_left_out() -> None:
    trace, insight = made()
    lanes = np.full(trace["spans"].n, -1)
    assert len(path_overlay(trace, insight, lanes, (0, 100 * US), 10, (5, 5)).lane) == 0


def test_an_event_has_itself_what_it_called_and_the_time_before_it() -> None:
    trace, insight = made()
    name = trace.strings.many(trace["spans"]["name"])
    found = {name[i]: event_on_path(trace, insight, i) for i in range(trace["spans"].n)}
    b, item, add = found["b"], found["aten::item"], found["aten::add"]
    dur = int(trace["spans"]["dur"][name.index("b")])
    assert (b.itself, b.within) == (dur, dur)
    assert item.within > item.itself == 0
    assert (add.itself, add.within, add.before) == (0, 0, 0)
    # The step ends with b; once b is launched, the thread could wait longer before it waits for it.
    assert b.slack == 0 < add.slack
    path = insight["critical_path"]
    launched = path["end"] - path["start"]
    assert found["a"].before == int(
        launched[(path["event"] == name.index("a")) & (path["cause"] == PathCause.LAUNCH)].sum()
    )
