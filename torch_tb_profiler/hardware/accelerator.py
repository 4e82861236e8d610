"""Published peaks of an accelerator: memory bandwidth and dense arithmetic rates by precision.

Rates are dense (never "with sparsity"), at the clock that the vendor states, accumulating in
float32 where it matters. Unpublished figures are left out. ``matrix``: on matrix cores; ``vector``:
on other units. PyTorch computes elementwise work in float32, so few ``vector`` half rates are given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
    matrix: Mapping[str, float]
    vector: Mapping[str, float]
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


def read_table(
    text: str,
    maker: str,
    source: str,
    sources: Mapping[str, str] | None = None,
    pattern: str = r"\b{}\b",
) -> tuple[Accelerator, ...]:
    """The accelerators of a table, one per line below the line that names the columns::

        name                  GB/s  units  GB | fp16=bf16  fp64 | fp64  fp32 | source  pattern
        H200 NVL              4800    132   - |     835.5    60 |   30    60 | h200
        GH200 (HBM3)          4000    132  96 |     989.4    67 |   34    67 | gh200   \\bGH200\\b

    The groups are what the device has, ``matrix`` rates, ``vector`` rates (``-`` unknown, ``=``: the
    same rate for several precisions), and how its ``source`` and ``pattern`` differ from the
    table's. ``maker`` stands before each name; parentheses are no part of it in what follows.

    Args:
        source: with the device's name for ``{name}`` and the cell ``source`` for ``{cell}``.
        sources: those that differ, by that cell.
        pattern: with the device's name for ``{}``; the cell ``pattern`` replaces all of it.
    """
    header, *lines = (line.split("|", 3) for line in text.strip().splitlines())
    accelerators = []
    for device, matrix, vector, *last in lines:
        full, *figures = device.rsplit(maxsplit=len(header[0].split()) - 1)
        columns = dict(zip(header[0].split()[1:], figures, strict=True))
        units, memory = (int(columns.get(key, "-").replace("-", "0")) for key in ("units", "GB"))
        name = full.partition(" (")[0]
        cell, _, own_pattern = "".join(last).strip().partition(" ")
        accelerators.append(
            Accelerator(
                f"{maker} {full}",
                own_pattern.strip() or pattern.format(name),
                (sources or {}).get(cell, source).format(name=name, cell=cell),
                float(columns["GB/s"]),
                _rates(header[1], matrix),
                _rates(header[2], vector),
                units,
                memory,
            )
        )
    return tuple(accelerators)


def _rates(header: str, cells: str) -> dict[str, float]:
    return {
        precision: float(cell)
        for column, cell in zip(header.split(), cells.split(), strict=True)
        if cell != "-"
        for precision in column.split("=")
    }
