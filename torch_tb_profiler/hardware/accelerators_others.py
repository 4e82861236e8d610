"""Accelerators of other vendors. A device of the Max series is one stack (tile) or both, told apart by its memory."""

from __future__ import annotations

from torch_tb_profiler.hardware.accelerator import Accelerator

_MAX = (
    "Intel Data Center GPU Max series technical overview, "
    "https://www.intel.com/content/www/us/en/developer/articles/technical/intel-data-center-gpu-max-series-overview.html"
)
_GAUDI = "Intel Gaudi white paper, https://www.intel.com/content/www/us/en/products/details/processors/ai-accelerators/gaudi.html"

_INTEL = (
    Accelerator("Intel Data Center GPU Max 1550 (one of its two stacks)", r"Data Center GPU Max 1550", _MAX, 1638.4,
                {"tf32": 209.7, "fp16": 419.4, "bf16": 419.4, "int8": 838.9}, {"fp64": 26.2, "fp32": 26.2}, memory=64),
    Accelerator("Intel Data Center GPU Max 1550", r"Data Center GPU Max 1550", _MAX, 3276.8,
                {"tf32": 419.4, "fp16": 838.9, "bf16": 838.9, "int8": 1677.7}, {"fp64": 52.4, "fp32": 52.4}, memory=128),
    Accelerator("Intel Data Center GPU Max 1100", r"Data Center GPU Max 1100", _MAX, 1228.8,
                {"tf32": 177.8, "fp16": 355.5, "bf16": 355.5, "int8": 711.1}, {"fp64": 22.2, "fp32": 22.2}),
    Accelerator("Intel Gaudi 3", r"gaudi ?3|HL-3\d5", _GAUDI, 3700, {"bf16": 1835, "fp8": 1835}),
    Accelerator("Intel Gaudi 2", r"gaudi ?2|HL-225", _GAUDI, 2450, {"bf16": 432, "fp8": 865}),
)

TABLES = {"intel": _INTEL}
