"""nvprof and nvvp files, one quirk per file."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import asdict

import torch_tb_profiler
from tests.builders.nvprof import EPOCH, INSTANT, PID, TID, NvprofFile, object_id, write_training
from tests.importers.sqlite.asked import arguments, instants, read, spans
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.api.frames import TraceFrames
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.roles import Role

THREAD = (str(PID), str(TID))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.nvprof"


def test_a_kernel_its_launch_and_its_range(path: Path) -> None:
    with NvprofFile(path) as file:
        file.device()
        file.marker("MmBackward, seq = 7", 1000, 9000)
        file.kernel("_Z4gemmPfS_i", 12_000, 15_500, (2000, 3000), grid=(160, 1, 1))
    trace = read(path)
    assert spans(trace, "start", "dur", "category", "role", "correlation", "track") == [
        ("MmBackward", 0, 8000, "cpu_op", Role.OPERATOR, -1, THREAD),
        ("cudaLaunchKernel", 1000, 1000, "cuda_runtime", Role.RUNTIME, 1, THREAD),
        ("gemm(PfS_i)", 11_000, 3500, "kernel", Role.KERNEL, 1, ("0", "7")),
    ]
    asked = ("device", "stream", "grid", "block", "registers", "shared_memory", "blocks_per_sm")
    assert arguments(trace, "device_args", *asked) == {
        "gemm(PfS_i)": (0, 7, "[160,1,1]", "[256,1,1]", 40, 2048, 2.0)
    }
    assert arguments(trace, "operator_args", "sequence", "forward_thread") == {"MmBackward": (7, 1)}
    facts = derive(trace)
    assert facts.strings[int(facts["kernels"]["operator"][0])] == "MmBackward"
    assert facts.defects.as_dict() == {}


def test_device_properties(path: Path) -> None:
    with NvprofFile(path) as file:
        file.device(3, "Tesla T4", 40)
        file.marker("step", 0, 1000)
    properties = read(path).header["deviceProperties"]
    assert [
        (p["id"], p["name"], p["numSms"], p["computeMajor"], p["totalGlobalMem"])
        for p in properties
    ] == [(3, "Tesla T4", 40, 7, 16_945_512_448)]


def test_markers_are_tied_by_their_ids_whatever_their_order(path: Path) -> None:
    with NvprofFile(path) as file:
        for number, flags, time, name in (
            (5, 4, 900, ""),
            (6, 4, 400, ""),
            (5, 2, 100, "outer"),
            (6, 2, 200, "inner"),
        ):
            file.add(
                "MARKER",
                id=number,
                flags=flags,
                timestamp=time,
                objectKind=2,
                objectId=object_id(),
                name=file.text(name) if name else 0,
            )
    assert spans(read(path), "start", "dur") == [("outer", 0, 800), ("inner", 100, 200)]


def test_markers_without_flags_begin_with_a_name(path: Path) -> None:
    """The form that PyTorch's own ``parse_nvprof_trace`` expects."""
    with NvprofFile(path, without=("flags",)) as file:
        file.marker("linear, seq = 1", 100, 900)
        file.marker("relu, seq = 2", 900, 1000)
    assert spans(read(path), "dur", "role") == [
        ("linear", 800, Role.OPERATOR),
        ("relu", 100, Role.OPERATOR),
    ]


def test_begins_and_ends_without_each_other_are_counted(path: Path) -> None:
    with NvprofFile(path) as file:
        file.marker("no end", 100, None)
        file.marker("no begin", None, 200)
        file.marker("both", 300, 400)
    trace = read(path)
    assert spans(trace) == [("both",)]
    assert trace.defects.as_dict() == {d.UNMATCHED_BEGIN: 1, d.UNMATCHED_END: 1}


def test_domains_and_marks(path: Path) -> None:
    with NvprofFile(path) as file:
        file.marker("ncclAllReduce", 100, 200, domain="NCCL")
        file.instant("loss 3", 150)
    trace = read(path)
    assert spans(trace, "role") == [("NCCL: ncclAllReduce", Role.ANNOTATION)]
    assert instants(trace) == [(50, "loss 3", "nvtx", "i", "")]


def test_a_threads_number_means_the_same_with_and_without_a_sign(path: Path) -> None:
    with NvprofFile(path) as file:
        file.marker("relu, seq = 1", 100, 900, thread=0xFFFF_FFFE)
        file.call(211, 200, 300, thread=0xFFFF_FFFE)
        file.add("NAME", objectKind=2, objectId=object_id(0xFFFF_FFFE), name=file.text("main"))
    trace = read(path)
    assert {track for _, track in spans(trace, "track")} == {(str(PID), str(0xFFFF_FFFE))}
    assert trace.strings.many(trace["tracks"]["thread_name"]) == ["main"]


def test_calls_are_named_by_their_numbers(path: Path) -> None:
    with NvprofFile(path) as file:
        file.call(41, 100, 200)
        file.call(307, 300, 400, table="DRIVER")
        file.call(99_999, 500, 600)
    assert spans(read(path), "category") == [
        ("cudaMemcpyAsync", "cuda_runtime"),
        ("cuLaunchKernel", "cuda_driver"),
        ("cbid 99999", "cuda_runtime"),
    ]


