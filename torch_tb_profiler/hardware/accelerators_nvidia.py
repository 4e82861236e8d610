"""NVIDIA accelerators since Volta."""

from __future__ import annotations

from torch_tb_profiler.hardware.accelerator import Accelerator
from torch_tb_profiler.hardware.accelerators_geforce import SITE, WORKSTATION, tensor_cores

_VOLTA = (
    "NVIDIA V100 data sheet,"
    " https://images.nvidia.com/content/technologies/volta/pdf/volta-v100-datasheet-update-us-1165301-r5.pdf"
)
_T4 = (
    "NVIDIA T4 data sheet,"
    f" {SITE}content/dam/en-zz/Solutions/Data-Center/tesla-t4/t4-tensor-core-datasheet-951643.pdf"
)
_A100 = (
    "NVIDIA A100 data sheet,"
    f" {SITE}content/dam/en-zz/Solutions/Data-Center/a100/pdf/nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf"
)
_H100 = (
    "NVIDIA H100 data sheet,"
    " https://resources.nvidia.com/en-us-tensor-core/nvidia-tensor-core-gpu-datasheet"
)
_H200 = f"NVIDIA H200 data sheet, {SITE}en-us/data-center/h200/"
_GH200 = f"NVIDIA GH200 data sheet, {SITE}en-us/data-center/grace-hopper-superchip/"
_HGX = f"NVIDIA HGX platform specifications (per GPU), {SITE}en-us/data-center/hgx/"
_GB200 = f"NVIDIA GB200 NVL72 specifications (per GPU), {SITE}en-us/data-center/gb200-nvl72/"
_GB300 = f"NVIDIA GB300 NVL72 specifications (per GPU), {SITE}en-us/data-center/gb300-nvl72/"
_JETSON = f"{SITE}en-us/autonomous-machines/embedded-systems/"
_ORIN = r"^(?:NVIDIA )?(?:Jetson )?(?:AGX )?Orin\b(?!.*(?:Nano|NX))"
_ORIN_SHEET = f"NVIDIA Jetson AGX Orin technical brief (dense, GPU alone), {_JETSON}jetson-orin/"
_EXPORT = (
    "figures of the export variant as published by server makers; NVIDIA has no public data sheet"
)


def _page(path: str) -> str:
    return f"NVIDIA product page, {SITE}en-us/data-center/{path}/"


_H100_SXM = tensor_cores(989.4, fp64=67, tf32=494.7, fp8=1978.9, int8=1978.9)
_H100_NVL = tensor_cores(835.5, fp64=60, tf32=417.5, fp8=1670.5, int8=1670.5)
_HOPPER = {"fp64": 34, "fp32": 67}
_H20 = tensor_cores(148, fp64=1, tf32=74, fp8=296, int8=296)

