"""Every table of the registry is on every surface, with the groups that its function takes and the columns that it says."""

from __future__ import annotations

import inspect
import io
from typing import get_args, get_type_hints

import pytest

from tests.api.traces import frames
from tests.views import hand_made
from torch_tb_profiler.api import export
from torch_tb_profiler.api.frames import RunFrames, TraceFrames
from torch_tb_profiler.cli.main import main
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.sql.listing import listed
from torch_tb_profiler.tables.registry import OF_A_TRACE, REMOVED, TABLES, Listed

COMPUTED = [table for table in TABLES.values() if table.module]


@pytest.fixture(scope="module")
def trace() -> TraceFrames:
    return frames(hand_made.opened())


@pytest.mark.parametrize("table", COMPUTED, ids=lambda table: table.name)
def test_the_declaration_says_what_the_function_is(table: Listed) -> None:
    made = table.computed
    assert made.spec.name == made.function.__name__ == table.name
    options = get_type_hints(made.function)
    assert get_args(options.get("by")) == table.groups
    assert inspect.getdoc(made.function)
    assert set(table.without) <= {column.name for column in made.spec.columns}


@pytest.mark.parametrize("name", TABLES)
def test_python_has_it_as_it_is_declared(name: str) -> None:
    for kind in (TraceFrames, RunFrames):
        if kind is RunFrames and name == "key_averages":
            continue
        member = inspect.getattr_static(kind, name, None)
        if TABLES[name].needs == "run" and kind is TraceFrames:
            assert member is None
        else:
            assert isinstance(member, property) == TABLES[name].attribute


@pytest.mark.parametrize("name", OF_A_TRACE)
def test_it_can_be_written_and_is_named_where_people_look(name: str, trace: TraceFrames) -> None:
    file = io.BytesIO()
    export.write_table(export.table(trace, name), file, "csv")
    assert file.getvalue()
    assert f".{name}" in repr(trace)


def test_help_and_sql_list_every_table(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["export", "--help"])
    told = capsys.readouterr().out.replace(",", " ").split()
    assert [name for name in TABLES if name not in told] == []
    shown = {table.name for table in listed() if table.schema == "page"}
    assert shown == {name for name, table in TABLES.items() if not table.not_in_sql}


@pytest.mark.parametrize("name", REMOVED)
def test_who_asks_for_a_table_of_before_is_told_what_has_its_figures(
    name: str, trace: TraceFrames
) -> None:
    instead = REMOVED[name].split("`")[1]
    assert instead in TABLES
    assert name not in TABLES
    with pytest.raises(BadRequest) as refused:
        export.table(trace, name)
    assert REMOVED[name] in refused.value.message


@pytest.mark.parametrize(
    "table", [t for t in COMPUTED if t.needs != "run"], ids=lambda table: table.name
)
def test_what_other_groups_tell_is_not_computed(table: Listed, trace: TraceFrames) -> None:
    made = table.computed(trace.context.source())
    missing = {
        column.name for column in made.spec.columns if column.doc and column.name not in made
    }
    assert missing == set(table.without)
