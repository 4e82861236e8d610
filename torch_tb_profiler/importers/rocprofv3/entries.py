"""Records of a process → entries of a Chrome trace, as JSON: names in place of numbers.

::

    kernel_dispatch   agent 4, stream 1, kernel 9, grid 512 × 1 × 1 items of groups of 256
      ─▶ {"cat":"kernel_dispatch","name":"gemm","pid":1,"tid":1,"args":{"device":1,"grid":[2,1,1],"block":[256,1,1],"correlation":21,…}}
    hip_api           operation 0
      ─▶ {"cat":"hip_api","name":"hipLaunchKernel","pid":<process>,"tid":<thread>,"args":{"correlation":21}}

A launch and its work have one correlation id, counted anew in each process.

Source: ``source/lib/output/generateJSON.cpp`` of rocprofiler-sdk (ROCm/rocm-systems, August 2025).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import msgspec

from torch_tb_profiler.importers.events import Args, Event
from torch_tb_profiler.importers.rocprofv3.records import COLUMNS, KERNELS, UNKNOWN, Process

COPIES, MARKERS = "memory_copy", "marker_api"
_DEVICE_AGENT = 2
_NAMES = ("formatted_kernel_name", "demangled_kernel_name", "truncated_kernel_name", "kernel_name")
_PER_PROCESS = 1 << 40
"""Correlation ids of the processes of a file are told apart by multiples of it."""
_GPU_SORT = 1 << 24
"""As in Kineto: devices are listed below processes."""
_encode = msgspec.json.encode


class Entries:
    """The entries of one process, the ``number``-th of its file.

    ``metadata``: names of processes and threads; ``devices``: as ``deviceProperties`` of Kineto's traces.
    """

    def __init__(self, process: Process, number: int) -> None:
        self._process, self._number = process, number
        told = process.described
        self.pid = _whole(_get(told.get("metadata"), "pid"))
        self._agents = {
            handle: agent
            for agent in _listed(told.get("agents"))
            if (handle := _whole(_get(agent, "id", "handle"))) >= 0
        }
        self._symbols = {
            _whole(symbol.get("kernel_id")): symbol
            for symbol in _listed(told.get("kernel_symbols"))
        }
        strings = told.get("strings")
        self._kinds = _listed(_get(strings, "buffer_records"))
        self._messages = {
            _whole(pair.get("key")): str(pair.get("value", ""))
            for pair in _listed(_get(strings, "marker_api"))
        }
        command = _get(told.get("metadata"), "command")
        program = str(command[0]) if isinstance(command, list) and command else ""
        self._program = os.path.basename(program)
        self._used: dict[int, set[int | str]] = {}
        """Streams by device."""

    def first(self) -> int | None:
        """The first begin, in ns of the file's clock; None without records."""
        begin, width = COLUMNS.index("start"), len(COLUMNS)
        begins = (
            min((time for time in column[begin::width] if time > 0), default=None)
            for column in self._process.records.values()
        )
        return min((time for time in begins if time is not None), default=None)

    def texts(self, base: int) -> Iterator[str]:
        """One entry after the other; times are microseconds after ``base``."""
        for category, column in self._process.records.items():
            for at in range(0, len(column), len(COLUMNS)):
                yield self._text(
                    category,
                    dict(zip(COLUMNS, column[at : at + len(COLUMNS)], strict=True)),
                    base,
                )

    def _text(self, category: str, record: dict[str, int], base: int) -> str:
        args: dict[str, Any] = {}
        if record["correlation"] > 0:
            args["correlation"] = record["correlation"] + self._number * _PER_PROCESS
        pid: int = self.pid
        tid: int | str = record["thread"]
        if category == KERNELS:
            pid, tid = self._place(record, self._device(record["agent"]), args)
            args |= self._launch(record)
        elif category == COPIES:
            ends = [record["source"], record["destination"]]
            on_device = [agent for agent in ends if not self._is_host(agent)]
            if on_device:
                pid, tid = self._place(record, self._device(on_device[-1]), args)
            if record["bytes"] >= 0:
                args["bytes"] = record["bytes"]
        start, length = record["start"], record["end"] - record["start"]
        entry = {
            "ph": "X",
            "cat": category,
            "name": self._name(category, record),
            "pid": pid,
            "tid": tid,
            "args": args,
        }
        # Without a time the event is dropped and counted by those who read the entry.
        times = f',"ts":{micros(start - base)}' if start > 0 else ""
        times += f',"dur":{micros(length)}' if start > 0 and record["end"] > 0 else ""
        return _encode(entry)[:-1].decode() + times + "}"

    def _place(
        self, record: dict[str, int], device: int, args: dict[str, Any]
    ) -> tuple[int, int | str]:
        stream = record["stream"] if record["stream"] >= 0 else record["queue"]
        args["device"] = device
        tid: int | str = "" if stream < 0 else stream
        if stream >= 0:
            args["stream"] = stream
        if self._number:
            tid = f"{tid} of process {self.pid}"
            args["stream"] = tid
        self._used.setdefault(device, set()).add(tid)
        return device, tid

    def _device(self, handle: int) -> int:
        """The number of an agent as the tool prints it; its handle where it is not described."""
        agent = self._agents.get(handle)
        said = [_whole(_get(agent, key)) for key in ("logical_node_id", "node_id")]
        return next((number for number in said if number >= 0), handle)

    def _is_host(self, handle: int) -> bool:
        return handle < 0 or _get(self._agents.get(handle), "type") not in (_DEVICE_AGENT, None)

    def _name(self, category: str, record: dict[str, int]) -> str:
        if category == KERNELS:
            symbol = self._symbols.get(record["kernel"])
            found = (str(_get(symbol, key) or "") for key in _NAMES)
            return next(filter(None, found), f"kernel {record['kernel']}")
        if category == MARKERS and (message := self._messages.get(record["correlation"])):
            return message
        kind, operation = record["kind"], record["operation"]
        operations = _get(self._kinds[kind], "operations") if 0 <= kind < len(self._kinds) else None
        if isinstance(operations, list) and 0 <= operation < len(operations):
            return str(operations[operation])
        return f"{category} operation {operation}"

    def _launch(self, record: dict[str, int]) -> dict[str, Any]:
        """Groups rounded up, and work items of each."""
        found: dict[str, Any] = {}
        group = [record[f"group_{axis}"] for axis in "xyz"]
        items = [record[f"items_{axis}"] for axis in "xyz"]
        if min(group) > 0 and min(items) > 0:
            found["grid"] = [-(-all_ // each) for all_, each in zip(items, group, strict=True)]
            found["block"] = group
        if record["shared"] >= 0:
            found["shared memory"] = record["shared"]
        registers = _whole(_get(self._symbols.get(record["kernel"]), "arch_vgpr_count"))
        if registers > 0:
            found["registers per thread"] = registers
        return found

    def metadata(self) -> list[Event]:
        """Names of the process, the devices and their streams; call it behind ``texts``."""
        program = self._program
        events = [_named("process_name", self.pid, None, label=program)] if program else []
        for device, streams in self._used.items():
            events.append(_named("process_labels", device, None, labels=f"GPU {device}"))
            events.append(_named("process_sort_index", device, None, sort_index=_GPU_SORT + device))
            events += [
                _named("thread_name", device, tid, label=f"stream {tid}".strip()) for tid in streams
            ]
        return events

    @property
    def streams(self) -> set[tuple[str, str]]:
        """Process and thread ids of the tracks of its device work; call it behind ``texts``."""
        return {(str(device), str(tid)) for device, tids in self._used.items() for tid in tids}

    @property
    def name(self) -> str:
        """As it is called among several."""
        return f"{self._program} (pid {self.pid})" if self._program else f"pid {self.pid}"

    def devices(self) -> list[dict[str, Any]]:
        """What is known of the agents that are devices."""
        return [
            {
                "id": self._device(handle),
                "name": str(agent.get("product_name") or agent.get("name") or ""),
                "numSms": agent.get("cu_count"),
                "warpSize": agent.get("wave_front_size"),
            }
            for handle, agent in self._agents.items()
            if agent.get("type") == _DEVICE_AGENT
        ]


def micros(ns: int) -> str:
    """Decimal microseconds of nanoseconds."""
    return f"{'-' * (ns < 0)}{abs(ns) // 1000}.{abs(ns) % 1000:03d}"


def _named(what: str, pid: int, tid: int | str | None, **value: Any) -> Event:
    args = Args()
    for key, of in value.items():
        setattr(args, key, msgspec.Raw(_encode(of)))
    return Event(ph="M", name=what, pid=pid, tid=tid, args=args)


def _get(value: Any, *keys: str) -> Any:
    """What stands at keys within each other; None where there is no such thing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _listed(value: Any) -> list[dict[str, Any]]:
    """The list with an empty object in place of all that is none: positions are numbers of kinds."""
    return (
        [each if isinstance(each, dict) else {} for each in value]
        if isinstance(value, list)
        else []
    )


def _whole(value: Any) -> int:
    return value if type(value) is int and 0 <= value < 1 << 62 else UNKNOWN