DATA_CENTRE = (
    Accelerator(
        "NVIDIA GB300",
        r"\bGB300\b",
        _GB300,
        8000,
        tensor_cores(2500, fp64=1.3, tf32=1250, fp8=5000, fp4=15000),
        {"fp64": 1.3, "fp32": 80},
    ),
    Accelerator(
        "NVIDIA GB200",
        r"\bGB200\b",
        _GB200,
        8000,
        tensor_cores(2500, fp64=40, tf32=1250, fp8=5000, int8=5000, fp4=10000),
        {"fp64": 40, "fp32": 80},
    ),
    Accelerator(
        "NVIDIA B300",
        r"\bB300\b",
        _HGX,
        8000,
        tensor_cores(2250, fp64=1.25, tf32=1125, fp8=4500),
        {"fp64": 1.25, "fp32": 75},
    ),
    Accelerator(
        "NVIDIA B200",
        r"\bB200\b",
        _HGX,
        8000,
        tensor_cores(2250, fp64=37, tf32=1125, fp8=4500, int8=4500, fp4=9000),
        {"fp64": 37, "fp32": 75},
        148,
    ),
    Accelerator(
        "NVIDIA GH200 (HBM3)",
        r"\bGH200\b(?!.*(?:HBM3e|144G))",
        _GH200,
        4000,
        _H100_SXM,
        _HOPPER,
        132,
        96,
    ),
    Accelerator("NVIDIA GH200 (HBM3e)", r"\bGH200\b", _GH200, 4900, _H100_SXM, _HOPPER, 132, 141),
    Accelerator(
        "NVIDIA H200 NVL", r"\bH200 NVL\b", _H200, 4800, _H100_NVL, {"fp64": 30, "fp32": 60}, 132
    ),
    Accelerator("NVIDIA H200", r"\bH200\b", _H200, 4800, _H100_SXM, _HOPPER, 132),
    Accelerator(
        "NVIDIA H100 NVL", r"\bH100 NVL\b", _H100, 3900, _H100_NVL, {"fp64": 30, "fp32": 60}, 132
    ),
    # PCIe cards are called "NVIDIA H100 PCIe" or "NVIDIA H100 80GB HBM2e", SXM modules "NVIDIA H100
    # 80GB HBM3".
    Accelerator(
        "NVIDIA H100 SXM", r"\bH100\b(?!.*(?:PCIe|HBM2))", _H100, 3350, _H100_SXM, _HOPPER, 132
    ),
    Accelerator(
        "NVIDIA H100 PCIe",
        r"\bH100\b(?!.*HBM3)",
        _H100,
        2000,
        tensor_cores(756.5, fp64=51, tf32=378, fp8=1513, int8=1513),
        {"fp64": 26, "fp32": 51},
        114,
    ),
    Accelerator(
        "NVIDIA H800 SXM",
        r"\bH800\b(?!.*PCIe)",
        _EXPORT,
        3350,
        {**_H100_SXM, "fp64": 1},
        {"fp64": 1, "fp32": 67},
        132,
    ),
    Accelerator(
        "NVIDIA H800 PCIe",
        r"\bH800\b",
        _EXPORT,
        2000,
        tensor_cores(756.5, fp64=0.8, tf32=378, fp8=1513, int8=1513),
        {"fp64": 0.8, "fp32": 51},
        114,
    ),
    Accelerator("NVIDIA H20", r"\bH20\b", _EXPORT, 4000, _H20, {"fp64": 1, "fp32": 44}, 78, 96),
    Accelerator(
        "NVIDIA H20 141GB", r"\bH20\b", _EXPORT, 4800, _H20, {"fp64": 1, "fp32": 44}, 78, 141
    ),
    Accelerator(
        "NVIDIA L40S",
        r"\bL40S\b",
        _page("l40s"),
        864,
        tensor_cores(362.05, tf32=183, fp8=733, int8=733),
        {"fp32": 91.6},
        142,
    ),
    Accelerator(
        "NVIDIA L40",
        r"\bL40\b",
        _page("l40"),
        864,
        tensor_cores(181.05, tf32=90.5, fp8=362, int8=362),
        {"fp32": 90.5},
        142,
    ),
    Accelerator(
        "NVIDIA L20",
        r"\bL20\b",
        _EXPORT,
        864,
        tensor_cores(119.5, tf32=59.8, fp8=239, int8=239),
        {"fp32": 59.8},
        92,
    ),
    Accelerator(
        "NVIDIA L4",
        r"\bL4\b",
        _page("l4"),
        300,
        tensor_cores(121, tf32=60, fp8=242.5, int8=242.5),
        {"fp32": 30.3},
        58,
    ),
    *(
        Accelerator(
            f"NVIDIA {name}",
            pattern,
            _A100,
            bandwidth,
            tensor_cores(312, fp64=19.5, tf32=156, int8=624),
            {"fp64": 9.7, "fp32": 19.5, "fp16": 78, "bf16": 39},
            108,
            memory,
        )
        for name, pattern, bandwidth, memory in (
            ("A100 PCIe 80GB", r"\bA100\b(?!.*40 ?GB).*PCI", 1935, 80),
            ("A100 PCIe 40GB", r"\bA100\b.*PCI", 1555, 40),
            ("A100 SXM 80GB", r"\bA100\b(?!.*(?:PCI|40 ?GB))", 2039, 80),
            ("A100 SXM 40GB", r"\bA100\b(?!.*PCI)", 1555, 40),
            ("A800 PCIe 80GB", r"\bA800\b(?!.*40 ?GB).*PCI", 1935, 80),
            ("A800 SXM 80GB", r"\bA800\b(?!.*40 ?GB).*SXM", 2039, 80),
            ("A800 40GB", r"\bA800\b", 1555, 40),
        )
    ),
    Accelerator(
        "NVIDIA A40",
        r"\bA40\b",
        _page("a40"),
        696,
        tensor_cores(149.7, tf32=74.8, int8=299.3),
        {"fp32": 37.4},
        84,
    ),
    Accelerator(
        "NVIDIA A30",
        r"\bA30\b",
        _page("products/a30-gpu"),
        933,
        tensor_cores(165, fp64=10.3, tf32=82, int8=330),
        {"fp64": 5.2, "fp32": 10.3},
        56,
    ),
    Accelerator(
        "NVIDIA A10G",
        r"\bA10G\b",
        "NVIDIA A10G data sheet,"
        " https://d1.awsstatic.com/product-marketing/ec2/NVIDIA_AWS_A10G_DataSheet_FINAL_02_17_2022.pdf",
        600,
        tensor_cores(70, tf32=35, int8=140),
        {"fp32": 35},
    ),
    Accelerator(
        "NVIDIA A10",
        r"\bA10\b",
        _page("products/a10-gpu"),
        600,
        tensor_cores(125, tf32=62.5, int8=250),
        {"fp32": 31.2},
        72,
    ),
    Accelerator(
        "NVIDIA A16 (one of its four GPUs)",
        r"\bA16\b",
        _page("products/a16-gpu"),
        200,
        tensor_cores(17.9, tf32=9, int8=35.9),
        {"fp32": 4.5},
        10,
    ),
    Accelerator(
        "NVIDIA A2",
        r"\bA2\b",
        _page("products/a2"),
        200,
        tensor_cores(18, tf32=9, int8=36),
        {"fp32": 4.5},
        10,
    ),
    Accelerator("NVIDIA T4", r"\bT4G?\b", _T4, 320, {"fp16": 65, "int8": 130}, {"fp32": 8.1}, 40),
    Accelerator(
        "NVIDIA V100S PCIe",
        r"\bV100S\b",
        _VOLTA,
        1134,
        {"fp16": 130},
        {"fp64": 8.2, "fp32": 16.4, "fp16": 32.8},
        80,
    ),
    Accelerator(
        "NVIDIA V100 PCIe",
        r"\bV100\b.*PCI",
        _VOLTA,
        900,
        {"fp16": 112},
        {"fp64": 7, "fp32": 14, "fp16": 28},
        80,
    ),
    Accelerator(
        "NVIDIA V100 SXM2",
        r"\bV100\b(?!.*(?:FHHL|-H\b))",
        _VOLTA,
        900,
        {"fp16": 125},
        {"fp64": 7.8, "fp32": 15.7, "fp16": 31.4},
        80,
    ),
)

