"""``pyprof`` with lists of kernels: what ``--dict`` writes, what PyProf's own parser wrote, and both on
standard input.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_pyprof import SAMPLE, folder, printed
from torch_tb_profiler.cli import main

pytestmark = pytest.mark.slow

__all__ = ["folder"]
FILES = ("training.pt.trace.json", "nvprof.sqlite", "nsight.sqlite", SAMPLE)
KEYS = (
    *("kShortName", "kDuration", "layer", "trace", "reprMarkers", "marker", "seqMarker", "seqId"),
    *("subSeqId", "altSeqId", "dir", "mod", "op", "tid", "device", "stream", "grid", "block"),
    "kLongName",
)
"""Those that ``pyprof.parse`` prints, in its order."""


def piped(folder: Path, given: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "torch_tb_profiler", "pyprof", *options],
        input=given,
        capture_output=True,
        cwd=folder,
        check=False,
    )


@pytest.mark.parametrize("file", FILES, ids=str)
def test_a_list_prints_what_its_trace_does(
    file: str | Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = tmp_path / "net.dict"
    listed.write_text(printed(capsys, folder / file, "--dict"))
    for options in (("-c", "all", "--csv"), ("-c", "all"), ("-w", "150"), ("--json",), ("--dict",)):
        of_trace = printed(capsys, folder / file, *options)
        assert printed(capsys, listed, *options) == of_trace


@pytest.mark.parametrize("file", FILES, ids=str)
def test_a_line_is_python_and_json(
    file: str | Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = printed(capsys, folder / file, "--dict").splitlines()
    rows = json.loads(printed(capsys, folder / file, "--json", "-c", "all"))
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        kernel = ast.literal_eval(line)
        assert kernel == json.loads(line)
        assert tuple(kernel)[: len(KEYS)] == KEYS
        assert (kernel["kLongName"], kernel["kDuration"]) == (row["kernel"], row["sil"])
        assert kernel["seqId"] == ([] if row["seq"] is None else [row["seq"]])
        assert kernel["flops"] == ("na" if row["flops"] is None else row["flops"])


def test_steps_keep_their_numbers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, folder / "nsight.sqlite", "--dict", "--steps", "1").splitlines()
    assert [json.loads(line)["idx"] for line in lines] == list(range(7, 13))


def kernel(name: str, dur: int, **values: Any) -> dict[str, Any]:
    """A line as PyProf's parser prints it."""
    empty: dict[str, Any] = {key: [] for key in KEYS}
    described = {"kShortName": name, "kLongName": name, "kDuration": dur, "subSeqId": 0}
    place = {"tid": 11, "device": 0, "stream": 7, "grid": (16, 2, 1), "block": (128, 1, 1)}
    return {**empty, **described, **place, "dir": "fprop", **values}


def tensor(*shape: int) -> dict[str, Any]:
    return {"name": "", "type": "tensor", "shape": shape, "dtype": "float16"}


def call(module: str, operator: str, *arguments: dict[str, Any]) -> list[str]:
    return [repr({"mod": module, "op": operator, "args": list(arguments)})]


LINEAR = {
    "marker": call("torch.nn.functional", "linear", tensor(64, 256), tensor(128, 256), tensor(128)),
    "mod": ["torch.nn.functional"],
    "op": ["linear"],
    "layer": ["fc1"],
    "trace": ["/home/u/train.py:31", "/home/u/net.py:12"],
    "seqId": [0],
}
RELU = {
    "marker": call("torch.nn.functional", "relu", tensor(64, 128)),
    "mod": ["torch.nn.functional"],
    "op": ["relu"],
    "seqId": [1],
    "altSeqId": [4, 9],
}
BACK = {"dir": "bprop", "tid": 12, "mod": ["na"], "op": ["Addmm"], "seqId": [0]}
NET = [
    kernel("volta_fp16_s884gemm_fp16_64x64_ldg8_f2f_tn", 70_000, **LINEAR),
    kernel("vectorized_elementwise_kernel", 15_000, **RELU),
    kernel("vectorized_elementwise_kernel", 30_000, **{**BACK, "seqId": [1], "op": ["Relu"]}),
    kernel("volta_fp16_s884gemm_fp16_64x64_ldg8_f2f_nt", 40_000, **BACK),
    kernel("volta_fp16_s884gemm_fp16_64x64_ldg8_f2f_nt", 35_000, **BACK, subSeqId=1),
    kernel("reduce_kernel", 5_000, **{**BACK, "subSeqId": 2}),
    kernel("vectorized_elementwise_kernel", 7_000, **{**BACK, "seqId": [77], "op": ["Mul"]}),
    kernel("ncclAllReduceRingLLKernel_sum_f32", 90_000, mod=["na"]),
]


