"""The peak of the device that the FLOPs of a profiled kernel are compared with."""

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
    """The counted (unit, precision) pairs, and for each range the one that did most of its FLOPs.

    roofs: in the order in which their counters first appear in the trace.
    of: index into ``roofs``, int64 of shape (ranges,); −1 where no operation was counted.
    """
    counted = [
        (operation[:2], operation[2], c)
        for c, name in enumerate(profiled.counters)
        if (operation := operations_of(name))
    ]
    roofs = list(dict.fromkeys(roof for roof, _, _ in counted))
    ranges = profiled.values.shape[1]
    done = np.zeros((len(roofs) + 1, ranges))
    with np.errstate(over="ignore"):
        for roof, weight, c in counted:
            done[roofs.index(roof) + 1] += np.nan_to_num(profiled.values[c]) * weight
    return roofs, np.argmax(done, axis=0) - 1


def peaks_of_ranges(trace: Trace, facts: Facts, profiled: ProfiledKernels, file: str = "") -> Peaks:
    """The peaks of the devices of the ranges; none if they are of several kinds or unknown.

    A recording of counters has no kernels, so the facts know no device. ``file``: path of the
    user's own peaks.

    Raises SourceError if that file cannot be read.
    """
    listed = device_properties(trace)
    kinds = {listed.get(device) for device in np.unique(profiled.launches.device).tolist()}
    if len(kinds) != 1 or (kind := kinds.pop()) is None:
        return Peaks(None, None, "", {})
    vendor = facts.summary.vendor
    return peaks_of(kind.name, vendor, kind.multiprocessors, kind.memory, file)
