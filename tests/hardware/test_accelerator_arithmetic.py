"""The device table is consistent: rate = units × FLOPs per clock of one unit ×
clock, so that a slip of a digit is found.

The clocks are the vendors' (boost); NVIDIA states the rates of Hopper's Tensor Cores at a lower one
than those of its vector units.
"""

from __future__ import annotations

import pytest

from torch_tb_profiler.hardware.accelerators import TABLE, Accelerator

Rates = dict[str, int]
TOLERANCE = 0.03

VOLTA: tuple[Rates, Rates] = {"fp16": 1024}, {"fp64": 64, "fp32": 128, "fp16": 256}
TURING: tuple[Rates, Rates] = {"fp16": 1024, "int8": 2048}, {"fp32": 128}
TURING_GEFORCE: tuple[Rates, Rates] = {"fp16": 512, "int8": 2048}, {"fp32": 128}
A100: tuple[Rates, Rates] = (
    {"fp64": 128, "tf32": 1024, "fp16": 2048, "bf16": 2048, "int8": 4096},
    {"fp64": 64, "fp32": 128, "fp16": 512, "bf16": 256},
)
AMPERE: tuple[Rates, Rates] = {"tf32": 512, "fp16": 1024, "bf16": 1024, "int8": 2048}, {"fp32": 256}
AMPERE_GEFORCE: tuple[Rates, Rates] = (
    {"tf32": 256, "fp16": 512, "bf16": 512, "int8": 2048},
    {"fp32": 256},
)
ADA: tuple[Rates, Rates] = (
    {"tf32": 512, "fp16": 1024, "bf16": 1024, "fp8": 2048, "int8": 2048},
    {"fp32": 256},
)
HALF_ADA: tuple[Rates, Rates] = (
    {"tf32": 256, "fp16": 512, "bf16": 512, "fp8": 1024, "int8": 1024},
    {"fp32": 256},
)
ADA_GEFORCE: tuple[Rates, Rates] = (
    {"tf32": 256, "fp16": 512, "bf16": 512, "fp8": 1024, "int8": 2048},
    {"fp32": 256},
)
HOPPER: tuple[Rates, Rates] = (
    {"fp64": 256, "tf32": 2048, "fp16": 4096, "bf16": 4096, "fp8": 8192, "int8": 8192},
    {"fp64": 128, "fp32": 256},
)
RTX_BLACKWELL: tuple[Rates, Rates] = (
    {"tf32": 512, "fp16": 1024, "bf16": 1024, "fp8": 2048, "int8": 2048, "fp4": 4096},
    {"fp32": 256},
)
BLACKWELL_GEFORCE: tuple[Rates, Rates] = (
    {"tf32": 256, "fp16": 512, "bf16": 512, "fp8": 1024, "int8": 2048, "fp4": 4096},
    {"fp32": 256},
)
THOR: tuple[Rates, Rates] = {"fp8": 16384, "fp4": 32768}, {"fp32": 256}
ORIN: tuple[Rates, Rates] = {"fp16": 2048, "int8": 4096}, {"fp32": 256}
VEGA: tuple[Rates, Rates] = {}, {"fp64": 64, "fp32": 128, "fp16": 256}
CDNA_1: tuple[Rates, Rates] = (
    {"fp32": 256, "fp16": 1024, "bf16": 512, "int8": 1024},
    {"fp64": 64, "fp32": 128},
)
CDNA_2: tuple[Rates, Rates] = (
    {"fp64": 256, "fp32": 256, "fp16": 1024, "bf16": 1024, "int8": 1024},
    {"fp64": 128, "fp32": 128},
)
CDNA_3: tuple[Rates, Rates] = (
    {"fp64": 256, "fp32": 256, "tf32": 1024, "fp16": 2048, "bf16": 2048, "fp8": 4096, "int8": 4096},
    {"fp64": 128, "fp32": 256},
)
CDNA_4: tuple[Rates, Rates] = (
    {"fp64": 128, "fp32": 256, "fp16": 4096, "bf16": 4096, "fp8": 8192, "int8": 8192, "fp4": 16384},
    {"fp64": 128, "fp32": 256},
)
RDNA_3: tuple[Rates, Rates] = {"fp16": 512, "bf16": 512}, {"fp32": 256}
RDNA_4: tuple[Rates, Rates] = {"fp16": 1024, "bf16": 1024, "fp8": 2048, "int8": 2048}, {"fp32": 256}
XE_HPC: tuple[Rates, Rates] = (
    {"tf32": 2048, "fp16": 4096, "bf16": 4096, "int8": 8192},
    {"fp64": 256, "fp32": 256},
)
XE_HPG: tuple[Rates, Rates] = {"fp16": 2048, "bf16": 2048, "int8": 4096}, {"fp32": 256}
"""FLOPs per clock of one SM, compute unit or Xe core: (matrix, vector)."""

