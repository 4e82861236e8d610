"""Files of nvprof and nvvp, written with ``sqlite3``: their tables are those of nvprof 11.8, see
``tables``.

::

    with NvprofFile(path) as file:
        file.marker("MmBackward, seq = 7", 1000, 9000)
        file.kernel("_Z4gemmPfS_i", 12_000, 15_000, launched=(2000, 3000))
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from tests.builders.databases import DatabaseFile
from tests.builders.tables import NVPROF, tables

PID = 777
TID = 0xF1234567
"""A thread's number has 32 bits: CUPTI writes it without a sign into markers, and with one into
calls.
"""
EPOCH = 1_590_000_000_000_000_000
START, END, INSTANT = 2, 4, 1


def object_id(thread: int = TID, process: int = PID) -> bytes:
    """``CUpti_ActivityObjectKindId`` of a thread: process, thread, padding."""
    return struct.pack("<iI4x", process, thread)


class NvprofFile(DatabaseFile):
    """Writes a file with all tables from the start, as nvprof does; ``without``: columns to omit."""

    def __init__(self, path: Path, without: tuple[str, ...] = ()) -> None:
        super().__init__(path)
        self._texts: dict[str, int] = {}
        self._correlation = self._marker = 0
        self._blobs: dict[str, dict[str, bool]] = {}
        self.create(
            "StringTable", ["_id_ INTEGER PRIMARY KEY AUTOINCREMENT", "value TEXT NOT NULL UNIQUE"]
        )
        self.insert("StringTable", {"_id_": 0, "value": "-- null --"})
        self.create("Version", ["version INTEGER"])
        self.insert("Version", {"version": 9})
        for table, columns in tables(NVPROF).items():
            self._blobs[table] = {
                c.name: c.kind == "BLOB" for c in columns if c.name not in without
            }
            written = [
                f"{name} {'BLOB' if blob else 'INT'} NOT NULL"
                for name, blob in self._blobs[table].items()
            ]
            self.create(
                f"CUPTI_ACTIVITY_KIND_{table}", ["_id_ INTEGER PRIMARY KEY AUTOINCREMENT", *written]
            )

    def add(self, table: str, **values: Any) -> None:
        """A row of ``CUPTI_ACTIVITY_KIND_`` table; what is not given is 0."""
        self.insert(
            f"CUPTI_ACTIVITY_KIND_{table}",
            {c: values.get(c, b"" if blob else 0) for c, blob in self._blobs[table].items()},
        )

    def text(self, value: str) -> int:
        """The number of a text."""
        if value not in self._texts:
            self._texts[value] = len(self._texts) + 1
            self.insert("StringTable", {"_id_": self._texts[value], "value": value})
        return self._texts[value]

    def device(
        self, number: int = 0, name: str = "Tesla V100-SXM2-16GB", multiprocessors: int = 80
    ) -> None:
        """A device and its context."""
        self.add(
            "DEVICE",
            id=number,
            name=self.text(name),
            numMultiprocessors=multiprocessors,
            globalMemorySize=16_945_512_448,
            computeCapabilityMajor=7,
            numThreadsPerWarp=32,
            maxThreadsPerBlock=1024,
        )
        self.add("CONTEXT", contextId=number + 1, deviceId=number)

    def marker(
        self,
        text: str,
        start: int | None,
        end: int | None,
        thread: int = TID,
        *,
        domain: str = "",
        process: int = PID,
    ) -> None:
        """An NVTX range, begin and end as far as they are given."""
        self._marker += 1
        common = {
            "id": self._marker,
            "objectKind": 2,
            "objectId": object_id(thread, process),
            "domain": self.text(domain) if domain else 0,
        }
        if start is not None:
            self.add("MARKER", flags=START, timestamp=start, name=self.text(text), **common)
        if end is not None:
            self.add("MARKER", flags=END, timestamp=end, name=0, **common)

    def instant(self, text: str, time: int, thread: int = TID) -> None:
        """An NVTX mark."""
        self._marker += 1
        self.add(
            "MARKER",
            flags=INSTANT,
            timestamp=time,
            id=self._marker,
            objectKind=2,
            objectId=object_id(thread),
            name=self.text(text),
        )

    def call(
        self,
        number: int,
        start: int,
        end: int,
        thread: int = TID,
        table: str = "RUNTIME",
        correlation: int | None = None,
        process: int = PID,
    ) -> int:
        """A call of CUDA by its callback id; its correlation id."""
        self._correlation += 1
        found = self._correlation if correlation is None else correlation
        signed = thread - (1 << 32) if thread >= 1 << 31 else thread
        self.add(
            table,
            cbid=number,
            start=start,
            end=end,
            processId=process,
            threadId=signed,
            correlationId=found,
        )
        return found

    def kernel(
        self,
        name: str,
        start: int,
        end: int,
        launched: tuple[int, int] | int,
        *,
        stream: int = 7,
        thread: int = TID,
        device: int = 0,
        grid: tuple[int, int, int] = (160, 1, 1),
        block: tuple[int, int, int] = (256, 1, 1),
    ) -> int:
        """A kernel; ``launched``: begin and end of its ``cudaLaunchKernel``, or an existing
        correlation id.
        """
        number = launched if isinstance(launched, int) else self.call(211, *launched, thread=thread)
        sides = dict(
            zip(
                ("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"),
                (*grid, *block),
                strict=True,
            )
        )
        self.add(
            "CONCURRENT_KERNEL",
            start=start,
            end=end,
            deviceId=device,
            contextId=device + 1,
            streamId=stream,
            correlationId=number,
            name=self.text(name),
            registersPerThread=40,
            staticSharedMemory=2048,
            **sides,
        )
        return number


GEMM, GEMM_BACKWARD = (
    "volta_fp16_s884gemm_fp16_64x64_ldg8_f2f_tn",
    "volta_fp16_s884gemm_fp16_64x64_ldg8_f2f_nt",
)
RELU = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_12relu_functorIfEEEEviT0_"


def write_training(path: Path, steps: int = 3) -> None:
    """Iterations of a small network under PyProf and an older ``emit_nvtx``: forward and backward
    threads.
    """
    with NvprofFile(path) as file:
        file.device()
        file.add("NAME", objectKind=2, objectId=object_id(), name=file.text("python"))
        file.add(
            "OVERHEAD",
            overheadKind=1 << 16,
            objectKind=2,
            objectId=object_id(),
            start=EPOCH + 5000,
            end=EPOCH + 9000,
        )
        for step in range(steps):
            _write_step(file, step, EPOCH + step * 1_000_000)


def _write_step(file: NvprofFile, step: int, t: int) -> None:
    backward = 0x2222
    number = 10 * step
    file.marker("iteration", t + 1_000, t + 900_000)
    copy = file.call(41, t + 12_000, t + 15_000)
    file.add(
        "MEMCPY",
        copyKind=1,
        srcKind=1,
        dstKind=3,
        bytes=65_536,
        start=t + 20_000,
        end=t + 30_000,
        deviceId=0,
        contextId=1,
        streamId=7,
        correlationId=copy,
    )
    file.marker("layer:fc1", t + 30_000, t + 200_000)
    file.marker("{'traceMarker': ['train.py:31', 'net.py:12']}", t + 31_000, t + 110_000)
    file.marker(
        "{'mod': 'Linear', 'strRepr': 'Linear(in_features=256, out_features=128, bias=True)'}",
        t + 32_000,
        t + 109_000,
    )
    tensors = [("float16", (64, 256)), ("float16", (128, 256)), ("float16", (128,))]
    arguments: list[dict[str, object]] = [
        {"name": "", "type": "tensor", "shape": shape, "dtype": kind} for kind, shape in tensors
    ]
    file.marker(
        str({"mod": "torch.nn.functional", "op": "linear", "args": arguments}),
        t + 33_000,
        t + 108_000,
    )
    file.marker(f"linear, seq = {number}", t + 40_000, t + 100_000)
    file.kernel(
        GEMM, t + 110_000, t + 180_000, (t + 60_000, t + 70_000), grid=(16, 2, 1), block=(128, 1, 1)
    )
    file.marker("{'traceMarker': ['train.py:31', 'net.py:13']}", t + 119_000, t + 165_000)
    arguments = [
        {"name": "input", "type": "tensor", "shape": (64, 128), "dtype": "float16"},
        {"name": "inplace", "type": "bool", "value": False},
    ]
    file.marker(
        str({"mod": "torch.nn.functional", "op": "relu", "args": arguments}),
        t + 119_500,
        t + 164_000,
    )
    file.marker(f"relu, seq = {number + 1}", t + 120_000, t + 160_000)
    file.kernel(RELU, t + 185_000, t + 200_000, (t + 130_000, t + 140_000))
    file.marker(f"ReluBackward0, seq = {number + 1}", t + 250_000, t + 350_000, backward)
    file.kernel(
        RELU.replace("relu_functor", "step_functor"),
        t + 310_000,
        t + 340_000,
        (t + 280_000, t + 290_000),
        thread=backward,
    )
    file.marker(f"AddmmBackward, stashed seq={number}", t + 400_000, t + 500_000, backward)
    file.marker("mm", t + 410_000, t + 450_000, backward)
    file.kernel(
        GEMM_BACKWARD, t + 440_000, t + 480_000, (t + 420_000, t + 430_000), thread=backward
    )
    file.kernel(
        GEMM_BACKWARD, t + 485_000, t + 520_000, (t + 460_000, t + 470_000), thread=backward
    )
    file.marker("ncclAllReduce", t + 520_000, t + 540_000, backward, domain="NCCL")
    file.kernel(
        "_Z31ncclAllReduceRingLLKernel_sum_f8ncclColl",
        t + 550_000,
        t + 640_000,
        (t + 525_000, t + 530_000),
        stream=20,
        thread=backward,
    )
    clear = file.call(51, t + 610_000, t + 612_000)
    file.add(
        "MEMSET",
        bytes=4096,
        start=t + 645_000,
        end=t + 647_000,
        deviceId=0,
        contextId=1,
        streamId=7,
        correlationId=clear,
        memoryKind=3,
    )
    wait = file.call(131, t + 710_000, t + 720_000)
    file.add(
        "SYNCHRONIZATION",
        type=3,
        start=t + 711_000,
        end=t + 719_000,
        correlationId=wait,
        contextId=1,
        streamId=7,
    )
    file.call(17, t + 730_000, t + 731_000, table="DRIVER")
    file.instant(f"loss {step}", t + 750_000)
