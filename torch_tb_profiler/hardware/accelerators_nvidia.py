"""NVIDIA's accelerators since Volta. GeForce rates are those with float32 accumulation, which is what cuBLAS and cuDNN use: half of the advertised ones."""

from __future__ import annotations

from torch_tb_profiler.hardware.accelerator import Accelerator

_SITE = "https://www.nvidia.com/"
_VOLTA = "NVIDIA V100 data sheet, https://images.nvidia.com/content/technologies/volta/pdf/volta-v100-datasheet-update-us-1165301-r5.pdf"
_T4 = f"NVIDIA T4 data sheet, {_SITE}content/dam/en-zz/Solutions/Data-Center/tesla-t4/t4-tensor-core-datasheet-951643.pdf"
_TURING = (
    "NVIDIA Turing GPU architecture white paper, "
    "https://images.nvidia.com/aem-dam/en-zz/Solutions/design-visualization/technologies/turing-architecture/NVIDIA-Turing-Architecture-Whitepaper.pdf"
)
_A100 = f"NVIDIA A100 data sheet, {_SITE}content/dam/en-zz/Solutions/Data-Center/a100/pdf/nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf"
_AMPERE = f"NVIDIA Ampere GA102 GPU architecture white paper, {_SITE}content/PDF/nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.pdf"
_ADA = "NVIDIA Ada GPU architecture white paper, https://images.nvidia.com/aem-dam/Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf"
_H100 = "NVIDIA H100 data sheet, https://resources.nvidia.com/en-us-tensor-core/nvidia-tensor-core-gpu-datasheet"
_H200 = f"NVIDIA H200 data sheet, {_SITE}en-us/data-center/h200/"
_GH200 = f"NVIDIA GH200 data sheet, {_SITE}en-us/data-center/grace-hopper-superchip/"
_HGX = f"NVIDIA HGX platform specifications (per GPU), {_SITE}en-us/data-center/hgx/"
_GB200 = f"NVIDIA GB200 NVL72 specifications (per GPU), {_SITE}en-us/data-center/gb200-nvl72/"
_GB300 = f"NVIDIA GB300 NVL72 specifications (per GPU), {_SITE}en-us/data-center/gb300-nvl72/"
_RTX_BLACKWELL = "NVIDIA RTX Blackwell GPU architecture white paper, https://images.nvidia.com/aem-dam/Solutions/geforce/blackwell/nvidia-rtx-blackwell-gpu-architecture.pdf"
_RTX_PRO = f"NVIDIA RTX PRO 6000 Blackwell data sheet, {_SITE}en-us/products/workstations/professional-desktop-gpus/rtx-pro-6000/"
_EXPORT = "figures of the export variant as published by server makers; NVIDIA has no public data sheet"


def _page(path: str) -> str:
    return f"NVIDIA product page, {_SITE}en-us/data-center/{path}/"


def _tensor(half: float, **others: float) -> dict[str, float]:
    """Rates of Tensor Cores whose float16 and bfloat16 rates are one."""
    return {"fp16": half, "bf16": half, **others}


_H100_SXM = _tensor(989.4, fp64=67, tf32=494.7, fp8=1978.9, int8=1978.9)
_H100_NVL = _tensor(835.5, fp64=60, tf32=417.5, fp8=1670.5, int8=1670.5)
_HOPPER = {"fp64": 34, "fp32": 67}