def test_copies_memsets_waits_and_overhead(path: Path) -> None:
    with NvprofFile(path) as file:
        file.device(2)
        stream = {"deviceId": 2, "contextId": 3, "streamId": 9}
        file.add(
            "MEMCPY",
            start=100,
            end=200,
            bytes=64,
            copyKind=8,
            srcKind=3,
            dstKind=3,
            correlationId=1,
            **stream,
        )
        file.add("MEMSET", start=200, end=300, bytes=32, memoryKind=3, correlationId=2, **stream)
        file.add(
            "SYNCHRONIZATION",
            start=300,
            end=400,
            type=1,
            correlationId=3,
            contextId=3,
            streamId=0xFFFF_FFFF,
        )
        file.add(
            "OVERHEAD", start=400, end=500, overheadKind=2 << 16, objectKind=1, objectId=object_id()
        )
    assert spans(read(path), "role", "track") == [
        ("Memcpy DtoD (Device -> Device)", Role.MEMCPY, ("2", "9")),
        ("Memset (Device)", Role.MEMSET, ("2", "9")),
        ("Event Sync", Role.SYNC, ("2", "-1")),
        ("Instrumentation", Role.OVERHEAD, (str(PID), "")),
    ]


def test_pyprofs_calls_get_the_lines_around_them(path: Path) -> None:
    with NvprofFile(path) as file:
        file.marker("{'traceMarker': ['train.py:31', 'net.py:12']}", 100, 900)
        file.marker(
            "{'mod': 'Linear', 'strRepr': 'Linear(in_features=4, out_features=2)'}", 150, 850
        )
        file.marker(
            "{'mod': 'torch.nn.functional', 'op': 'linear', 'args': [{'name': '', 'type': 'tensor',"
            " 'shape': (8, 4), 'dtype': 'float16'}]}",
            200,
            800,
        )
        file.marker("linear, seq = 3", 300, 700)
        file.kernel("volta_sgemm_32x32_sliced1x4_tn", 2000, 3000, (400, 500))
        file.marker("{'traceMarker': ['train.py:40']}", 1000, 1500)
        file.marker("layer:conv1", 1600, 1700)
    trace = read(path)
    assert [
        name for name, role in spans(trace, "role") if role in (Role.OPERATOR, Role.ANNOTATION)
    ] == [
        "Linear(in_features=4, out_features=2)",
        "torch.nn.functional.linear",
        "linear",
        "train.py:40",
        "layer:conv1",
    ]
    assert arguments(trace, "operator_args", "dims", "types", "stack")[
        "torch.nn.functional.linear"
    ] == (
        "[[8,4]]",
        '["c10::Half"]',
        "net.py(12): ?;train.py(31): ?",
    )
    facts = derive(trace)
    stack = int(
        facts["operators"]["stack"][
            facts["operators"]["name"].tolist().index(trace.strings.number("linear"))
        ]
    )
    frames = []
    while stack >= 0:
        frames.append(facts.strings[int(facts["stacks"]["frame"][stack])])
        stack = int(facts["stacks"]["parent"][stack])
    assert frames == ["net.py(12): ?", "train.py(31): ?"]


def test_what_is_no_literal_stays_a_range(path: Path) -> None:
    texts = [
        "{'traceMarker': ['a.py:1'",
        "{'mod': __import__('os')}",
        "{'a': 1}",
        "{" * 300 + "}" * 300,
        "{'mod': 'x', 'op': 3}",
    ]
    with NvprofFile(path) as file:
        for number, text in enumerate(texts):
            file.marker(text, 100 * number, 100 * number + 50)
    assert [name for (name,) in spans(read(path))] == texts


def test_the_text_of_no_text_is_none(path: Path) -> None:
    """Row 0 of the texts is ``-- null --``."""
    with NvprofFile(path) as file:
        file.add("DEVICE", id=0, name=0)
        file.add("NAME", objectKind=2, objectId=object_id(), name=0)
        file.add("CONCURRENT_KERNEL", start=EPOCH + 5, end=EPOCH + 9, name=0)
        file.marker("step", EPOCH, EPOCH + 10)
        for number in range(70):
            file.instant(f"loss {number}", EPOCH + number)
        file.add(
            "MARKER",
            flags=INSTANT,
            timestamp=EPOCH + 5,
            id=999,
            objectKind=2,
            objectId=object_id(),
            name=0,
        )
    trace = read(path)
    assert [name for (name,) in spans(trace)] == ["step", "kernel without a name"]
    assert "-- null --" not in " ".join(map(str, trace.strings.many(np.arange(len(trace.strings)))))
    assert trace.header["deviceProperties"][0]["name"] == ""


def test_a_graph_launch_that_is_recorded_as_one(path: Path) -> None:
    with NvprofFile(path) as file:
        launch = file.call(311, EPOCH, EPOCH + 10)
        file.add(
            "GRAPH_TRACE",
            correlationId=launch,
            start=EPOCH + 20,
            end=EPOCH + 90,
            deviceId=0,
            graphId=3,
            contextId=1,
            streamId=7,
        )
    trace = read(path)
    assert spans(trace, "role", "dur", "correlation")[1:] == [
        ("CUDA_graph_3", Role.KERNEL, 70, launch)
    ]


