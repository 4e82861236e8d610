"""DataFrames over the facts, and a front door that costs nothing until it is opened."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import torch_tb_profiler
from tests.api.traces import frames, write
from tests.generate.frames import FRAMES
from tests.views import hand_made
from torch_tb_profiler.api import opening
from torch_tb_profiler.api.concat import PLACE
from torch_tb_profiler.api.frames import Frames, RunFrames, TraceFrames
from torch_tb_profiler.errors import BadRequest, NotATrace, NotFound
from torch_tb_profiler.runs.loading import Unreadable
from torch_tb_profiler.runs.model import Opened

US = hand_made.US
TABLES: dict[str, Callable[[Frames], Any]] = {
    "steps": lambda trace: trace.steps,
    "operators": lambda trace: trace.operators(by="stack"),
    "kernels": lambda trace: trace.kernels(by="properties"),
    "ranges": lambda trace: trace.ranges(),
    "modules": lambda trace: trace.modules,
    "memory": lambda trace: trace.memory,
    "memory_blocks": lambda trace: trace.memory_blocks,
    "memory_alive": lambda trace: trace.memory_alive(),
    "memory_categories": lambda trace: trace.memory_categories,
    "memory_segments": lambda trace: trace.memory_segments(),
    "memory_failures": lambda trace: trace.memory_failures,
    "collectives": lambda trace: trace.collectives,
    "counters": lambda trace: trace.counters,
    "counter_samples": lambda trace: trace.counter_samples,
    "efficiency": lambda trace: trace.efficiency(by="kernel"),
    "pyprof": lambda trace: trace.pyprof(),
    "findings": lambda trace: trace.findings,
    "events": lambda trace: trace.events,
}
DTYPES = {
    "int64": "int64",
    "Int64": "Int64",
    "float64": "float64",
    "bool": "bool",
    "boolean": "boolean",
    "category": "category",
    "object": "object",
}


@pytest.fixture
def trace() -> TraceFrames:
    return frames(hand_made.opened())


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFrames:
    found = torch_tb_profiler.open(
        write(tmp_path_factory.mktemp("two") / "run", "rank0", "rank1"), use_cache=False
    )
    assert isinstance(found, RunFrames)
    return found


def test_categories_that_were_not_recorded_are_missing() -> None:
    host = hand_made.with_steps(
        hand_made.facts(device=False), kernel=[0] * 3, communication=[0] * 3
    )
    steps = frames(hand_made.opened(host)).steps
    assert steps[["kernel_ns", "memcpy_ns", "memset_ns", "runtime_ns"]].isna().all(axis=None)
    assert steps["dataloader_ns"].tolist() == [0] * 3


def test_steps(trace: TraceFrames) -> None:
    steps = trace.steps
    assert steps["name"].tolist() == ["ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"]
    categories = [
        c
        for c in steps.columns
        if c.endswith("_ns") and c not in ("start_ns", "wall_ns", "earlier_ns", "silent_ns")
    ]
    assert len(categories) == 8
    assert (steps[categories].sum(axis=1) == steps["wall_ns"]).all()
    assert (steps["cold"].tolist(), steps["odd"].tolist()) == (
        [True, False, False],
        [False, False, True],
    )


def test_operators(trace: TraceFrames) -> None:
    assert trace.operators().set_index("name")["device_self_ns"].to_dict() == {
        "aten::mm": 60 * US,
        "aten::add": 4 * US,
    }
    assert trace.operators(by="shape")["input_shapes"].dropna().tolist() == [hand_made.SHAPES]
    assert sorted(trace.operators(by="stack")["stack"]) == [
        (),
        ("model.py(7): forward", "train.py(1): main"),
        ("model.py(9): backward", "train.py(1): main"),
    ]
    assert (
        trace.operators(steps=1)["calls"].tolist()
        == trace.operators(steps=(1, 1))["calls"].tolist()
        == [3]
    )
    assert trace.operators(steps=trace.steps["step"].iloc[1])["calls"].tolist() == [3]
    with pytest.raises(IndexError):
        trace.operators(steps=3)
    for wrong in ([0, 1], (0, 1, 2), 1.0, "1", True, slice(0, 1)):
        with pytest.raises(TypeError, match="expected a step, a first and a last one"):
            trace.operators(steps=wrong)  # type: ignore[arg-type]


def test_operators_of_a_shape_have_the_columns_that_programs_rely_on(one: TraceFrames) -> None:
    found = one.operators(by="shape")
    promised = (
        "name input_shapes input_dtypes calls device_self_ns device_total_ns host_self_ns"
        " host_total_ns flops bytes"
    )
    assert set(promised.split()) <= set(found.columns)
    product = found[found["name"] == "aten::mm"].sort_values("input_dtypes")
    assert product["input_dtypes"].tolist() == ['["double","double"]', '["float","float"]']
    # 2 · 8 · 2 · 4, and (8·4 + 4·2 + 8·2) elements of eight and four bytes.
    assert product["flops"].tolist() == [128, 128]
    assert product["bytes"].tolist() == [448, 224]
    # Calls in which no shapes were recorded.
    assert found[found["name"] == "aten::linear"]["flops"].isna().all()
    assert found[found["name"] == "aten::add"]["bytes"].isna().all()


def test_device_times_of_a_host_only_trace_are_unknown() -> None:
    found = frames(hand_made.opened(hand_made.facts(device=False))).operators()
    assert found["device_self_ns"].isna().all()
    assert found["host_self_ns"].notna().all()


def test_kernels(trace: TraceFrames) -> None:
    assert trace.kernels()["total_ns"].tolist() == [71 * US, 10 * US]
    found = trace.kernels(by="properties")
    assert found["operator"].fillna("unknown").tolist() == ["aten::mm", "unknown", "unknown"]
    assert found["no_operator"].fillna("known").tolist() == ["known", "outside", "no_launch"]
    assert found["registers"].isna().tolist() == [False, False, True]
    assert found["matrix"].tolist() == [True, True, False]


def test_events_tie_together(one: TraceFrames) -> None:
    events = one.events
    assert (events["event"] == events.index).all()
    kernel = events[(events["role"] == "kernel") & (events["start_ns"] < 30_000)].iloc[0]
    assert (kernel["name"], kernel["stream"], kernel["correlation"]) == ("gemm", 7, 7)
    launch, operator = events.loc[kernel["launch"]], events.loc[kernel["operator"]]
    assert (launch["name"], operator["name"], operator["input_shapes"]) == (
        "cudaLaunchKernel",
        "aten::mm",
        "[[8,4],[4,2]]",
    )
    assert events.loc[operator["parent"]]["name"] == "aten::linear"
    assert events["launch"].isna().sum() == len(events) - 3


def test_numbers_of_events_are_the_traces_own(one: TraceFrames) -> None:
    import numpy as np

    spans = one.trace["spans"]
    assert np.shares_memory(one.events["start_ns"].to_numpy(), spans["start"])


def test_key_averages(one: TraceFrames) -> None:
    averages = one.key_averages(group_by_input_shape=True)
    assert {row.key for row in averages} >= {"aten::mm", "aten::add"}
    assert "aten::mm" in averages.table(sort_by="self_cpu_time_total", row_limit=3)
    assert averages.frame["count"].sum() == sum(row.count for row in averages)


def test_a_row_of_counters_leads_to_its_range_among_the_events(real_traces: Path) -> None:
    trace = torch_tb_profiler.open(real_traces / "a100_alexnet_cupti_ranges")
    assert isinstance(trace, TraceFrames)
    ranges = trace.events.loc[trace.counters["event"]]
    assert set(ranges["category"]) == {"cuda_profiler_range"}
    assert ranges["name"].tolist() == trace.counters["kernel"].tolist()
    assert ranges[["process", "thread"]].notna().all(axis=None)
    launches = trace.events.loc[trace.counters["launch"]]
    assert launches["correlation"].notna().all()
    assert set(launches["name"]) == {"cudaLaunchKernel"}


def test_sorting_a_gpu_trace_by_device_time(real_traces: Path) -> None:
    trace = torch_tb_profiler.open(real_traces / "h100_bert_small")
    top = trace.operators(by="shape").nlargest(2, "device_total_ns")
    assert set(top["name"]) == {"aten::addmm", "aten::linear"}
    # 2 · 141 · 512 · 512, in one call and in all.
    assert top.set_index("name").loc["aten::addmm", "flops"] == 73_924_608 + 141 * 512
    assert (
        trace.operators()["device_self_ns"].sum()
        == trace.events.query("role in ('kernel', 'memcpy', 'memset')")["dur_ns"].sum()
    )


def test_tables_can_be_written_to(one: TraceFrames) -> None:
    for table in (
        one.steps,
        one.operators(by="shape"),
        one.kernels(by="properties"),
        one.findings,
        one.collectives,
        one.events.copy(),
    ):
        for name in table.columns:
            if str(table[name].dtype) in ("int64", "Int64", "float64") and len(table):
                table.loc[0, name] = 5
                assert table[name][0] == 5
    assert one.steps["step"].tolist() == [0, 1]


def test_some_steps_alone(one: TraceFrames) -> None:
    second = one.in_steps(1)
    assert second.steps["name"].tolist() == ["ProfilerStep#2"]
    assert second.kernels()["calls"].tolist() == [1]
    assert set(second.events["step"]) == {1}
    assert one.in_steps(0, 1).kernels()["calls"].sum() == 3
    assert len(one.in_steps().steps) == 2
    with pytest.raises(IndexError):
        one.in_steps(2)


def test_a_diff_says_what_changed(one: TraceFrames) -> None:
    found = one.in_steps(0).diff(one.in_steps(1))
    kernels = found[found["table"] == "kernel"].set_index("name")
    assert kernels.loc["plus", "status"] == "gone"
    assert kernels.loc["plus", "delta_ns"] == -10_000
    assert found.attrs["verdict"].startswith(
        "Cannot tell: one step each does not suffice; 5 would. Mean "
    )
    assert found.attrs["changed"] is None
    with pytest.raises(TypeError, match="not with str"):
        one.diff("other")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", TABLES)
def test_every_column_has_its_type_unit_and_meaning(one: TraceFrames, name: str) -> None:
    found = TABLES[name](one)
    declared = {
        column.name: column for spec in FRAMES if spec.name == name for column in spec.columns
    }
    assert set(found.columns) == set(found.attrs["units"]) == set(found.attrs["docs"])
    wrong = {
        key: str(found[key].dtype)
        for key in found.columns
        if DTYPES.get(declared[key].dtype, str(found[key].dtype)) != str(found[key].dtype)
    }
    assert wrong == {}
    assert [
        key for key in found.columns if key.endswith("_ns") and found.attrs["units"][key] != "ns"
    ] == []


@pytest.mark.parametrize("name", TABLES)
def test_a_trace_of_nothing_has_every_table(tmp_path: Path, name: str) -> None:
    path = tmp_path / "nothing.pt.trace.json"
    path.write_text('{"traceEvents": []}')
    found = torch_tb_profiler.open(path, use_cache=False)
    table = TABLES[name](found)
    assert len(table) == 0
    assert set(table.attrs["units"]) == set(table.columns)


@pytest.mark.parametrize("name", TABLES)
def test_a_run_has_its_workers_in_front(run: RunFrames, name: str) -> None:
    together, alone = TABLES[name](run), TABLES[name](run[0])
    more = (
        ["match", "wait_ns", "transfer_ns", "last_worker", "skewed"]
        if name == "collectives"
        else []
    )
    assert list(together.columns) == ["worker", "span", *alone.columns, *more]
    assert len(together) == 2 * len(alone)
    assert set(together["worker"]) <= {"rank0", "rank1"}
    own = together[together["worker"] == "rank0"].drop(columns=["worker", "span", *more])
    # Findings name the workers of their events.
    assert own.reset_index(drop=True).astype(str).equals(alone.astype(str))
    assert together.attrs["docs"]["worker"] == PLACE.columns[1].doc
    if not alone.empty:
        assert together.dtypes.drop(["worker", "span"]).equals(alone.dtypes)


def test_waiting_is_told_from_transferring_where_all_workers_are_known(samples: Path) -> None:
    """Rank 5 has slower kernels in every step, and the DataLoader of rank 2 stalls in the step of
    index 4: ``samples/README.md``.
    """
    run = torch_tb_profiler.open(samples / "synthetic_ddp8")
    assert isinstance(run, RunFrames)
    found = run.collectives
    assert (found["wait_ns"] + found["transfer_ns"] == found["dur_ns"]).all()
    assert found.groupby("match")["worker"].nunique().unique().tolist() == [8]
    assert found.groupby("step")["last_worker"].unique().map(list).to_dict() == {
        step: ["rank2"] if step == 4 else ["rank5"] for step in range(7)
    }
    last = found[found["worker"].astype(str) == found["last_worker"]]
    assert last["wait_ns"].max() == 0
    transferred = found.groupby("worker", observed=True)["transfer_ns"].sum()
    assert transferred.max() - transferred.min() < 0.01 * transferred.max()
    assert "wait_ns" not in run[0].collectives
    findings = run.findings
    assert set(findings[findings["rule"] == "straggler"]["worker"]) >= {"rank0", "rank7"}
    assert run[0].findings["rule"].isin(["straggler"]).sum() == 0


def test_a_run_tells_its_process_groups(samples: Path) -> None:
    run = torch_tb_profiler.open(samples / "ddp_gloo")
    assert isinstance(run, RunFrames)
    [group] = run.process_groups.to_dict("records")
    assert (group["description"], group["ranks"], group["group_size"]) == ("default_pg", "0-3", 4)
    assert (group["reach"], group["nodes"], group["recorded"]) == ("within a node", 1, 4)
    with pytest.raises(AttributeError):
        _ = run[0].process_groups


def test_a_run_is_a_sequence_of_its_traces(run: RunFrames) -> None:
    assert (len(run), [trace.worker for trace in run]) == (2, ["rank0", "rank1"])
    assert run["rank1"] is run[1]
    assert [trace.worker for trace in run[1:]] == ["rank1"]
    assert "traces     0" in repr(run[2:])
    with pytest.raises(NotFound, match="rank7"):
        _ = run["rank7"]
    workers = run.workers
    assert (workers["rank"].tolist(), workers["steps"].tolist()) == ([0, 1], [2, 2])
    assert run.in_steps(0).workers["mean_step_ns"].tolist() == [run[0].steps["wall_ns"][0]] * 2


def test_several_runs_are_named(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / name, "w0")
    found = torch_tb_profiler.open(tmp_path, use_cache=False)
    assert found.steps["run"].tolist() == ["a", "a", "b", "b"]
    assert isinstance(found, RunFrames)
    assert found.diff(found)["run"].unique().tolist() == ["a", "b"]


def test_runs_are_compared_worker_by_worker(
    run: RunFrames, one: TraceFrames, tmp_path: Path
) -> None:
    found = run.diff(run)
    assert found["worker"].unique().tolist() == ["rank0", "rank1"]
    assert found["delta_ns"].abs().sum() == 0
    assert len(found.attrs["verdict"]) == 2
    renamed = torch_tb_profiler.open(
        write(tmp_path / "renamed", "rank-1", "rank-0"), use_cache=False
    )
    assert isinstance(renamed, RunFrames)
    assert run.diff(renamed)["worker"].unique().tolist() == ["rank0", "rank1"], "the same ranks"
    other = torch_tb_profiler.open(write(tmp_path / "other", "left", "right"), use_cache=False)
    with pytest.raises(BadRequest, match="no worker in common"):
        run.diff(other)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="take one of its traces"):
        run.diff(one)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "ask",
    [
        lambda t: t.operators(by="line"),
        lambda t: t.kernels(by="shape"),
        lambda t: t.efficiency(by="module"),
    ],
)
def test_an_unknown_grouping(one: TraceFrames, ask: Callable[[Frames], Any]) -> None:
    with pytest.raises(BadRequest, match="is not known"):
        ask(one)


def test_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_all(path: str, settings: Any) -> Iterator[Opened | Unreadable]:
        yield Unreadable("run", "w9", "1", "run/w9.json", "The file is empty.")
        if path != "bad":
            yield hand_made.opened()
        if path == "several":
            yield hand_made.opened()

    monkeypatch.setattr(opening, "load_all", load_all)
    first = torch_tb_profiler.open("good")
    assert isinstance(first, TraceFrames)
    assert (first.run, first.worker, first.span) == ("run", "w0", "1")
    several = torch_tb_profiler.open("several")
    assert isinstance(several, RunFrames)
    assert [item.path for item in several.unreadable] == ["run/w9.json"]
    assert len(torch_tb_profiler.open_all("several")) == 2
    with pytest.raises(NotATrace, match="The file is empty"):
        torch_tb_profiler.open("bad")


def test_the_front_door_is_light() -> None:
    program = (
        "import sys, torch_tb_profiler as t; print([m for m in ('numpy', 'pandas', 'msgspec',"
        " 'fsspec', 'torch') if m in sys.modules], dir(t))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert printed.startswith("[] ")
    assert {"open", "open_all", "record", "TraceFrames", "RunFrames"} <= set(dir(torch_tb_profiler))


@pytest.mark.parametrize("name", torch_tb_profiler.__all__)
def test_every_name_of_the_front_door_is_there(name: str) -> None:
    assert getattr(torch_tb_profiler, name) is not None


def test_what_it_does_not_have() -> None:
    with pytest.raises(AttributeError, match="no attribute 'shut'"):
        _ = torch_tb_profiler.shut


def test_counters_of_a_real_trace(real_traces: Path) -> None:
    found = torch_tb_profiler.open(real_traces / "a100_alexnet_cupti_ranges").counters
    names = [name for name in found.columns if name.startswith("smsp__")]
    assert (len(found), len(names)) == (77, 9)
    transform = found[found["short_name"].str.startswith("fft2d_r2c_32x32")].iloc[0]
    stack = ("aten::conv2d", "aten::convolution", "aten::_convolution", "aten::cudnn_convolution")
    assert (transform["op_stack"], transform["top_op"], transform["bottom_op"]) == (
        stack,
        stack[0],
        stack[-1],
    )
    assert transform["smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"] == 86_114_304
    assert found.attrs["units"][names[0]]
