"""Whatever value a key of a trace has, the trace opens and every page of it can be sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from torch_tb_profiler.runs.import_job import outcome_of, read
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import places
from torch_tb_profiler.store import sidecar
from torch_tb_profiler.views.overview.payload import RankInJob, overview_payload
from torch_tb_profiler.views.steps import choose, steps_payload
from torch_tb_profiler.views.wire import to_json
from torch_tb_profiler.views.work.kernels import kernel_payload
from torch_tb_profiler.views.work.operators import operator_payload

pytestmark = pytest.mark.slow

VALUES: tuple[Any, ...] = (
    0,
    -1,
    1 << 31,
    1 << 40,
    1 << 61,
    (1 << 63) - 1,
    1 << 64,
    -(1 << 31) - 1,
    -(10**40),
    1.5,
    1e308,
    -1e308,
    "²",
    "٣",
    "9" * 30,
    "9" * 400,
    "9" * 5000,
    "1e400",
    10**300,
    10**400,
    "-1",
    "1.5",
    "",
    " 7 ",
    "1_0",
    "0x10",
    "nan",
    "\ud800x",
    None,
    [],
    {},
    [[1 << 70]],
    [None] * 3,
    {"a": 1},
)
ARGUMENTS: dict[str, Any] = {
    "External id": 1,
    "correlation": 5,
    "Input Dims": [[2, 3]],
    "Input type": ["float"],
    "Concrete Inputs": [""],
    "Call stack": "a.py(1): f;b.py(2): g",
    "Sequence number": 3,
    "Fwd thread id": 0,
    "Python id": 1,
    "Python parent id": 2,
    "Python module id": 0,
    "device": 0,
    "stream": 7,
    "grid": [1, 1, 1],
    "block": [1, 1, 1],
    "registers per thread": 3,
    "shared memory": 4,
    "blocks per SM": 0.5,
    "est. achieved occupancy %": 30,
    "bytes": 5,
    "Addr": 6,
    "Bytes": 8,
    "Device Type": 1,
    "Device Id": 0,
    "Total Allocated": 9,
    "Total Reserved": 10,
    "Collective name": "allreduce",
    "dtype": "Float",
    "Process Group Name": "0",
    "Group size": 2,
    "In msg nelems": 3,
    "Out msg nelems": 3,
    "Seq": 1,
    "name": "x",
    "labels": "y",
    "sort_index": 3,
}
EVENTS = (
    ("X", "cpu_op", "aten::mm", 1, 1, 1, 30),
    ("X", "cuda_runtime", "cudaLaunchKernel", 1, 1, 5, 3),
    ("X", "kernel", "gemm", 0, 7, 10, 5),
    ("X", "python_function", "a.py(1): f", 1, 1, 0, 50),
    ("X", "user_annotation", "ProfilerStep#1", 1, 1, 0, 60),
    ("X", "user_annotation", "ProfilerStep#2", 1, 1, 70, 60),
    ("X", "gpu_memcpy", "Memcpy HtoD", 0, 7, 40, 2),
    ("i", "cpu_instant_event", "[memory]", 1, 1, 8, 0),
    ("s", "ac2g", "ac2g", 1, 1, 5, 0),
    ("f", "ac2g", "ac2g", 0, 7, 10, 0),
    ("M", "", "process_name", 1, 0, 0, 0),
    ("M", "", "thread_name", 1, 1, 0, 0),
    ("M", "", "thread_sort_index", 1, 1, 0, 0),
    ("B", "cpu_op", "aten::b", 1, 2, 3, 0),
    ("E", "cpu_op", "aten::b", 1, 2, 9, 0),
    ("C", "", "counter", 1, 1, 3, 0),
)
HEADER: dict[str, Any] = {
    "schemaVersion": 1,
    "deviceProperties": [
        {
            "id": 0,
            "name": "NVIDIA A100",
            "totalGlobalMem": 1 << 36,
            "computeMajor": 8,
            "computeMinor": 0,
            "numSms": 108,
        }
    ],
    "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2, "nccl_version": "2.1"},
    "cuda_runtime_version": 12040,
    "hip_runtime_version": 1,
    "torch_version": "2",
    "synthetic": False,
    "baseTimeNanoseconds": 5,
}
FIELDS = ("name", "cat", "pid", "tid", "ts", "dur", "id", "args")


def events() -> list[dict[str, Any]]:
    """One event of every kind."""
    keys = ("ph", "cat", "name", "pid", "tid", "ts", "dur")
    return [
        {**dict(zip(keys, values, strict=True)), "id": 5, "args": dict(ARGUMENTS)}
        for values in EVENTS
    ]


def opens(path: Path, trace: dict[str, Any]) -> None:
    """Import the trace, keep it, and make every page of it."""
    path.write_text(json.dumps(trace), encoding="utf-8")
    imported, facts = read(places.Place(str(path)), Settings(use_cache=False))
    assert outcome_of(imported, facts).events == len(trace["traceEvents"])
    sidecar.write(path.with_suffix(".safetensors"), imported, facts)
    chosen = choose(facts)
    for payload in (
        overview_payload(facts, chosen, RankInJob(1, None, "order", None)),
        steps_payload(facts, chosen),
        operator_payload(facts, chosen, "stack", 9),
        kernel_payload(facts, chosen, "name", 9),
        kernel_payload(facts, chosen, "properties", 9),
    ):
        assert to_json(payload)


@pytest.mark.parametrize("key", ARGUMENTS)
def test_arguments(tmp_path: Path, key: str) -> None:
    changed = []
    for value in VALUES:
        for event in events():
            event["args"][key] = value
            changed.append(event)
    opens(tmp_path / "t.json", {**HEADER, "traceEvents": changed})


@pytest.mark.parametrize("key", FIELDS)
def test_fields_of_events(tmp_path: Path, key: str) -> None:
    changed = events()
    for value in VALUES:
        changed += [{**event, key: value} for event in events()]
    opens(tmp_path / "t.json", {**HEADER, "traceEvents": changed})


@pytest.mark.parametrize("key", HEADER["deviceProperties"][0])
def test_properties_of_devices(tmp_path: Path, key: str) -> None:
    """Each value at a device of its own, which has a kernel."""
    [device] = HEADER["deviceProperties"]
    (kernel,) = (event for event in events() if event["cat"] == "kernel")
    listed = [{**device, "id": n, key: value} for n, value in enumerate(VALUES)]
    on_each = [
        {**kernel, "pid": n, "args": {**kernel["args"], "device": n}} for n in range(len(VALUES))
    ]
    trace = {**HEADER, "deviceProperties": listed, "traceEvents": events() + on_each}
    opens(tmp_path / "t.json", trace)


@pytest.mark.parametrize("first", range(len(VALUES)), ids=lambda first: repr(VALUES[first])[:12])
def test_header(tmp_path: Path, first: int) -> None:
    """Every key has every value once, each time another one."""
    values = iter((VALUES * 2)[first:])
    distributed = {key: next(values) for key in HEADER["distributedInfo"]}
    whole = {key: next(values) for key in HEADER}
    for header in ({**HEADER, "distributedInfo": distributed}, whole):
        opens(tmp_path / "t.json", {**header, "traceEvents": events()})
