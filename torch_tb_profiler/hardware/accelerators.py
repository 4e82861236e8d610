"""The device table: published peaks of accelerators, memory bandwidth and dense arithmetic rates by precision.

Rates are dense (never "with sparsity"), at the clock that the vendor states, accumulating in
float32 where it matters. Unpublished figures are left out. ``matrix``: on matrix cores; ``vector``:
on other units. PyTorch computes elementwise work in float32, so few ``vector`` half rates are given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

import msgspec

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

_OF_NVIDIA = (
    # PCIe cards are called "NVIDIA H100 PCIe" or "NVIDIA H100 80GB HBM2e", SXM modules "NVIDIA H100
    # 80GB HBM3".
    *_data_centre(r"""
name           GB/s  units   GB | fp16=bf16  fp64   tf32     fp8    int8    fp4 | fp64  fp32 | source  pattern
GB300          8000      -    - |      2500   1.3   1250    5000       -  15000 |  1.3    80 | GB300
GB200          8000      -    - |      2500    40   1250    5000    5000  10000 |   40    80 | GB200
B300           8000      -    - |      2250  1.25   1125    4500       -      - | 1.25    75 | HGX
B200           8000    148    - |      2250    37   1125    4500    4500   9000 |   37    75 | HGX
GH200 (HBM3)   4000    132   96 |     989.4    67  494.7  1978.9  1978.9      - |   34    67 | GH200   \bGH200\b(?!.*(?:HBM3e|144G))
GH200 (HBM3e)  4900    132  141 |     989.4    67  494.7  1978.9  1978.9      - |   34    67 | GH200
H200 NVL       4800    132    - |     835.5    60  417.5  1670.5  1670.5      - |   30    60 | H200
H200           4800    132    - |     989.4    67  494.7  1978.9  1978.9      - |   34    67 | H200
H100 NVL       3900    132    - |     835.5    60  417.5  1670.5  1670.5      - |   30    60 | H100
H100 SXM       3350    132    - |     989.4    67  494.7  1978.9  1978.9      - |   34    67 | H100    \bH100\b(?!.*(?:PCIe|HBM2))
H100 PCIe      2000    114    - |     756.5    51    378    1513    1513      - |   26    51 | H100    \bH100\b(?!.*HBM3)
H800 SXM       3350    132    - |     989.4     1  494.7  1978.9  1978.9      - |    1    67 | export  \bH800\b(?!.*PCIe)
H800 PCIe      2000    114    - |     756.5   0.8    378    1513    1513      - |  0.8    51 | export  \bH800\b
H20            4000     78   96 |       148     1     74     296     296      - |    1    44 | export
H20 141GB      4800     78  141 |       148     1     74     296     296      - |    1    44 | export  \bH20\b
"""),
    *_data_centre(r"""
name  GB/s  units | fp16=bf16  tf32  fp8=int8 | fp32 | source
L40S   864    142 |    362.05   183       733 | 91.6 | l40s
L40    864    142 |    181.05  90.5       362 | 90.5 | l40
L20    864     92 |     119.5  59.8       239 | 59.8 | export
L4     300     58 |       121    60     242.5 | 30.3 | l4
"""),
    *_data_centre(r"""
name                        GB/s  units  GB | fp16=bf16  fp64  tf32   int8 | fp64  fp32  fp16  bf16 | source            pattern
A100 PCIe 80GB              1935    108  80 |       312  19.5   156    624 |  9.7  19.5    78    39 | A100              \bA100\b(?!.*40 ?GB).*PCI
A100 PCIe 40GB              1555    108  40 |       312  19.5   156    624 |  9.7  19.5    78    39 | A100              \bA100\b.*PCI
A100 SXM 80GB               2039    108  80 |       312  19.5   156    624 |  9.7  19.5    78    39 | A100              \bA100\b(?!.*(?:PCI|40 ?GB))
A100 SXM 40GB               1555    108  40 |       312  19.5   156    624 |  9.7  19.5    78    39 | A100              \bA100\b(?!.*PCI)
A800 PCIe 80GB              1935    108  80 |       312  19.5   156    624 |  9.7  19.5    78    39 | A100              \bA800\b(?!.*40 ?GB).*PCI
A800 SXM 80GB               2039    108  80 |       312  19.5   156    624 |  9.7  19.5    78    39 | A100              \bA800\b(?!.*40 ?GB).*SXM
A800 40GB                   1555    108  40 |       312  19.5   156    624 |  9.7  19.5    78    39 | A100              \bA800\b
A40                          696     84   - |     149.7     -  74.8  299.3 |    -  37.4     -     - | a40
A30                          933     56   - |       165  10.3    82    330 |  5.2  10.3     -     - | products/a30-gpu
A10G                         600      -   - |        70     -    35    140 |    -    35     -     - | A10G
A10                          600     72   - |       125     -  62.5    250 |    -  31.2     -     - | products/a10-gpu
A16 (one of its four GPUs)   200     10   - |      17.9     -     9   35.9 |    -   4.5     -     - | products/a16-gpu
A2                           200     10   - |        18     -     9     36 |    -   4.5     -     - | products/a2
"""),
    *_data_centre(r"""
