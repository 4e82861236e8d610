"""By which peak of the device the FLOPs of a profiled kernel are measured."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.counters.profiled import ProfiledKernels
from torch_tb_profiler.analysis.facts.header import device_properties
from torch_tb_profiler.hardware.counter_names import operations_of
from torch_tb_profiler.hardware.peaks import Peaks as Peaks
from torch_tb_profiler.hardware.peaks import peaks_of
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.model import Facts, Trace

Roof = tuple[str, str]
"""(unit, precision) as in the device table."""


def main_roofs(profiled: ProfiledKernels) -> tuple[list[Roof], Ints]:
    """The units and precisions that were counted, and for each range the place of the one that did
    most of its FLOPs.

    Returns:
        roofs: in the order in which their counters first stand in the trace.
        of: int64 of shape (ranges,): place in ``roofs``; −1 where no operation was counted.
    """
    counted = [
        (found[:2], found[2], c)
        for c, name in enumerate(profiled.counters)
        if (found := operations_of(name))
    ]
    roofs = list(dict.fromkeys(roof for roof, _, _ in counted))
    ranges = profiled.values.shape[1]
    done = np.zeros((len(roofs) + 1, ranges))
    with np.errstate(over="ignore"):
        for roof, weight, c in counted:
            done[roofs.index(roof) + 1] += np.nan_to_num(profiled.values[c]) * weight
    return roofs, np.argmax(done, axis=0) - 1


def peaks_of_ranges(trace: Trace, facts: Facts, profiled: ProfiledKernels, file: str = "") -> Peaks:
    """The peaks of the devices whose ranges these are; none where these are of several kinds, or
    not known. ``file``: path of the user's own figures.

    A recording of counters has no kernel, so that the facts know no device.

    Raises:
        SourceError: that file cannot be read, or is none.
    """
    listed = device_properties(trace)
    devices = [listed.get(device) for device in np.unique(profiled.ties.device).tolist()]
    kinds = {
        (found.name, found.multiprocessors, found.memory) if found else None for found in devices
    }
    if len(kinds) != 1 or (kind := kinds.pop()) is None:
        return Peaks(None, None, "", {})
    name, units, memory = kind
    return peaks_of(name, facts.summary["vendor"], units, memory, file)
