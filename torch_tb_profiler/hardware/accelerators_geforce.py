"""NVIDIA workstation and GeForce cards since Volta.

GeForce rates are with float32 accumulation, as cuBLAS and cuDNN use it: half of the advertised
ones. Laptop devices are left out because their clocks depend on the laptop.
"""

from __future__ import annotations

from torch_tb_profiler.hardware.accelerator import Accelerator

SITE = "https://www.nvidia.com/"
_TURING = (
    "NVIDIA Turing GPU architecture white paper, "
    "https://images.nvidia.com/aem-dam/en-zz/Solutions/design-visualization/technologies/turing-architecture/NVIDIA-Turing-Architecture-Whitepaper.pdf"
)
_AMPERE = (
    "NVIDIA Ampere GA102 GPU architecture white paper,"
    f" {SITE}content/PDF/nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.pdf"
)
_ADA = (
    "NVIDIA Ada GPU architecture white paper,"
    " https://images.nvidia.com/aem-dam/Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf"
)
_RTX_BLACKWELL = (
    "NVIDIA RTX Blackwell GPU architecture white paper,"
    " https://images.nvidia.com/aem-dam/Solutions/geforce/blackwell/nvidia-rtx-blackwell-gpu-architecture.pdf"
)
_RTX_PRO = (
    "NVIDIA RTX PRO 6000 Blackwell data sheet,"
    f" {SITE}en-us/products/workstations/professional-desktop-gpus/rtx-pro-6000/"
)
_RTX_PRO_SMALLER = (
    f"NVIDIA product page, {SITE}en-us/products/workstations/professional-desktop-gpus/"
)


def tensor_cores(half: float, **others: float) -> dict[str, float]:
    """Rates of Tensor Cores with equal float16 and bfloat16 rates."""
    return {"fp16": half, "bf16": half, **others}


_GEFORCE_20 = (  # name, fp32, half, int8, GB/s, SMs; as NVIDIA's own boards are clocked
    ("RTX 2080 Ti", 14.2, 56.9, 227.7, 616, 68),
    ("RTX 2080 SUPER", 11.2, 44.6, 178.4, 496, 48),
    ("RTX 2080", 10.6, 42.4, 169.6, 448, 46),
    ("RTX 2070 SUPER", 9.1, 36.3, 145, 448, 40),
    ("RTX 2070", 7.9, 31.5, 126, 448, 36),
    ("RTX 2060 SUPER", 7.2, 28.7, 114.8, 448, 34),
)
_GEFORCE_30 = (  # name, fp32 = tf32, half, int8, GB/s, SMs
    ("RTX 3090 Ti", 40, 80, 320, 1008, 84),
    ("RTX 3090", 35.6, 71.2, 284.7, 936, 82),
    ("RTX 3080 Ti", 34.1, 68.2, 272.8, 912, 80),
    ("RTX 3080", 29.8, 59.5, 238.1, 760, 68),
    ("RTX 3080", 30.6, 61.3, 245.1, 912, 70),
    ("RTX 3070 Ti", 21.7, 43.5, 174, 608, 48),
    ("RTX 3070", 20.3, 40.6, 162.6, 448, 46),
    ("RTX 3060 Ti", 16.2, 32.4, 129.6, 448, 38),
    ("RTX 3060", 12.7, 25.5, 101.9, 360, 28),
)
_GEFORCE_40 = (  # name, fp32 = tf32, half, GB/s, SMs; fp8 is twice, int8 four times the half rate
    ("RTX 4090 D", 73.5, 147, 1008, 114),
    ("RTX 4090", 82.6, 165.2, 1008, 128),
    ("RTX 4080 SUPER", 52.2, 104.4, 736, 80),
    ("RTX 4080", 48.7, 97.5, 717, 76),
    ("RTX 4070 Ti SUPER", 44.1, 88.2, 672, 66),
    ("RTX 4070 Ti", 40.1, 80.2, 504, 60),
    ("RTX 4070 SUPER", 35.5, 71, 504, 56),
    ("RTX 4070", 29.1, 58.3, 504, 46),
    ("RTX 4060 Ti", 22.1, 44.1, 288, 34),
    ("RTX 4060", 15.1, 30.2, 272, 24),
)
_GEFORCE_50 = (  # the same, and fp4 is eight times the half rate
    ("RTX 5090", 104.8, 209.5, 1792, 170),
    ("RTX 5080", 56.3, 112.6, 960, 84),
    ("RTX 5070 Ti", 43.9, 87.9, 896, 70),
    ("RTX 5070", 30.9, 61.7, 672, 48),
    ("RTX 5060 Ti", 23.7, 47.4, 448, 36),
    ("RTX 5060", 19.2, 38.4, 448, 30),
)
_RTX_ADA = (  # name, fp32, half, GB/s, SMs; tf32 is half, fp8 and int8 are twice the half rate
    ("RTX 5880", 69.3, 277.1, 960, 110),
    ("RTX 5000", 65.3, 261.1, 576, 100),
    ("RTX 4500", 39.6, 158.5, 432, 60),
    ("RTX 4000 SFF", 19.2, 76.7, 280, 48),
    ("RTX 4000", 26.7, 106.9, 360, 48),
    ("RTX 2000", 12, 48, 224, 22),
)
_RTX_AMPERE = (  # name, fp32, half, GB/s, SMs; tf32 is half, int8 twice the half rate
    ("A5500", 34.1, 136.4, 768, 80),
    ("A5000", 27.8, 111.1, 768, 64),
    ("A4500", 23.7, 94.6, 640, 56),
    ("A4000", 19.2, 76.7, 448, 48),
    ("A2000", 8, 31.9, 288, 26),
)
_LAPTOP = r"(?!.*(?:Laptop|Max-Q|Mobile))"


