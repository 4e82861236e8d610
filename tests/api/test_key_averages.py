"""``key_averages()`` of traces that no PyTorch without a GPU can record, and what it is besides
PyTorch's table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from msgspec.structs import replace

from tests.analysis.figures import everything
from tests.api.traces import SETTINGS, frames
from tests.builders.drawn import events, trace_of
from tests.loading import load
from tests.views import hand_made
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.operators import operator_rows
from torch_tb_profiler.analysis.key_averages import function_events
from torch_tb_profiler.api.average import KEY_AVERAGES, OLD_NAMES, Average
from torch_tb_profiler.api.averages_table import Options, averages_table
from torch_tb_profiler.api.frames import TraceFrames
from torch_tb_profiler.errors import BadRequest

GPU = """
main    (ProfilerStep#1                                                     )
main      [aten::linear                        ]   [aten::add     ] <sync  >
main        [aten::mm             ]                  <launch #8>
main          <launch #7>
other                                                  <query>
gpu 7       [ProfilerStep#1                                             ]
gpu 7                      {gemm #7   }                     {plus #8 }
"""
NVIDIA = {"launch": "cudaLaunchKernel", "sync": "cudaDeviceSynchronize", "query": "cudaEventQuery"}


def of(listed: list[dict[str, Any]], **header: Any) -> TraceFrames:
    trace = trace_of(listed, **header)
    return frames(replace(hand_made.opened(derive(trace)), trace=trace))


def drawn(
    drawing: str = GPU,
    args: Mapping[str, Mapping[str, Any]] | None = None,
    names: Mapping[str, str] | None = None,
    **header: Any,
) -> TraceFrames:
    return of(events(drawing, NVIDIA if names is None else names, args), **header)


def rows(trace: TraceFrames, **asked: Any) -> dict[tuple[str, str], Average]:
    found = {(row.key, row.device_type): row for row in trace.key_averages(**asked)}
    assert len(found) == len(trace.key_averages(**asked))
    return found


def instant(at: int, size: int, device_type: int = 0) -> dict[str, Any]:
    return {
        "ph": "i",
        "name": "[memory]",
        "pid": 100,
        "tid": 9,
        "ts": at,
        "s": "t",
        "args": {"Bytes": size, "Device Type": device_type, "Addr": 7},
    }


def test_device_time_is_laid_at_the_operator_of_the_launch_and_at_all_around_it() -> None:
    found = rows(drawn())
    assert {
        key: (row.self_device_time_total, row.device_time_total)
        for (key, device), row in found.items()
        if device == "CPU"
    } == {
        "ProfilerStep*": (0, 22),
        "aten::linear": (0, 12),
        "aten::mm": (12, 12),
        "aten::add": (10, 10),
        "cudaLaunchKernel": (0, 0),
        "cudaDeviceSynchronize": (0, 0),
        "cudaEventQuery": (0, 0),
    }
    gemm = found["gemm", "CUDA"]
    assert (gemm.device_time_total, gemm.cpu_time_total, gemm.cpu_parent) == (12, 0, None)
    assert (found["aten::mm", "CPU"].cpu_parent, found["cudaLaunchKernel", "CPU"].count) == (
        "aten::linear",
        2,
    )


def test_what_the_program_named_on_the_device_is_no_work_of_it() -> None:
    trace = drawn()
    annotation = rows(trace)["ProfilerStep*", "CUDA"]
    assert annotation.is_user_annotation
    table = trace.key_averages().table(sort_by="self_cuda_time_total", row_limit=1).splitlines()
    assert table[-1] == "Self CUDA time total: 22.000us"
    assert table[3].split() == [
        "ProfilerStep*",
        "0.00%",
        "0.000us",
        "0.00%",
        "0.000us",
        "0.000us",
        "61.000us",
        "277.27%",
        "61.000us",
        "61.000us",
        "1",
    ]


def test_a_call_that_is_tied_to_no_operator_is_laid_at_the_thread_that_steps() -> None:
    found = rows(drawn())
    assert found["cudaEventQuery", "CPU"].cpu_parent == "cudaLaunchKernel"
    assert (
        found["cudaLaunchKernel", "CPU"].self_cpu_time_total
        == found["cudaLaunchKernel", "CPU"].cpu_time_total - 7
    )


@pytest.mark.parametrize(
    ("calls", "label", "device"),
    [
        (NVIDIA, "CUDA", "cuda"),
        (
            {"launch": "hipLaunchKernel", "sync": "hipDeviceSynchronize", "query": "hipEventQuery"},
            "CUDA",
            "cuda",
        ),
        (
            {"launch": "urEnqueueKernelLaunch", "sync": "urQueueFinish", "query": "urEventGetInfo"},
            "XPU",
            "xpu",
        ),
    ],
)
def test_times_bear_the_name_of_the_accelerator(
    calls: dict[str, str], label: str, device: str
) -> None:
    averages = drawn(names=calls).key_averages()
    assert averages.table().splitlines()[-1] == f"Self {label} time total: 22.000us"
    assert {row.use_device for row in averages} == {device}
    same = {
        averages.table(sort_by=f"{name}_time_total")
        for name in ("cuda", "xpu", "privateuse1", "device")
    }
    assert len(same) == 1


def test_calls_into_a_runtime_without_any_work() -> None:
    found = rows(drawn("main  [aten::mm     ]\nmain   <query    >"))
    assert {row.use_device for row in found.values()} == {"cuda"}
    assert (
        found["aten::mm", "CPU"].self_cpu_time_total
        == found["aten::mm", "CPU"].cpu_time_total - found["cudaEventQuery", "CPU"].cpu_time_total
        == 4
    )


FUNCTIONS = """
main  [outer                   ]
main    /call            /
main      [outer  ]
"""


def test_python_functions() -> None:
    """Counted, left out of the rows, or as if they had not been recorded."""
    trace = drawn(FUNCTIONS, torch_version="2.13.0")
    times = {row.key: (row.count, row.self_cpu_time_total) for row in trace.key_averages()}
    assert times == {"outer": (2, 8 + 9), "call": (1, 9)}
    hidden = {
        row.key: (row.count, row.self_cpu_time_total)
        for row in trace.key_averages(include_python_functions=False)
    }
    assert hidden == {"outer": (2, 8 + 9)}
    # The inner one is the only child of one with its name.
    before = {
        row.key: (row.count, row.self_cpu_time_total)
        for row in trace.key_averages(python_frames=False)
    }
    assert before == {"outer": (1, 26)}


LISTED, LEFT_OUT, NO_CALLS = {"outer": 2, "call": 1}, {"outer": 2}, {"outer": 1}


@pytest.mark.parametrize(
    ("header", "counts"),
    [
        ({"torch_version": "2.9.1"}, NO_CALLS),
        ({"torch_version": "2.12.0+cu130"}, LISTED),
        ({"torch_version": "2.14.0a0"}, LEFT_OUT),
        ({"baseTimeNanoseconds": 0, "trace_id": "7", "host_name": "here"}, LISTED),
        ({"baseTimeNanoseconds": 0, "trace_id": "7"}, NO_CALLS),
        ({"baseTimeNanoseconds": 0}, LISTED),
        ({}, NO_CALLS),
        ({"torch_version": "main", "baseTimeNanoseconds": 0}, LISTED),
    ],
)
def test_python_functions_by_the_version_that_recorded_them(
    header: dict[str, Any], counts: dict[str, int]
) -> None:
    """As the file tells it, or by what there was not always in a header."""
    assert {
        row.key: row.count for row in drawn(FUNCTIONS, schemaVersion=1, **header).key_averages()
    } == counts


def test_memory_of_every_thread_counts_for_all_that_is_open() -> None:
    listed = events("""
        main   [outer                ]
        main     [inner    ]
        other              [beside     ]
    """)
    listed += [
        instant(8, 100),
        instant(12, 1 << 20),
        instant(25, -40, 1),
        instant(60, 8),
        instant(61, 2048, 1),
    ]
    averages = of(listed, profile_memory=1).key_averages()
    found = {
        row.key: (row.cpu_memory_usage, row.self_cpu_memory_usage, row.device_memory_usage)
        for row in averages
    }
    mega = 1 << 20
    assert found == {
        "outer": (mega + 100, 100, -40),
        "inner": (mega, mega, 0),
        "beside": (0, 0, -40),
        "[memory]": (8, 8, 2048),
    }
    assert averages[-1].key == "[memory]"
    assert averages[-1].count == 2
    assert "CPU Mem" in str(averages)
    assert "CUDA Mem" not in str(averages)


def test_overloads_are_apart_only_where_they_were_captured() -> None:
    drawing = """
        main  [aten::add.Tensor ]  [aten::add.out ]  (my::own.name  )
    """
    found = drawn(drawing).key_averages(group_by_overload_name=True)
    assert [(row.key, row.overload_name) for row in found] == [
        ("aten::add", "Tensor"),
        ("aten::add", "out"),
        ("my::own.name", ""),
    ]
    assert [row.key for row in drawn(drawing).key_averages()] == ["aten::add", "my::own.name"]
    assert [row.key for row in drawn("main  [my::own.name ]").key_averages()] == ["my::own.name"]


def test_frame() -> None:
    trace = drawn()
    averages = trace.key_averages()
    frame = averages.to_frame().sort_values("device_time_total", ascending=False)
    assert frame["key"].tolist()[:3] == ["ProfilerStep*", "ProfilerStep*", "aten::linear"]
    assert frame.attrs["units"]["device_time_total"] == "µs"
    assert list(frame.columns) == [column.name for column in KEY_AVERAGES.columns]
    of_rows = pandas.DataFrame(map(vars, averages)).sort_values(
        "device_time_total", ascending=False
    )
    assert of_rows["key"].tolist()[:3] == frame["key"].tolist()[:3]
    top = trace.key_averages(top_level_events_only=True)
    assert set(top.frame["key"]) == {"ProfilerStep*", "gemm", "plus"}
    assert top.table() == averages.table(top_level_events_only=True)
    assert len(top) == len(averages)


def test_what_was_not_recorded_is_missing_from_the_frame() -> None:
    host = drawn("main  [aten::mm ]").key_averages().frame.iloc[0]
    missing = {
        "device_time_total",
        "self_device_time_total",
        "device_time",
        "device_memory_usage",
        "self_device_memory_usage",
        "flops",
    }
    assert set(host.index[host.isna()]) == missing | {
        "cpu_memory_usage",
        "self_cpu_memory_usage",
    } | {*OLD_NAMES, "scope"}
    recorded = of([*events(GPU, NVIDIA), instant(12, 5)], profile_memory=1).key_averages().frame
    private = {name for name in OLD_NAMES if "privateuse1" in name}
    assert set(recorded.columns[recorded.isna().any()]) == {"flops", "scope"} | private


def test_a_sequence_that_prints_as_a_table() -> None:
    averages = drawn().key_averages()
    assert len(averages) == len(list(averages)) == len(averages.frame) == 10
    assert [row.key for row in averages[:2]] == ["ProfilerStep*", "aten::linear"]
    assert averages[:2].table(sort_by="count") == str(averages[:2])
    assert repr(averages).startswith("<KeyAverages of 10 keys")
    assert "<pre>" in averages._repr_html_()
    total = averages.total_average()
    assert (total.key, total.count, total.self_cpu_time_total) == (
        "Total",
        11,
        averages.self_cpu_time_total,
    )


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda averages, path: averages.table(sort_by="colour"), "sort_by='colour'"),
        (
            lambda averages, path: averages.table(sort_by="use_device_time"),
            "sort_by='use_device_time'",
        ),
        (lambda averages, path: averages.table(sort_by="cpu_parent"), "sort_by='cpu_parent'"),
        (lambda averages, path: averages.export_stacks(path, "count"), "metric='count'"),
    ],
)
def test_what_cannot_be_asked(ask: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=message):
        ask(drawn().key_averages(), tmp_path / "stacks.txt")


def test_stacks_of_averages(tmp_path: Path) -> None:
    stack = {"Call stack": "model.py(3): go fast;main.py(1): <module>;"}
    trace = drawn(args={"aten::mm": stack, "aten::add": stack})
    trace.key_averages(group_by_stack_n=1).export_stacks(tmp_path / "one", "self_device_time_total")
    assert (tmp_path / "one").read_text() == "model.py(3):_go_fast 12\nmodel.py(3):_go_fast 10\n"
    trace.export_stacks(tmp_path / "all", "self_cuda_time_total")
    assert (
        (tmp_path / "all").read_text()
        == "main.py(1):_<module>;model.py(3):_go_fast 12\nmain.py(1):_<module>;model.py(3):_go_fast 10\n"
    )
    with pytest.raises(BadRequest, match="no call stacks"):
        drawn().export_stacks(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_trace_of_nothing() -> None:
    averages = of([]).key_averages()
    assert (str(averages), len(averages), len(averages.frame), averages.self_cpu_time_total) == (
        "",
        0,
        0,
        0,
    )


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        (Average("k", 1, 999.9996, 999.9996), "1000.000us"),
        (Average("k", 1, 1e3, 1e3), "1.000ms"),
        (Average("k", 1, 2.5e6, 2.5e6), "2.500s"),
        (Average("k", 1), "NaN"),
        (Average("k", 1, cpu_memory_usage=-1023), "-1023 B"),
        (Average("k", 1, cpu_memory_usage=-1536), "-1.50 KB"),
        (Average("k", 1, cpu_memory_usage=5 << 30), "5.00 GB"),
        (Average("k", 1, flops=7), "7.000"),
        (Average("k", 1, flops=25 * 10**17), "2500.000"),
        (Average("k" * 60, 1), "k" * 52 + "..."),
        (Average("k", 1, stack=["f" * 80]), "..." + "f" * 72),
    ],
)
def test_how_figures_are_written(row: Average, shown: str) -> None:
    """As ``_format_time``, ``_format_memory`` and ``_build_table`` of
    ``torch/autograd/profiler_util.py`` do it.
    """
    cells = averages_table([row], True, True, Options()).splitlines()[3].split("  ")
    assert shown in [cell.strip() for cell in cells]


@pytest.mark.parametrize("lossless", [False, True])
def test_sums_are_those_of_the_python_that_reads(
    lossless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Children that ``sum`` adds with and without loss: 0.1 ten times is 1 only with care."""
    monkeypatch.setattr(function_events, "LOSSLESS", lossless)
    elapsed, parent = np.array([2.0, *[0.1] * 10]), np.array([-1, *[0] * 10])
    plain = 0.0
    for value in elapsed[1:].tolist():
        plain += value
    assert plain != math.fsum(elapsed[1:].tolist())
    expected = math.fsum(elapsed[1:].tolist()) if lossless else plain
    assert function_events.self_time(elapsed, parent)[0] == 2.0 - expected
    host = np.array([False, False, *[True] * 10])
    launched = function_events.device_times(
        np.array([9.0, 5.0, *[0.1] * 10]),
        host,
        np.array([-1, 0, *[-1] * 10]),
        np.array([-1, -1, *[1] * 10]),
    )
    assert (launched.total[0], launched.own[0], launched.own[1]) == (expected, 0.0, expected)


@pytest.mark.parametrize(
    "run",
    [
        "h100_bert_small",
        "h100_owlv2",
        "v100_resnet50_num_workers_0",
        "a100_nccl",
        "mi300_resnet_ddp",
        "mi300_bert_small",
    ],
)
def test_real_traces_agree_with_the_operator_view(real_traces: Path, run: str) -> None:
    """The usual question, what takes the device's time, has one answer: kernels, and operators as
    the Operator view has them, which counts a call within another one of its name once.
    """
    trace = frames(load(str(next(iter(sorted((real_traces / run).glob("*.gz"))))), SETTINGS))
    averages = trace.key_averages()
    frame = averages.to_frame().sort_values("device_time_total", ascending=False)
    assert (
        averages.table(sort_by="cuda_time_total")
        .splitlines()[-1]
        .startswith("Self CUDA time total: ")
    )
    rows = operator_rows(trace.facts, everything(trace.facts), "name")
    columns = ("name", "calls", "device_self_ns", "device_total_ns")
    ours = pandas.DataFrame({key: rows[key] for key in columns})
    ours["name"] = trace.facts.strings.many(ours["name"])
    ours = ours.set_index("name")
    theirs = frame[
        (frame["device_type"] == "CPU")
        & ~frame["is_user_annotation"]
        & frame["key"].isin(ours.index)
    ].set_index("key")
    assert len(theirs) > 25
    own, total = (
        (theirs[key] * 1000).round().astype("int64")
        for key in ("self_device_time_total", "device_time_total")
    )
    ours = ours.loc[theirs.index]
    assert own.to_dict() == ours["device_self_ns"].astype("int64").to_dict()
    assert (total >= ours["device_total_ns"]).all()
    assert (total == ours["device_total_ns"]).mean() > 0.9
    assert theirs["count"].to_dict() == ours["calls"].to_dict()
    kernels = frame[(frame["device_type"] == "CUDA") & ~frame["is_user_annotation"]]
    assert (kernels["device_time_total"].sum() * 1000).round() >= trace.kernels()["total_ns"].sum()
