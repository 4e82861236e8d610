"""A trace file's events as PyTorch holds them before it makes averages, so that its own code can be
run on recordings of machines that are not here.
"""

from __future__ import annotations

import gzip
import importlib
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

_HOST = (
    "cpu_op",
    "user_annotation",
    "python_function",
    "cuda_runtime",
    "cuda_driver",
    "hip_runtime",
)
_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation")
_DEFAULTS: dict[str, Any] = {
    "is_async": False,
    "is_hidden_event": False,
    "overload_name": "",
    "concrete_inputs": [],
    "kwinputs": {},
    "stack": [],
    "scope": 0,
    "device_index": 0,
    "device_resource_id": 0,
    "flops": 0,
    "metadata_json": "",
    "extra_meta": {},
    "flow_id": 0,
    "flow_type": 0,
    "flow_start": False,
    "external_id": 0,
    "structured_input_shapes": [],
    "structured_input_strides": [],
    "dtypes": [],
    "python_id": -1,
    "python_parent_id": -1,
    "python_module_id": -1,
    "cuda_elapsed_us": -1,
    "privateuse1_elapsed_us": -1,
}


class KinetoEvent:
    """Every attribute is a function without arguments, as of ``torch._C._autograd._KinetoEvent``."""

    def __init__(self, **values: Any) -> None:
        self.values = {**_DEFAULTS, **values}

    def __getattr__(self, name: str) -> Any:
        try:
            value = self.values[name]
        except KeyError:
            raise AttributeError(name) from None
        return lambda: value


class KinetoResult:
    """What ``torch._C._autograd._ProfilerResult`` has of its recording."""

    def __init__(self, events: list[KinetoEvent], start: int) -> None:
        self._events, self._start = events, start

    def events(self) -> list[KinetoEvent]:
        return self._events

    def trace_start_ns(self) -> int:
        return self._start


def event_list(path: Path) -> Any:
    """PyTorch's ``EventList`` of a file that Kineto wrote on a machine with GPUs, with its tree."""
    profiler = importlib.import_module("torch.autograd.profiler")
    with gzip.open(path) as file:
        trace = json.load(file, parse_float=Decimal)
    listed = [
        entry
        for entry in trace["traceEvents"]
        if entry.get("cat") in (*_HOST, *_DEVICE) or entry["name"] == "[memory]"
    ]
    start = next(
        (_ns(entry["ts"]) for entry in trace["traceEvents"] if entry.get("cat") == "Trace"), None
    )
    operators = {entry["args"]["External id"] for entry in listed if entry.get("cat") == "cpu_op"}
    last = max(
        (entry for entry in listed if entry["name"].startswith("ProfilerStep#")),
        key=lambda entry: (entry["cat"] == "user_annotation", entry["ts"]),
    )
    events = sorted(
        (_event(entry, operators, last["tid"]) for entry in listed),
        key=lambda event: event.values["start_ns"],
    )
    recorded = object.__new__(profiler.profile)
    recorded.use_device = "cuda"
    found = recorded._parse_kineto_results(
        KinetoResult(
            events, min(event.values["start_ns"] for event in events) if start is None else start
        )
    )
    made = profiler.EventList(
        found,
        use_device="cuda",
        profile_memory=any(entry["name"] == "[memory]" for entry in listed),
    )
    made._build_tree()
    return made


def _event(entry: dict[str, Any], operators: set[int], stopping: int) -> KinetoEvent:
    """``linked_correlation_id``: of what CUPTI recorded the operator that was open; without one its
    thread is the one that stopped the recording.
    """
    kinds = importlib.import_module("torch.autograd").DeviceType
    category, arguments = entry.get("cat", ""), entry.get("args", {})
    own, called = arguments.get("External id", 0), category.endswith(("_runtime", "_driver"))
    linked = own if own in operators and (called or category in _DEVICE[:3]) else 0
    thread = stopping if called and not linked else entry["tid"]
    kind = (
        kinds(arguments.get("Device Type", 0))
        if entry["name"] == "[memory]"
        else kinds.CUDA
        if category in _DEVICE
        else kinds.CPU
    )
    begin = _ns(entry["ts"])
    return KinetoEvent(
        name=entry["name"],
        start_ns=begin,
        end_ns=begin + _ns(entry.get("dur", 0)),
        start_thread_id=thread,
        end_thread_id=thread,
        device_type=kind,
        is_async=entry["name"].startswith("nccl:") and category == "user_annotation",
        nbytes=arguments.get("Bytes", 0),
        linked_correlation_id=linked,
        # What is no operator must not meet one's number by chance.
        correlation_id=own if category in ("cpu_op", "user_annotation") else -1,
        shapes=[[] if d and isinstance(d[0], list) else d for d in _dims(arguments)],
        fwd_thread_id=arguments.get("Fwd thread id", 0),
        sequence_nr=arguments.get("Sequence number", -1),
        activity_type=category,
        is_user_annotation=category.endswith("user_annotation"),
        is_python_function=category == "python_function",
    )


def _dims(arguments: dict[str, Any]) -> list[Any]:
    found: list[Any] = arguments.get("Input Dims", [])
    return found


def _ns(us: Any) -> int:
    return int((Decimal(us) * 1000).to_integral_value())
