"""The device table: finds the accelerator of a trace by name, or by units and memory."""

from __future__ import annotations

import re

from torch_tb_profiler.hardware import accelerators_amd, accelerators_intel, accelerators_nvidia
from torch_tb_profiler.hardware.accelerator import Accelerator

TABLE: dict[str, tuple[Accelerator, ...]] = {
    "nvidia": accelerators_nvidia.TABLE,
    "amd": accelerators_amd.TABLE,
    "intel": accelerators_intel.TABLE,
}
"""Entries by vendor; the first one that fits wins."""
_GENERIC = re.compile(r"(?:amd )?radeon graphics|", re.I)
_LONGEST = 200
"""Characters of a name that are searched; a trace may hold any name."""
_PART = re.compile(r"\bMIG\b|\bvGPU\b|^GRID |\b(?!H20-3e$)[A-Z]\w+-\d+[QCABe]$")
"""Names of a slice of a device, which has an unknown share of the units. An H20-3e is whole."""


def find(name: str, vendor: str, units: int = -1, memory: int = -1) -> Accelerator | None:
    """The entry for a device; None if its name, units or memory (−1 unknown) match none.

    A generic name (empty, ``AMD Radeon Graphics``) is identified by vendor, units and memory; the
    name of an entry is that entry.
    """
    name = name[:_LONGEST].strip()
    if _PART.search(name):
        return None
    if _GENERIC.fullmatch(name):
        if units <= 0 or memory <= 0:
            return None
        listed = (a for a in TABLE.get(vendor, ()) if a.units > 0 and a.memory)
        return next((a for a in listed if a.fits(units, memory)), None)
    every = [accelerator for accelerators in TABLE.values() for accelerator in accelerators]
    fitting = [accelerator for accelerator in every if accelerator.fits(units, memory)]
    named = (accelerator for accelerator in fitting if accelerator.name == name)
    alike = (accelerator for accelerator in fitting if re.search(accelerator.pattern, name, re.I))
    return next(named, None) or next(alike, None)