name        GB/s  units | fp16  int8 | fp64  fp32  fp16 | source  pattern
T4           320     40 |   65   130 |    -   8.1     - | T4      \bT4G?\b
V100S PCIe  1134     80 |  130     - |  8.2  16.4  32.8 | V100    \bV100S\b
V100 PCIe    900     80 |  112     - |    7    14    28 | V100    \bV100\b.*PCI
V100 SXM2    900     80 |  125     - |  7.8  15.7  31.4 | V100    \bV100\b(?!.*(?:FHHL|-H\b))
"""),
    # Boards whose memory is the processor's too.
    *_data_centre(r"""
name                   GB/s  units  GB | fp16  int8   fp4  fp8 | fp32 | source  pattern
GB10 (DGX Spark)        273     48   - |    -     -   500    - |   31 | spark
Jetson T5000 (Thor)     273     20   - |    -     -  1035  517 | 8.06 | thor    ^(?:NVIDIA )?(?:Jetson )?(?:AGX )?Thor\b
Jetson AGX Orin 64GB  204.8     16  64 | 42.5    85     -    - |  5.3 | orin    ^(?:NVIDIA )?(?:Jetson )?(?:AGX )?Orin\b(?!.*(?:Nano|NX))
Jetson AGX Orin 32GB  204.8     14  32 |   27    54     -    - | 3.33 | orin    ^(?:NVIDIA )?(?:Jetson )?(?:AGX )?Orin\b(?!.*(?:Nano|NX))
"""),
    *_named_alone(r"""
name                                   GB/s  units | fp16=bf16   tf32  fp8=int8     fp4 | fp32 | source  pattern
RTX PRO 6000 Blackwell Server Edition  1597    188 |       500      -      1000    2000 |  120 | PRO     RTX PRO 6000 Blackwell Server
RTX PRO 6000 Blackwell Max-Q           1792    188 |     438.9  219.5     877.8  1755.5 |  110 | PRO
RTX PRO 6000 Blackwell                 1792    188 |     503.8  251.9    1007.6  2015.2 |  125 | PRO
RTX 6000 Ada                            960    142 |     364.2  182.1     728.5       - | 91.1 | Ada
"""),
    # Of the smaller ones NVIDIA states rates with sparsity and without a clock; they are left out
    # where what is known does not fit together.
    *_workstation(rf"""
name                    GB/s  units | fp16=bf16    tf32  fp8=int8   fp4 | fp32 | source        pattern
RTX PRO 5000 Blackwell  1344    110 |         -       -         -  1032 |    - | rtx-pro-5000
RTX PRO 4500 Blackwell   896     82 |         -       -         -     - |    - | rtx-pro-4500
RTX PRO 4000 Blackwell   672     70 |         -       -         -     - |    - | rtx-pro-4000  RTX PRO 4000 Blackwell(?! SFF){_DESKTOP}
RTX 5880 Ada             960    110 |     277.1  138.55     554.2     - | 69.3 | sheet
RTX 5000 Ada             576    100 |     261.1  130.55     522.2     - | 65.3 | sheet
RTX 4500 Ada             432     60 |     158.5   79.25       317     - | 39.6 | sheet
RTX 4000 SFF Ada         280     48 |      76.7   38.35     153.4     - | 19.2 | sheet
RTX 4000 Ada             360     48 |     106.9   53.45     213.8     - | 26.7 | sheet
RTX 2000 Ada             224     22 |        48      24        96     - |   12 | sheet
"""),
    *_ampere_workstation(r"""