DEVICES: dict[
    str, tuple[tuple[Rates, Rates], int, int, int]
] = {  # architecture, units, clock of the matrix rates, clock of the vector rates in MHz
    "NVIDIA GH200 (HBM3)": (HOPPER, 132, 1830, 1980),
    "NVIDIA GH200 (HBM3e)": (HOPPER, 132, 1830, 1980),
    "NVIDIA H200": (HOPPER, 132, 1830, 1980),
    "NVIDIA H200 NVL": (HOPPER, 132, 1545, 1785),
    "NVIDIA H100 NVL": (HOPPER, 132, 1545, 1785),
    "NVIDIA H100 SXM": (HOPPER, 132, 1830, 1980),
    "NVIDIA H100 PCIe": (HOPPER, 114, 1620, 1755),
    "NVIDIA L40S": (ADA, 142, 2520, 2520),
    "NVIDIA L40": (HALF_ADA, 142, 2490, 2490),
    "NVIDIA L20": (HALF_ADA, 92, 2520, 2520),
    "NVIDIA L4": (ADA, 58, 2040, 2040),
    **{
        f"NVIDIA {name}": (A100, 108, 1410, 1410)
        for name in (
            "A100 PCIe 80GB",
            "A100 PCIe 40GB",
            "A100 SXM 80GB",
            "A100 SXM 40GB",
            "A800 PCIe 80GB",
            "A800 SXM 80GB",
            "A800 40GB",
        )
    },
    "NVIDIA A40": (AMPERE, 84, 1740, 1740),
    "NVIDIA A30": ((A100[0], {"fp64": 64, "fp32": 128}), 56, 1440, 1440),
    "NVIDIA A10G": (({**AMPERE_GEFORCE[0], "int8": 1024}, {"fp32": 256}), 80, 1710, 1710),
    "NVIDIA A10": (AMPERE, 72, 1695, 1695),
    "NVIDIA A16 (one of its four GPUs)": (AMPERE, 10, 1755, 1755),
    "NVIDIA A2": (AMPERE, 10, 1770, 1770),
    "NVIDIA T4": (TURING, 40, 1590, 1590),
    "NVIDIA V100S PCIe": (VOLTA, 80, 1597, 1597),
    "NVIDIA V100 PCIe": (VOLTA, 80, 1380, 1380),
    "NVIDIA V100 SXM2": (VOLTA, 80, 1530, 1530),
    "NVIDIA Jetson T5000 (Thor)": (THOR, 20, 1575, 1575),
    "NVIDIA Jetson AGX Orin 64GB": (ORIN, 16, 1300, 1300),
    "NVIDIA Jetson AGX Orin 32GB": (ORIN, 14, 930, 930),
    "NVIDIA RTX PRO 6000 Blackwell Max-Q": (RTX_BLACKWELL, 188, 2280, 2280),
    "NVIDIA RTX PRO 6000 Blackwell": (RTX_BLACKWELL, 188, 2617, 2617),
    "NVIDIA RTX 6000 Ada": (ADA, 142, 2505, 2505),
    "NVIDIA RTX 5880 Ada": (ADA, 110, 2460, 2460),
    "NVIDIA RTX 5000 Ada": (ADA, 100, 2550, 2550),
    "NVIDIA RTX 4500 Ada": (ADA, 60, 2580, 2580),
    "NVIDIA RTX 4000 Ada": (ADA, 48, 2175, 2175),
    "NVIDIA RTX 4000 SFF Ada": (ADA, 48, 1560, 1560),
    "NVIDIA RTX 2000 Ada": (ADA, 22, 2130, 2130),
    "NVIDIA RTX A6000": (AMPERE, 84, 1800, 1800),
    "NVIDIA RTX A5500": (AMPERE, 80, 1665, 1665),
    "NVIDIA RTX A5000": (AMPERE, 64, 1695, 1695),
    "NVIDIA RTX A4500": (AMPERE, 56, 1650, 1650),
    "NVIDIA RTX A4000": (AMPERE, 48, 1560, 1560),
    "NVIDIA RTX A2000": (AMPERE, 26, 1200, 1200),
    "NVIDIA Quadro RTX 8000 / 6000": (TURING, 72, 1770, 1770),
    "NVIDIA Quadro RTX 5000": (TURING, 48, 1815, 1815),
    "NVIDIA TITAN RTX": (TURING, 72, 1770, 1770),
    "AMD Instinct MI355X": (CDNA_4, 256, 2400, 2400),
    "AMD Instinct MI350X": (CDNA_4, 256, 2200, 2200),
    "AMD Instinct MI325X": (CDNA_3, 304, 2100, 2100),
    "AMD Instinct MI300X": (CDNA_3, 304, 2100, 2100),
    "AMD Instinct MI300A": (CDNA_3, 228, 2100, 2100),
    "AMD Instinct MI250X (one of its two GCDs)": (CDNA_2, 110, 1700, 1700),
    "AMD Instinct MI250 (one of its two GCDs)": (CDNA_2, 104, 1700, 1700),
    "AMD Instinct MI210 (or one GCD of an MI250: the same figures)": (CDNA_2, 104, 1700, 1700),
    "AMD Instinct MI100": (CDNA_1, 120, 1502, 1502),
    "AMD Instinct MI60": (VEGA, 64, 1800, 1800),
    "AMD Instinct MI50": (VEGA, 60, 1725, 1725),
    "AMD Radeon AI PRO R9700": (RDNA_4, 64, 2920, 2920),
    "AMD Radeon RX 9070 XT": (RDNA_4, 64, 2970, 2970),
    "AMD Radeon RX 9070": (RDNA_4, 56, 2520, 2520),
    "AMD Radeon PRO W7900": (RDNA_3, 96, 2495, 2495),
    "AMD Radeon PRO W7800": (RDNA_3, 70, 2525, 2525),
    "AMD Radeon RX 7900 XTX": (RDNA_3, 96, 2500, 2500),
    "AMD Radeon RX 7900 XT": (RDNA_3, 84, 2394, 2394),
    "Intel Data Center GPU Max 1550 (one of its two stacks)": (XE_HPC, 64, 1600, 1600),
    "Intel Data Center GPU Max 1550": (XE_HPC, 128, 1600, 1600),
    "Intel Data Center GPU Max 1100": (XE_HPC, 56, 1550, 1550),
    "Intel Data Center GPU Flex 170": (XE_HPG, 32, 2000, 2050),
    "Intel Arc A770 16GB": (XE_HPG, 32, 2000, 2100),
    "Intel Arc A770 8GB": (XE_HPG, 32, 2000, 2100),
    "Intel Arc B580": (XE_HPG, 20, 2850, 2850),
}
GEFORCE: dict[
    tuple[str, int], tuple[tuple[Rates, Rates], int]
] = {  # (name, SMs): architecture, boost clock of NVIDIA's own boards in MHz
    **{
        key: (TURING_GEFORCE, clock)
        for key, clock in {
            ("RTX 2080 Ti", 68): 1635,
            ("RTX 2080 SUPER", 48): 1815,
            ("RTX 2080", 46): 1800,
            ("RTX 2070 SUPER", 40): 1770,
            ("RTX 2070", 36): 1710,
            ("RTX 2060 SUPER", 34): 1650,
        }.items()
    },
    **{
        key: (AMPERE_GEFORCE, clock)
        for key, clock in {
            ("RTX 3090 Ti", 84): 1860,
            ("RTX 3090", 82): 1695,
            ("RTX 3080 Ti", 80): 1665,
            ("RTX 3080", 68): 1710,
            ("RTX 3080", 70): 1710,
            ("RTX 3070 Ti", 48): 1770,
            ("RTX 3070", 46): 1725,
            ("RTX 3060 Ti", 38): 1665,
            ("RTX 3060", 28): 1777,
        }.items()
    },
    **{
        key: (ADA_GEFORCE, clock)
        for key, clock in {
            ("RTX 4090 D", 114): 2520,
            ("RTX 4090", 128): 2520,
            ("RTX 4080 SUPER", 80): 2550,
            ("RTX 4080", 76): 2505,
            ("RTX 4070 Ti SUPER", 66): 2610,
            ("RTX 4070 Ti", 60): 2610,
            ("RTX 4070 SUPER", 56): 2475,
            ("RTX 4070", 46): 2475,
            ("RTX 4060 Ti", 34): 2535,
            ("RTX 4060", 24): 2460,
        }.items()
    },
    **{
        key: (BLACKWELL_GEFORCE, clock)
        for key, clock in {
            ("RTX 5090", 170): 2407,
            ("RTX 5080", 84): 2617,
            ("RTX 5070 Ti", 70): 2452,
            ("RTX 5070", 48): 2512,
            ("RTX 5060 Ti", 36): 2572,
            ("RTX 5060", 30): 2497,
        }.items()
    },
}
UNCHECKED = {
    "NVIDIA GB300": "two dies whose SMs and clock NVIDIA does not state",
    "NVIDIA GB200": "as GB300",
    "NVIDIA B300": "as GB300",
    "NVIDIA B200": "as GB300",
    "NVIDIA H800 SXM": "an H100 with less FP64",
    "NVIDIA H800 PCIe": "an H100 with less FP64",
    "NVIDIA H20": "an H100 with a seventh of its rate",
    "NVIDIA H20 141GB": "an H20 with more memory",
    "NVIDIA GB10 (DGX Spark)": "NVIDIA states no clock",
    "NVIDIA RTX PRO 6000 Blackwell Server Edition": "NVIDIA states rounded rates and no clock",
    "NVIDIA RTX PRO 5000 Blackwell": "NVIDIA states no clock",
    "NVIDIA RTX PRO 4500 Blackwell": "no rate is listed",
    "NVIDIA RTX PRO 4000 Blackwell": "no rate is listed",
    "NVIDIA TITAN V": "110 TFLOPS as NVIDIA states it is less than what its boost clock gives",
    "Intel Gaudi 3": "Intel states no clock",
    "Intel Gaudi 2": "Intel states no clock",
}
LINES = [line for lines in TABLE.values() for line in lines]


