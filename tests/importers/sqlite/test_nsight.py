"""Nsight Systems exports, one quirk per file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.nsight import PID, TID, NsightFile, global_id
from tests.importers.sqlite.asked import arguments, instants, read, spans
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.roles import Role

THREAD = (str(PID), str(TID))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "report1.sqlite"


def test_a_kernel_and_its_launch(path: Path) -> None:
    with NsightFile(path) as file:
        file.device(multiprocessors=108)
        file.kernel(
            "void gemm<4>(float*)", 12_000, 15_500, (2000, 3000), grid=(27, 2, 2), block=(64, 2, 1)
        )
    trace = read(path)
    assert spans(trace, "start", "dur", "category", "role", "correlation", "track") == [
        ("cudaLaunchKernel", 0, 1000, "cuda_runtime", Role.RUNTIME, 1, THREAD),
        ("void gemm<4>(float*)", 10_000, 3500, "kernel", Role.KERNEL, 1, ("0", "7")),
    ]
    asked = (
        "device",
        "stream",
        "grid",
        "block",
        "registers",
        "shared_memory",
        "blocks_per_sm",
        "bytes",
    )
    assert arguments(trace, "device_args", *asked) == {
        "void gemm<4>(float*)": (0, 7, "[27,2,2]", "[64,2,1]", 32, 1536, 1.0, -1)
    }
    assert trace.defects.as_dict() == {}
    assert (trace.origin_ns, trace.base_ns, trace.entries) == (2000, 0, 2)


def test_without_a_device_table_blocks_per_sm_are_unknown(path: Path) -> None:
    with NsightFile(path) as file:
        file.kernel("gemm", 12_000, 15_000, (2000, 3000))
    trace = read(path)
    assert trace["device_args"]["blocks_per_sm"][0] != trace["device_args"]["blocks_per_sm"][0]
    assert "deviceProperties" not in trace.header


def test_device_properties_and_the_begin_of_the_session(path: Path) -> None:
    with NsightFile(path) as file:
        file.device(0, "NVIDIA H100 80GB HBM3", 132, computeMajor=9)
        file.add("TARGET_INFO_GPU", id=7, name="NVIDIA A10", smCount=72)
        file.add("TARGET_INFO_CUDA_DEVICE", gpuId=7, cudaId=1, pid=PID, numMultiprocessors=72)
        file.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=1_700_000_000_000_000_000)
        file.kernel("gemm", 12_000, 15_000, (2000, 3000), device=1)
    trace = read(path)
    assert [(p["id"], p["name"], p["numSms"]) for p in trace.header["deviceProperties"]] == [
        (0, "NVIDIA H100 80GB HBM3", 132),
        (1, "NVIDIA A10", 72),
    ]
    assert trace.base_ns == 1_700_000_000_000_000_000
    assert derive(trace).summary.versions == {"Profiler": "Nsight Systems 2025.6.3"}
    devices = derive(trace)["devices"]
    assert devices["multiprocessors"].tolist() == [72]


def test_processes_that_see_different_gpus_under_one_number(path: Path) -> None:
    """As ``CUDA_VISIBLE_DEVICES`` makes them."""
    with NsightFile(path) as file:
        for pid, gpu, name, count in (
            (PID, 4, "NVIDIA A100-SXM4-40GB", 108),
            (PID + 1, 5, "NVIDIA A10", 72),
        ):
            file.add("TARGET_INFO_GPU", id=gpu, name=name, smCount=count)
            file.add(
                "TARGET_INFO_CUDA_DEVICE", gpuId=gpu, cudaId=0, pid=pid, numMultiprocessors=count
            )
            file.kernel(f"kernel{pid}", 12_000, 15_000, (2000 + pid, 3000 + pid), pid=pid)
    trace = read(path)
    assert {track for name, track in spans(trace, "track") if name.startswith("kernel")} == {
        ("4", "7"),
        ("5", "7"),
    }
    assert arguments(trace, "device_args", "device", "blocks_per_sm") == {
        f"kernel{PID}": (4, 2.0),
        f"kernel{PID + 1}": (5, 3.0),
    }
    facts = derive(trace)
    assert facts.strings.many(facts["devices"]["name"]) == ["NVIDIA A100-SXM4-40GB", "NVIDIA A10"]


def test_copies_memsets_and_waits(path: Path) -> None:
    with NsightFile(path) as file:
        number = file.call("cudaMemcpyAsync_v3020", 1000, 2000)
        file.work("MEMCPY", 3000, 4000, number, bytes=512, copyKind=2, srcKind=2, dstKind=1)
        file.work("MEMCPY", 4000, 5000, number, bytes=64, copyKind=11)
        file.work("MEMSET", 5000, 6000, number, bytes=128, memKind=2)
        file.work("SYNCHRONIZATION", 6000, 7000, number, syncType=4, stream=0xFFFF_FFFF)
    trace = read(path)
    assert spans(trace, "category", "role", "track")[1:] == [
        ("Memcpy DtoH (Device -> Pinned)", "gpu_memcpy", Role.MEMCPY, ("0", "7")),
        ("Memcpy HtoD (Managed)", "gpu_memcpy", Role.MEMCPY, ("0", "7")),
        ("Memset (Device)", "gpu_memset", Role.MEMSET, ("0", "7")),
        ("Context Sync", "cuda_sync", Role.SYNC, ("0", "-1")),
    ]
    assert [v for (v,) in arguments(trace, "device_args", "bytes").values()] == [512, 64, 128]


def test_an_exports_own_names_of_memory_kinds_go_first(path: Path) -> None:
    with NsightFile(path) as file:
        file.add("ENUM_CUDA_MEM_KIND", id=0, name="CUDA_MEMOPR_MEMORY_KIND_EGM", label="EGM")
        file.work("MEMSET", 5000, 6000, 1, bytes=128, memKind=0)
    assert spans(read(path)) == [("Memset (EGM)",)]


def test_a_graph_launch_is_one_piece_of_work_or_its_nodes(path: Path) -> None:
    with NsightFile(path) as file:
        whole, nodes = (
            file.call("cudaGraphLaunch_v10000", 1000, 2000),
            file.call("cudaGraphLaunch_v10000", 5000, 6000),
        )
        file.work("GRAPH_TRACE", 3000, 4000, whole, graphId=5)
        file.kernel("a", 7000, 8000, nodes, graphNodeId=11)
        file.kernel("b", 8000, 9000, nodes, graphNodeId=12)
    facts = derive(read(path))
    kernels = facts["kernels"]
    assert sorted(
        (facts.strings[int(n)], int(r))
        for n, r in zip(kernels["name"], kernels["reason"], strict=True)
    ) == [("CUDA_graph_5", 4), ("a", 4), ("b", 4)]


def test_streams_have_the_names_that_the_program_gave_them(path: Path) -> None:
    with NsightFile(path) as file:
        file.add(
            "TARGET_INFO_NVTX_CUDA_STREAM", name="prefetch", processId=PID, contextId=1, streamId=7
        )
        file.kernel("a", 6000, 7000, (1000, 2000))
        file.kernel("b", 6000, 7000, (3000, 4000), stream=8)
    tracks = read(path)["tracks"]
    assert sorted(read(path).strings.many(tracks["thread_name"])) == [
        "",
        "stream 7: prefetch",
        "stream 8",
    ]


def test_what_is_said_between_calls_of_cuda_is_no_call(path: Path) -> None:
    with NsightFile(path) as file:
        file.call("CUDA profiling started", 100, 100, event_class=10)
        file.call("cudaFree_v3020", 300, 400)
    trace = read(path)
    assert spans(trace) == [("cudaFree",)]
    assert [name for _, name, *_ in instants(trace)] == ["Nsight Systems: CUDA profiling started"]


def test_a_range_that_ends_with_the_recording_was_open(path: Path) -> None:
    with NsightFile(path) as file:
        file.add("ANALYSIS_DETAILS", duration=5000)
        file.push_pop("within", 10, 4999)
        file.push_pop("never popped", 10, 5000)
        file.push_pop("never ended", 10, 5000, kind=60)
    trace = read(path)
    assert (spans(trace), trace.defects.as_dict()) == ([("within",)], {d.UNMATCHED_BEGIN: 2})


def test_emit_nvtx_makes_operators_and_the_rest_annotations(path: Path) -> None:
    with NsightFile(path) as file:
        file.push_pop("step, op_id = 1", 1000, 9000)
        file.push_pop(
            "aten::mm, seq = 12, op_id = 345, sizes = [[8, 16], [16, 4]], input_op_ids = [(344,0)]",
            2000,
            8000,
            registered=True,
        )
        file.push_pop("aten::empty, op_id = 346", 3000, 4000)
        file.push_pop("my own name", 5000, 6000)
        file.push_pop("MmBackward0, seq = 12, op_id = 400", 7000, 7500, TID + 1)
    trace = read(path)
    assert spans(trace, "category", "role", "external") == [
        ("step", "user_annotation", Role.ANNOTATION, 1),
        ("aten::mm", "cpu_op", Role.OPERATOR, 345),
        ("aten::empty", "cpu_op", Role.OPERATOR, 346),
        ("my own name", "user_annotation", Role.ANNOTATION, -1),
        ("MmBackward0", "cpu_op", Role.OPERATOR, 400),
    ]
    args = arguments(trace, "operator_args", "dims", "sequence", "forward_thread")
    assert args["aten::mm"] == ("[[8,16],[16,4]]", 12, -1)
    assert args["MmBackward0"] == ("", 12, 1)


def test_start_end_ranges_stand_on_a_track_of_their_own(path: Path) -> None:
    with NsightFile(path) as file:
        file.add("ThreadNames", nameId=file.text("trainer"), globalTid=global_id(PID, TID))
        file.push_pop("within", 1000, 5000)
        file.push_pop("across", 3000, 9000, kind=60)
    trace = read(path)
    assert spans(trace, "track") == [("within", THREAD), ("across", (str(PID), f"{TID} ranges"))]
    assert derive(trace).defects.as_dict() == {}
    assert trace.strings.many(trace["tracks"]["thread_name"]) == [
        "trainer",
        "trainer (start/end ranges)",
    ]


def test_marks_domains_and_names(path: Path) -> None:
    with NsightFile(path) as file:
        file.add("PROCESSES", globalPid=global_id(PID), pid=PID, name="C:\\Python\\python.exe")
        file.add(
            "NVTX_EVENTS",
            start=10,
            eventType=34,
            text="loss",
            globalTid=global_id(PID, TID),
            domainId=0,
        )
        file.push_pop("aten::mm, seq = 1", 20, 30, domain=5)
        file.add(
            "NVTX_EVENTS",
            start=1,
            eventType=75,
            textId=file.text("mine"),
            domainId=5,
            globalTid=global_id(PID, TID),
        )
        file.add("NVTX_EVENTS", start=2, eventType=39, text="main", globalTid=global_id(PID, TID))
    trace = read(path)
    assert spans(trace, "role") == [("mine: aten::mm, seq = 1", Role.ANNOTATION)]
    assert instants(trace) == [(-10, "loss", "nvtx", "i", "")]
    assert (
        trace.strings.many(trace["tracks"]["process_name"]),
        trace.strings.many(trace["tracks"]["thread_name"]),
    ) == (["python.exe"], ["main"])


def test_a_range_without_an_end_is_counted(path: Path) -> None:
    with NsightFile(path) as file:
        file.push_pop("whole run", 0, None)
        file.push_pop("step", 10, 20)
    trace = read(path)
    assert spans(trace) == [("step",)]
    assert trace.defects.as_dict() == {d.UNMATCHED_BEGIN: 1}


def test_processes_keep_their_correlation_ids_apart(path: Path) -> None:
    with NsightFile(path) as file:
        for pid in (PID, PID + 1):
            file.push_pop(f"aten::op{pid}, seq = 1", 1000, 5000, pid=pid)
            number = file.call("cudaLaunchKernel_v7000", 2000, 3000, pid=pid, correlation=77)
            file.kernel(f"kernel{pid}", 6000 + pid, 7000 + pid, number, pid=pid)
    trace = read(path)
    facts = derive(trace)
    pairs = {
        (facts.strings[int(k)], facts.strings[int(o)])
        for k, o in zip(facts["kernels"]["name"], facts["kernels"]["operator"], strict=True)
    }
    assert pairs == {(f"kernel{PID}", f"aten::op{PID}"), (f"kernel{PID + 1}", f"aten::op{PID + 1}")}
    assert facts.defects.as_dict() == {}
    assert {track for name, track in spans(trace, "track") if name.startswith("kernel")} == {
        ("0", "7"),
        ("0", f"7 (process {PID + 1})"),
    }


def test_streams_of_one_number_in_two_contexts_are_two(path: Path) -> None:
    with NsightFile(path) as file:
        file.kernel("a", 6000, 7000, (1000, 2000))
        file.kernel("b", 6500, 7500, (3000, 4000), contextId=2)
    trace = read(path)
    assert spans(trace, "track")[-2:] == [("a", ("0", "7")), ("b", ("0", "7 (context 2)"))]
    assert derive(trace).defects.as_dict() == {}


def test_calls_of_libraries_are_shown_and_counted_in_no_figure(path: Path) -> None:
    with NsightFile(path) as file:
        file.push_pop("aten::mm, seq = 1", 0, 900)
        for table, name in (
            ("CUBLAS_EVENTS", "cublasGemmEx"),
            ("OSRT_API", "poll"),
            ("PROFILER_OVERHEAD", "Buffer flush"),
        ):
            file.add(
                table, start=100, end=200, globalTid=global_id(PID, TID), nameId=file.text(name)
            )
    trace = read(path)
    assert {role for name, role in spans(trace, "role") if name in ("cublasGemmEx", "poll")} == {
        Role.OTHER
    }
    assert ("Buffer flush", Role.OVERHEAD) in spans(trace, "role")
    facts = derive(trace)
    assert facts["operator_steps"]["host_self"].tolist() == [900]


def test_calls_of_mpi_have_the_names_that_stand_where_ranges_have_their_texts(path: Path) -> None:
    with NsightFile(path) as file:
        for number, table in enumerate(
            ("MPI_P2P_EVENTS", "MPI_START_WAIT_EVENTS", "MPI_OTHER_EVENTS")
        ):
            file.add(
                table,
                start=100 * number,
                end=100 * number + 50,
                globalTid=global_id(PID, TID),
                textId=file.text(f"MPI_{number}"),
            )
        file.push_pop("step", 400, 500)
    assert spans(read(path), "category")[:3] == [
        ("MPI_0", "mpi"),
        ("MPI_1", "mpi"),
        ("MPI_2", "mpi"),
    ]


def test_what_the_profiler_said_is_marked_and_its_warnings_are_counted(path: Path) -> None:
    with NsightFile(path) as file:
        file.push_pop("step", 100, 900)
        for severity, time, text in (
            (1, 150, "Started."),
            (2, 300, "Not all CUDA events might have been collected."),
            (3, None, "Lost."),
        ):
            file.add(
                "DIAGNOSTIC_EVENT",
                timestamp=time,
                severity=severity,
                text=text,
                globalPid=global_id(PID),
            )
    trace = read(path)
    assert instants(trace) == [
        (50, "Nsight Systems: Started.", "diagnostics", "i", ""),
        (
            200,
            "Nsight Systems: Not all CUDA events might have been collected.",
            "diagnostics",
            "i",
            "",
        ),
    ]
    assert trace.defects.as_dict() == {d.PROFILER_WARNING: 2}


def test_what_is_not_read_is_counted(path: Path) -> None:
    with NsightFile(path) as file:
        file.push_pop("step", 100, 900)
        file.push_pop("of a kind to come", 200, 300, kind=99)
        file.add(
            "NVTX_EVENTS",
            start=0,
            eventType=33,
            text="mine",
            category=1,
            globalTid=global_id(PID, TID),
        )
        rows = {
            "COMPOSITE_EVENTS": 3,
            "SCHED_EVENTS": 4,
            "CUDA_UM_GPU_PAGE_FAULT_EVENTS": 2,
            "NET_IB_SWITCH_METRIC": 5,
            "CUDA_GPU_MEMORY_POOL_EVENTS": 6,
        }
        for table, count in rows.items():
            for number in range(count):
                file.add(table, **({"id": number + 1} if table == "COMPOSITE_EVENTS" else {}))
        file.add("SAMPLING_CALLCHAINS")
    assert read(path).defects.as_dict() == {
        d.NOT_READ: 1 + 6,
        d.CPU_NOT_READ: 3 + 4,
        d.MANAGED_NOT_READ: 2,
        d.METRICS_NOT_READ: 5,
    }


def test_ranges_and_marks_without_a_text_are_called_so(path: Path) -> None:
    """Their message may stand in a payload that the export does not hold."""
    with NsightFile(path) as file:
        file.add(
            "NVTX_EVENTS",
            start=0,
            end=10,
            eventType=59,
            jsonText='{"a": 1}',
            globalTid=global_id(PID, TID),
            domainId=0,
        )
        file.add("NVTX_EVENTS", start=5, eventType=34, globalTid=global_id(PID, TID), domainId=0)
    trace = read(path)
    assert (spans(trace), instants(trace)[0][1]) == (
        [("range without a text",)],
        "mark without a text",
    )


def test_what_has_no_text_is_called_by_its_category(path: Path) -> None:
    """So are the samples of ``nsys profile --python-sampling=true``."""
    with NsightFile(path) as file:
        thread = global_id(PID, TID)
        file.add(
            "NVTX_EVENTS",
            start=0,
            eventType=75,
            text="Python Backtrace",
            domainId=1,
            globalTid=thread,
        )
        file.add(
            "NVTX_EVENTS",
            start=0,
            eventType=33,
            text="Python Thread",
            category=1,
            domainId=1,
            globalTid=thread,
        )
        file.add("NVTX_EVENTS", start=5, eventType=34, category=1, domainId=1, globalTid=thread)
        file.add("NVTX_EVENTS", start=6, eventType=34, category=2, domainId=1, globalTid=thread)
        file.add(
            "NVTX_EVENTS",
            start=7,
            eventType=34,
            category=1,
            domainId=1,
            globalTid=thread,
            text="own",
        )
    named = [name for _, name, *_ in instants(read(path))]
    assert named == [
        "Python Backtrace: Python Thread",
        "Python Backtrace: mark without a text",
        "Python Backtrace: own",
    ]


def test_processes_without_kernels_are_several_by_their_ranges(path: Path) -> None:
    with NsightFile(path) as file:
        for pid in (PID, PID + 1):
            file.push_pop("step", 10, 20, pid=pid)
    assert len(read(path).header["processes"]) == 2
    with NsightFile(path.with_name("other.sqlite")) as file:
        file.push_pop("launcher", 10, 20, pid=PID + 1)
        file.push_pop("step", 10, 20)
        file.kernel("gemm", 12, 15, (11, 12))
    other = read(path.with_name("other.sqlite"))
    assert (len(other.header["processes"]), other.defects.as_dict()) == (1, {})


def test_driver_calls_are_told_by_class_or_name(path: Path) -> None:
    with NsightFile(path, without=("eventClass",)) as file:
        file.call("cuLaunchKernel", 1000, 2000)
        file.call("cudaFree_v3020", 3000, 4000)
    assert spans(read(path), "category") == [
        ("cuLaunchKernel", "cuda_driver"),
        ("cudaFree", "cuda_runtime"),
    ]
