"""``/critical_path`` of a drawn trace and of the samples."""

from __future__ import annotations

import numpy as np

from tests.builders.drawn import events, trace_of
from torch_tb_profiler.analysis.critical_path.table import KINDS, STRIP, critical_path_table
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.views.critical_path import critical_path_payload

DRAWING = """
main    [ProfilerStep#1                                         ](ProfilerStep#2    )
main     /train.py(7): step                                    /  [aten::mm        ]
main     [aten::mm][aten::add]         [aten::item             ]
main      <run #1> <run #2>             <cudaStreamSynchronize>
gpu 7             {gemm #1        }{gemm #2            }
"""


def made() -> tuple[Trace, Facts, Insight]:
    trace = trace_of(events(DRAWING))
    facts = derive(trace)
    return trace, facts, build_insight(trace, facts)


def test_the_parts_add_up_in_every_table() -> None:
    _, facts, insight = made()
    payload = critical_path_payload(facts, insight, select(facts), 100)
    wall = int((facts["steps"]["end"] - facts["steps"]["start"]).sum())
    assert sum(payload.parts["path_ns"]) == wall
    assert sum(payload.rows["path_ns"]) == wall
    assert sum(int(payload.steps[f"{kind}_ns"].sum()) for kind in KINDS) == wall
    assert abs(sum(payload.parts["share"]) - 1) < 1e-9
    assert list(payload.parts["path_ns"]) == sorted(payload.parts["path_ns"], reverse=True)


def test_one_row_per_event_line_and_operator() -> None:
    _, facts, insight = made()
    rows = critical_path_payload(facts, insight, select(facts, 0, 0), 100).rows
    found = [
        tuple(
            rows[key][i] for key in ("kind", "line", "operator", "path_ns", "work_ns", "segments")
        )
        for i, name in enumerate(rows["name"])
        if name == "gemm"
    ]
    line = "train.py(7): step"
    assert found == [
        ("kernel", line, "aten::add", 21_000, 38_000, 1),
        ("kernel", line, "aten::mm", 17_000, 38_000, 1),
    ]


def test_the_headline_names_the_largest_part_and_its_line() -> None:
    _, facts, insight = made()
    payload = critical_path_payload(facts, insight, select(facts, 0, 0), 100)
    assert payload.headline[0].startswith("Kernel: 6")
    assert payload.headline[1].endswith(" of the path, is gemm at train.py(7): step.")


def test_the_strip_is_the_longest_of_the_selected_steps() -> None:
    _, facts, insight = made()
    payload = critical_path_payload(facts, insight, select(facts), 100)
    assert payload.strip_step == 0
    start, end = payload.strip["start_ns"], payload.strip["end_ns"]
    assert (start[0], end[-1]) == (facts["steps"]["start"][0], facts["steps"]["end"][0])
    assert np.array_equal(start[1:], end[:-1])
    assert {column.name for column in STRIP.columns} == set(payload.strip)


def test_an_empty_trace_has_an_empty_path() -> None:
    trace = trace_of([])
    facts = derive(trace)
    insight = build_insight(trace, facts)
    payload = critical_path_payload(facts, insight, select(facts), 100)
    assert (payload.headline, list(payload.parts["kind"]), payload.strip_step) == ([], [], -1)
    assert critical_path_table(trace, facts, insight, select(facts)).n == 0
