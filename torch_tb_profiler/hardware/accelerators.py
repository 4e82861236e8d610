"""The device table: which accelerator a trace's device is, by its name, and where that says too
little by its units and memory.
"""

from __future__ import annotations

import re

from torch_tb_profiler.hardware import accelerators_amd, accelerators_nvidia, accelerators_others
from torch_tb_profiler.hardware.accelerator import Accelerator

TABLE: dict[str, tuple[Accelerator, ...]] = {
    "nvidia": accelerators_nvidia.TABLE,
    "amd": accelerators_amd.TABLE,
    **accelerators_others.TABLES,
}
"""All lines by vendor; of several that fit a name the first is meant."""
_GENERIC = re.compile(r"(?:amd )?radeon graphics|", re.I)
_LONGEST = 200
"""Characters of a name that are looked at: a trace may hold any."""
_PART = re.compile(r"\bMIG\b|\bvGPU\b|^GRID |\b(?!H20-3e$)[A-Z]\w+-\d+[QCABe]$")
"""Names of a slice of a device: what share of its units it has, the name does not tell. An H20-3e
is a whole device.
"""


def find(name: str, vendor: str, units: int = -1, memory: int = -1) -> Accelerator | None:
    """The line for a device; None where its name is not in the table, or its units or memory are
    those of no listed variant.

    A device whose name says nothing (empty, ``AMD Radeon Graphics``) is found by its units and
    memory, if the vendor is known.
    """
    name = name[:_LONGEST].strip()
    if _PART.search(name):
        return None
    if _GENERIC.fullmatch(name):
        told = units > 0 and memory > 0
        return next(
            (
                a
                for a in TABLE.get(vendor, ())
                if told and a.units > 0 and a.memory and a.fits(units, memory)
            ),
            None,
        )
    for accelerators in TABLE.values():
        for accelerator in accelerators:
            if re.search(accelerator.pattern, name, re.I) and accelerator.fits(units, memory):
                return accelerator
    return None
