"""TraceLens' reports of two runs, an independent oracle: FLOPs and bytes of every row with a model
equal ours, except where TraceLens is wrong.

Its reports are in ``../shared/oracles``; "MB" are MiB there.
"""

from __future__ import annotations

import ast
import csv
import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from torch_tb_profiler.hardware.call import Call, read_call
from torch_tb_profiler.hardware.work import work_of

ORACLES = REPOSITORY.parent / "shared" / "oracles"
RUNS = ("h100_bert_small", "h100_vit")
SHEETS = (
    "GEMM",
    "CONV_fwd",
    "SDPA_fwd",
    "BinaryElementwise",
    "Normalization",
    "unified_perf_summary",
)
ARGUMENTS = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")
Row = tuple[str, str, Call, float, float]

WRONG: dict[str, str] = {
    "aten::convolution": (
        "the bias is never counted: its test, three entries of Input Dims, is false of the nine"
        " that aten::convolution has"
    ),
}
"""Operators of which TraceLens' figure is wrong, and why; ``test_where_tracelens_is_wrong`` argues
the right one.
"""


def rows() -> Iterator[Row]:
    """(run, sheet, call, GFLOPs, MiB) of every row with a model."""
    for path in sorted(ORACLES.glob("*/*.csv")):
        if path.stem in SHEETS and path.parent.name in RUNS:
            for row, call in calls(path):
                if row.get("has_perf_model", "True") == "True":
                    gflops, mebibytes = amounts(row)
                    yield path.parent.name, path.stem, call, gflops, mebibytes


def calls(path: Path) -> Iterator[tuple[dict[str, str], Call]]:
    """The rows of a sheet, and the calls that they are about."""
    csv.field_size_limit(1 << 24)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            # The sheets of one category call the columns "…_first".
            recorded = [row.get(f"{key}_first") or row[key] for key in ARGUMENTS]
            texts = (json.dumps(ast.literal_eval(text)) if text else "" for text in recorded)
            call = read_call(row["name"], *texts)
            if call is not None:
                yield row, call


def amounts(row: dict[str, str]) -> tuple[float, float]:
    """(GFLOPs, MiB) of a row."""
    return (
        float(row.get("GFLOPS_first") or row["GFLOPS"]),
        float(row.get("Data Moved (MB)_first") or row["Data Moved (MB)"]),
    )


@pytest.fixture(scope="module")
def report() -> list[Row]:
    if not ORACLES.is_dir():
        pytest.skip("the oracles (../shared/oracles) are not on this machine")
    return list(rows())


def test_every_row_is_ours(report: list[Row]) -> None:
    compared = []
    for run, sheet, call, gflops, mebibytes in report:
        if call.name in WRONG:
            continue
        work = work_of(call)
        assert work is not None, (run, sheet, call)
        assert work.bytes is not None
        assert math.isclose(work.flops / 1e9, gflops, rel_tol=1e-6), (run, sheet, call, work)
        assert math.isclose(work.bytes / 2**20, mebibytes, rel_tol=1e-6), (run, sheet, call, work)
        compared.append((run, sheet))
    assert len(compared) == 35
    # CONV_fwd has one row, which is wrong.
    assert {sheet for _, sheet in compared} == set(SHEETS) - {"CONV_fwd"}


def test_where_tracelens_is_wrong(report: list[Row]) -> None:
    """A strided convolution with a bias: TraceLens omits reading and adding the bias."""
    wrong = [
        (call, gflops, mebibytes) for _, _, call, gflops, mebibytes in report if call.name in WRONG
    ]
    assert len(wrong) == 2
    for call, gflops, mebibytes in wrong:
        bias, work = call.tensor(2), work_of(call)
        assert bias is not None
        assert bias.shape == (768,)
        assert work is not None
        outputs = 4 * 768 * 14 * 14
        assert work.flops == round(gflops * 1e9) + outputs == 2 * outputs * 3 * 16 * 16 + outputs
        assert work.bytes == round(mebibytes * 2**20) + 2 * 768
        assert work.bias_flops == outputs


def test_the_reports_are_whole(report: list[Row]) -> None:
    assert {run for run, *_ in report} == {"h100_bert_small", "h100_vit"}
    assert len(report) == 37
