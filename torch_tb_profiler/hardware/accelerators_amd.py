"""AMD accelerators since Vega 20 and current workstation cards. An MI200 device is one die (GCD)."""

from __future__ import annotations

from torch_tb_profiler.hardware.accelerator import Accelerator

_SITE = "https://www.amd.com/en/products/"


def _instinct(series: str, model: str) -> str:
    return (
        f"AMD Instinct {model.upper()} data sheet,"
        f" {_SITE}accelerators/instinct/{series}/{model}.html"
    )


def _half(rate: float, **others: float) -> dict[str, float]:
    """Rates of Matrix Cores with equal float16 and bfloat16 rates."""
    return {"fp16": rate, "bf16": rate, **others}


_VEGA = f"AMD Radeon Instinct MI60 and MI50 data sheets, {_SITE}accelerators/instinct.html"
_MI300X = _half(1307.4, fp64=163.4, fp32=163.4, tf32=653.7, fp8=2614.9, int8=2614.9)
_MI210 = _half(181, fp64=45.3, fp32=45.3, int8=181)

TABLE = (
    Accelerator(
        "AMD Instinct MI355X",
        r"\bMI355X",
        _instinct("mi350", "mi355x"),
        8000,
        _half(2516.6, fp64=78.6, fp32=157.3, fp8=5033.2, int8=5033.2, fp4=10066.3),
        {"fp64": 78.6, "fp32": 157.3},
        256,
    ),
    Accelerator(
        "AMD Instinct MI350X",
        r"\bMI350X",
        _instinct("mi350", "mi350x"),
        8000,
        _half(2306.9, fp64=72.1, fp32=144.2, fp8=4613.7, int8=4613.7, fp4=9227.5),
        {"fp64": 72.1, "fp32": 144.2},
        256,
    ),
    Accelerator(
        "AMD Instinct MI325X",
        r"\bMI325X",
        _instinct("mi300", "mi325x"),
        6000,
        _MI300X,
        {"fp64": 81.7, "fp32": 163.4},
        304,
        256,
    ),
    Accelerator(
        "AMD Instinct MI300X",
        r"\bMI300X",
        _instinct("mi300", "mi300x"),
        5300,
        _MI300X,
        {"fp64": 81.7, "fp32": 163.4},
        304,
        192,
    ),
    Accelerator(
        "AMD Instinct MI300A",
        r"\bMI300A",
        _instinct("mi300", "mi300a"),
        5300,
        _half(980.6, fp64=122.6, fp32=122.6, tf32=490.3, fp8=1961.2, int8=1961.2),
        {"fp64": 61.3, "fp32": 122.6},
        228,
    ),
    Accelerator(
        "AMD Instinct MI250X (one of its two GCDs)",
        r"\bMI250X",
        _instinct("mi200", "mi250x"),
        1638.4,
        _half(191.5, fp64=47.9, fp32=47.9, int8=191.5),
        {"fp64": 23.9, "fp32": 23.9},
        110,
        64,
    ),
    Accelerator(
        "AMD Instinct MI250 (one of its two GCDs)",
        r"\bMI250\b",
        _instinct("mi200", "mi250"),
        1638.4,
        _MI210,
        {"fp64": 22.6, "fp32": 22.6},
        104,
    ),
    Accelerator(
        "AMD Instinct MI210 (or one GCD of an MI250: the same figures)",
        r"\bMI210\b",
        _instinct("mi200", "mi210"),
        1638.4,
        _MI210,
        {"fp64": 22.6, "fp32": 22.6},
        104,
        64,
    ),
    Accelerator(
        "AMD Instinct MI100",
        r"\bMI100\b",
        _instinct("mi100", "mi100"),
        1228.8,
        {"fp32": 46.1, "fp16": 184.6, "bf16": 92.3, "int8": 184.6},
        {"fp64": 11.5, "fp32": 23.1},
        120,
        32,
    ),
    # ROCm gives both the name "AMD Instinct MI60 / MI50"; neither has Matrix Cores.
    Accelerator(
        "AMD Instinct MI60",
        r"\bMI60\b",
        _VEGA,
        1024,
        {},
        {"fp64": 7.4, "fp32": 14.7, "fp16": 29.5},
        64,
    ),
    Accelerator(
        "AMD Instinct MI50",
        r"\bMI50\b",
        _VEGA,
        1024,
        {},
        {"fp64": 6.6, "fp32": 13.3, "fp16": 26.5},
        60,
    ),
    Accelerator(
        "AMD Radeon AI PRO R9700",
        r"\bR9700\b",
        f"AMD Radeon AI PRO R9700 specifications, {_SITE}graphics/workstations/radeon-ai-pro.html",
        640,
        _half(191, fp8=383, int8=383),
        {"fp32": 47.8},
    ),
    Accelerator(
        "AMD Radeon RX 9070 XT",
        r"\bRX 9070 XT\b",
        f"AMD Radeon RX 9070 XT specifications, {_SITE}graphics/desktops/radeon/9000-series.html",
        640,
        _half(195, fp8=389, int8=389),
        {"fp32": 48.7},
    ),
    Accelerator(
        "AMD Radeon RX 9070",
        r"\bRX 9070\b(?! (?:XT|GRE))",
        f"AMD Radeon RX 9070 specifications, {_SITE}graphics/desktops/radeon/9000-series.html",
        640,
        _half(145, fp8=289, int8=289),
        {"fp32": 36.1},
    ),
    Accelerator(
        "AMD Radeon PRO W7900",
        r"\bW7900\b(?! ?D)",
        f"AMD Radeon PRO W7900 specifications, {_SITE}graphics/workstations/radeon-pro/w7900.html",
        864,
        _half(122.6),
        {"fp32": 61.3},
    ),
    Accelerator(
        "AMD Radeon PRO W7800",
        r"\bW7800\b(?!.*48)",
        f"AMD Radeon PRO W7800 specifications, {_SITE}graphics/workstations/radeon-pro/w7800.html",
        576,
        _half(90.5),
        {"fp32": 45.2},
    ),
    Accelerator(
        "AMD Radeon RX 7900 XTX",
        r"\bRX 7900 XTX\b",
        "AMD Radeon RX 7900 XTX specifications,"
        f" {_SITE}graphics/desktops/radeon/7000-series/amd-radeon-rx-7900xtx.html",
        960,
        _half(122.8),
        {"fp32": 61.4},
    ),
    Accelerator(
        "AMD Radeon RX 7900 XT",
        r"\bRX 7900 XT\b",
        "AMD Radeon RX 7900 XT specifications,"
        f" {_SITE}graphics/desktops/radeon/7000-series/amd-radeon-rx-7900xt.html",
        800,
        _half(103),
        {"fp32": 51.5},
    ),
)