name       GB/s  units | fp16=bf16   tf32   int8 | fp32 | source  pattern
RTX A6000   768     84 |     154.8   77.4  309.7 | 38.7 | Ampere  RTX A6000
RTX A5500   768     80 |     136.4   68.2  272.8 | 34.1
RTX A5000   768     64 |     111.1  55.55  222.2 | 27.8
RTX A4500   640     56 |      94.6   47.3  189.2 | 23.7
RTX A4000   448     48 |      76.7  38.35  153.4 | 19.2
RTX A2000   288     26 |      31.9  15.95   63.8 |    8
"""),
    *_named_alone(rf"""
name                     GB/s  units |  fp16   int8 | fp64  fp32 | source   pattern
Quadro RTX 8000 / 6000    672     72 | 130.5    261 |    -  16.3 | Turing   Quadro RTX [86]000{_DESKTOP}
Quadro RTX 5000           448     48 |  89.2  178.4 |    -  11.2 | Turing   Quadro RTX 5000{_DESKTOP}
TITAN RTX                 672     72 | 130.5    261 |    -  16.3 | Turing
TITAN V                 652.8     80 |   110      - | 7.45  14.9 | TITAN    TITAN V\b
"""),
    # The clock is that of NVIDIA's own boards.
    *_geforce(r"""
name               GB/s  units |  fp16   bf16   tf32    fp8   int8    fp4 |  fp32 | source
RTX 2080 Ti         616     68 |  56.9      -      -      -  227.7      - |  14.2 | Turing
RTX 2080 SUPER      496     48 |  44.6      -      -      -  178.4      - |  11.2 | Turing
RTX 2080            448     46 |  42.4      -      -      -  169.6      - |  10.6 | Turing
RTX 2070 SUPER      448     40 |  36.3      -      -      -    145      - |   9.1 | Turing
RTX 2070            448     36 |  31.5      -      -      -    126      - |   7.9 | Turing
RTX 2060 SUPER      448     34 |  28.7      -      -      -  114.8      - |   7.2 | Turing
RTX 3090 Ti        1008     84 |    80     80     40      -    320      - |    40 | Ampere
RTX 3090            936     82 |  71.2   71.2   35.6      -  284.7      - |  35.6 | Ampere
RTX 3080 Ti         912     80 |  68.2   68.2   34.1      -  272.8      - |  34.1 | Ampere
RTX 3080            760     68 |  59.5   59.5   29.8      -  238.1      - |  29.8 | Ampere
RTX 3080            912     70 |  61.3   61.3   30.6      -  245.1      - |  30.6 | Ampere
RTX 3070 Ti         608     48 |  43.5   43.5   21.7      -    174      - |  21.7 | Ampere
RTX 3070            448     46 |  40.6   40.6   20.3      -  162.6      - |  20.3 | Ampere
RTX 3060 Ti         448     38 |  32.4   32.4   16.2      -  129.6      - |  16.2 | Ampere
RTX 3060            360     28 |  25.5   25.5   12.7      -  101.9      - |  12.7 | Ampere
RTX 4090 D         1008    114 |   147    147   73.5    294    588      - |  73.5 | Ada
RTX 4090           1008    128 | 165.2  165.2   82.6  330.4  660.8      - |  82.6 | Ada
RTX 4080 SUPER      736     80 | 104.4  104.4   52.2  208.8  417.6      - |  52.2 | Ada
RTX 4080            717     76 |  97.5   97.5   48.7    195    390      - |  48.7 | Ada
RTX 4070 Ti SUPER   672     66 |  88.2   88.2   44.1  176.4  352.8      - |  44.1 | Ada
RTX 4070 Ti         504     60 |  80.2   80.2   40.1  160.4  320.8      - |  40.1 | Ada
RTX 4070 SUPER      504     56 |    71     71   35.5    142    284      - |  35.5 | Ada
RTX 4070            504     46 |  58.3   58.3   29.1  116.6  233.2      - |  29.1 | Ada
RTX 4060 Ti         288     34 |  44.1   44.1   22.1   88.2  176.4      - |  22.1 | Ada
RTX 4060            272     24 |  30.2   30.2   15.1   60.4  120.8      - |  15.1 | Ada
RTX 5090           1792    170 | 209.5  209.5  104.8    419    838   1676 | 104.8 | Blackwell
RTX 5080            960     84 | 112.6  112.6   56.3  225.2  450.4  900.8 |  56.3 | Blackwell
RTX 5070 Ti         896     70 |  87.9   87.9   43.9  175.8  351.6  703.2 |  43.9 | Blackwell
RTX 5070            672     48 |  61.7   61.7   30.9  123.4  246.8  493.6 |  30.9 | Blackwell
RTX 5060 Ti         448     36 |  47.4   47.4   23.7   94.8  189.6  379.2 |  23.7 | Blackwell
RTX 5060            448     30 |  38.4   38.4   19.2   76.8  153.6  307.2 |  19.2 | Blackwell
"""),
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

_OF_AMD = (
    *_instinct(r"""
