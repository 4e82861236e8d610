"""Device time, FLOPs and bytes of two servers' captured and replayed graphs against TraceLens' own
reports.

Its times are differences of float64 microseconds, good to 1e-3 µs per kernel. Where its FLOPs or
bytes are wrong: ``tests/hardware/families/test_serving_oracles.py``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.hardware.families.test_oracles import amounts, calls
from tests.loading import load
from torch_tb_profiler.analysis.efficiency.workloads import build_workloads
from torch_tb_profiler.analysis.facts.calltree import call_tree
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.strings import StringBuilder

RUNS = {
    "mi300_vllm_piecewise": "graph_execution.json.gz",
    "sglang_qwen3_decode": "sglang_Qwen3-8B_decode.json.gz",
}
ROWS = {
    "mi300_vllm_piecewise": {"GEMM": 8, "RMSNorm_fwd": 3, "InferenceAttention_fwd": 1},
    "sglang_qwen3_decode": {
        "GEMM": 9,
        "RMSNorm_fwd": 4,
        "InferenceAttention_fwd": 2,
        "RoPE_fwd": 1,
    },
}
MORE = {
    "vllm::unified_attention_with_output": (8155 * 64 * 128, 0),
    "sgl_kernel::rotary_embedding": (0, 32 * 8 + 32 * 128 * 2),
    "sglang::store_cache": (0, 32 * 8),
}
"""FLOPs and bytes that theirs lack: the diagonal of prompts; positions with their rows; slots."""


@pytest.mark.parametrize("run", sorted(RUNS))
def test_time_and_work_of_replayed_calls(run: str, real_traces: Path) -> None:
    folder = real_traces.parent / "oracles" / run
    if not folder.is_dir():
        pytest.skip("the oracles (../shared/oracles) are not on this machine")
    opened = load(str(real_traces / run / RUNS[run]), Settings())
    texts = StringBuilder()
    tables, _ = build_workloads(opened.trace, opened.facts, {}, texts, call_tree(opened.trace))
    insight = Insight(texts.table(), tables)
    found: Counter[str] = Counter()
    for sheet in ROWS[run]:
        for row, call in calls(folder / f"{sheet}.csv"):
            dims = json.loads(row["Input Dims_first"])
            strides = json.loads(row["Input Strides_first"])
            [workload] = [
                i
                for i, (name, *texts_of) in enumerate(_signatures(insight))
                if re.sub(r"_\d+$", "", name) == call.name
                and [json.loads(text) for text in texts_of] == [dims, strides]
            ]
            gflops, mebibytes = amounts(row)
            flops, size = MORE.get(call.name, (0, 0))
            work = insight["workloads"]
            assert work["flops"][workload] == round(gflops * 1e9) + flops
            assert work["bytes"][workload] == round(mebibytes * 2**20) + size
            steps = insight["workload_steps"]
            mine = steps["workload"] == workload
            number = int(row["name_count"])
            assert steps["calls"][mine].sum() == number
            assert steps["device_total"][mine].sum() / 1000 == pytest.approx(
                float(row["Kernel Time (µs)_sum"]), abs=1e-3 * number
            )
            found[sheet] += 1
    assert found == ROWS[run]


def _signatures(insight: Insight) -> list[tuple[str, str, str]]:
    table = insight["workloads"]
    columns = [
        [insight.strings[int(number)] if number >= 0 else "null" for number in table[key]]
        for key in ("name", "dims", "strides")
    ]
    return list(zip(*columns, strict=True))


def test_only_attention_is_of_a_step(real_traces: Path) -> None:
    """Only attention has the annotation in its signature."""
    path = real_traces / "sglang_qwen3_decode" / RUNS["sglang_qwen3_decode"]
    opened = load(str(path), Settings())
    texts = StringBuilder()
    tables, _ = build_workloads(opened.trace, opened.facts, {}, texts, call_tree(opened.trace))
    insight = Insight(texts.table(), tables)
    table = insight["workloads"]
    [row] = np.flatnonzero(table["step"] >= 0).tolist()
    assert insight.strings[int(table["name"][row])].startswith("sglang_profiler::attention_paged")
    # Not the shorter words around it, "step[DECODE bs=32]".
    assert insight.strings[int(table["step"][row])].startswith("execute_32_context_0(")
