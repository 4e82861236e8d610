"""What the tables of a statement hold: the values of the store, texts for numbers, null for unknown, without copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.sql.conftest import Ask
from torch_tb_profiler.api.frames import TraceFrames
from torch_tb_profiler.sql.arrow import arrow_table, arrow_texts
from torch_tb_profiler.sql.listing import listed
from torch_tb_profiler.sql.tables import find, tables
from torch_tb_profiler.store.columns import declared
from torch_tb_profiler.store.strings import StringTable
from torch_tb_profiler.tables.registry import TABLES
from torch_tb_profiler.tables.source import TableSource


@pytest.mark.slow
def test_every_table_has_the_columns_and_types_of_the_list(ask: Ask) -> None:
    for table in listed():
        found = ask(f"describe {table.schema}.{table.name}")
        described = [(row[0], row[1]) for row in found.rows]
        assert described == [(c.name, c.type) for c in table.columns], table.name


@pytest.mark.slow
def test_every_declared_table_has_as_many_rows_as_the_store(
    ask: Ask, recording: TraceFrames
) -> None:
    stored: dict[str, Any] = {
        "trace": recording.trace,
        "facts": recording.facts,
        "insight": recording.insight,
    }
    for schema, name in tables():
        if schema in stored:
            [[rows]] = ask(f"select count(*) from {schema}.{name}").rows
            assert rows == stored[schema][name].n, name


def test_kernels_are_the_device_work_of_the_trace(ask: Ask, recording: TraceFrames) -> None:
    events = recording.events
    kernels = events[events.role == "kernel"]
    [[count, total, first]] = ask("select count(*), sum(dur), min(id) from kernels").rows
    assert (count, total, first) == (len(kernels), kernels.dur_ns.sum(), kernels.event.min())
    names = ask("select distinct name from kernels order by name").rows
    assert [name for [name] in names] == sorted(set(kernels.name))


def test_a_kernel_knows_its_launch_and_operator(ask: Ask) -> None:
    found = ask(
        "select count(*) from kernels k join events r on r.id = k.launch"
        " where r.name = k.launch_name and r.start = k.launch_start and r.dur = k.launch_dur"
    )
    assert found.rows == ask("select count(*) from kernels where launch is not null").rows
    assert found.rows[0][0] > 0


def test_self_times_of_operators_add_up_to_the_outermost(ask: Ask) -> None:
    [[inside]] = ask("select sum(e.dur) from events e join operators o on e.parent = o.id").rows
    [[whole, itself]] = ask("select sum(dur), sum(self_dur) from operators").rows
    assert itself == whole - inside


def test_the_categories_of_a_step_add_up(ask: Ask) -> None:
    names = ("kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_exec")
    categories = " + ".join(f"{name}_ns" for name in (*names, "other"))
    assert ask(f"select count(*) from steps where {categories} <> wall_ns").rows == [[0]]
    assert ask("select count(*) from steps").rows[0][0] > 0


def test_the_critical_path_covers_each_step(ask: Ask) -> None:
    found = ask(
        "select count(*) from steps s where s.wall_ns <>"
        " (select sum(dur_ns) from critical_path p where p.step = s.step)"
    )
    assert found.rows == [[0]]


def test_calls_are_joined_with_the_steps_that_python_has(ask: Ask) -> None:
    found = ask(
        "select count(*) from kernels k join steps s on s.step = k.step where k.start < s.start_ns"
    )
    assert found.rows == [[0]]


def test_no_table_of_python_has_a_second_one_of_other_columns() -> None:
    """But those of Python that sum what statements ask call by call."""
    summed = {"kernels", "operators", "copies", "counter_samples", "counters", "events"}
    assert {name for schema, name in tables() if schema == "main"} & TABLES.keys() == summed


def test_a_name_alone_is_found_where_people_look_first() -> None:
    places = [find("", name) for name in ("kernels", "ranges", "span_links", "slack", "flows")]
    assert [p and p.schema for p in places] == ["main", "page", "facts", "insight", "trace"]
    assert find("main", "span_links") is None


STRANGE = declared("""
strange: What a column may hold.
    text     i4  number of a string  A text; -1 none.
    number   i8  ns                  A number; -1 unknown.
    address  u8  -                   Address; 0 unknown.
    part     f8  -                   A share; NaN unknown.
    matrix   u1  Knowledge           0 no, 1 yes, 2 unknown.
    flag     u1  0 or 1              Whether.
    role     u1  Role                A role.
""")


def strange(**columns: object) -> pa.Table:
    values: dict[str, object] = {
        "text": [0, -1, 1],
        "number": [5, -1, 0],
        "address": [7, 0, 9],
        "part": [0.5, np.nan, 1],
        "matrix": [1, 2, 0],
        "flag": [1, 0, 1],
        "role": [3, 0, 200],
    }
    texts = arrow_texts(StringTable.of(["one", "two"]))
    return arrow_table(STRANGE.build(**(values | columns)), lambda _: texts, numbered=True)


def test_unknown_is_null() -> None:
    assert strange().to_pydict() == {
        "row": [0, 1, 2],
        "text": ["one", None, "two"],
        "number": [5, None, 0],
        "address": [7, None, 9],
        "part": [0.5, None, 1.0],
        "matrix": [True, None, False],
        "flag": [True, False, True],
        "role": ["kernel", "other", None],
    }


def test_a_number_of_no_string_is_null_and_not_read() -> None:
    assert strange(text=[7, 1, -5])["text"].to_pylist() == [None, "two", None]


def test_texts_that_are_not_utf8_are_replaced() -> None:
    damaged = StringTable(np.array([0, 2, 3]), np.frombuffer(b"\xff\xfea", np.uint8))
    assert arrow_texts(damaged).to_pylist() == ["\ufffd\ufffd", "a"]


@pytest.mark.parametrize("name", ["start", "dur"])
def test_columns_share_memory_with_the_trace(data: TableSource, name: str) -> None:
    spans = data.trace["spans"]
    table = arrow_table(spans, lambda _: arrow_texts(data.facts.strings), numbered=False)
    [chunk] = table[name].chunks
    assert chunk.buffers()[1].address == spans[name].ctypes.data


def test_texts_share_memory_with_the_trace(data: TableSource) -> None:
    strings = data.facts.strings
    _, offsets, blob = arrow_texts(strings).buffers()
    assert offsets.address == strings.offsets.ctypes.data
    assert blob.address == strings.blob.ctypes.data