DATA_CENTRE = (
    Accelerator("NVIDIA GB300", r"\bGB300\b", _GB300, 8000, _tensor(2500, fp64=1.3, tf32=1250, fp8=5000, fp4=15000), {"fp64": 1.3, "fp32": 80}),
    Accelerator("NVIDIA GB200", r"\bGB200\b", _GB200, 8000, _tensor(2500, fp64=40, tf32=1250, fp8=5000, int8=5000, fp4=10000), {"fp64": 40, "fp32": 80}),
    Accelerator("NVIDIA B300", r"\bB300\b", _HGX, 8000, _tensor(2250, fp64=1.25, tf32=1125, fp8=4500), {"fp64": 1.25, "fp32": 75}),
    Accelerator("NVIDIA B200", r"\bB200\b", _HGX, 8000, _tensor(2250, fp64=37, tf32=1125, fp8=4500, int8=4500, fp4=9000), {"fp64": 37, "fp32": 75}, 148),
    Accelerator("NVIDIA GH200 (HBM3e)", r"\bGH200\b", _GH200, 4900, _H100_SXM, _HOPPER, 132, 141),
    Accelerator("NVIDIA GH200 (HBM3)", r"\bGH200\b", _GH200, 4000, _H100_SXM, _HOPPER, 132, 96),
    Accelerator("NVIDIA H200 NVL", r"\bH200 NVL\b", _H200, 4800, _H100_NVL, {"fp64": 30, "fp32": 60}, 132),
    Accelerator("NVIDIA H200", r"\bH200\b", _H200, 4800, _H100_SXM, _HOPPER, 132),
    Accelerator("NVIDIA H100 NVL", r"\bH100 NVL\b", _H100, 3900, _H100_NVL, {"fp64": 30, "fp32": 60}, 132),
    Accelerator("NVIDIA H100 PCIe", r"\bH100\b", _H100, 2000, _tensor(756.5, fp64=51, tf32=378, fp8=1513, int8=1513), {"fp64": 26, "fp32": 51}, 114),
    Accelerator("NVIDIA H100 SXM", r"\bH100\b(?!.*PCIe)", _H100, 3350, _H100_SXM, _HOPPER, 132),
    Accelerator("NVIDIA H800 PCIe", r"\bH800\b", _EXPORT, 2000, _tensor(756.5, fp64=0.8, tf32=378, fp8=1513, int8=1513), {"fp64": 0.8, "fp32": 51}, 114),
    Accelerator("NVIDIA H800 SXM", r"\bH800\b(?!.*PCIe)", _EXPORT, 3350, {**_H100_SXM, "fp64": 1}, {"fp64": 1, "fp32": 67}, 132),
    Accelerator("NVIDIA H20", r"\bH20\b", _EXPORT, 4000, _tensor(148, fp64=1, tf32=74, fp8=296, int8=296), {"fp64": 1, "fp32": 44}, 78, 96),
    Accelerator("NVIDIA L40S", r"\bL40S\b", _page("l40s"), 864, _tensor(362.05, tf32=183, fp8=733, int8=733), {"fp32": 91.6}, 142),
    Accelerator("NVIDIA L40", r"\bL40\b", _page("l40"), 864, _tensor(181.05, tf32=90.5, fp8=362, int8=362), {"fp32": 90.5}, 142),
    Accelerator("NVIDIA L20", r"\bL20\b", _EXPORT, 864, _tensor(119.5, tf32=59.8, fp8=239, int8=239), {"fp32": 59.8}, 92),
    Accelerator("NVIDIA L4", r"\bL4\b", _page("l4"), 300, _tensor(121, tf32=60, fp8=242.5, int8=242.5), {"fp32": 30.3}, 58),
    *(
        Accelerator(f"NVIDIA {name}", pattern, _A100, bandwidth, _tensor(312, fp64=19.5, tf32=156, int8=624),
                    {"fp64": 9.7, "fp32": 19.5, "fp16": 78, "bf16": 39}, 108, memory)
        for name, pattern, bandwidth, memory in (
            ("A100 PCIe 80GB", r"\bA100\b.*PCI", 1935, 80), ("A100 PCIe 40GB", r"\bA100\b.*PCI", 1555, 40),
            ("A100 SXM 80GB", r"\bA100\b(?!.*PCI)", 2039, 80), ("A100 SXM 40GB", r"\bA100\b(?!.*PCI)", 1555, 40),
            ("A800 PCIe 80GB", r"\bA800\b.*PCI", 1935, 80), ("A800 SXM 80GB", r"\bA800\b.*SXM", 2039, 80), ("A800 40GB", r"\bA800\b", 1555, 40),
        )
    ),
    Accelerator("NVIDIA A40", r"\bA40\b", _page("a40"), 696, _tensor(149.7, tf32=74.8, int8=299.3), {"fp32": 37.4}, 84),
    Accelerator("NVIDIA A30", r"\bA30\b", _page("products/a30-gpu"), 933, _tensor(165, fp64=10.3, tf32=82, int8=330), {"fp64": 5.2, "fp32": 10.3}, 56),
    Accelerator("NVIDIA A10G", r"\bA10G\b", "NVIDIA A10G data sheet, https://d1.awsstatic.com/product-marketing/ec2/NVIDIA_AWS_A10G_DataSheet_FINAL_02_17_2022.pdf",
                600, _tensor(70, tf32=35, int8=140), {"fp32": 35}),
    Accelerator("NVIDIA A10", r"\bA10\b", _page("products/a10-gpu"), 600, _tensor(125, tf32=62.5, int8=250), {"fp32": 31.2}, 72),
    Accelerator("NVIDIA A2", r"\bA2\b", _page("products/a2"), 200, _tensor(18, tf32=9, int8=36), {"fp32": 4.5}, 10),
    Accelerator("NVIDIA T4", r"\bT4\b", _T4, 320, {"fp16": 65, "int8": 130}, {"fp32": 8.1}, 40),
    Accelerator("NVIDIA V100S PCIe", r"\bV100S\b", _VOLTA, 1134, {"fp16": 130}, {"fp64": 8.2, "fp32": 16.4, "fp16": 32.8}, 80),
    Accelerator("NVIDIA V100 PCIe", r"\bV100\b.*(?:PCI|FHHL)", _VOLTA, 900, {"fp16": 112}, {"fp64": 7, "fp32": 14, "fp16": 28}, 80),
    Accelerator("NVIDIA V100 SXM2", r"\bV100\b", _VOLTA, 900, {"fp16": 125}, {"fp64": 7.8, "fp32": 15.7, "fp16": 31.4}, 80),
)

