"""The frames of a window against adding up every event below its own."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.timeline.charts import Chart, chart, chart_drawn
from tests.analysis.timeline.made_up import traces, windows
from tests.builders.drawn import Event, trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.timeline import area_flame as module
from torch_tb_profiler.analysis.timeline.area import window_of
from torch_tb_profiler.analysis.timeline.area_flame import AreaFlame, area_flame
from torch_tb_profiler.analysis.timeline.kinds import KIND_OF_LOOK, KINDS, Kind
from torch_tb_profiler.store.display import DisplayTable

US = 1000
DRAWING = """
gpu 7                {gemm #1     }{add #2}
main  [linear           ][add     ]
main    [mm            ]   <l #2>
main      <l #1><sync >
"""
Paths = dict[tuple[str, ...], tuple[int, int]]


def frames(table: DisplayTable, column: str) -> Paths:
    """Calls and time of each path of names; a kernel and a copy of one name are frames of their own."""
    names, parent = table.texts("name"), table["parent"].tolist()
    paths: list[tuple[str, ...]] = []
    sums: Paths = {}
    for name, above, calls, time in zip(
        names, parent, table["calls"].tolist(), table[column].tolist(), strict=True
    ):
        paths.append((*(paths[above] if above >= 0 else ()), name or ""))
        before = sums.get(paths[-1], (0, 0))
        sums[paths[-1]] = before[0] + calls, before[1] + time
    return sums


def of_window(found: Chart, begin: int, end: int, kind: Kind) -> AreaFlame:
    return area_flame(found, begin, end, np.arange(found[2]["lanes"].n), kind)


def drawn(begin: int, end: int, kind: Kind) -> DisplayTable:
    rows = of_window(chart_drawn(DRAWING), begin * US, end * US, kind).rows
    assert rows is not None
    return rows


def test_device_work_stands_under_what_launched_it() -> None:
    """``gemm`` from 15 to 29, ``add`` from 29 to 37; only work of the window counts."""
    assert frames(drawn(0, 100, "device"), "device_ns") == {
        ("linear",): (1, 14 * US),
        ("linear", "mm"): (1, 14 * US),
        ("linear", "mm", "gemm"): (1, 14 * US),
        ("add",): (1, 8 * US),
        ("add", "add"): (1, 8 * US),
    }
    assert frames(drawn(30, 100, "device"), "device_ns") == {
        ("add",): (1, 7 * US),
        ("add", "add"): (1, 7 * US),
    }


def test_kinds_and_examples_of_frames() -> None:
    rows = drawn(0, 100, "device")
    kinds = dict(zip(rows.texts("name"), rows.texts("kind"), strict=True))
    assert (kinds["linear"], kinds["gemm"]) == ("operator", "kernel")
    assert (rows["event"] >= 0).all()


def test_too_many_events_are_not_made_into_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_EVENTS", 3)
    assert of_window(chart_drawn(DRAWING), 0, 100 * US, "operator").rows is None


@examples(100)
@given(listed=traces, window=windows, kind=st.sampled_from(KINDS))
def test_times_are_those_of_every_event(
    listed: list[Event], window: tuple[int, int], kind: Kind
) -> None:
    found = chart(trace_of(listed))
    trace, facts, timeline = found
    table = of_window(found, *window, kind).rows
    assert table is not None
    event, part = window_of(timeline, *window, np.arange(timeline["lanes"].n)).events()
    own = KIND_OF_LOOK[timeline["places"]["look"][event]] == KINDS.index(kind)
    around = timeline["places"]["around"].tolist()
    name = timeline["names"]["text"][timeline["places"]["name"]].tolist()

    def path(number: int) -> tuple[str, ...]:
        above = around[number]
        if above < 0 and kind == "device" and number < trace["spans"].n:
            above = int(facts["span_links"]["operator"][number]) if number in leaves else -1
        return (*(path(above) if above >= 0 else ()), trace.strings[name[number]])

    leaves = set(event[own].tolist())
    time: dict[tuple[str, ...], int] = defaultdict(int)
    for number, ns in zip(event[own].tolist(), part[own].tolist(), strict=True):
        names = path(number)
        time[names] += ns
        if kind == "device":
            for deep in range(1, len(names)):
                time[names[:deep]] += ns
    told = frames(table, "device_ns" if kind == "device" else "host_ns")
    assert {names: ns for names, (_, ns) in told.items()} == {
        names: ns for names, ns in time.items() if ns
    }
