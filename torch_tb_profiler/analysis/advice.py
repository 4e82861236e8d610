"""Performance recommendations as rules over facts; the texts are written in ``views``."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch_tb_profiler.analysis.breakdown import average
from torch_tb_profiler.analysis.devices import DeviceUse, device_use
from torch_tb_profiler.analysis.selection import Selection
from torch_tb_profiler.store.model import Facts

DATALOADER_SHARE = 0.05
COMMUNICATION_SHARE = 0.1
LOW_UTILIZATION = 0.5
MEMORY_SHARE = 0.9


@dataclass(frozen=True)
class Advice:
    """A rule that applies and the numbers that it rests on.

    ``rule`` and its ``numbers``: ``dataloader`` (share), ``data_parallel`` (devices), ``not_nccl`` (devices), ``communication`` (share),
    ``low_utilization`` (one ``device <id>``: utilization per device), ``matrix_cores_unused`` (share: kernel time of eligible operators),
    ``memory_near_capacity`` (device, peak, memory, share). Shares are fractions, sizes bytes.
    """

    rule: str
    numbers: dict[str, float] = field(default_factory=dict)


def advise(facts: Facts, selection: Selection) -> tuple[Advice, ...]:
    """The rules that apply to the selected steps, in the order in which the original plugin named them."""
    devices = device_use(facts, selection)
    mean = average(facts, selection)
    found = [
        _share("dataloader", mean, DATALOADER_SHARE),
        _data_parallel(facts, devices),
        _not_nccl(facts, devices),
        _share("communication", mean, COMMUNICATION_SHARE),
        _low_utilization(devices),
        _matrix_cores_unused(facts, devices),
        _memory_near_capacity(facts, devices),
    ]
    return tuple(advice for advice in found if advice is not None)


def _share(category: str, mean: dict[str, float] | None, limit: float) -> Advice | None:
    if not mean or not mean["wall"]:
        return None
    share = mean[category] / mean["wall"]
    return Advice(category, {"share": share}) if share > limit else None


def _data_parallel(facts: Facts, devices: tuple[DeviceUse, ...]) -> Advice | None:
    if not facts.summary["data_parallel"] or len(devices) < 2:
        return None
    return Advice("data_parallel", {"devices": float(len(devices))})


def _not_nccl(facts: Facts, devices: tuple[DeviceUse, ...]) -> Advice | None:
    """DistributedDataParallel moves gradients of NVIDIA or AMD devices through a backend that is not NCCL (or RCCL)."""
    backends = facts.summary["communication_backends"]
    if not facts.summary["ddp"] or not devices or facts.summary["vendor"] not in ("nvidia", "amd"):
        return None
    if not backends or "nccl" in backends:
        return None
    return Advice("not_nccl", {"devices": float(len(devices))})


def _low_utilization(devices: tuple[DeviceUse, ...]) -> Advice | None:
    low = {f"device {d.id}": d.utilization for d in devices if d.utilization is not None and d.utilization < LOW_UTILIZATION}
    return Advice("low_utilization", low) if low else None


def _matrix_cores_unused(facts: Facts, devices: tuple[DeviceUse, ...]) -> Advice | None:
    """Only where it is known that no kernel uses matrix cores, on a device that has them."""
    share = facts.summary["matrix_eligible_share"]
    if not share or facts.summary["vendor"] != "nvidia" or not devices:
        return None
    for device in devices:
        if device.matrix_share != 0.0 or device.matrix_unknown_share != 0.0 or _major(device.capability) < 7:
            return None
    return Advice("matrix_cores_unused", {"share": share})


def _major(capability: str | None) -> int:
    head = (capability or "").split(".")[0]
    return int(head) if head.isdigit() else 0


def _memory_near_capacity(facts: Facts, devices: tuple[DeviceUse, ...]) -> Advice | None:
    """The device closest to its own capacity; host memory is never compared with a device's."""
    found: list[tuple[float, Advice]] = []
    for device in devices:
        peak = int(facts["devices"]["peak_allocated"][device.row])
        if peak < 0 or not device.memory:
            continue
        share = peak / device.memory
        if share > MEMORY_SHARE:
            numbers = {"device": float(device.id), "peak": float(peak), "memory": float(device.memory), "share": share}
            found.append((share, Advice("memory_near_capacity", numbers)))
    return max(found, key=lambda entry: entry[0])[1] if found else None