name                            GB/s  units   GB | fp16=bf16   fp64   fp32   tf32     fp8    int8      fp4 | fp64   fp32 | source        pattern
MI355X                          8000    256    - |    2516.6   78.6  157.3      -  5033.2  5033.2  10066.3 | 78.6  157.3 | mi350/mi355x  \bMI355X
MI350X                          8000    256    - |    2306.9   72.1  144.2      -  4613.7  4613.7   9227.5 | 72.1  144.2 | mi350/mi350x  \bMI350X
MI325X                          6000    304  256 |    1307.4  163.4  163.4  653.7  2614.9  2614.9        - | 81.7  163.4 | mi300/mi325x  \bMI325X
MI300X                          5300    304  192 |    1307.4  163.4  163.4  653.7  2614.9  2614.9        - | 81.7  163.4 | mi300/mi300x  \bMI300X
MI300A                          5300    228    - |     980.6  122.6  122.6  490.3  1961.2  1961.2        - | 61.3  122.6 | mi300/mi300a  \bMI300A
MI250X (one of its two GCDs)  1638.4    110   64 |     191.5   47.9   47.9      -       -   191.5        - | 23.9   23.9 | mi200/mi250x  \bMI250X
MI250 (one of its two GCDs)   1638.4    104    - |       181   45.3   45.3      -       -     181        - | 22.6   22.6 | mi200/mi250
MI210 (or one GCD of an MI250: the same figures)  1638.4    104   64 |       181   45.3   45.3      -       -     181        - | 22.6   22.6 | mi200/mi210
"""),
    # ROCm gives both the name "AMD Instinct MI60 / MI50"; neither has Matrix Cores.
    *_instinct("""
name     GB/s  units  GB | fp32   fp16  bf16   int8 | fp64  fp32  fp16 | source
MI100  1228.8    120  32 | 46.1  184.6  92.3  184.6 | 11.5  23.1     - | mi100/mi100
MI60     1024     64   - |    -      -     -      - |  7.4  14.7  29.5 | vega
MI50     1024     60   - |    -      -     -      - |  6.6  13.3  26.5 | vega
"""),
    *_radeon(r"""
name          GB/s | fp16=bf16  fp8=int8 | fp32 | source                                                  pattern
AI PRO R9700   640 |       191       383 | 47.8 | workstations/radeon-ai-pro.html                         \bR9700\b
RX 9070 XT     640 |       195       389 | 48.7 | desktops/radeon/9000-series.html
RX 9070        640 |       145       289 | 36.1 | desktops/radeon/9000-series.html                        \bRX 9070\b(?! (?:XT|GRE))
PRO W7900      864 |     122.6         - | 61.3 | workstations/radeon-pro/w7900.html                      \bW7900\b(?! ?D)
PRO W7800      576 |      90.5         - | 45.2 | workstations/radeon-pro/w7800.html                      \bW7800\b(?!.*48)
RX 7900 XTX    960 |     122.8         - | 61.4 | desktops/radeon/7000-series/amd-radeon-rx-7900xtx.html
RX 7900 XT     800 |       103         - | 51.5 | desktops/radeon/7000-series/amd-radeon-rx-7900xt.html
"""),
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

_OF_INTEL = _intel(r"""
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

TABLE: dict[str, tuple[Accelerator, ...]] = {
    "nvidia": _OF_NVIDIA,
    "amd": _OF_AMD,
    "intel": _OF_INTEL,
}
"""Entries by vendor; the first one that fits wins."""
_GENERIC = re.compile(r"(?:amd )?radeon graphics|", re.I)
_LONGEST = 200
"""Characters of a name that are searched; a trace may hold any name."""
_PART = re.compile(r"\bMIG\b|\bvGPU\b|^GRID |\b(?!H20-3e$)[A-Z]\w+-\d+[QCABe]$")
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