def test_what_pyprofs_own_parser_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.dict"
    path.write_text("".join(f"{each}\n" for each in NET))
    rows = list(csv.DictReader(io.StringIO(printed(capsys, path, "-c", "all", "--csv"))))
    columns = [
        "Idx",
        "SeqId",
        "AltSeqId",
        "Direction",
        "SubSeqId",
        "Op",
        "Params",
        "TC",
        "FLOPs",
        "Bytes",
    ]
    linear, relu = "M=64,N=128,K=256,type=fp16", "shape=(64,128),type=fp16"
    product = 2 * 64 * 128 * 256
    moved = 2 * (64 * 256 + 128 * 256 + 128 + 64 * 128)
    assert [[row[key] for key in columns] for row in rows] == [
        ["1", "0", "-", "fprop", "0", "linear", linear, "1", f"{product + 64 * 128}", f"{moved}"],
        ["2", "1", "4,9", "fprop", "0", "relu", relu, "-", "8192", "32768"],
        ["3", "1", "-", "bprop", "0", "relu", relu, "-", "", ""],
        ["4", "0", "-", "bprop", "0", "linear", linear, "1", f"{product}", f"{moved}"],
        ["5", "0", "-", "bprop", "1", "linear", linear, "1", f"{product}", f"{moved}"],
        ["6", "0", "-", "bprop", "2", "linear", linear, "-", "0", "0"],
        ["7", "77", "-", "bprop", "0", "Mul", "na", "-", "", ""],
        ["8", "", "-", "fprop", "0", "na", "na", "-", "", ""],
    ]
    assert [row["Layer"] for row in rows] == ["fc1", "-", "-", "fc1", "fc1", "fc1", "-", "-"]
    assert rows[3]["CallTrace"] == rows[0]["CallTrace"]
    assert rows[3]["Grid"] == "16,2,1"


def test_a_forward_is_also_found_by_its_other_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.dict"
    back = kernel("vectorized_elementwise_kernel", 1, **{**BACK, "seqId": [9]})
    path.write_text(f"{NET[1]}\n{back}\n")
    rows = list(csv.DictReader(io.StringIO(printed(capsys, path, "-c", "op,params", "--csv"))))
    assert rows[1] == rows[0]


def test_standard_input(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = printed(capsys, folder / "nvprof.sqlite", "--csv").encode()
    listed = printed(capsys, folder / "nvprof.sqlite", "--dict").encode()
    file = (folder / "nvprof.sqlite").read_bytes()
    for given, options in ((file, ()), (file, ("-",)), (listed, ("-",))):
        done = piped(folder, given, *options, "--csv")
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.replace(b"\r\n", b"\n") == expected.replace(b"\r\n", b"\n")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (b"", b"standard input holds no readable trace: standard input: The file is empty."),
        (b"hello", b"standard input holds no readable trace: standard input: Not a trace"),
    ],
)
def test_standard_input_without_a_trace_is_one_line(
    given: bytes, said: bytes, tmp_path: Path
) -> None:
    done = piped(tmp_path, given)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert said in done.stderr


def test_lines_without_a_kernel_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.dict"
    path.write_text(f"{NET[0]}\nhello\n{{'kShortName': \n")
    assert main.main(["pyprof", str(path), "-c", "op"]) == 0
    found = capsys.readouterr()
    assert found.out == "Op\nlinear\n"
    assert found.err == (
        "torch-tb-profiler: 2 lines are no dictionary of a kernel, and left out.\n"
    )
    assert main.main(["pyprof", str(path), "--steps", "1"]) == 2
    assert "A list of kernels has no steps." in capsys.readouterr().err
    assert main.main(["summary", str(path), "--no-cache"]) == 2
    assert "torch-tb-profiler pyprof FILE prints it" in capsys.readouterr().err
