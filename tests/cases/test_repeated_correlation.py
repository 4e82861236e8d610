"""A correlation id that several launches of one process carry."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.builders.drawn import trace_of
from tests.builders.loop import Event, launched, process
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

PROCESS = [*process(100, "python", "CPU"), *process(0, "python", "GPU 0")]


def device_time(trace: Trace) -> dict[str, int]:
    """Device time of each operator in µs."""
    spans, links = trace["spans"], derive(trace)["span_links"]
    told: Counter[str] = Counter()
    for row in np.flatnonzero(spans["role"] == Role.KERNEL).tolist():
        operator = int(links["operator"][row])
        name = trace.strings[int(spans["name"][operator])] if operator >= 0 else "none"
        told[name] += int(spans["dur"][row]) // 1000
    return dict(told)


def pair(queued: bool, externals: bool) -> list[Event]:
    """``aten::a`` and ``aten::b`` launch with one id; queued, both kernels begin after both launches."""
    begins = (500, 600) if queued else (200, 500)
    events = launched("aten::a", "ka", 100, 50, begins[0], 100, 7, external=3)
    events += launched("aten::b", "kb", 400, 50, begins[1], 200, 7, external=4)
    if not externals:
        for event in events:
            event.get("args", {}).pop("External id", None)
    return PROCESS + events


def test_external_id_decides_then_the_order_of_launches() -> None:
    for queued in (False, True):
        for externals in (False, True):
            trace = trace_of(pair(queued, externals))
            assert device_time(trace) == {"aten::a": 100, "aten::b": 200}
            # Nothing is left to guess where the external ids tell.
            assert derive(trace).defects["repeated_correlation"] == (0 if externals else 2)


def test_external_ids_decide_against_the_order() -> None:
    events = launched("aten::a", "ka", 100, 50, 700, 100, 7, external=3)
    events += launched("aten::b", "kb", 200, 50, 500, 200, 7, external=4)
    assert device_time(trace_of(PROCESS + events)) == {"aten::a": 100, "aten::b": 200}


def test_without_as_many_launches_as_works_the_latest_launch_is_taken() -> None:
    events = launched("aten::a", "ka", 100, 50, 150, 100, 7)
    events += launched("aten::b", "kb", 400, 50, 500, 200, 7)
    events += launched("aten::c", "kc", 800, 50, 900, 50, 7)
    kept = [event for event in events if event["name"] != "ka"]
    for event in kept:
        event.get("args", {}).pop("External id", None)
    assert device_time(trace_of(PROCESS + kept)) == {"aten::b": 200, "aten::c": 50}


@given(st.lists(st.integers(1, 400), min_size=2, max_size=6), st.booleans())
def test_a_queue_keeps_the_order(waits: list[int], externals: bool) -> None:
    events, at, free = list[Event](), 100.0, 0.0
    for k, wait in enumerate(waits):
        free = max(free, at + 10 + wait)
        events += launched(f"aten::{k}", f"k{k}", at, 50, free, 10 + k, 7, external=50 + k)
        at, free = at + 60, free + 10 + k
    if not externals:
        for event in events:
            event.get("args", {}).pop("External id", None)
    expected = {f"aten::{k}": 10 + k for k in range(len(waits))}
    assert device_time(trace_of(PROCESS + events)) == expected