def _known(line: Accelerator) -> tuple[tuple[Rates, Rates], int, int, int] | None:
    card = GEFORCE.get((line.name.removeprefix("NVIDIA GeForce "), line.units))
    return DEVICES.get(line.name) if card is None else (card[0], line.units, card[1], card[1])


@pytest.mark.parametrize("line", LINES, ids=[line.name for line in LINES])
def test_a_rate_is_units_times_clock(line: Accelerator) -> None:
    known = _known(line)
    assert (known is None) == (line.name in UNCHECKED), line.name
    if known is None:
        return
    (matrix, vector), units, matrix_clock, vector_clock = known
    assert line.units in (0, units)
    for rates, each, clock in (
        (line.matrix, matrix, matrix_clock),
        (line.vector, vector, vector_clock),
    ):
        for precision, rate in rates.items():
            # Double precision runs at the clock of the vector units.
            unit_clock = vector_clock if precision == "fp64" else clock
            assert rate == pytest.approx(
                each[precision] * units * unit_clock / 1e6, rel=TOLERANCE
            ), (
                line.name,
                precision,
            )


def test_every_line_is_argued() -> None:
    names = {line.name for line in LINES}
    assert set(UNCHECKED) | set(DEVICES) <= names
    assert {f"NVIDIA GeForce {name}" for name, _ in GEFORCE} <= names
