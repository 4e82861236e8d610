"""A training loop on an Ascend device, as torch_npu writes ``trace_view.json``.

Each step of 1 ms::

    Python             [ProfilerStep#1                                            ]
                           [aten::mm        ]
                              [aclnnMm    ]
                              [Enqueue]
    worker thread                [Dequeue [Node@launch]    ]
    Ascend Hardware  Stream 2              {MatMulV2          }  {hcom_allReduce}
                     Stream 3                                    {SDMA}{wait    }     its parts
    Communication                                                {hcom_allReduce}     the same again
                     Plane 0                                     {SDMA}{wait    }
    Overlap Analysis                       {Computing         }  {Communication }     and again
                       0   100             300              700  720          820    1000 µs
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

Event = dict[str, Any]
PYTHON, CANN, HARDWARE, COMMUNICATION, OVERLAP = 437675, 43767502, 43767504, 43767506, 4376751100
BASE_US = 1_704_161_511_420_000
_MM: dict[str, Any] = {"Input Dims": "64, 32;32,8;", "Input type": "float;float;Scalar"}
MATMUL_US, COLLECTIVE_US = 400, 100


@dataclass(frozen=True)
class Npu:
    """How one file is written.

    Attributes:
        label: of the processes of the device.
        tie: what leads from the MatMulV2 to its operator.
        collective: where the whole collective stands: on the device and again, only in the process
            Communication on a thread of its own, or there on a plane.
        inner: whether aclnnMm lies within aten::mm.
        texts: whether numbers of arguments are texts.
        device_last: whether processes are named at the end of the file.
    """

    label: str = "NPU"
    tie: Literal["async_npu", "HostToDevice", "connection"] = "async_npu"
    collective: Literal["device", "whole", "plane"] = "device"
    inner: bool = True
    texts: bool = False
    device_last: bool = False
    process: str = "Communication"
    steps: int = 3

    def text(self) -> bytes:
        """The file."""
        return json.dumps(self.events()).encode()

    def events(self) -> list[Event]:
        """Its events."""
        named = self._named()
        found = [event for k in range(self.steps) for event in self._step(k + 1, 1000 * k)]
        return [*found, *named] if self.device_last else [*named, *found]

    def _named(self) -> list[Event]:
        names = {
            PYTHON: ("Python", "CPU"),
            CANN: ("CANN", "CPU"),
            HARDWARE: ("Ascend Hardware", self.label),
            COMMUNICATION: (self.process, self.label),
            OVERLAP: ("Overlap Analysis", self.label),
        }
        found = []
        for pid, (name, label) in names.items():
            found.append(_meta("process_name", pid, 0, name=name))
            found.append(_meta("process_labels", pid, 0, labels=label))
        group = "Group 606 Communication"
        threads = {
            (HARDWARE, 2): "Stream 2",
            (HARDWARE, 3): "Stream 3",
            (COMMUNICATION, 1): "Plane 0",
        }
        if self.collective != "plane":
            threads[COMMUNICATION, 0] = group
        return [*found, *(_meta("thread_name", *key, name=name) for key, name in threads.items())]

    def _step(self, number: int, at: int) -> list[Event]:
        operator = "aclnnMm" if self.inner else "aten::mm"
        begin = 120 if self.inner else 100
        matmul, collective = 2 * number, 2 * number + 1
        found = [
            _host(f"ProfilerStep#{number}", at, 1000, "cpu_op"),
            _host("aten::mm", at + 100, 100, "cpu_op", **_MM),
            *([_host(operator, at + begin, 70, "cpu_op")] if self.inner else []),
            _host("Enqueue", at + 130, 10, "enqueue", correlation_id=self._number(number)),
            _host(
                "Dequeue@aclnnMm", at + 150, 60, "dequeue", 9, correlation_id=self._number(number)
            ),
            _work(CANN, 9, "Node@launch", at + 160, 10, connection_id=self._number(matmul)),
            _work(CANN, 9, "Node@hcom", at + 175, 10, connection_id=self._number(collective)),
            self._task(2, "MatMulV2", at + 300, MATMUL_US, "AI_CORE", matmul),
            _work(OVERLAP, 0, "Computing", at + 300, MATMUL_US),
            _work(OVERLAP, 1, "Communication", at + 720, COLLECTIVE_US),
            _work(OVERLAP, 3, "Free", at + 700, 20),
            *self._collective(number, at + 720, collective),
        ]
        if self.tie == "async_npu":
            found += _arrow("async_npu", at + 300, (PYTHON, 1, at + begin), (HARDWARE, 2, at + 300))
        if self.tie == "HostToDevice":
            found += _arrow(
                "HostToDevice", str(matmul << 32), (CANN, 9, at + 160), (HARDWARE, 2, at + 300)
            )
        return found

    def _collective(self, number: int, at: int, link: int) -> list[Event]:
        name = f"hcom_allReduce__606_{number}_1"
        parts = [("Memcpy", at, 40, "SDMA_SQE"), ("Notify_Wait", at + 40, 60, "NOTIFY_WAIT_SQE")]
        if self.collective == "plane":
            return [
                _work(COMMUNICATION, 1, name, at, COLLECTIVE_US, connection_id=self._number(link))
            ]
        found = [
            _work(
                COMMUNICATION,
                0,
                name,
                at,
                COLLECTIVE_US,
                connection_id=self._number(link),
                data_type="FP32",
                alg_type="MESH",
                count=self._number(1024),
                rank_size=self._number(8),
            )
        ]
        for part, begin, dur, task in parts:
            found.append(_work(COMMUNICATION, 1, part, begin, dur))
            found.append(self._task(3, part, begin, dur, task, -1))
        if self.collective == "device":
            found.append(self._task(2, name, at, COLLECTIVE_US, "COMMUNICATION", link))
        return found

    def _task(self, stream: int, name: str, at: int, dur: int, task: str, link: int) -> Event:
        numbers = {"Stream Id": stream, "Task Id": at, "connection_id": link}
        args = {key: self._number(value) for key, value in numbers.items()}
        return _work(HARDWARE, stream, name, at, dur, **{"Task Type": task}, **args)

    def _number(self, value: int) -> int | str:
        return str(value) if self.texts else value


def _ts(at: int) -> str:
    return f"{BASE_US + at}.000"


def _meta(what: str, pid: int, tid: int, **args: Any) -> Event:
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": args}


def _work(pid: int, tid: int, name: str, at: int, dur: int, **args: Any) -> Event:
    """An event of msprof, which has no category."""
    return {
        "ph": "X",
        "name": name,
        "pid": pid,
        "tid": tid,
        "ts": _ts(at),
        "dur": dur,
        "args": args,
    }


def _host(name: str, at: int, dur: int, cat: str, tid: int = 1, **args: Any) -> Event:
    return {**_work(PYTHON, tid, name, at, dur, **args), "cat": cat}


def _arrow(
    cat: str, number: int | str, begin: tuple[int, int, int], end: tuple[int, int, int]
) -> list[Event]:
    keys = ("pid", "tid")
    both = {"cat": cat, "name": cat, "id": number, "bp": "e"}
    return [
        {"ph": ph, **both, **dict(zip(keys, place[:2], strict=True)), "ts": _ts(place[2])}
        for ph, place in (("s", begin), ("f", end))
    ]
