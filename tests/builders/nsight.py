"""SQLite exports of Nsight Systems, written with ``sqlite3``: tables and columns are those of the
version that is asked for, see ``tables``.

::

    with NsightFile(path) as file:
        file.push_pop("aten::mm, seq = 7", 1000, 9000)
        file.kernel("gemm", 12_000, 15_000, launched=(2000, 3000))
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.builders.databases import DatabaseFile
from tests.builders.tables import NEWEST, NSIGHT, OLDEST, declared, tables

PID, TID = 4242, 4300
MEMORY_KINDS = (
    "Pageable",
    "Pinned",
    "Device",
    "Array",
    "Managed",
    "Device Static",
    "Managed Static",
    "Unknown",
)


def global_id(pid: int, tid: int = 0) -> int:
    """``globalTid`` of a thread or ``globalPid`` of a process; the machine is in the bits above."""
    return (1 << 56) | (pid << 24) | tid


class NsightFile(DatabaseFile):
    """Writes an export. A table is created with its first row, as ``nsys`` does; ``without``:
    columns to omit.
    """

    def __init__(self, path: Path, without: tuple[str, ...] = (), version: str = NEWEST) -> None:
        super().__init__(path)
        lost = {name.lower() for name in without}
        self._tables = {
            name: [c for c in columns if c.name.lower() not in lost]
            for name, columns in tables(NSIGHT, version).items()
        }
        self._made: set[str] = set()
        self._texts: dict[str, int] = {}
        self._correlation = 0
        self.add(
            "EXPORT_META_DATA" if version == OLDEST else "META_DATA_EXPORT",
            name="EXPORT_PRODUCT_VERSION",
            value=f"{version}.3",
        )
        self.text("")

    def add(self, table: str, **values: Any) -> None:
        """A row; what is declared NOT NULL and not given is 0."""
        columns = self._tables[table]
        if table not in self._made:
            self._made.add(table)
            self.create(table, declared(columns))
        self.insert(
            table,
            {
                c.name: values.get(c.name, ("" if c.kind == "TEXT" else 0) if c.required else None)
                for c in columns
            },
        )

    def make_all(self) -> None:
        """Make every table, as ``--lazy=false`` does."""
        for table, columns in self._tables.items():
            if table not in self._made:
                self._made.add(table)
                self.create(table, declared(columns))

    def text(self, value: str) -> int:
        """The number of a registered text."""
        if value not in self._texts:
            self._texts[value] = len(self._texts)
            self.add("StringIds", id=self._texts[value], value=value)
        return self._texts[value]

    def device(
        self,
        number: int = 0,
        name: str = "NVIDIA A100-SXM4-40GB",
        multiprocessors: int = 108,
        **more: Any,
    ) -> None:
        """A GPU of the machine and CUDA's number of it."""
        columns = {
            "totalMemory": 42_297_524_224,
            "computeMajor": 8,
            "computeMinor": 0,
            "threadsPerWarp": 32,
            **more,
        }
        self.add(
            "TARGET_INFO_GPU",
            id=number,
            name=name,
            smCount=multiprocessors,
            cuDevice=number,
            **columns,
        )
        if "TARGET_INFO_CUDA_DEVICE" in self._tables:
            self.add(
                "TARGET_INFO_CUDA_DEVICE",
                gpuId=number,
                cudaId=number,
                pid=PID,
                numMultiprocessors=multiprocessors,
            )

    def push_pop(
        self,
        text: str,
        start: int,
        end: int | None,
        tid: int = TID,
        *,
        registered: bool = False,
        domain: int = 0,
        kind: int = 59,
        pid: int = PID,
    ) -> None:
        """An NVTX range; ``kind`` 60 is one that was started and ended."""
        named = {"textId": self.text(text)} if registered else {"text": text}
        self.add(
            "NVTX_EVENTS",
            start=start,
            end=end,
            eventType=kind,
            globalTid=global_id(pid, tid),
            domainId=domain,
            **named,
        )

    def call(
        self,
        name: str,
        start: int,
        end: int,
        tid: int = TID,
        pid: int = PID,
        event_class: int = 0,
        correlation: int | None = None,
    ) -> int:
        """A call of CUDA; its correlation id."""
        self._correlation += 1
        number = self._correlation if correlation is None else correlation
        self.add(
            "CUPTI_ACTIVITY_KIND_RUNTIME",
            start=start,
            end=end,
            eventClass=event_class,
            globalTid=global_id(pid, tid),
            correlationId=number,
            nameId=self.text(name),
        )
        return number

    def kernel(
        self,
        name: str,
        start: int,
        end: int,
        launched: tuple[int, int] | int,
        *,
        device: int = 0,
        stream: int = 7,
        tid: int = TID,
        pid: int = PID,
        grid: tuple[int, int, int] = (216, 1, 1),
        block: tuple[int, int, int] = (128, 1, 1),
        call: str = "cudaLaunchKernel_v7000",
        **more: Any,
    ) -> int:
        """A kernel; ``launched``: begin and end of its launch, or the correlation id of an existing
        one.
        """
        number = (
            launched if isinstance(launched, int) else self.call(call, *launched, tid=tid, pid=pid)
        )
        columns = {
            "registersPerThread": 32,
            "staticSharedMemory": 1024,
            "dynamicSharedMemory": 512,
            "contextId": 1,
            **more,
        }
        self.add(
            "CUPTI_ACTIVITY_KIND_KERNEL",
            start=start,
            end=end,
            deviceId=device,
            streamId=stream,
            correlationId=number,
            globalPid=global_id(pid),
            demangledName=self.text(name),
            shortName=self.text(name.partition("(")[0].rpartition(" ")[2].partition("<")[0]),
            **columns,
            **dict(
                zip(
                    ("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"),
                    (*grid, *block),
                    strict=True,
                )
            ),
        )
        return number

    def work(
        self, table: str, start: int, end: int, correlation: int, stream: int = 7, **values: Any
    ) -> None:
        """A row of ``CUPTI_ACTIVITY_KIND_`` MEMCPY, MEMSET, SYNCHRONIZATION or GRAPH_TRACE."""
        columns = {"deviceId": 0, "contextId": 1, "streamId": stream, **values}
        self.add(
            f"CUPTI_ACTIVITY_KIND_{table}",
            start=start,
            end=end,
            correlationId=correlation,
            globalPid=global_id(PID),
            **columns,
        )


