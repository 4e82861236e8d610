"""A thread that waits for another one's lock is let go by it, on the path and in what-ifs."""

from __future__ import annotations

import numpy as np
import pytest

from tests.builders.drawn import events, trace_of
from torch_tb_profiler.analysis.critical_path.evidence import gather
from torch_tb_profiler.analysis.critical_path.locks import lock_waits
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.what_if.changes import read_change
from torch_tb_profiler.analysis.what_if.simulation import Simulation
from torch_tb_profiler.analysis.what_if.table import edits

LOCK = "<built-in method {} of _thread.lock object at 0x7f{}>"
NAMES = {
    "take": LOCK.format("acquire", 10),
    "give": LOCK.format("release", 10),
    "other": LOCK.format("release", 20),
    "read": "data.py(7): read_batch",
}
DRAWING = """
main    [ProfilerStep#1                    ]
main      [aten::mm  ] /take      / [mm2 ]
loader    /read                 / /give/
"""


def test_the_release_within_the_wait_is_found() -> None:
    trace = trace_of(events(DRAWING, NAMES))
    waits = lock_waits(trace)
    [waiting], [release] = (
        trace.strings.many(trace["spans"]["name"][rows]) for rows in (waits.waiting, waits.release)
    )
    assert (waiting, release) == (NAMES["take"], NAMES["give"])


@pytest.mark.parametrize(
    ("what", "drawing"),
    [
        ("another lock", DRAWING.replace("/give/", "/other/")),
        ("before the wait", "main /x/      /take  /\nloader  /give/"),
        ("after the wait", "main /take  /\nloader        /give/"),
        ("by the same thread", "main /take   /\nmain    /give/"),
    ],
)
def test_nothing_else_lets_a_thread_go(what: str, drawing: str) -> None:
    assert not len(lock_waits(trace_of(events(drawing, NAMES))).waiting)


@pytest.mark.parametrize(("factor", "length"), [(1, 36), (0.5, 25), (0, 25), (2, 59)])
def test_the_step_waits_for_the_other_thread(factor: float, length: int) -> None:
    """Half as long is as good as none: by then main has only just come to wait."""
    trace = trace_of(events(DRAWING, NAMES))
    facts = derive(trace)
    simulation = Simulation(trace, facts, build_insight(trace, facts))
    change = read_change(f"scale:name=*: read_batch,factor={factor}")
    prediction, _ = simulation.predict(edits([change]), np.arange(1))
    assert prediction.predicted.tolist() == [length * 1000]


def test_the_path_leads_to_the_other_thread() -> None:
    trace = trace_of(events(DRAWING, NAMES))
    insight = build_insight(trace, derive(trace))
    path = insight["critical_path"]
    assert gather(trace, derive(trace)).locks.release.tolist() != []
    names = trace.strings.many(trace["spans"]["name"][path["event"][path["event"] >= 0]])
    assert NAMES["read"] in names
