"""``/critical_path`` of a drawn trace and of the samples."""

from __future__ import annotations

from pathlib import Path

import msgspec
from werkzeug.test import Client

from tests.builders.drawn import events, trace_of
from tests.runs.written_run import sample
from tests.web.served import body
from torch_tb_profiler.analysis.critical_path.lane_stretches import PATH_STRETCHES
from torch_tb_profiler.analysis.critical_path.table import (
    KINDS,
    PathGroup,
)
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.views.critical_path.glyph import FULL, lane_work
from torch_tb_profiler.views.critical_path.payload import (
    CriticalPathPayload,
    PathRowsPayload,
    critical_path_payload,
    path_rows_payload,
)
from torch_tb_profiler.web.application import Application

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


def _asked(
    trace: Trace, facts: Facts, insight: Insight, steps: tuple[int, int] | None = None
) -> CriticalPathPayload:
    return critical_path_payload(
        facts, insight, select(facts, *(steps or ())), lambda: lane_work(trace, facts, insight)
    )


def payload(steps: tuple[int, int] | None = None) -> CriticalPathPayload:
    return _asked(*made(), steps)


def rows(
    by: PathGroup = "place",
    window: tuple[int, int] | None = None,
    steps: tuple[int, int] = (0, 0),
    limit: int = 100,
) -> PathRowsPayload:
    trace, facts, insight = made()
    selection = select(facts, *steps)
    return path_rows_payload(trace, facts, insight, selection, by, window, limit)


def test_the_parts_add_up_in_every_table() -> None:
    _, facts, _ = made()
    whole, table = payload(), rows(steps=(0, 1))
    wall = int((facts["steps"]["end"] - facts["steps"]["start"]).sum())
    assert sum(whole.parts["path_ns"]) == wall
    assert sum(table.rows["path_ns"]) == wall
    assert sum(table.parts["path_ns"]) == wall
    assert sum(int(whole.steps[f"{kind}_ns"].sum()) for kind in KINDS) == wall
    assert abs(sum(whole.parts["share"]) - 1) < 1e-9
    assert list(whole.parts["path_ns"]) == sorted(whole.parts["path_ns"], reverse=True)


def test_one_row_per_event_line_and_operator() -> None:
    table = rows().rows
    found = [
        tuple(
            table[key][i] for key in ("kind", "line", "operator", "path_ns", "work_ns", "segments")
        )
        for i, name in enumerate(table["name"])
        if name == "gemm"
    ]
    line = "train.py(7): step"
    assert found == [
        ("kernel", line, "aten::add", 21_000, 38_000, 1),
        ("kernel", line, "aten::mm", 17_000, 38_000, 1),
    ]


def by_name(table: PathRowsPayload, *columns: str) -> dict[str | None, tuple[object, ...]]:
    return {
        name: tuple(table.rows[column][i] for column in columns)
        for i, name in enumerate(table.rows["name"])
    }


def test_an_event_has_its_time_beside_that_of_all_of_its_name() -> None:
    found = by_name(rows("event"), "kind", "path_ns", "work_ns", "work_share", "segments")
    assert found["gemm"] == ("kernel", 38_000, 38_000, 1.0, 2)
    assert found["aten::item"][0] == "operator"
    assert found["aten::item"][2] is None


def test_operators_have_the_time_of_their_work_and_their_own() -> None:
    found = by_name(rows("operator"), "kind", "path_ns", "work_ns", "work_share")
    assert found["aten::add"] == ("kernel", 21_000, 21_000, 21 / 38)
    assert found["aten::mm"][2:] == (17_000, 17 / 38)
    assert sum(int(str(time)) for _, time, *_ in found.values()) == sum(rows().rows["path_ns"])


def test_lines_and_tracks_are_groups_too() -> None:
    assert set(by_name(rows("line"))) == {"train.py(7): step", None}
    tracks = by_name(rows("track"), "kind", "path_ns")
    assert tracks["GPU 0 · stream 7"] == ("kernel", 38_000)
    assert len(tracks) == 2


def test_modules_are_a_group() -> None:
    drawing = """
main    [ProfilerStep#1            ]
main    /nn.Module: Linear_0       /
main     [aten::mm][aten::add     ]
main      <run #1>
gpu 7             {gemm #1}
"""
    trace = trace_of(events(drawing))
    facts = derive(trace)
    insight = build_insight(trace, facts)
    table = path_rows_payload(trace, facts, insight, select(facts), "module", None, 10)
    assert by_name(table, "path_ns", "work_ns")["Linear_0"][1] == 9_000


