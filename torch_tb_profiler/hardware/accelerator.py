"""What one accelerator can do at best: memory bandwidth and dense arithmetic rates by precision,
from its vendor's published figures.

A rate is of dense operands (never "with sparsity"), at the clock that the vendor states, with
accumulation in float32 where it matters. What a vendor does not publish is left out: unknown.
``matrix``: on matrix cores; ``vector``: on the other units. Elementwise work of PyTorch computes in
float32 whatever the type of its elements, so that ``vector`` rates of half precision are not needed
and mostly not listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PRECISIONS = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp4")
GIB = 1 << 30
MEMORY_TOLERANCE = 0.13
"""A device reports less memory than its name says: the nominal GB are rounded, and the driver keeps
some.
"""


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
        return (
            not (self.memory and memory > 0)
            or abs(memory / GIB - self.memory) <= MEMORY_TOLERANCE * self.memory
        )
