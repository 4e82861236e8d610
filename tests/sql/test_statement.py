"""Only one SELECT over known tables is run, and what is refused is said in words."""

from __future__ import annotations

import duckdb
import pytest

from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.sql import statement
from torch_tb_profiler.tables.registry import REMOVED


def read(text: str) -> statement.Statement:
    with duckdb.connect() as connection:
        return statement.read(connection, text)


def named(text: str) -> list[str]:
    return sorted(f"{table.schema}.{table.spec.name}" for table in read(text).tables)


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("select name, dur from kernels", ["main.kernels"]),
        ("from KERNELS select count(*)", ["main.kernels"]),
        (
            "select * from facts.kernels k join page.steps s on true",
            ["facts.kernels", "page.steps"],
        ),
        ("select * from span_links", ["facts.span_links"]),
        ("select 1 where exists (select 1 from memory.main.events)", ["main.events"]),
        ("with kernels as (select 1 as x) select x from kernels", []),
        ("with recursive t(x) as (select 1 union all select x + 1 from t) select x from t", []),
        ("describe operators", ["main.operators"]),
        ("summarize copies", ["main.copies"]),
        ("select * from range(3), unnest([1, 2])", []),
        ("values (1), (2)", []),
    ],
)
def test_the_tables_of_a_statement(text: str, tables: list[str]) -> None:
    assert named(text) == tables


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("-- nothing", "0 statements"),
        ("selec 1", "cannot be read at character 1"),
        ("select 1; select 2", "2 statements"),
        ("select * from '/etc/passwd'", "There is no table /etc/passwd"),
        ("select * from read_csv('/etc/passwd')", "read_csv is not allowed"),
        ("select * from read_text('/etc/passwd')", "read_text is not allowed"),
        ("select * from glob('/*')", "glob is not allowed"),
        ("select * from query('select 1')", "query is not allowed"),
        ("select * from arrow_scan(1, 2, 3)", "arrow_scan is not allowed"),
        ("select * from pandas_scan(140)", "pandas_scan is not allowed"),
        ("select * from duckdb_settings()", "duckdb_settings is not allowed"),
        ("select current_setting('home_directory')", "current_setting is not allowed"),
        ("select getenv('HOME')", "getenv is not allowed"),
        ("copy (select 1) to '/tmp/out.csv'", "no SELECT"),
        ("attach '/tmp/a.db'", "no SELECT"),
        ("install httpfs", "no SELECT"),
        ("load httpfs", "no SELECT"),
        ("set enable_external_access = true", "no SELECT"),
        ("pragma memory_limit = '10GB'", "no SELECT"),
        ("create table t as select 1", "no SELECT"),
        ("drop view kernels", "no SELECT"),
        ("export database '/tmp/x'", "no SELECT"),
        ("call pragma_version()", "no SELECT"),
        ("show tables", "SHOW"),
        ("select * from information_schema.tables", "There is no table information_schema.tables"),
        ("select * from other.main.kernels", "There is no table other.main.kernels"),
        ("select * from trace.kernels", "There is no table trace.kernels"),
        ("select " + "(" * 20_000, "characters"),
        ("select " + "(" * 5_000 + "1" + ")" * 5_000, "nested too deeply"),
        ("select " + "+" * 10_000 + "x", "nested too deeply"),
        ("select " + "f(" * 3_000 + "1" + ")" * 3_000, "cannot be read"),
        ("select '\ud800'", "UTF-8"),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    with pytest.raises(BadRequest) as refused:
        read(text)
    assert said in refused.value.message
    assert refused.value.hint


def test_a_wrong_name_is_answered_with_the_likely_one() -> None:
    with pytest.raises(BadRequest) as refused:
        read("select * from kernel")
    assert "kernels" in refused.value.hint


@pytest.mark.parametrize("name", REMOVED)
def test_a_table_of_before_is_answered_with_what_has_its_figures(name: str) -> None:
    with pytest.raises(BadRequest) as refused:
        read(f"select * from page.{name.upper()}")
    assert REMOVED[name] in refused.value.hint


def test_sums_keep_the_unit_of_their_column() -> None:
    found = read(
        "select sum(k.dur) as total, dur as length, count(dur) as n, dur + 1 as more from kernels k"
    )
    assert found.summed == {"total": "dur", "length": "dur"}