def test_devices_and_streams_that_have_names_are_no_processes(path: Path) -> None:
    with NvprofFile(path) as file:
        for kind, name, raw in (
            (1, "trainer", (PID, 0, 0)),
            (3, "my device", (0, 0, 0)),
            (4, "my context", (0, 1, 0)),
            (5, "prefetch", (0, 1, 7)),
        ):
            file.add(
                "NAME", objectKind=kind, objectId=struct.pack("<III", *raw), name=file.text(name)
            )
        file.add(
            "OVERHEAD",
            overheadKind=6 << 16,
            objectKind=4,
            objectId=struct.pack("<III", 0, 1, 0),
            start=EPOCH,
            end=EPOCH + 5,
        )
        file.kernel("gemm", EPOCH + 20, EPOCH + 30, (EPOCH, EPOCH + 10))
    trace = read(path)
    tracks = trace["tracks"]
    named = zip(
        *(trace.strings.many(tracks[column]) for column in ("pid", "process_name", "thread_name")),
        strict=True,
    )
    assert sorted(named) == [
        ("", "", ""),
        ("0", "", "stream 7: prefetch"),
        (str(PID), "trainer", ""),
    ]
    assert ("Command Buffer Full",) in spans(trace)


def test_memory_of_the_device_is_a_counter(path: Path) -> None:
    with NvprofFile(path) as file:
        file.marker("step", EPOCH, EPOCH + 100)
        for time, size, operation, kind in (
            (10, 100, 1, 3),
            (20, 50, 1, 3),
            (30, 100, 2, 3),
            (40, 9, 1, 2),
            (50, 9, 0, 3),
        ):
            file.add(
                "MEMORY2",
                timestamp=EPOCH + time,
                bytes=size,
                memoryOperationType=operation,
                memoryKind=kind,
            )
    assert [(time, name, text) for time, name, _, _, text in instants(read(path))] == [
        (time, "Memory of the device", f'{{"bytes":{total}}}')
        for time, total in ((10, 100), (20, 150), (30, 50))
    ]


def test_what_is_not_read_is_counted(path: Path) -> None:
    write_training(path, 1)
    tables = {"METRIC_INSTANCE": 3, "CDP_KERNEL": 2, "UNIFIED_MEMORY_COUNTER": 4, "PREEMPTION": 1}
    with closing(sqlite3.connect(path)) as database, database:
        for table, rows in tables.items():
            columns = [
                row[1]
                for row in database.execute(f"PRAGMA table_info(CUPTI_ACTIVITY_KIND_{table})")
            ][1:]
            query = (
                f"INSERT INTO CUPTI_ACTIVITY_KIND_{table}({', '.join(columns)}) VALUES"
                f" ({', '.join(['?'] * len(columns))})"
            )
            database.executemany(query, [[EPOCH + row] * len(columns) for row in range(rows)])
    assert read(path).defects.as_dict() == {
        d.METRICS_NOT_READ: 3,
        d.NESTED_KERNELS_NOT_READ: 2,
        d.MANAGED_NOT_READ: 4,
        d.NOT_READ: 1,
    }


def test_a_file_of_an_older_version_has_fewer_tables(path: Path) -> None:
    write_training(path, 2)
    with closing(sqlite3.connect(path)) as database, database:
        for table in (
            "SYNCHRONIZATION",
            "OVERHEAD",
            "NAME",
            "CONTEXT",
            "DEVICE",
            "DRIVER",
            "MEMSET",
        ):
            database.execute(f"DROP TABLE CUPTI_ACTIVITY_KIND_{table}")
    attribution = asdict(derive(read(path)).summary.attribution)
    attribution.pop("by")
    assert attribution == {
        "device_events": 14,
        "kernels": 12,
        "with_launch": 12,
        "with_operator": 10,
    }


def test_training_has_its_steps_figures_and_no_defect(path: Path) -> None:
    write_training(path)
    trace = read(path)
    facts = derive(trace)
    assert facts.defects.as_dict() == {}
    assert (facts["steps"].n, facts.summary.step_source, trace.origin_ns) == (
        3,
        "iteration",
        EPOCH + 1000,
    )
    assert facts["steps"]["kernel"].tolist() == [70_000 + 15_000 + 30_000 + 40_000 + 35_000] * 3
    assert facts["steps"]["communication"].tolist() == [90_000] * 3


def test_training_has_averages(path: Path) -> None:
    write_training(path, steps=2)
    trace = torch_tb_profiler.open(path, use_cache=False)
    assert isinstance(trace, TraceFrames)
    averages = trace.key_averages()
    rows = {(row.key, row.device_type): row for row in averages}
    linear = rows["linear", "CPU"]
    assert (linear.count, linear.use_device, linear.self_device_time_total) == (2, "cuda", 140.0)
    assert "linear" in averages.table(sort_by="cuda_time_total")
