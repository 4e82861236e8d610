"""A real Nsight Systems export (``recorded/README.md``) is read completely; the builders match it."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.builders.nsight import NsightFile
from tests.builders.tables import NSIGHT, OLDER, OLDEST, tables
from tests.importers.sqlite.asked import arguments, instants, read, spans
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

RECORDED = {OLDEST: "2022.4.2.1", OLDER: "2023.4.4.54"}
Columns = dict[str, list[tuple[str, str, int, bool]]]


def recorded(version: str) -> Path:
    return Path(__file__).with_name("recorded") / f"nsys-{version}.sqlite.gz"


@pytest.fixture(params=list(RECORDED))
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def trace(version: str) -> Trace:
    return read(recorded(version))


def columns_of(path: Path) -> Columns:
    """Table → (name, type, whether it must be there, whether it is a key) of its columns."""
    with closing(sqlite3.connect(path)) as database:
        names = [
            name
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        listed = {name: database.execute(f"PRAGMA table_info({name})").fetchall() for name in names}
        return {
            name: [(row[1], row[2], row[3], row[5] > 0) for row in rows]
            for name, rows in listed.items()
        }


def test_the_builders_tables_are_those_of_the_exporter(version: str, tmp_path: Path) -> None:
    real, ours = tmp_path / "real.sqlite", tmp_path / "ours.sqlite"
    real.write_bytes(gzip.decompress(recorded(version).read_bytes()))
    with NsightFile(ours, version=version) as file:
        file.make_all()
    columns = columns_of(real)
    assert len(columns) == len(tables(NSIGHT, version)) > 25
    assert columns_of(ours) == columns


def test_operators_and_annotations(trace: Trace) -> None:
    listed = [
        name for name, role in spans(trace, "role") if role in (Role.OPERATOR, Role.ANNOTATION)
    ]
    operators = [
        "aten::addmm",
        "MulBackward",
        "torch.nn.functional.relu",
        "aten::mm",
        "AddmmBackward0",
        "autograd::engine::evaluate_function: AddmmBackward0",
    ]
    annotations = [
        "ProfilerStep#0",
        "ProfilerStep#1",
        "ProfilerStep#2",
        "epoch 0",
        "epoch 1",
        "epoch 2",
        "range without a text",
    ]
    assert sorted(listed) == sorted(
        [*operators * 3, *["wide é中", "read", "NCCL: ncclAllReduce"] * 3, *annotations]
    )
    args = arguments(trace, "operator_args", "dims", "types", "sequence", "stack")
    assert args["aten::addmm"] == ("[[128],[64,256],[256,128]]", "", 2, "")
    assert args["torch.nn.functional.relu"] == (
        "[[64,128]]",
        '["c10::Half"]',
        -1,
        "net.py(12): ?;train.py(31): ?",
    )
    assert args["MulBackward"][2] == 2


def test_steps_threads_and_version(version: str, trace: Trace) -> None:
    facts = derive(trace)
    assert (facts["steps"].n, facts.summary.step_source) == (3, "ProfilerStep")
    assert facts.summary.versions == {"Profiler": f"Nsight Systems {RECORDED[version]}"}
    tracks = trace["tracks"]
    assert set(trace.strings.many(tracks["process_name"])) == {"program"}
    # Two threads of the profiler, one for each backward pass, the ranges that need not nest, and
    # what concerns the whole process.
    assert sorted(trace.strings.many(tracks["thread_name"])) == [
        "",
        "[NSys Comms]",
        "[NSys]",
        *["pt_autograd_0"] * 3,
        "trainer",
        "trainer (start/end ranges)",
    ]


def test_marks_and_what_the_profiler_says(trace: Trace) -> None:
    found = [(name, category) for _, name, category, _, _ in instants(trace)]
    messages = [
        (f"Nsight Systems: OS runtime libraries profiling {word}", "diagnostics")
        for word in ("started", "finished")
    ]
    marks = [text for step in range(3) for text in ("int", f"loss {step}", "mark without a text")]
    assert sorted(text for text, category in found if category == "nvtx") == sorted(marks)
    assert {mark for mark in found if mark[1] != "nvtx"} == set(messages)


def test_ranges_that_the_end_of_the_recording_closed_are_left_out(trace: Trace) -> None:
    """The exporter gives them its own end, long after the program's."""
    assert trace.defects.as_dict() == {d.UNMATCHED_BEGIN: 2}
    assert [name for (name,) in spans(trace) if name.startswith("never")] == []


def test_calls_of_the_operating_system_count_in_no_figure(trace: Trace) -> None:
    assert {
        (name, role)
        for name, category, role in spans(trace, "category", "role")
        if category == "osrt"
    } >= {("pthread_create", Role.OTHER)}
    assert {
        role for _, category, role in spans(trace, "category", "role") if category == "overhead"
    } == {Role.OVERHEAD}
