"""``torch-tb-profiler sql``: its forms, several traces, what is refused, and what is said without DuckDB."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.api.traces import write
from torch_tb_profiler.cli import main

SUMS = "select name, count(*) as calls, sum(dur) as total from kernels group by name order by name"


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("sql") / "run", "w0", "w1")


def call(*arguments: str | Path) -> int:
    return main.main(["sql", *map(str, arguments), "--no-cache"])


def test_text_is_a_table_per_trace(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(run_folder, SUMS) == 0
    printed = capsys.readouterr().out
    assert printed.count("gemm") == 2
    assert "calls" in printed


def test_text_says_how_many_rows_it_leaves_out(
    run_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(run_folder, "select id from events", "--limit", "2", "--worker", "w0") == 0
    assert "The first 2 rows of" in capsys.readouterr().out


def test_csv_has_the_worker_in_front(run_folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert call(run_folder, SUMS, "--csv") == 0
    head, *rows = capfd.readouterr().out.splitlines()
    assert head == "worker,span,name,calls,total"
    assert [row.split(",")[0] for row in rows] == ["w0", "w0", "w1", "w1"]
    assert call(run_folder, SUMS, "--csv", "--worker", "w0") == 0
    head, first, _ = capfd.readouterr().out.splitlines()
    assert (head, first.split(",")[:2]) == ("name,calls,total", ["gemm", "2"])


def test_json_has_an_object_per_trace(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(run_folder, SUMS, "--json") == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["worker"], second["worker"], first["total"]) == ("w0", "w1", 2)
    assert [row["name"] for row in first["rows"]] == ["gemm", "plus"]


def test_the_tables_are_listed_without_a_trace(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["sql", "--list"]) == 0
    printed = capsys.readouterr().out
    assert "  kernels  Every kernel that ran on a device." in printed
    assert "  facts.span_links  " in printed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "needs a trace and a statement"),
        (("PATH",), "needs a trace and a statement"),
        (("PATH", "drop table kernels"), "Only reading is allowed"),
        (("PATH", "select * from '/etc/passwd'"), "There is no table"),
        (("PATH", "select nme from kernels"), '"nme"'),
    ],
)
def test_what_is_refused_in_one_line(
    arguments: tuple[str, ...], said: str, run_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*(run_folder if word == "PATH" else word for word in arguments)) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert said in printed.err


def test_what_is_missing_is_said_with_how_to_install_it(
    run_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert call(run_folder, SUMS) == 2
    assert "pip install duckdb pyarrow" in capsys.readouterr().err
