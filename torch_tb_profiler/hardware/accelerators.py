"""The device table: published peaks of accelerators, memory bandwidth and dense arithmetic rates by precision.

Rates are dense (never "with sparsity"), at the clock that the vendor states, accumulating in
float32 where it matters. Unpublished figures are left out. ``matrix``: on matrix cores; ``vector``:
on other units. PyTorch computes elementwise work in float32, so few ``vector`` half rates are given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import msgspec

from torch_tb_profiler.patterns import regex

PRECISIONS = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp4")
GIB = 1 << 30
MEMORY_TOLERANCE = 0.13
"""A device reports less memory than its nominal GB, some of which the driver reserves."""


class Accelerator(msgspec.Struct, frozen=True):
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


# NVIDIA since Volta. GeForce rates are with float32 accumulation, as cuBLAS and cuDNN use it: half of the
# advertised ones. Laptop devices are left out because their clocks depend on the laptop.
_NVIDIA = "https://www.nvidia.com/"
_IMAGES = "https://images.nvidia.com/"
_PAPER = "GPU architecture white paper"
_JETSON = f"{_NVIDIA}en-us/autonomous-machines/embedded-systems/"
_WORKSTATIONS = f"{_NVIDIA}en-us/products/workstations/"
_SOURCES = {
    "V100": f"NVIDIA V100 data sheet, {_IMAGES}content/technologies/volta/pdf/volta-v100-datasheet-update-us-1165301-r5.pdf",
    "T4": f"NVIDIA T4 data sheet, {_NVIDIA}content/dam/en-zz/Solutions/Data-Center/tesla-t4/t4-tensor-core-datasheet-951643.pdf",
    "A100": f"NVIDIA A100 data sheet, {_NVIDIA}content/dam/en-zz/Solutions/Data-Center/a100/pdf/nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf",
    "A10G": "NVIDIA A10G data sheet, https://d1.awsstatic.com/product-marketing/ec2/NVIDIA_AWS_A10G_DataSheet_FINAL_02_17_2022.pdf",
    "H100": "NVIDIA H100 data sheet, https://resources.nvidia.com/en-us-tensor-core/nvidia-tensor-core-gpu-datasheet",
    "H200": f"NVIDIA H200 data sheet, {_NVIDIA}en-us/data-center/h200/",
    "GH200": f"NVIDIA GH200 data sheet, {_NVIDIA}en-us/data-center/grace-hopper-superchip/",
    "HGX": f"NVIDIA HGX platform specifications (per GPU), {_NVIDIA}en-us/data-center/hgx/",
    "GB200": f"NVIDIA GB200 NVL72 specifications (per GPU), {_NVIDIA}en-us/data-center/gb200-nvl72/",
    "GB300": f"NVIDIA GB300 NVL72 specifications (per GPU), {_NVIDIA}en-us/data-center/gb300-nvl72/",
    "export": "figures of the export variant as published by server makers; NVIDIA has no public data sheet",
    "spark": f"NVIDIA DGX Spark specifications, {_WORKSTATIONS}dgx-spark/",
    "thor": f"NVIDIA Jetson Thor specifications, {_JETSON}jetson-thor/",
    "orin": f"NVIDIA Jetson AGX Orin technical brief (dense, GPU alone), {_JETSON}jetson-orin/",
    "PRO": f"NVIDIA RTX PRO 6000 Blackwell data sheet, {_WORKSTATIONS}professional-desktop-gpus/rtx-pro-6000/",
    "Turing": f"NVIDIA Turing {_PAPER}, {_IMAGES}aem-dam/en-zz/Solutions/design-visualization/technologies/"
    "turing-architecture/NVIDIA-Turing-Architecture-Whitepaper.pdf",
    "Ampere": f"NVIDIA Ampere GA102 {_PAPER}, {_NVIDIA}content/PDF/nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.pdf",
    "Ada": f"NVIDIA Ada {_PAPER}, {_IMAGES}aem-dam/Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf",
    "Blackwell": f"NVIDIA RTX Blackwell {_PAPER}, {_IMAGES}aem-dam/Solutions/geforce/blackwell/nvidia-rtx-blackwell-gpu-architecture.pdf",
    "TITAN": f"NVIDIA TITAN V, {_NVIDIA}en-us/titan/titan-v/",
    "sheet": f"NVIDIA {{name}} data sheet, {_WORKSTATIONS}",
}
_DESKTOP = r"(?!.*(?:Laptop|Max-Q|Mobile))"
_data_centre = partial(
    read_table,
    maker="NVIDIA",
    source=f"NVIDIA product page, {_NVIDIA}en-us/data-center/{{cell}}/",
    sources=_SOURCES,
)
_named_alone = partial(_data_centre, pattern="{}")
_workstation = partial(
    _data_centre,
    source=f"NVIDIA product page, {_WORKSTATIONS}professional-desktop-gpus/{{cell}}/",
    pattern=f"{{}}{_DESKTOP}",
)
_ampere_workstation = partial(
    _data_centre,
    source=f"NVIDIA {{name}} data sheet, {_NVIDIA}en-us/design-visualization/",
    pattern=rf"{{}}\b{_DESKTOP}",
)
_geforce = partial(
    _data_centre, maker="NVIDIA GeForce", pattern=rf"{{}}\b(?! (?:Ti|SUPER|D)\b){_DESKTOP}"
)


# AMD since Vega 20 and current workstation cards. An MI200 device is one die (GCD).
_AMD = "https://www.amd.com/en/products/"
_instinct = partial(
    read_table,
    maker="AMD Instinct",
    source=f"AMD Instinct {{name}} data sheet, {_AMD}accelerators/instinct/{{cell}}.html",
    sources={
        "vega": f"AMD Radeon Instinct MI60 and MI50 data sheets, {_AMD}accelerators/instinct.html"
    },
)
_radeon = partial(
    read_table,
    maker="AMD Radeon",
    source=f"AMD Radeon {{name}} specifications, {_AMD}graphics/{{cell}}",
)


# Intel. A Max device is one stack (tile) or both; its memory tells which.
_INTEL = "https://www.intel.com/content/www/us/en/"
_intel = partial(
    read_table,
    maker="Intel",
    source="",
    sources={
        "max": f"Intel Data Center GPU Max series technical overview, {_INTEL}developer/articles/technical/intel-data-center-gpu-max-series-overview.html",
        "xe": f"Intel product specifications (int8; half of it for 16-bit types: Xe-HPG XMX engines), {_INTEL}products/details/discrete-gpus.html",
        "gaudi": f"Intel Gaudi white paper, {_INTEL}products/details/processors/ai-accelerators/gaudi.html",
    },
    pattern="{}",
)


_READ = {
    "data centre": _data_centre,
    "named alone": _named_alone,
    "workstation": _workstation,
    "ampere workstation": _ampere_workstation,
    "geforce": _geforce,
    "instinct": _instinct,
    "radeon": _radeon,
    "intel": _intel,
}
"""How the tables are read, by what their heads say."""


def _tables() -> dict[str, tuple[Accelerator, ...]]:
    lines = Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#"))
    found: dict[str, tuple[Accelerator, ...]] = {}
    for section in text.replace("{desktop}", _DESKTOP).split("\n[")[1:]:
        head, _, rows = section.partition("]\n")
        vendor, _, way = head.partition(": ")
        found[vendor] = (*found.get(vendor, ()), *_READ[way](rows))
    return found


TABLE = _tables()
"""Entries by vendor; the first one that fits wins."""
_GENERIC = regex(r"(?:amd )?radeon graphics|", re.I)
_LONGEST = 200
"""Characters of a name that are searched; a trace may hold any name."""
_PART = regex(r"\bMIG\b|\bvGPU\b|^GRID |\b(?!H20-3e$)[A-Z]\w+-\d+[QCABe]$")
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
