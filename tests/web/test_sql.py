"""The routes of the SQL console."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from msgspec.structs import replace
from werkzeug.test import TestResponse

from tests.api.traces import SETTINGS, write
from tests.web.served import WHERE, WrittenCatalogue, body, client, error_of
from torch_tb_profiler.runs.loading import load_all
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.sql.tables import SCHEMAS
from torch_tb_profiler.store.roles import Role


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    [found] = load_all(str(write(tmp_path_factory.mktemp("sql") / "run", "w0")), SETTINGS)
    assert isinstance(found, Opened)
    return replace(found, span=replace(found.span, name="1"))


def told(response: TestResponse) -> Any:
    assert response.status_code == 200, response.text
    return json.loads(body(response))


def ask(opened: Opened, text: str, more: str = "") -> Any:
    return client(WrittenCatalogue(opened)).get(f"/sql?{WHERE}&q={quote(text)}{more}")


def test_an_answer_is_columns_with_kinds(opened: Opened) -> None:
    found = told(
        ask(opened, "select id, name, dur, 0.5 as half, 1 as n, true as flag from kernels limit 2")
    )
    assert found["columns"] == [
        {"name": name, "kind": kind}
        for name, kind in (
            ("id", "event"),
            ("name", "text"),
            ("dur", "time"),
            ("half", "number"),
            ("n", "count"),
            ("flag", "text"),
        )
    ]
    assert [column[0] for column in found["values"][3:]] == [0.5, 1, "true"]
    assert (found["total"], found["note"]) == (2, "")


def test_rows_are_bounded(opened: Opened) -> None:
    found = told(ask(opened, "select id from events", "&rows=1"))
    assert (len(found["values"][0]), found["total"] > 1) == (1, True)
    assert found["note"].startswith("The first 1 rows of ")


def test_what_scripts_cannot_hold_is_text(opened: Opened) -> None:
    found = told(ask(opened, "select 9007199254740993 as large, [1, null] as list"))
    assert found["values"] == [["9007199254740993"], ["[1, null]"]]


def test_tables_of_the_insight_are_there(opened: Opened) -> None:
    assert told(ask(opened, "select count(*) from critical_path"))["values"][0][0] > 0


@pytest.mark.parametrize(
    "value",
    [
        "repeat('x', 5000000)",
        "repeat(chr(1), 1000000)",
        "list_resize([1], 900000, 1)",
        "unnest(list_resize([''], 3000, repeat(chr(34), 1000)))",
        ", ".join("unnest(list_resize([''], 10000, ''))" for _ in range(190)),
    ],
)
@pytest.mark.slow
def test_no_answer_is_larger_than_4_mib(opened: Opened, value: str) -> None:
    response = ask(opened, f"select {value}", "&rows=10000")
    assert len(body(response)) <= 4 << 20
    if response.status_code != 200:
        assert error_of(response).error.message.startswith("The first row alone has more than")


@pytest.mark.parametrize(
    "text", ["drop table x", "select * from '/etc/passwd'", "select 1; select 2"]
)
def test_what_is_not_allowed_is_refused(opened: Opened, text: str) -> None:
    response = ask(opened, text)
    assert (response.status_code, error_of(response).error.code) == (400, "bad_request")


def test_without_a_statement_an_example_that_suits_the_trace_is_answered(opened: Opened) -> None:
    """Of a trace with kernels, with operators alone, of allocations, of anything else."""
    spans, memory = opened.trace["spans"], opened.trace["memory"]
    assert memory.n == 0

    def without(*roles: Role) -> Opened:
        role = np.where(np.isin(spans["role"], roles), Role.OTHER, spans["role"])
        tables = {**opened.trace.tables, "spans": spans.replace(role=role)}
        return replace(opened, trace=replace(opened.trace, tables=tables), sidecar="")

    said = told(ask(opened, ""))
    assert said["statement"].splitlines()[-1].startswith("from kernels")
    assert said["values"][0]
    for gone, table in (
        ((Role.KERNEL,), "operators"),
        ((Role.KERNEL, Role.OPERATOR), "events"),
    ):
        said = told(ask(without(*gone), ""))
        assert f"from {table} " in said["statement"]
        assert said["values"][0]


def test_tables_and_examples_are_listed(opened: Opened) -> None:
    found = told(client(WrittenCatalogue(opened)).get("/sql/tables"))
    tables = {table["name"]: table["columns"] for table in found["tables"]}
    assert tables["kernels"][1]["name"] == "name"
    assert "facts.span_links" in tables
    topics = {table["topic"] for table in found["tables"]}
    assert len(topics) == len(SCHEMAS)
    assert found["missing"] == ""
    assert len(found["examples"]) >= 10


def test_without_duckdb_the_page_is_told_what_to_install(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    found = told(client(WrittenCatalogue(opened)).get("/sql/tables"))
    assert found["missing"] == "pip install duckdb pyarrow"
    assert found["tables"]
    response = ask(opened, "select 1")
    assert (response.status_code, error_of(response).error.code) == (501, "missing_package")


def test_a_server_imports_nothing_of_it_before_it_is_asked() -> None:
    program = "import torch_tb_profiler.web.route_table, sys; print([m for m in ('duckdb', 'pyarrow') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