_GEFORCE_30 = (  # name, fp32 = tf32, half, int8, GB/s, SMs
    ("RTX 3090 Ti", 40, 80, 320, 1008, 84), ("RTX 3090", 35.6, 71.2, 284.7, 936, 82), ("RTX 3080 Ti", 34.1, 68.2, 272.8, 912, 80),
    ("RTX 3080", 29.8, 59.5, 238.1, 760, 68), ("RTX 3070 Ti", 21.7, 43.5, 174, 608, 48), ("RTX 3070", 20.3, 40.6, 162.6, 448, 46),
    ("RTX 3060", 12.7, 25.5, 101.9, 360, 28),
)
_GEFORCE_40 = (  # name, fp32 = tf32, half, GB/s, SMs; fp8 is twice, int8 four times the half rate
    ("RTX 4090 D", 73.5, 147, 1008, 114), ("RTX 4090", 82.6, 165.2, 1008, 128), ("RTX 4080 SUPER", 52.2, 104.4, 736, 80), ("RTX 4080", 48.7, 97.5, 717, 76),
    ("RTX 4070 Ti SUPER", 44.1, 88.2, 672, 66), ("RTX 4070 Ti", 40.1, 80.2, 504, 60), ("RTX 4070 SUPER", 35.5, 71, 504, 56), ("RTX 4070", 29.1, 58.3, 504, 46),
    ("RTX 4060 Ti", 22.1, 44.1, 288, 34), ("RTX 4060", 15.1, 30.2, 272, 24),
)
_GEFORCE_50 = (  # the same, and fp4 is eight times the half rate
    ("RTX 5090", 104.8, 209.5, 1792, 170), ("RTX 5080", 56.3, 112.6, 960, 84), ("RTX 5070 Ti", 43.9, 87.9, 896, 70), ("RTX 5070", 30.9, 61.7, 672, 48),
)


def _desktop(name: str) -> str:
    """Laptop devices of the same name are others; ``Ti``, ``SUPER`` and ``D`` as well."""
    return rf"{name}\b(?! (?:Ti|SUPER|D)\b)(?!.*(?:Laptop|Max-Q|Mobile))"


