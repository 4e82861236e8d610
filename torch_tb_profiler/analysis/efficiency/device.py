"""The device whose peaks the work of a trace is compared with."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.hardware.peaks import Peaks as Peaks
from torch_tb_profiler.hardware.peaks import changed as changed
from torch_tb_profiler.hardware.peaks import peaks_of
from torch_tb_profiler.hardware.peaks import usable as usable
from torch_tb_profiler.hardware.peaks import version as version
from torch_tb_profiler.store.columns import unique_values
from torch_tb_profiler.store.model import Facts


def busiest_device(facts: Facts) -> int:
    """Row of ``facts["devices"]`` with the most kernel time in the steps; −1 without any."""
    if not facts["devices"].n:
        return -1
    table = facts["device_steps"]
    return int(
        np.argmax(
            np.bincount(table["device"], weights=table["kernel_time"], minlength=facts["devices"].n)
        )
    )


def working_devices(facts: Facts) -> int:
    """The number of devices that ran kernels in the steps; at least 1."""
    table = facts["device_steps"]
    return max(1, len(unique_values(table["device"][table["kernel_time"] > 0])))


def device_peaks(facts: Facts, file: str = "") -> Peaks:
    """The peaks of the busiest device; none without a device or for an unknown one.

    ``file``: path of the user's own peaks. Raises SourceError if it cannot be read.
    """
    row = busiest_device(facts)
    if row < 0:
        return Peaks(None, None, "", {})
    devices = facts["devices"]
    name = facts.strings[int(devices["name"][row])]
    return peaks_of(
        name,
        facts.summary.vendor,
        int(devices["multiprocessors"][row]),
        int(devices["memory"][row]),
        file,
    )
