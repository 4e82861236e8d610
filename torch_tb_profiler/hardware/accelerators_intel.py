"""Intel accelerators. A Max device is one stack (tile) or both; its memory tells which."""

from __future__ import annotations

from functools import partial

from torch_tb_profiler.hardware.accelerator import read_table

_SITE = "https://www.intel.com/content/www/us/en/"
_intel = partial(
    read_table,
    maker="Intel",
    source="",
    sources={
        "max": f"Intel Data Center GPU Max series technical overview, {_SITE}developer/articles/technical/intel-data-center-gpu-max-series-overview.html",
        "xe": f"Intel product specifications (int8; half of it for 16-bit types: Xe-HPG XMX engines), {_SITE}products/details/discrete-gpus.html",
        "gaudi": f"Intel Gaudi white paper, {_SITE}products/details/processors/ai-accelerators/gaudi.html",
    },
    pattern="{}",
)

TABLE = _intel(r"""
name                                                GB/s   GB |  tf32   fp16   bf16   fp8    int8 | fp64  fp32 | source  pattern
Data Center GPU Max 1550 (one of its two stacks)  1638.4   64 | 209.7  419.4  419.4     -   838.9 | 26.2  26.2 | max
Data Center GPU Max 1550                          3276.8  128 | 419.4  838.9  838.9     -  1677.7 | 52.4  52.4 | max
Data Center GPU Max 1100                          1228.8    - | 177.8  355.5  355.5     -   711.1 | 22.2  22.2 | max
Data Center GPU Flex 170                             576    - |     -    131    131     -     262 |    -  16.8 | xe
Arc A770 16GB                                        560   16 |     -    131    131     -     262 |    -  17.2 | xe      \bArc.* A770\b
Arc A770 8GB                                         512    8 |     -    131    131     -     262 |    -  17.2 | xe      \bArc.* A770\b
Arc B580                                             456    - |     -  116.5  116.5     -     233 |    -  14.6 | xe      \bArc.* B580\b
Gaudi 3                                             3700    - |     -      -   1835  1835       - |    -     - | gaudi   gaudi ?3|HL-3\d5
Gaudi 2                                             2450    - |     -      -    432   865       - |    -     - | gaudi   gaudi ?2|HL-225
""")
