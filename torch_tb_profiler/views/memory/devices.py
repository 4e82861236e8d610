"""What memory devices are called, and which is meant."""

from __future__ import annotations

from collections import Counter

import numpy as np

from torch_tb_profiler.errors import NotFound
from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.views.wire import Vocabulary
from torch_tb_profiler.views.words.vocabulary import NEUTRAL, device_title

HOST = 0
_TYPES = {
    HOST: "CPU",
    1: "GPU",
    2: "MKL-DNN",
    3: "OpenGL",
    4: "OpenCL",
    5: "IDEEP",
    6: "GPU",
    7: "FPGA",
    8: "MAIA",
    9: "XLA",
    10: "Vulkan",
    11: "Metal",
    12: "XPU",
    13: "MPS",
    14: "meta",
    15: "HPU",
    16: "VE",
    17: "lazy",
    18: "IPU",
    19: "MTIA",
    20: "PrivateUse1",
}
"""By c10's device type (``c10/core/DeviceType.h``); CUDA and HIP are GPUs."""
_ACCELERATORS = (1, 6, 12, 19)
"""CUDA, HIP, XPU and MTIA."""


def device_name(kind: int, number: int, words: Vocabulary) -> str:
    """``GPU 0``, ``CPU``, ``device type 42 0``; the number only where there is one. Accelerators are
    called as everywhere else.
    """
    named = words.device != NEUTRAL.device
    if number >= 0 and (kind < 0 or (named and kind in _ACCELERATORS)):
        return device_title(words, number)
    name = _TYPES.get(kind, f"device type {kind}" if kind >= 0 else "Device")
    return name if number < 0 or kind == HOST else f"{name} {number}"


def device_names(devices: Table, words: Vocabulary) -> list[str]:
    """The names of ``memory_devices``, no two equal: those that are called the same say their type, then
    their id as well.
    """
    pairs = list(zip(devices["type"].tolist(), devices["id"].tolist(), strict=True))
    names = [device_name(*pair, words) for pair in pairs]
    uses, uses_of_type = Counter(names), Counter(zip(names, devices["type"].tolist(), strict=True))
    return [
        name
        if uses[name] == 1
        else f"{name} (type {kind})"
        if uses_of_type[name, kind] == 1
        else f"{name} (type {kind}, id {number})"
        for name, (kind, number) in zip(names, pairs, strict=True)
    ]


def in_order(devices: Table) -> list[int]:
    """Rows of ``memory_devices``, the one with the most bytes at its peak first, the CPU last."""
    order: list[int] = np.lexsort((-devices["peak"], devices["type"] == HOST)).tolist()
    return order


NO_RECORDS = "PyTorch's profiler writes them with profile_memory=True"
"""Of the records of allocations, which other profilers do not have."""


def chosen_device(insight: Insight, key: int | None) -> int:
    """The row of ``memory_devices`` of a key; None: the first in order.

    Raises:
        NotFound: there is no such device, or no record at all.
    """
    devices = insight["memory_devices"]
    if not devices.n:
        raise NotFound("The trace has no allocator record.", f"{NO_RECORDS}.")
    if key is None:
        return in_order(devices)[0]
    if key >= devices.n:
        raise NotFound(f"There is no memory device {key}.", "Take the keys from /memory.")
    return key


def same_device(insight: Insight, row: int, other: Insight) -> int:
    """The device of another trace that has the type and id of a row of ``memory_devices``, else its first.

    Raises:
        NotFound: it has no record at all.
    """
    own, others = insight["memory_devices"], other["memory_devices"]
    alike = (others["type"] == own["type"][row]) & (others["id"] == own["id"][row])
    return int(np.argmax(alike)) if alike.any() else chosen_device(other, None)