def _desktop(name: str) -> str:
    """Excludes laptop devices of the same name, and ``Ti``, ``SUPER`` and ``D``."""
    return rf"{name}\b(?! (?:Ti|SUPER|D)\b){_LAPTOP}"


WORKSTATION = (
    Accelerator(
        "NVIDIA RTX PRO 6000 Blackwell Server Edition",
        r"RTX PRO 6000 Blackwell Server",
        _RTX_PRO,
        1597,
        tensor_cores(500, fp8=1000, int8=1000, fp4=2000),
        {"fp32": 120},
        188,
    ),
    Accelerator(
        "NVIDIA RTX PRO 6000 Blackwell Max-Q",
        r"RTX PRO 6000 Blackwell Max-Q",
        _RTX_PRO,
        1792,
        tensor_cores(438.9, tf32=219.5, fp8=877.8, int8=877.8, fp4=1755.5),
        {"fp32": 110},
        188,
    ),
    Accelerator(
        "NVIDIA RTX PRO 6000 Blackwell",
        r"RTX PRO 6000 Blackwell",
        _RTX_PRO,
        1792,
        tensor_cores(503.8, tf32=251.9, fp8=1007.6, int8=1007.6, fp4=2015.2),
        {"fp32": 125},
        188,
    ),
    Accelerator(
        "NVIDIA RTX 6000 Ada",
        r"RTX 6000 Ada",
        _ADA,
        960,
        tensor_cores(364.2, tf32=182.1, fp8=728.5, int8=728.5),
        {"fp32": 91.1},
        142,
    ),
    # Of these NVIDIA states rates with sparsity and without a clock; they are left out where what
    # is known does not fit together.
    Accelerator(
        "NVIDIA RTX PRO 5000 Blackwell",
        rf"RTX PRO 5000 Blackwell{_LAPTOP}",
        f"{_RTX_PRO_SMALLER}rtx-pro-5000/",
        1344,
        {"fp4": 1032},
        units=110,
    ),
    Accelerator(
        "NVIDIA RTX PRO 4500 Blackwell",
        rf"RTX PRO 4500 Blackwell{_LAPTOP}",
        f"{_RTX_PRO_SMALLER}rtx-pro-4500/",
        896,
        units=82,
    ),
    Accelerator(
        "NVIDIA RTX PRO 4000 Blackwell",
        rf"RTX PRO 4000 Blackwell(?! SFF){_LAPTOP}",
        f"{_RTX_PRO_SMALLER}rtx-pro-4000/",
        672,
        units=70,
    ),
    *(
        Accelerator(
            f"NVIDIA {name} Ada",
            rf"{name} Ada{_LAPTOP}",
            f"NVIDIA {name} Ada data sheet, {SITE}en-us/products/workstations/",
            bandwidth,
            tensor_cores(half, tf32=half / 2, fp8=2 * half, int8=2 * half),
            {"fp32": single},
            units,
        )
        for name, single, half, bandwidth, units in _RTX_ADA
    ),
    Accelerator(
        "NVIDIA RTX A6000",
        r"RTX A6000",
        _AMPERE,
        768,
        tensor_cores(154.8, tf32=77.4, int8=309.7),
        {"fp32": 38.7},
        84,
    ),
    *(
        Accelerator(
            f"NVIDIA RTX {name}",
            rf"RTX {name}\b{_LAPTOP}",
            f"NVIDIA RTX {name} data sheet, {SITE}en-us/design-visualization/",
            bandwidth,
            tensor_cores(half, tf32=half / 2, int8=2 * half),
            {"fp32": single},
            units,
        )
        for name, single, half, bandwidth, units in _RTX_AMPERE
    ),
    Accelerator(
        "NVIDIA Quadro RTX 8000 / 6000",
        rf"Quadro RTX [86]000{_LAPTOP}",
        _TURING,
        672,
        {"fp16": 130.5, "int8": 261},
        {"fp32": 16.3},
        72,
    ),
    Accelerator(
        "NVIDIA Quadro RTX 5000",
        rf"Quadro RTX 5000{_LAPTOP}",
        _TURING,
        448,
        {"fp16": 89.2, "int8": 178.4},
        {"fp32": 11.2},
        48,
    ),
    Accelerator(
        "NVIDIA TITAN RTX",
        r"TITAN RTX",
        _TURING,
        672,
        {"fp16": 130.5, "int8": 261},
        {"fp32": 16.3},
        72,
    ),
    Accelerator(
        "NVIDIA TITAN V",
        r"TITAN V\b",
        "NVIDIA TITAN V, " + SITE + "en-us/titan/titan-v/",
        652.8,
        {"fp16": 110},
        {"fp64": 7.45, "fp32": 14.9},
        80,
    ),
    *(
        Accelerator(
            f"NVIDIA GeForce {name}",
            _desktop(name),
            _TURING,
            bandwidth,
            {"fp16": half, "int8": whole},
            {"fp32": single},
            units,
        )
        for name, single, half, whole, bandwidth, units in _GEFORCE_20
    ),
    *(
        Accelerator(
            f"NVIDIA GeForce {name}",
            _desktop(name),
            _AMPERE,
            bandwidth,
            tensor_cores(half, tf32=single, int8=whole),
            {"fp32": single},
            units,
        )
        for name, single, half, whole, bandwidth, units in _GEFORCE_30
    ),
    *(
        Accelerator(
            f"NVIDIA GeForce {name}",
            _desktop(name),
            _ADA,
            bandwidth,
            tensor_cores(half, tf32=single, fp8=2 * half, int8=4 * half),
            {"fp32": single},
            units,
        )
        for name, single, half, bandwidth, units in _GEFORCE_40
    ),
    *(
        Accelerator(
            f"NVIDIA GeForce {name}",
            _desktop(name),
            _RTX_BLACKWELL,
            bandwidth,
            tensor_cores(half, tf32=single, fp8=2 * half, int8=4 * half, fp4=8 * half),
            {"fp32": single},
            units,
        )
        for name, single, half, bandwidth, units in _GEFORCE_50
    ),
)
