"""Events as Kineto writes them: microseconds with three decimals, one object per event.

Times are integer nanoseconds since the recording began; ``origin`` shifts them to the process clock.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, BinaryIO

BASE_TIME = 1_790_857_026_000_000_000
"""``baseTimeNanoseconds`` of every synthetic trace."""
NOTE = "Made up by samples/synthesize.py from a model. No program ran and no device was measured."
DEVICE_NAME = "Synthetic GPU (H100-shaped)"
MULTIPROCESSORS = 132
MEMORY = 85_018_279_936


def header(rank: int, ranks: int, seed: int) -> bytes:
    """Everything before the first event."""
    fields = {
        "schemaVersion": 1,
        "synthetic": True,
        "note": NOTE,
        "seed": seed,
        "deviceProperties": [_device(number) for number in range(max(ranks, 1))],
        "cupti_version": 26,
        "cuda_runtime_version": 12080,
        "cuda_driver_version": 12080,
        "with_stack": 1,
        "profile_memory": 1,
        "record_shapes": 1,
        "with_modules": 1,
        "with_flops": 1,
        "trace_id": f"{seed:016X}{rank:016X}",
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": BASE_TIME,
        "distributedInfo": {
            "backend": "nccl",
            "rank": rank,
            "world_size": ranks,
            "pg_count": 1,
            "pg_config": [
                {
                    "pg_name": "0",
                    "pg_desc": "default_pg",
                    "backend_config": "cuda:nccl",
                    "pg_size": ranks,
                    "ranks": list(range(ranks)),
                }
            ],
            "nccl_version": "2.26.2",
        },
    }
    return json.dumps(fields, indent=2)[:-2].encode() + b',\n  "traceEvents": [\n'


def _device(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "name": DEVICE_NAME,
        "totalGlobalMem": MEMORY,
        "computeMajor": 9,
        "computeMinor": 0,
        "maxThreadsPerBlock": 1024,
        "maxThreadsPerMultiprocessor": 2048,
        "regsPerBlock": 65536,
        "warpSize": 32,
        "sharedMemPerBlock": 49152,
        "numSms": MULTIPROCESSORS,
        "regsPerMultiprocessor": 65536,
        "sharedMemPerBlockOptin": 232448,
        "sharedMemPerMultiprocessor": 233472,
    }


class TraceText:
    """Writes one trace to a binary stream event by event; buffers a few thousand events."""

    def __init__(self, stream: BinaryIO, first: bytes, origin: int, name: str) -> None:
        self.count = 0
        self._stream = stream
        self._origin = origin
        self._name = name
        self._waiting: list[str] = []
        stream.write(first)

    def us(self, ns: int) -> str:
        """A time of the recording as Kineto prints it."""
        whole, rest = divmod(self._origin + ns, 1000)
        return f"{whole}.{rest:03d}"

    def complete(
        self,
        category: str,
        name: str,
        pid: int | str,
        tid: int | str,
        start: int,
        dur: int,
        args: str,
    ) -> None:
        """An event with a begin and an end; ``args`` is the inside of a JSON object."""
        whole, rest = divmod(self._origin + start, 1000)
        track = (
            f'"pid": {pid}, "tid": {tid}'
            if isinstance(pid, int)
            else f'"pid": "{pid}", "tid": "{tid}"'
        )
        self._add(
            f'  {{\n    "ph": "X", "cat": "{category}", "name": "{name}", {track},\n    "ts":'
            f' {whole}.{rest:03d}, "dur": {dur // 1000}.{dur % 1000:03d},\n    "args": {{\n     '
            f" {args}\n    }}\n  }}"
        )

    def flow(self, phase: str, number: int, pid: int, tid: int, time: int, category: str) -> None:
        """One end of a flow: ``phase`` s or f."""
        end = ', "bp": "e"' if phase == "f" else ""
        self._add(
            f'  {{\n    "ph": "{phase}", "id": {number}, "pid": {pid}, "tid": {tid}, "ts":'
            f' {self.us(time)},\n    "cat": "{category}", "name": "{category}"{end}\n  }}'
        )

    def memory(
        self,
        pid: int,
        tid: int,
        time: int,
        device: int,
        address: int,
        size: int,
        totals: tuple[int, int],
    ) -> None:
        """An allocator record; ``size`` < 0: a release; ``totals``: allocated and reserved bytes
        after it.
        """
        self._add(
            '  {\n    "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid":'
            f' {pid}, "tid": {tid}, "ts": {self.us(time)},\n    "args": {{\n      "Total Reserved":'
            f' {totals[1]}, "Total Allocated": {totals[0]}, "Bytes": {size}, "Addr": {address},'
            f' "Device Id": {device}, "Device Type": 1\n    }}\n  }}'
        )

    def instant(self, name: str, pid: str, tid: str, time: int) -> None:
        """An instant for the whole trace."""
        self._add(
            f'  {{\n    "ph": "i", "s": "g", "name": "{name}", "pid": "{pid}", "tid": "{tid}",'
            f' "ts": {self.us(time)}\n  }}'
        )

    def process(self, pid: int | str, label: str, sort: int) -> None:
        """Name, label and order of a process or device."""
        shown = pid if isinstance(pid, int) else f'"{pid}"'
        for field, value in (
            ("process_name", '"name": "python"'),
            ("process_labels", f'"labels": "{label}"'),
            ("process_sort_index", f'"sort_index": {sort}'),
        ):
            self._add(
                f'  {{\n    "name": "{field}", "ph": "M", "ts": {self.us(0)}, "pid": {shown},'
                f' "tid": 0,\n    "args": {{\n      {value}\n    }}\n  }}'
            )

    def threads(self, pid: int, names: Sequence[tuple[int, str]]) -> None:
        """Names and order of a process' threads or a device's streams."""
        for tid, name in names:
            for field, value in (
                ("thread_name", f'"name": "{name}"'),
                ("thread_sort_index", f'"sort_index": {tid}'),
            ):
                self._add(
                    f'  {{\n    "name": "{field}", "ph": "M", "ts": {self.us(0)}, "pid": {pid},'
                    f' "tid": {tid},\n    "args": {{\n      {value}\n    }}\n  }}'
                )

    def close(self) -> None:
        """Write the buffered events and the end of the document."""
        self._flush(last=True)
        self._stream.write(f'\n  ],\n  "traceName": "{self._name}"\n}}\n'.encode())

    def _add(self, text: str) -> None:
        self.count += 1
        self._waiting.append(text)
        if len(self._waiting) >= 4096:
            self._flush()

    def _flush(self, last: bool = False) -> None:
        text = ",\n".join(self._waiting)
        if self._waiting and not last:
            text += ",\n"
        self._waiting.clear()
        self._stream.write(text.encode())