WORKSTATION = (
    Accelerator("NVIDIA RTX PRO 6000 Blackwell Server Edition", r"RTX PRO 6000 Blackwell Server", _RTX_PRO, 1597,
                _tensor(500, fp8=1000, int8=1000, fp4=2000), {"fp32": 120}, 188),
    Accelerator("NVIDIA RTX PRO 6000 Blackwell Max-Q", r"RTX PRO 6000 Blackwell Max-Q", _RTX_PRO, 1792,
                _tensor(438.9, tf32=219.5, fp8=877.8, int8=877.8, fp4=1755.5), {"fp32": 110}, 188),
    Accelerator("NVIDIA RTX PRO 6000 Blackwell", r"RTX PRO 6000 Blackwell", _RTX_PRO, 1792,
                _tensor(503.8, tf32=251.9, fp8=1007.6, int8=1007.6, fp4=2015.2), {"fp32": 125}, 188),
    Accelerator("NVIDIA RTX 6000 Ada", r"RTX 6000 Ada", _ADA, 960, _tensor(364.2, tf32=182.1, fp8=728.5, int8=728.5), {"fp32": 91.1}, 142),
    *(Accelerator(f"NVIDIA RTX {number} Ada", rf"RTX {number} Ada(?!.*(?:Laptop|Mobile))",
                  f"NVIDIA RTX {number} Ada data sheet, {_SITE}en-us/products/workstations/", bandwidth,
                  _tensor(half, tf32=half / 2, fp8=2 * half, int8=2 * half), {"fp32": single}, units)
      for number, single, half, bandwidth, units in ((5000, 65.3, 261.1, 576, 100), (4500, 39.6, 158.5, 432, 60), (4000, 26.7, 106.9, 360, 48))),
    Accelerator("NVIDIA RTX A6000", r"RTX A6000", _AMPERE, 768, _tensor(154.8, tf32=77.4, int8=309.7), {"fp32": 38.7}, 84),
    Accelerator("NVIDIA RTX A5000", r"RTX A5000(?!.*(?:Laptop|Mobile))", "NVIDIA RTX A5000 data sheet, " + _SITE + "en-us/design-visualization/rtx-a5000/", 768,
                _tensor(111.1, tf32=55.6, int8=222.2), {"fp32": 27.8}, 64),
    Accelerator("NVIDIA RTX A4000", r"RTX A4000(?!.*(?:Laptop|Mobile))", "NVIDIA RTX A4000 data sheet, " + _SITE + "en-us/design-visualization/rtx-a4000/", 448,
                _tensor(76.7, tf32=38.3, int8=153.4), {"fp32": 19.2}, 48),
    Accelerator("NVIDIA Quadro RTX 8000 / 6000", r"Quadro RTX [86]000(?!.*(?:Laptop|Max-Q))", _TURING, 672, {"fp16": 130.5, "int8": 261}, {"fp32": 16.3}, 72),
    Accelerator("NVIDIA TITAN RTX", r"TITAN RTX", _TURING, 672, {"fp16": 130.5, "int8": 261}, {"fp32": 16.3}, 72),
    Accelerator("NVIDIA TITAN V", r"TITAN V\b", "NVIDIA TITAN V, " + _SITE + "en-us/titan/titan-v/", 652.8, {"fp16": 110}, {"fp64": 7.45, "fp32": 14.9}, 80),
    Accelerator("NVIDIA GeForce RTX 2080 Ti", r"RTX 2080 Ti", _TURING, 616, {"fp16": 56.9, "int8": 227.7}, {"fp32": 14.2}, 68),
    Accelerator("NVIDIA GeForce RTX 2080", _desktop("RTX 2080"), _TURING, 448, {"fp16": 42.4, "int8": 169.6}, {"fp32": 10.6}, 46),
    *(Accelerator(f"NVIDIA GeForce {name}", _desktop(name), _AMPERE, bandwidth, _tensor(half, tf32=single, int8=whole), {"fp32": single}, units)
      for name, single, half, whole, bandwidth, units in _GEFORCE_30),
    *(Accelerator(f"NVIDIA GeForce {name}", _desktop(name), _ADA, bandwidth, _tensor(half, tf32=single, fp8=2 * half, int8=4 * half), {"fp32": single}, units)
      for name, single, half, bandwidth, units in _GEFORCE_40),
    *(Accelerator(f"NVIDIA GeForce {name}", _desktop(name), _RTX_BLACKWELL, bandwidth,
                  _tensor(half, tf32=single, fp8=2 * half, int8=4 * half, fp4=8 * half), {"fp32": single}, units)
      for name, single, half, bandwidth, units in _GEFORCE_50),
)

TABLE = DATA_CENTRE + WORKSTATION
