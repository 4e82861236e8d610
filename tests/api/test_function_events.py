"""``events()`` and ``function_events`` of traces with device work, the columns of ``.events``, and the
names of older versions.
"""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pandas
import pytest

import torch_tb_profiler
from tests.api.test_key_averages import drawn, instant, of
from tests.builders.drawn import events
from torch_tb_profiler.api.average import OLD_NAMES, Average
from torch_tb_profiler.api.frames import RunFrames

SAMPLE = Path(__file__).parents[2] / "samples" / "synthetic_ddp8" / "rank5.pt.trace.json.gz"


def test_device_work_stands_at_the_event_that_launched_it() -> None:
    listed = drawn().events()
    found = {event.name: event for event in listed if event.device_type == "CPU"}
    gemm = next(event for event in listed if event.name == "gemm")
    assert [kernel.name for kernel in found["aten::mm"].kernels] == ["gemm"]
    assert found["aten::mm"].kernels[0].duration == gemm.time_range.elapsed_us()
    assert found["aten::linear"].kernels == []
    assert found["aten::linear"].device_time_total == gemm.device_time_total
    assert found["aten::mm"].cpu_parent is found["aten::linear"]
    assert found["aten::mm"] in found["aten::linear"].cpu_children
    assert (gemm.device_type, gemm.cpu_time_total, gemm.kernels) == ("CUDA", 0.0, [])
    assert (gemm.device_index, gemm.device_resource_id) == (0, 7)
    assert "Self CUDA" in listed.table()
    assert listed.key_averages().table() == drawn().key_averages().table()


def test_the_frame_of_events_is_also_the_call(tmp_path: Path) -> None:
    trace = drawn()
    frame = trace.events
    assert isinstance(frame, pandas.DataFrame)
    assert frame.attrs["units"]["self_ns"] == "ns"
    assert [event.event for event in frame()] == [event.event for event in trace.function_events]
    assert type(frame.head()) is type(frame[["name"]]) is pandas.DataFrame
    for same in (pickle.loads(pickle.dumps(frame)), copy.deepcopy(frame)):
        pandas.testing.assert_frame_equal(same, frame.copy())
    run = RunFrames([trace, trace])
    with pytest.raises(AttributeError, match=r"run\[0\].function_events"):
        _ = run.function_events


def test_columns_of_single_events() -> None:
    args = {
        "aten::mm": {
            "Input Dims": [[8, 16], [16, 4]],
            "Input type": ["float", "float"],
            "Concrete Inputs": ["", ""],
            "Call stack": "net.py(3): forward",
            "Fwd thread id": 3,
        }
    }
    drawing = """
main [aten::linear       ]
main   [aten::mm   ]
"""
    listed = [*events(drawing, None, args), instant(10, 64, 0)]
    frame = of(listed).events.set_index("name")
    product, outer = frame.loc["aten::mm"], frame.loc["aten::linear"]
    assert product.flops == 2 * 8 * 16 * 4
    assert product.concrete_inputs == '["",""]'
    assert "net.py(3): forward" in product.stack
    assert product.forward_thread == 3
    assert outer.self_ns == outer.dur_ns - product.dur_ns
    assert product.self_ns == product.dur_ns
    assert pandas.isna(outer.flops)
    assert not frame.is_async.any()
    assert outer.cpu_memory_usage == 64
    assert frame.device_memory_usage.eq(0).all()
    without = of(listed[:-1]).events
    assert without.cpu_memory_usage.isna().all()


def test_the_python_frame_around_an_event_is_named() -> None:
    frame = drawn(
        """
main /f(1): outer          /
main   /f(2): inner      /
main     [aten::mm ]
""",
        names={},
    ).events
    by_name = frame.reset_index(drop=True)
    row = by_name[by_name.name == "aten::mm"].iloc[0]
    inner = frame.loc[row.frame]
    assert inner["name"] == "f(2): inner"
    assert frame.loc[inner.frame, "name"] == "f(1): outer"
    assert pandas.isna(frame.loc[frame.loc[inner.frame, "event"], "frame"])


NOTEBOOK = """
df = pd.DataFrame(map(vars, prof.key_averages()))
df = df[["key", "self_cpu_time_total", "cpu_time_total", "self_cuda_time_total", "cuda_time_total", "device_type"]]
top = df.sort_values(by="cuda_time_total", ascending=False)
text = prof.key_averages().table(sort_by="cuda_time_total", row_limit=10)
full = pd.DataFrame(map(vars, prof.key_averages()))
private = full[["privateuse1_time_total", "privateuse1_memory_usage", "self_privateuse1_memory_usage"]]
others = full[["node_id", "is_async", "is_remote", "use_device", "is_legacy", "flops", "device_type", "count", "cpu_children", "scope"]]
share = df["self_cpu_time_total"] / df["self_cpu_time_total"].sum() * 100
prof.export_chrome_trace(str(path))
"""
"""Cells of a notebook of the years of PyTorch 1.8 to 2.2."""


def test_a_notebook_of_older_versions_runs_unchanged(tmp_path: Path) -> None:
    prof = torch_tb_profiler.open(SAMPLE)
    space: dict[str, Any] = {"pd": pandas, "prof": prof, "path": tmp_path / "trace.json"}
    for cell in NOTEBOOK.strip().splitlines():
        exec(cell, space)
    top, full = space["top"], space["full"]
    assert top["cuda_time_total"].is_monotonic_decreasing
    assert top["cuda_time_total"].iloc[0] > 0
    assert "CUDA total" in space["text"]
    assert not space["private"].any(axis=None)
    assert space["share"].sum() == pytest.approx(100)
    assert full["use_device"].eq("cuda").all()
    assert torch_tb_profiler.open(space["path"]).key_averages().table() == (
        prof.key_averages().table()
    )


def test_rows_and_frames_have_the_old_names() -> None:
    trace = drawn()
    for row in trace.key_averages():
        assert {name: vars(row)[name] for name in OLD_NAMES} == {
            old: 0 if old.startswith(("privateuse1", "self_privateuse1")) else getattr(row, new)
            for old, new in OLD_NAMES.items()
        }
        assert copy.copy(row) == row == pickle.loads(pickle.dumps(row))
    frame = trace.key_averages().frame
    assert frame.cuda_time_total.equals(frame.device_time_total.rename("cuda_time_total"))
    assert frame.privateuse1_time_total.isna().all()
    private = Average("k", 1, device_time_total=3.0, use_device="npu")
    assert vars(private)["privateuse1_time_total"] == 3.0
    assert private.privateuse1_time_total == 3.0
    assert Average("k", 1).privateuse1_memory_usage == 0
