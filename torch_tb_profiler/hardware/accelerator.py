"""Published peaks of an accelerator: memory bandwidth and dense arithmetic rates by precision.

Rates are dense (never "with sparsity"), at the clock that the vendor states, accumulating in
float32 where it matters. Unpublished figures are left out. ``matrix``: on matrix cores; ``vector``:
on other units. PyTorch computes elementwise work in float32, so few ``vector`` half rates are given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PRECISIONS = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp4")
GIB = 1 << 30
MEMORY_TOLERANCE = 0.13
"""A device reports less memory than its nominal GB, some of which the driver reserves."""


@dataclass(frozen=True)
class Accelerator:
    """One line of the device table.

    Attributes:
        name: the common name.
        pattern: regular expression searched, ignoring case, in the device's name in traces.
        source: title and URL of the figures.
        bandwidth: memory bandwidth, GB/s (1e9 bytes).
        matrix, vector: dense rates in TFLOP/s (int8: TOP/s) by precision.
        units: SMs, compute units or Xe cores; 0 not listed.
        memory: nominal GB if it distinguishes variants of one name, else 0.
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
        """Whether units and bytes of memory (−1 unknown) are compatible with this entry."""
        if self.units > 0 and units > 0 and self.units != units:
            return False
        return (
            not (self.memory and memory > 0)
            or abs(memory / GIB - self.memory) <= MEMORY_TOLERANCE * self.memory
        )
