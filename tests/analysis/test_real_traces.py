"""What must hold on every public trace, and the counts of those that the original plugin got wrong."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from tests.analysis.opened import facts_at, facts_of_run, trace_at
from tests.conftest import REAL_TRACES
from torch_tb_profiler.analysis.breakdown import CATEGORIES
from torch_tb_profiler.analysis.flags import NoOperator
from torch_tb_profiler.analysis.kernels import kernel_rows
from torch_tb_profiler.analysis.operators import operator_rows
from torch_tb_profiler.analysis.selection import select
from torch_tb_profiler.store.roles import Role

FILES = sorted(REAL_TRACES.glob("*/*.json*")) if REAL_TRACES.is_dir() else []


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name[:12]}")
def test_invariants(path: Path) -> None:
    facts, trace = facts_at(path), trace_at(path)
    steps, spans, links = facts["steps"], trace["spans"], facts["span_links"]
    assert steps.n > 0
    assert (sum(steps[key] for key in CATEGORIES) == steps["end"] - steps["start"]).all()
    assert all((steps[key] >= 0).all() for key in CATEGORIES)
    assert (steps["end"][:-1] <= steps["start"][1:]).all()
    kernel = spans["role"] == Role.KERNEL
    for group in ("name", "properties"):
        rows = kernel_rows(facts, select(facts), group)  # type: ignore[arg-type]
        assert int(rows.calls.sum()) == int(kernel.sum())
        assert int(rows.total.sum()) == int(spans["dur"][kernel].sum())
    operators = operator_rows(facts, select(facts), "name")
    owned = (spans["role"] >= Role.KERNEL) & (spans["role"] <= Role.MEMSET) & (links["operator"] >= 0)
    assert int(operators.device_self.sum()) == int(spans["dur"][owned].sum())
    assert (operators.device_self <= operators.device_total).all()
    assert (operators.host_self <= operators.host_total).all()
    assert links.n == spans.n
    child = np.flatnonzero(links["parent"] >= 0)
    parent = links["parent"][child]
    assert (spans["start"][parent] <= spans["start"][child]).all()
    assert (spans["start"][parent] + spans["dur"][parent] >= spans["start"][child] + spans["dur"][child]).all()
    assert (spans["track"][parent] == spans["track"][child]).all()


def test_all_files_are_there(real_traces: Path) -> None:
    assert len(list(real_traces.glob("*/*.json*"))) == 28


@pytest.mark.parametrize(
    ("run", "kernels", "reasons"),
    [
        ("h800_deepseek_train", 963, {NoOperator.KNOWN: 672, NoOperator.OUTSIDE: 291}),
        ("b200_eager", 768, {NoOperator.KNOWN: 766, NoOperator.OUTSIDE: 2}),
        ("h100_bert_small", 60, {NoOperator.KNOWN: 60}),
        ("mi300_vllm_graph", 425, {NoOperator.KNOWN: 4, NoOperator.GRAPH: 421}),
        ("mi210_gpu_only", 562, {NoOperator.NO_HOST: 562}),
        ("mi300_resnet_ddp", 2995, {NoOperator.KNOWN: 2238, NoOperator.NO_LAUNCH: 757}),
        ("v100_memory_nccl", 19370, {NoOperator.KNOWN: 19370}),
    ],
)
def test_every_kernel_once(real_traces: Path, run: str, kernels: int, reasons: dict[int, int]) -> None:
    facts = facts_of_run(real_traces, run)
    rows = kernel_rows(facts, select(facts), "properties")
    found = {int(reason): int(rows.calls[rows.reason == reason].sum()) for reason in np.unique(rows.reason)}
    assert found == {int(reason): count for reason, count in reasons.items()}
    assert facts.summary["attribution"]["kernels"] == kernels
    assert facts.summary["attribution"]["with_operator"] == reasons.get(NoOperator.KNOWN, 0)
    assert (rows.operator[rows.reason != NoOperator.KNOWN] == -1).all()


def test_kernels_of_a_training_step_launched_under_annotations_alone(real_traces: Path) -> None:
    """The 291 kernels of h800_deepseek_train that have no operator: their launches lie in ``mlp(B)`` and the like and in no operator."""
    path = next((real_traces / "h800_deepseek_train").glob("*.json*"))
    facts, trace = facts_at(path), trace_at(path)
    spans, links = trace["spans"], facts["span_links"]
    alone = np.flatnonzero((spans["role"] == Role.KERNEL) & (links["operator"] < 0))
    launch = links["launch"][alone]
    assert len(alone) == 291
    operator = np.flatnonzero(spans["role"] == Role.OPERATOR)
    begin, end = spans["start"][operator], spans["start"][operator] + spans["dur"][operator]
    for row in launch.tolist():
        same = spans["track"][operator] == spans["track"][row]
        assert not (same & (begin <= spans["start"][row]) & (end > spans["start"][row])).any()


def test_nccl_kernels_are_communication(real_traces: Path) -> None:
    facts = facts_of_run(real_traces, "a100_nccl")
    rows = kernel_rows(facts, select(facts), "name")
    names = facts.strings.many(rows.name)
    assert [name for name, is_one in zip(names, rows.communication, strict=True) if is_one] == [name for name in names if name.startswith("nccl")]
    assert int(rows.calls[rows.communication].sum()) == 21
    assert round(int(rows.total[rows.communication].sum()) / 1000) == 46876
    assert int(facts["steps"]["communication"].sum()) > 40_000_000


@pytest.mark.parametrize("run", ["v100_resnet50_num_workers_0", "h100_owlv2", "a100_nccl", "h100_vit", "v100_memory_nccl", "cpu_only"])
def test_a_healthy_trace_has_no_defects(real_traces: Path, run: str) -> None:
    assert facts_of_run(real_traces, run).defects.as_dict() == {}


def read_table(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        pytest.skip(f"the oracle {path.name} of {path.parent.name} is not on this machine")
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("run", ["h100_bert_small", "h100_vit"])
def test_kernels_and_their_operators_agree_with_the_oracle(real_traces: Path, run: str) -> None:
    """Launches and time of every (kernel, operator), as TraceLens reports them; its µs are differences of float64 (1e-3 per kernel)."""
    path = next((real_traces / run).glob("*.json*"))
    facts, trace = facts_at(path), trace_at(path)
    spans, links = trace["spans"], facts["span_links"]
    kernel = np.flatnonzero(spans["role"] == Role.KERNEL)
    ours: dict[tuple[str, str], tuple[int, float]] = {}
    for row in kernel.tolist():
        key = (trace.strings[int(spans["name"][row])], trace.strings[int(spans["name"][links["operator"][row]])])
        count, total = ours.get(key, (0, 0.0))
        ours[key] = (count + 1, total + int(spans["dur"][row]) / 1000)
    theirs = {
        (row["Kernel name"], row["Parent cpu_op"]): (int(row["Kernel duration (µs)_count"]), float(row["Kernel duration (µs)_sum"]))
        for row in read_table(real_traces.parent / "oracles" / run / "kernel_summary.csv")
        if not row["Kernel name"].startswith(("Memcpy", "Memset"))
    }
    assert {key: count for key, (count, _) in ours.items()} == {key: count for key, (count, _) in theirs.items()}
    assert {key: total for key, (_, total) in ours.items()} == {key: pytest.approx(total, abs=1e-3 * count) for key, (count, total) in theirs.items()}


@pytest.mark.parametrize("run", ["h100_bert_small", "h100_vit"])
def test_device_time_of_operators_agrees_with_the_oracle(real_traces: Path, run: str) -> None:
    facts = facts_of_run(real_traces, run)
    rows = operator_rows(facts, select(facts), "name")
    names = facts.strings.many(rows.name)
    ours = {name: int(time) / 1000 for name, time in zip(names, rows.device_self, strict=True) if time}
    theirs = {row["name"]: row for row in read_table(real_traces.parent / "oracles" / run / "ops_summary.csv")}
    kernels = facts.summary["attribution"]["kernels"]
    assert ours == {name: pytest.approx(float(row["total_direct_kernel_time_sum"]), abs=1e-3 * kernels) for name, row in theirs.items()}
