"""Device time and rates of matrix products, convolutions and attention against TraceLens' own
reports on two public traces.

Its times are differences of float64 microseconds, good to 1e-3 µs per kernel; its rates are means
of the rates of single calls.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.efficiency.workloads import (
    AttributedWork,
    attributed_work,
    build_workloads,
)
from torch_tb_profiler.analysis.facts.calltree import call_tree
from torch_tb_profiler.runs.loading import load_all
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.strings import StringBuilder

RUNS = ("h100_bert_small", "h100_vit")
SHEETS = ("GEMM", "CONV_fwd", "SDPA_fwd")


@pytest.fixture(scope="module", params=RUNS)
def case(
    request: pytest.FixtureRequest, real_traces: Path
) -> tuple[list[dict[str, str]], Opened, Insight]:
    folder = real_traces.parent / "oracles" / request.param
    if not folder.is_dir():
        pytest.skip("the oracles (../shared/oracles) are not on this machine")
    rows = []
    for sheet in SHEETS:
        if (folder / f"{sheet}.csv").is_file():
            with (folder / f"{sheet}.csv").open(encoding="utf-8") as file:
                rows += list(csv.DictReader(file))
    [opened] = [
        found
        for found in load_all(str(real_traces / request.param), Settings())
        if isinstance(found, Opened)
    ]
    texts = StringBuilder()
    tables, _ = build_workloads(opened.trace, opened.facts, {}, texts, call_tree(opened.trace))
    return rows, opened, Insight(texts.table(), tables)


def _workloads(insight: Insight, row: dict[str, str]) -> list[int]:
    """Rows of ``workloads`` that the row of a sheet is about: its name and shapes."""
    table = insight["workloads"]
    dims = json.loads(row["Input Dims_first"])
    named = [i for i in range(table.n) if insight.strings[int(table["name"][i])] == row["name"]]
    return [i for i in named if json.loads(insight.strings[int(table["dims"][i])]) == dims]


def test_device_time_and_calls(case: tuple[list[dict[str, str]], Opened, Insight]) -> None:
    rows, _, insight = case
    assert len(rows) >= 5
    steps = insight["workload_steps"]
    for row in rows:
        mine = np.isin(steps["workload"], _workloads(insight, row))
        calls = int(row["name_count"])
        assert steps["calls"][mine].sum() == calls
        assert steps["device_total"][mine].sum() / 1000 == pytest.approx(
            float(row["Kernel Time (µs)_sum"]), abs=1e-3 * max(calls, 3)
        )


def _per_call(opened: Opened, work: AttributedWork, calls: list[int]) -> np.ndarray:
    """Device time of each of some calls (rows of spans), everything beneath, ns."""
    spans = opened.trace["spans"]
    launch = opened.facts["span_links"]["launch"][work.row]
    start = spans["start"][calls]
    inside = np.searchsorted(start, spans["start"][launch], side="right") - 1
    within = (
        (inside >= 0)
        & (spans["start"][launch] < (start + spans["dur"][calls])[inside])
        & (spans["track"][launch] == spans["track"][calls][inside])
    )
    return sum_by(inside[within], len(calls), spans["dur"][work.row[within]])


def test_rates(case: tuple[list[dict[str, str]], Opened, Insight]) -> None:
    """TFLOP/s and TB/s are 1e12 per second of kernel time. TraceLens leaves out what the bias of a
    convolution adds: its amounts are smaller.
    """
    rows, opened, insight = case
    work = attributed_work(opened.trace, opened.facts, call_tree(opened.trace))
    table = insight["workloads"]
    for row in rows:
        found = _workloads(insight, row)
        calls = np.flatnonzero(np.isin(work.of_span, found)).tolist()
        seconds = _per_call(opened, work, calls) / 1e9
        assert len(seconds) == int(row["name_count"])
        theirs = {
            "flops": 1e9 * float(row["GFLOPS_first"]),
            "bytes": (1 << 20) * float(row["Data Moved (MB)_first"]),
        }
        for key, column in (("flops", "TFLOPS/s_mean"), ("bytes", "TB/s_mean")):
            ours = int(table[key][found[0]])
            assert ours == pytest.approx(
                theirs[key], rel=1e-6 if row["name"] != "aten::convolution" else 1e-3
            )
            assert float((ours / seconds).mean()) / 1e12 == pytest.approx(
                float(row[column]) * ours / theirs[key], rel=2e-4
            )


def test_all_the_arithmetic_is_at_kernels(
    case: tuple[list[dict[str, str]], Opened, Insight],
) -> None:
    rows, _, insight = case
    expected = sum(float(row["GFLOPS_first"]) * int(row["name_count"]) for row in rows)
    kernels, workloads = insight["workload_kernels"], insight["workloads"]
    product = workloads["unit"] == insight.strings.number("matrix")
    mine = product[kernels["workload"]] & (kernels["workload"] >= 0)
    # Of the convolution the bias is added by a kernel of an operator of its own, and TraceLens does
    # not count it.
    assert kernels["flops"][mine].sum() / 1e9 == pytest.approx(expected, rel=1e-6)