EMBEDDED = (
    Accelerator(
        "NVIDIA GB10 (DGX Spark)",
        r"\bGB10\b",
        f"NVIDIA DGX Spark specifications, {SITE}en-us/products/workstations/dgx-spark/",
        273,
        {"fp4": 500},
        {"fp32": 31},
        48,
    ),
    Accelerator(
        "NVIDIA Jetson T5000 (Thor)",
        r"^(?:NVIDIA )?(?:Jetson )?(?:AGX )?Thor\b",
        f"NVIDIA Jetson Thor specifications, {_JETSON}jetson-thor/",
        273,
        {"fp4": 1035, "fp8": 517},
        {"fp32": 8.06},
        20,
    ),
    Accelerator(
        "NVIDIA Jetson AGX Orin 64GB",
        _ORIN,
        _ORIN_SHEET,
        204.8,
        {"fp16": 42.5, "int8": 85},
        {"fp32": 5.3},
        16,
        64,
    ),
    Accelerator(
        "NVIDIA Jetson AGX Orin 32GB",
        _ORIN,
        _ORIN_SHEET,
        204.8,
        {"fp16": 27, "int8": 54},
        {"fp32": 3.33},
        14,
        32,
    ),
)
"""Boards whose memory is the processor's too."""

TABLE = DATA_CENTRE + EMBEDDED + WORKSTATION
