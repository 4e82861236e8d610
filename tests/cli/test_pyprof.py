"""``torch-tb-profiler pyprof``: what it prints of a drawn training step and of files of nvprof and
Nsight Systems, whole, and what it refuses.

``UPDATE_GOLDEN=1 pytest tests/cli`` writes the files anew for review.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from pathlib import Path

import pytest

from tests.analysis.pyprof.test_table import ARGUMENTS, NAMES, TRAINING
from tests.builders import nsight, nvprof
from tests.builders.drawn import events, text_of
from tests.builders.loop import span
from torch_tb_profiler.cli import main
from torch_tb_profiler.views.work.pyprof_columns import COLUMNS

GOLDEN = Path(__file__).parent / "golden"
SAMPLE = Path(__file__).parents[2] / "samples" / "synthetic_ddp8" / "rank5.pt.trace.json.gz"
CASES: dict[str, tuple[str | Path, ...]] = {
    "pyprof.txt": ("training.pt.trace.json",),
    "pyprof_narrow.txt": (
        "training.pt.trace.json",
        "-w",
        "120",
        "-c",
        "idx,seq,dir,trace,op,kernel,params,tc,flops",
    ),
    "pyprof_all.csv": ("training.pt.trace.json", "-c", "all", "--csv"),
    "pyprof.json": (
        "training.pt.trace.json",
        "--json",
        "-c",
        "idx,altseq,layer,kernel,params,sil,flops",
    ),
    "pyprof_sample.txt": (
        SAMPLE,
        "-w",
        "110",
        "-c",
        "idx,seq,altseq,dir,sub,op,params,tc",
        "--steps",
        "2",
    ),
    "pyprof_nvprof.csv": ("nvprof.sqlite", "-c", "all", "--csv"),
    "pyprof_nsight.csv": ("nsight.sqlite", "-c", "all", "--csv"),
}
DEFAULT = ["Idx", "Direction", "SubSeqId", "Module", "Op", "Kernel", "Params", "Sil(ns)"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("pyprof")
    (found / "training.pt.trace.json").write_text(text_of(events(TRAINING, NAMES, ARGUMENTS)))
    nvprof.write_training(found / "nvprof.sqlite", steps=2)
    nsight.write_training(found / "nsight.sqlite", steps=2)
    return found


def printed(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> str:
    cache = [] if path == SAMPLE else ["--no-cache"]
    assert main.main(["pyprof", str(path), *options, *cache]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", CASES)
def test_what_is_printed(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, *options = CASES[name]
    text = printed(capsys, folder / file, *map(str, options))
    golden = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_bytes(text.encode())
    assert text.encode() == golden.read_bytes()


@pytest.mark.parametrize("file", ["nvprof.sqlite", "nsight.sqlite"])
def test_backward_kernels_of_an_imported_file_carry_their_forward(
    file: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = list(csv.DictReader(io.StringIO(printed(capsys, folder / file, "-c", "all", "--csv"))))
    forward = {row["SeqId"]: row for row in rows if row["Direction"] == "fprop" and row["SeqId"]}
    backward = [row for row in rows if row["Direction"] == "bprop"]
    assert len(backward) == {"nvprof.sqlite": 6, "nsight.sqlite": 4}[file]
    for row in backward:
        for key in ("Module", "Op", "Params", "Layer", "CallTrace"):
            assert row[key] == forward[row["SeqId"]][key]
        assert row["Params"] != "na"
    assert {row["CallTrace"] for row in backward} == (
        {"train.py:31 -> net.py:12", "train.py:31 -> net.py:13"}
        if file == "nvprof.sqlite"
        else {"-"}
    )


def test_columns_are_chosen_by_word(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    training = folder / "training.pt.trace.json"
    assert next(csv.reader(io.StringIO(printed(capsys, training, "--csv")))) == DEFAULT
    for key, column in COLUMNS.items():
        text = printed(capsys, training, "-c", f"sil,{key}", "--csv")
        assert next(csv.reader(io.StringIO(text))) == ["Sil(ns)", column.label]
    assert len(COLUMNS) == 20


def test_the_help_names_every_column(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main.main(["pyprof", "-h"])
    words = set(re.findall(r"\w+", capsys.readouterr().out.partition("-c COLUMNS ")[2]))
    assert set(COLUMNS) <= words


@pytest.mark.parametrize("chosen", [(), ("-c", "idx,dir,kernel,params,sil")])
def test_pyprofs_own_command_lines(
    chosen: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Columns within a width, CSV with a header, and columns parted by blanks say the same."""
    training = folder / "training.pt.trace.json"
    header, *rows = csv.reader(io.StringIO(printed(capsys, training, "--csv", *chosen)))
    expected = ["Idx", "Direction", "Kernel", "Params", "Sil(ns)"] if chosen else DEFAULT
    assert (header, len(rows)) == (expected, 7)
    for width in ((), ("-w", "150"), ("-w", "130")):
        lines = printed(capsys, training, *width, *chosen).splitlines()
        assert max(map(len, lines)) <= (int(width[1]) if width else 10_000)
        cells = [line.split() for line in lines if line.split()[0].isdigit()]
        assert [(line[0], line[1], line[-1]) for line in cells] == [
            (row[0], row[1], row[-1]) for row in rows
        ]


