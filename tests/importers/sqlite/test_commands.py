"""Commands on databases: figures for valid ones, one line and exit code 2 for others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import nsight, nvprof
from torch_tb_profiler.cli import main

Printed = pytest.CaptureFixture[str]


def test_summary(tmp_path: Path, capsys: Printed) -> None:
    for name, write, device, operator in (
        ("report1.sqlite", nsight.write_training, "NVIDIA A100-SXM4-40GB", "aten::addmm"),
        ("a.nvprof", nvprof.write_training, "Tesla V100-SXM2-16GB", "linear"),
    ):
        write(tmp_path / name)
        assert main.main(["summary", str(tmp_path / name), "--no-cache"]) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        assert device in printed.out
        assert operator in printed.out


def test_kernels_as_json(tmp_path: Path, capsys: Printed) -> None:
    nvprof.write_training(tmp_path / "a.nvprof")
    assert main.main(["kernels", str(tmp_path / "a.nvprof"), "--json", "--no-cache"]) == 0
    assert nvprof.GEMM in json.dumps(json.loads(capsys.readouterr().out))


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"SQLite format 3\0" + b"\0" * 5000, "SQLite database"),
        (b"SQLite format 3\0", "SQLite database"),
        (b"\x01NSYS", "binary data"),
    ],
)
def test_what_is_no_database_ends_in_one_line(
    content: bytes, word: str, tmp_path: Path, capsys: Printed
) -> None:
    path = tmp_path / "report1.sqlite"
    path.write_bytes(content)
    assert main.main(["summary", str(path), "--no-cache"]) == 2
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    assert word in printed.err
    assert len(printed.err.strip().splitlines()) <= 2


def test_a_report_of_nsight_systems_says_how_to_export_it(tmp_path: Path, capsys: Printed) -> None:
    path = tmp_path / "report1.nsys-rep"
    path.write_bytes(b"\x01\x02\x03")
    assert main.main(["summary", str(path), "--no-cache"]) == 2
    assert "nsys export --type sqlite report1.nsys-rep" in capsys.readouterr().err
