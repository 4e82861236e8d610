"""Intel accelerators. A Max device is one stack (tile) or both; its memory tells which."""

from __future__ import annotations

from torch_tb_profiler.hardware.accelerator import Accelerator

_MAX = (
    "Intel Data Center GPU Max series technical overview, "
    "https://www.intel.com/content/www/us/en/developer/articles/technical/intel-data-center-gpu-max-series-overview.html"
)
_XE = "Intel product specifications (int8; half of it for 16-bit types: Xe-HPG XMX engines), https://www.intel.com/content/www/us/en/products/details/discrete-gpus.html"
_GAUDI = "Intel Gaudi white paper, https://www.intel.com/content/www/us/en/products/details/processors/ai-accelerators/gaudi.html"

_INTEL = (
    Accelerator(
        "Intel Data Center GPU Max 1550 (one of its two stacks)",
        r"Data Center GPU Max 1550",
        _MAX,
        1638.4,
        {"tf32": 209.7, "fp16": 419.4, "bf16": 419.4, "int8": 838.9},
        {"fp64": 26.2, "fp32": 26.2},
        memory=64,
    ),
    Accelerator(
        "Intel Data Center GPU Max 1550",
        r"Data Center GPU Max 1550",
        _MAX,
        3276.8,
        {"tf32": 419.4, "fp16": 838.9, "bf16": 838.9, "int8": 1677.7},
        {"fp64": 52.4, "fp32": 52.4},
        memory=128,
    ),
    Accelerator(
        "Intel Data Center GPU Max 1100",
        r"Data Center GPU Max 1100",
        _MAX,
        1228.8,
        {"tf32": 177.8, "fp16": 355.5, "bf16": 355.5, "int8": 711.1},
        {"fp64": 22.2, "fp32": 22.2},
    ),
    Accelerator(
        "Intel Data Center GPU Flex 170",
        r"Data Center GPU Flex 170",
        _XE,
        576,
        {"fp16": 131, "bf16": 131, "int8": 262},
        {"fp32": 16.8},
    ),
    Accelerator(
        "Intel Arc A770 16GB",
        r"\bArc.* A770\b",
        _XE,
        560,
        {"fp16": 131, "bf16": 131, "int8": 262},
        {"fp32": 17.2},
        memory=16,
    ),
    Accelerator(
        "Intel Arc A770 8GB",
        r"\bArc.* A770\b",
        _XE,
        512,
        {"fp16": 131, "bf16": 131, "int8": 262},
        {"fp32": 17.2},
        memory=8,
    ),
    Accelerator(
        "Intel Arc B580",
        r"\bArc.* B580\b",
        _XE,
        456,
        {"fp16": 116.5, "bf16": 116.5, "int8": 233},
        {"fp32": 14.6},
    ),
    Accelerator("Intel Gaudi 3", r"gaudi ?3|HL-3\d5", _GAUDI, 3700, {"bf16": 1835, "fp8": 1835}),
    Accelerator("Intel Gaudi 2", r"gaudi ?2|HL-225", _GAUDI, 2450, {"bf16": 432, "fp8": 865}),
)

TABLES = {"intel": _INTEL}