def test_steps_are_chosen(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(printed(capsys, folder / "nsight.sqlite", "--json", "-c", "all"))
    of_one = json.loads(
        printed(capsys, folder / "nsight.sqlite", "--json", "-c", "all", "--steps", "1")
    )
    assert [row["idx"] for row in rows] == list(range(1, 13))
    assert of_one == rows[6:]
    assert main.main(["pyprof", str(folder / "nsight.sqlite"), "--steps", "7", "--no-cache"]) == 2


def test_a_line_is_no_longer_than_the_width(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for width in (100, 133, 300):
        lines = printed(capsys, folder / "nvprof.sqlite", "-w", str(width)).splitlines()
        assert len(lines) == 13
        assert max(map(len, lines)) <= width
    assert (
        max(map(len, printed(capsys, folder / "nvprof.sqlite", "-w", "9" * 12).splitlines()))
        <= 10_000
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("-c", "idx,flop"),
            (
                "'flop' is not a column of the kernel table. Expected some of:"
                " idx,seq,altseq,tid,layer,trace,dir,sub,mod,op,kernel,params,sil,"
            ),
        ),
        (("-c", ""), "'' is not a column"),
        (("-c", "idx,kernel,sil", "-w", "28"), "-w 28 is too narrow: idx,kernel,sil need 29."),
    ],
)
def test_wrong_options_are_one_line(
    options: tuple[str, ...], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main.main(["pyprof", str(folder / "training.pt.trace.json"), *options, "--no-cache"]) == 2
    )
    found = capsys.readouterr()
    assert found.err.startswith(f"torch-tb-profiler: {said}")
    assert found.err.count("\n") == 1
    assert found.out == ""


@pytest.mark.parametrize(
    "options", [("-w", "0"), ("-w", "x"), ("--csv", "--json"), ("--csv", "-w", "100")]
)
def test_options_that_make_no_sense(options: tuple[str, ...], folder: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        main.main(["pyprof", str(folder / "training.pt.trace.json"), *options])
    assert caught.value.code == 2


def test_several_traces_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["pyprof", str(folder), "--no-cache"]) == 2
    assert (
        "holds several traces: nsight, nvprof and training. Give one of its files, or"
        " --worker NAME." in capsys.readouterr().err
    )


def test_a_trace_without_kernels_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "host.pt.trace.json"
    path.write_text(text_of(events("main [aten::mm]")))
    assert main.main(["pyprof", str(path), "--no-cache"]) == 0
    found = capsys.readouterr()
    assert found.out.split() == DEFAULT
    assert found.err == f"torch-tb-profiler: {path} holds no kernels.\n"
    assert json.loads(printed(capsys, path, "--json")) == []


def test_many_rows_are_printed_as_they_are_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "many.pt.trace.json"
    path.write_text(
        text_of([span("kernel", f"k{i % 3}", 0, 7, i, 1, device=0, stream=7) for i in range(250)])
    )
    whole = printed(capsys, path, "-c", "all", "--csv")
    monkeypatch.setattr("torch_tb_profiler.cli.pyprof.ROWS_AT_ONCE", 7)
    assert printed(capsys, path, "-c", "all", "--csv") == whole
    assert [row["idx"] for row in json.loads(printed(capsys, path, "--json"))] == list(
        range(1, 251)
    )