def test_a_window_holds_what_lies_in_it() -> None:
    _, _, insight = made()
    path = insight["critical_path"]
    begin, end = int(path["start"][3]) + 500, int(path["end"][6]) - 500
    table = rows(window=(begin, end))
    assert sum(table.rows["path_ns"]) == end - begin
    assert sum(table.parts["path_ns"]) == end - begin
    assert set(table.rows["work_ns"]) == {None}
    assert sum(rows(window=(10**9, 10**9 + 1)).rows["path_ns"]) == 0


def test_a_window_counts_only_the_selected_steps() -> None:
    _, facts, _ = made()
    both = (int(facts["steps"]["start"][0]), int(facts["steps"]["end"][1]))
    second = int(facts["steps"]["end"][1] - facts["steps"]["start"][1])
    assert sum(rows(window=both, steps=(1, 1)).rows["path_ns"]) == second


def test_rows_beyond_the_limit_are_pooled() -> None:
    table, whole = rows(limit=2), rows()
    assert table.pooled == len(whole.rows["name"]) - 2
    assert table.rows["name"][2] == "other"
    assert sum(table.rows["path_ns"]) == sum(whole.rows["path_ns"])


def test_the_headline_names_the_largest_part_and_its_line() -> None:
    whole = payload((0, 0))
    assert whole.headline[0].startswith("GPU compute takes ")
    assert whole.headline[1].endswith(" of the path, is gemm at train.py:7.")
    assert whole.contrast == []


def test_work_that_other_work_hides_is_named() -> None:
    drawing = """
main    [ProfilerStep#1                                       ]
main     [aten::mm][aten::add]         [aten::item           ]
main      <run #1> <run #2>             <cudaStreamSynchronize>
gpu 7             {a #1                }
gpu 8                        {b #2                         }
"""
    trace = trace_of(events(drawing, {"a": "hidden_kernel", "b": "gemm"}))
    facts = derive(trace)
    whole = _asked(trace, facts, build_insight(trace, facts))
    assert whole.contrast == [
        "hidden_kernel takes 41.5 % of the kernel time, but 0 % of the critical path: the rest is"
        " hidden behind other work."
    ]


def test_a_glyph_has_the_length_of_its_step_and_names_what_is_in_it() -> None:
    _, facts, _ = made()
    first, second = payload().strips
    assert (first.step, second.step) == (0, 1)
    for strip in (first, second):
        glyph = strip.glyph
        assert glyph.shown_ns == strip.end_ns - strip.start_ns
        on = sum(sum(part.columns) for part in glyph.parts if part.on_path)
        assert abs(on / FULL / glyph.columns - 1) < 1 / glyph.columns
        assert {column.name for column in PATH_STRETCHES.columns} == set(glyph.stretches)
    assert first.end_ns == facts["steps"]["end"][0]
    told = first.glyph.stretches
    place = list(told["category"]).index("compute")
    assert [told[key][place] for key in ("lane", "name", "line", "segments")] == [
        "device",
        "gemm",
        "train.py(7): step",
        2,
    ]


def test_of_many_steps_only_the_median_one_has_a_strip() -> None:
    steps = (
        "[ProfilerStep#1 ][ProfilerStep#2][ProfilerStep#3  ][ProfilerStep#4   ][ProfilerStep#5    ]"
    )
    trace = trace_of(events(f"main {steps}"))
    facts = derive(trace)
    insight = build_insight(trace, facts)
    [strip] = _asked(trace, facts, insight).strips
    assert strip.name == "ProfilerStep#3"
    assert len(_asked(trace, facts, insight, (0, 2)).strips) == 3


def test_waiting_for_a_rank_is_told_once_the_run_is_read(samples: Path) -> None:
    run = sample(str(samples / "synthetic_ddp8"))
    client = Client(Application(run, Settings()))  # type: ignore[arg-type]

    def kinds() -> dict[str, int]:
        reply = client.get("/critical_path?run=run&worker=rank0&span=1")
        parts = msgspec.json.decode(body(reply), type=CriticalPathPayload).parts
        return dict(zip(parts["kind"], parts["path_ns"], strict=True))

    alone = kinds()
    assert "waiting" not in alone
    client.get("/distributed?run=run&worker=rank0&span=1")
    together = kinds()
    assert together["waiting"] > together["communication"] > 0
    assert together["waiting"] + together["communication"] == alone["communication"]
