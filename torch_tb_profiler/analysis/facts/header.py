"""What the top-level keys of a trace say: devices, versions, rank, vendor."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.process_roles import vendor_of
from torch_tb_profiler.untrusted import json_value

_VENDOR_OF_NAME = (
    (regex(r"\bamd\b|instinct|radeon|\bmi\d{2,3}", re.I), "amd"),
    (regex(r"intel|data center gpu max|\barc\b", re.I), "intel"),
    (regex(r"ascend", re.I), "ascend"),
    (regex(r"artemis|mtia", re.I), "mtia"),
    # Last: its bare model numbers resemble others (Arc A770, Radeon PRO V620).
    (
        regex(
            r"nvidia|tesla|geforce|quadro|titan|\b[avhbgl]\d{1,3}0{1,2}\b|\bgh200|\bgb\d00", re.I
        ),
        "nvidia",
    ),
)
_VENDOR_OF_CALL = {
    "hip": "amd",
    "cu": "nvidia",
    "ze": "intel",
    "ur": "intel",
    "acl": "ascend",
    "aiu": "ibm",
}
_VENDOR_OF_CATEGORY = (("mtia", "mtia"), ("xpu", "intel"))
_WHOLE = regex(r"-?\d{1,19}", re.ASCII)
_VERSION_KEYS = {
    "cuda_runtime_version": "CUDA runtime",
    "cuda_driver_version": "CUDA driver",
    "hip_runtime_version": "HIP runtime",
    "hip_driver_version": "HIP driver",
    "profiler": "Profiler",
    "execution_providers": "Execution provider",
    "cupti_version": "CUPTI",
    "roctracer_version": "roctracer",
    "torch_version": "PyTorch",
    "pytorch_version": "PyTorch",
    "torch_npu_version": "torch_npu",
    "cann_version": "CANN",
}

EARLIEST_UNIX_NS = 1_000_000_000 * 10**9
"""September 2001: smaller values are not Unix times."""


class DeviceProperties(msgspec.Struct, frozen=True):
    """An entry of ``deviceProperties``; −1 and ``""`` are unknown."""

    name: str
    memory: int
    capability: str
    multiprocessors: int


def integer(value: Any) -> int | None:
    """A whole number below 2**62 in magnitude, also when written as text; else None."""
    if isinstance(value, str):
        # Not str.isdigit(), which accepts "²"; int() rejects that, and thousands of digits.
        value = int(value) if _WHOLE.fullmatch(value.strip()) else None
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if abs(value) < 1 << 62 else None


def _count(value: Any, limit: int) -> int:
    """A whole number in [1, ``limit``); −1 for everything else."""
    number = integer(value)
    return number if number is not None and 0 < number < limit else -1


def unix_begin(trace: Trace) -> int | None:
    """Unix time of the trace's first event, ns; None if unknown."""
    begin = trace.base_ns + trace.origin_ns
    return begin if begin >= EARLIEST_UNIX_NS else None


def distributed_info(trace: Trace) -> dict[str, Any]:
    """``distributedInfo``; empty if the trace has none."""
    info = trace.header.get("distributedInfo")
    return info if isinstance(info, dict) else {}


def device_properties(trace: Trace) -> dict[int, DeviceProperties]:
    """Properties by device id."""
    listed = trace.header.get("deviceProperties")
    properties: dict[int, DeviceProperties] = {}
    for index, entry in enumerate(listed if isinstance(listed, list) else []):
        if not isinstance(entry, dict):
            continue
        number = integer(entry.get("id"))
        number = index if number is None else number
        major, minor = integer(entry.get("computeMajor")), integer(entry.get("computeMinor"))
        properties[number] = DeviceProperties(
            str(entry.get("name") or ""),
            _count(entry.get("totalGlobalMem"), 1 << 62),
            f"{major}.{minor or 0}" if major is not None else "",
            _count(entry.get("numSms"), 1 << 31),
        )
    return properties


def versions(trace: Trace) -> dict[str, str]:
    """Readable versions from the header by component: 12040 → ``12.4``."""
    labelled = {
        label: _version(key, trace.header[key])
        for key, label in _VERSION_KEYS.items()
        if key in trace.header
    }
    nccl = distributed_info(trace).get("nccl_version")
    if nccl:
        labelled["NCCL"] = str(nccl)
    return labelled


def _version(key: str, value: Any) -> str:
    number = integer(value)
    if number is None or "cupti" in key:
        return str(value)
    if key.startswith("cuda"):
        return f"{number // 1000}.{number % 1000 // 10}"
    if key.startswith("hip") and number >= 10_000_000:
        return f"{number // 10_000_000}.{number // 100_000 % 100}.{number % 100_000}"
    return str(value)


def unplaced_events(trace: Trace) -> dict[str, dict[str, int]]:
    """Numbers of events without a role by category or, without one, by process, as the import counted
    them.
    """
    found = trace.header.get("unplaced")
    return found if isinstance(found, dict) else {}


def oldest_capability(trace: Trace) -> int | None:
    """The lowest major compute capability of the devices; None if none is known."""
    known = (p.capability for p in device_properties(trace).values() if p.capability)
    return min((int(capability.split(".")[0]) for capability in known), default=None)


def vendor(trace: Trace, runtime_names: list[str], categories: list[str], has_device: bool) -> str:
    """The accelerator's vendor, by the profiler, else by device name, else by runtime categories and calls;
    ``none`` without device work.

    ``runtime_names``, ``categories``: the distinct names of runtime calls and categories of the
        trace.
    """
    if maker := vendor_of(trace.header.get("profiler")):
        return maker
    names = [p.name for p in device_properties(trace).values() if p.name]
    for name in names:
        for pattern, maker in _VENDOR_OF_NAME:
            if pattern.search(name):
                return maker
    for prefix, maker in _VENDOR_OF_CATEGORY:
        if any(c.lower().startswith(prefix) for c in categories):
            return maker
    for prefix, maker in _VENDOR_OF_CALL.items():
        if any(name.startswith(prefix) for name in runtime_names):
            return maker
    if any(key.startswith("hip_") or key == "roctracer_version" for key in trace.header):
        return "amd"
    if has_device and "cuda_runtime_version" in trace.header:
        return "nvidia"
    return "other" if has_device else "none"


def json_list(text: str) -> list[Any] | None:
    """The list that a text is; None where it is none."""
    value = json_value(text)
    return value if isinstance(value, list) else None