def write_training(path: Path, steps: int = 3) -> None:
    """Steps of a small network under ``emit_nvtx`` with shapes: forward and backward threads, a
    copy, an NCCL collective, the optimizer, a synchronization.
    """
    with NsightFile(path) as file:
        file.device()
        for number, kind in enumerate(MEMORY_KINDS):
            file.add("ENUM_CUDA_MEM_KIND", id=number, name=kind.upper(), label=kind)
        file.add(
            "TARGET_INFO_SESSION_START_TIME",
            utcEpochNs=1_700_000_000_000_000_000,
            utcTime="",
            localTime="",
        )
        file.add("PROCESSES", globalPid=global_id(PID), pid=PID, name="/usr/bin/python3.11")
        for tid, name in ((TID, "python3.11"), (TID + 1, "pt_autograd_0")):
            file.add("ThreadNames", nameId=file.text(name), globalTid=global_id(PID, tid))
        message = "Common injection library initialized."
        file.add(
            "DIAGNOSTIC_EVENT",
            timestamp=500,
            timestampType=2,
            source=1,
            severity=1,
            text=message,
            globalPid=global_id(PID),
        )
        file.add(
            "NVTX_EVENTS",
            start=0,
            eventType=75,
            text="NCCL",
            domainId=3,
            globalTid=global_id(PID, TID),
        )
        for name in ("SMs Active [Throughput %]", "DRAM Read Bandwidth [Throughput %]"):
            file.add(
                "TARGET_INFO_GPU_METRICS",
                typeId=256,
                metricId=len(name),
                metricName=name,
                typeName="GPU Metrics [NVIDIA A100]",
            )
            for time in range(0, steps * 1_000_000, 100_000):
                file.add(
                    "GPU_METRICS",
                    rawTimestamp=time,
                    timestamp=time,
                    typeId=256,
                    metricId=len(name),
                    value=time // 100_000 % 100,
                )
        for at, size, operation in (
            (10_000, 2 << 20, 0),
            (45_000, 20 << 20, 0),
            (860_000, 2 << 20, 1),
        ):
            file.add(
                "CUDA_GPU_MEMORY_USAGE_EVENTS",
                start=at,
                globalPid=global_id(PID),
                bytes=size,
                memKind=2,
                memoryOperationType=operation,
            )
        for step in range(steps):
            _write_step(file, step, step * 1_000_000)


