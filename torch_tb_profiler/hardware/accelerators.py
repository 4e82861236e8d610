"""What accelerators can do at best: memory bandwidth and dense arithmetic rates by precision, from the vendors' published figures.

A rate is of dense operands (never "with sparsity"), at the clock that the vendor states, with accumulation in float32 where it matters. What a vendor does not
publish is left out: unknown. ``matrix``: on matrix cores; ``vector``: on the other units. Elementwise work of PyTorch computes in float32 whatever the
type of its elements, so that ``vector`` rates of half precision are not needed and mostly not listed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

PeakUnit = Literal["matrix", "vector"]
PRECISIONS = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp4")
GIB = 1 << 30
MEMORY_TOLERANCE = 0.13
"""A device reports less memory than its name says: the nominal GB are rounded, and the driver keeps some."""
_GENERIC = re.compile(r"(?:amd )?radeon graphics|", re.I)
_PART = re.compile(r"\bMIG\b|\bvGPU\b|^GRID |\b[A-Z]\w+-\d+[QCABe]$")
"""Names of a slice of a device: what share of its units it has, the name does not tell."""


@dataclass(frozen=True)
class Accelerator:
    """One line of the device table.

    Attributes:
        name: what people call it.
        pattern: regular expression searched in the device's name as traces write it, case ignored.
        source: title and address of the figures.
        bandwidth: of the memory, GB/s (1e9 bytes).
        matrix, vector: dense rates in TFLOP/s (1e12; of int8 TOP/s) by precision.
        units: SMs, compute units or Xe cores; 0 not listed.
        memory: nominal GB by which variants of one name are told apart; 0 where the name is enough.
    """

    name: str
    pattern: str
    source: str
    bandwidth: float
    matrix: Mapping[str, float] = field(default_factory=dict)
    vector: Mapping[str, float] = field(default_factory=dict)
    units: int = 0
    memory: int = 0

    def fits(self, units: int, memory: int) -> bool:
        """Whether the number of units and the bytes of memory (−1 unknown) do not speak against it."""
        if self.units > 0 and units > 0 and self.units != units:
            return False
        return not (self.memory and memory > 0) or abs(memory / GIB - self.memory) <= MEMORY_TOLERANCE * self.memory


def find(name: str, vendor: str, units: int = -1, memory: int = -1) -> Accelerator | None:
    """The line for a device; None where its name is not in the table, or its units or memory are those of no listed variant.

    A device whose name says nothing (empty, ``AMD Radeon Graphics``) is found by its units and memory, if the vendor is known.
    """
    if _PART.search(name):
        return None
    listed = table()
    if _GENERIC.fullmatch(name.strip()):
        return next((a for a in listed.get(vendor, ()) if a.units > 0 and a.memory and units > 0 and memory > 0 and a.fits(units, memory)), None)
    for accelerators in listed.values():
        for accelerator in accelerators:
            if re.search(accelerator.pattern, name, re.I) and accelerator.fits(units, memory):
                return accelerator
    return None


def table() -> dict[str, tuple[Accelerator, ...]]:
    """All lines by vendor; of several that fit a name the first is meant."""
    from torch_tb_profiler.hardware import accelerators_amd, accelerators_nvidia, accelerators_others

    return {"nvidia": accelerators_nvidia.TABLE, "amd": accelerators_amd.TABLE, **accelerators_others.TABLES}