def _write_step(file: NsightFile, step: int, t: int) -> None:
    first = 100 * step
    file.push_pop(f"ProfilerStep#{step}, op_id = {first + 1}", t + 1_000, t + 900_000)
    copy = file.call("cudaMemcpyAsync_v3020", t + 22_000, t + 25_000)
    file.push_pop(
        f"aten::copy_, op_id = {first + 2}, sizes = [[64, 256], [64, 256]]", t + 20_000, t + 28_000
    )
    file.work(
        "MEMCPY", t + 30_000, t + 40_000, copy, bytes=65_536, copyKind=1, srcKind=0, dstKind=2
    )
    file.push_pop(f"forward, op_id = {first + 3}", t + 30_000, t + 200_000)
    file.push_pop(
        f"aten::addmm, seq = {first}, op_id = {first + 4}, sizes = [[128], [64, 256], [256, 128]],"
        " input_op_ids = [(2,0)]",
        t + 40_000,
        t + 100_000,
    )
    file.kernel(
        "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_nn",
        t + 110_000,
        t + 180_000,
        (t + 60_000, t + 70_000),
        grid=(16, 1, 1),
    )
    text = (
        f"aten::relu, seq = {first + 1}, op_id = {first + 5}, sizes = [[64, 128]], input_op_ids ="
        f" [({first + 4},0)]"
    )
    file.push_pop(text, t + 120_000, t + 160_000, registered=True)
    relu = (
        "void at::native::vectorized_elementwise_kernel<4, at::native::relu_functor<float>>(int,"
        " at::native::relu_functor<float>)"
    )
    file.kernel(relu, t + 180_000, t + 200_000, (t + 130_000, t + 140_000))
    engine, gemm = (
        "autograd::engine::evaluate_function: ",
        "ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x5_nt",
    )
    for i, (name, kernel) in enumerate((("ReluBackward0", relu), ("AddmmBackward0", gemm))):
        begin = t + 250_000 + 150_000 * i
        number = f"seq = {first + 1 - i}, op_id = {first + 20 + 2 * i}"
        file.push_pop(f"{engine}{name}, {number}", begin, begin + 100_000, TID + 1)
        file.push_pop(f"{name}, {number}", begin + 10_000, begin + 90_000, TID + 1)
        file.push_pop(
            f"aten::{'mm' if i else 'threshold_backward'}, op_id = {first + 21 + 2 * i}",
            begin + 20_000,
            begin + 80_000,
            TID + 1,
        )
        file.kernel(
            kernel, begin + 60_000, begin + 110_000, (begin + 30_000, begin + 40_000), tid=TID + 1
        )
    file.push_pop("ncclAllReduce", t + 520_000, t + 540_000, TID + 1, domain=3)
    collective = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
    file.kernel(
        collective, t + 550_000, t + 640_000, (t + 525_000, t + 530_000), stream=20, tid=TID + 1
    )
    file.push_pop(f"Optimizer.step#SGD.step, op_id = {first + 40}", t + 600_000, t + 700_000)
    clear = file.call("cuMemsetD32Async", t + 610_000, t + 612_000, event_class=1)
    file.work("MEMSET", t + 645_000, t + 647_000, clear, bytes=4096, memKind=2)
    graph = file.call("cudaGraphLaunch_v10000", t + 650_000, t + 660_000)
    file.work("GRAPH_TRACE", t + 665_000, t + 700_000, graph, graphId=5, graphExecId=6)
    wait = file.call("cudaStreamSynchronize_v3020", t + 710_000, t + 720_000)
    file.work("SYNCHRONIZATION", t + 711_000, t + 719_000, wait, syncType=3)
    file.add(
        "NVTX_EVENTS",
        start=t + 750_000,
        eventType=34,
        text=f"loss {step}",
        globalTid=global_id(PID, TID),
        domainId=0,
    )
    file.push_pop("prefetch", t + 100_000, t + 800_000, kind=60)
    file.add(
        "OSRT_API",
        start=t + 760_000,
        end=t + 790_000,
        eventClass=27,
        globalTid=global_id(PID, TID),
        nameId=file.text("poll"),
    )
    file.add(
        "CUBLAS_EVENTS",
        start=t + 50_000,
        end=t + 80_000,
        eventClass=29,
        globalTid=global_id(PID, TID),
        nameId=file.text("cublasGemmEx"),
    )
