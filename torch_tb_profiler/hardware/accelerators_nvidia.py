"""NVIDIA accelerators since Volta.

GeForce rates are with float32 accumulation, as cuBLAS and cuDNN use it: half of the advertised
ones. Laptop devices are left out because their clocks depend on the laptop.
"""

from __future__ import annotations

from functools import partial

from torch_tb_profiler.hardware.accelerator import read_table

_SITE = "https://www.nvidia.com/"
_IMAGES = "https://images.nvidia.com/"
_PAPER = "GPU architecture white paper"
_JETSON = f"{_SITE}en-us/autonomous-machines/embedded-systems/"
_WORKSTATIONS = f"{_SITE}en-us/products/workstations/"
_SOURCES = {
    "V100": f"NVIDIA V100 data sheet, {_IMAGES}content/technologies/volta/pdf/volta-v100-datasheet-update-us-1165301-r5.pdf",
    "T4": f"NVIDIA T4 data sheet, {_SITE}content/dam/en-zz/Solutions/Data-Center/tesla-t4/t4-tensor-core-datasheet-951643.pdf",
    "A100": f"NVIDIA A100 data sheet, {_SITE}content/dam/en-zz/Solutions/Data-Center/a100/pdf/nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf",
    "A10G": "NVIDIA A10G data sheet, https://d1.awsstatic.com/product-marketing/ec2/NVIDIA_AWS_A10G_DataSheet_FINAL_02_17_2022.pdf",
    "H100": "NVIDIA H100 data sheet, https://resources.nvidia.com/en-us-tensor-core/nvidia-tensor-core-gpu-datasheet",
    "H200": f"NVIDIA H200 data sheet, {_SITE}en-us/data-center/h200/",
    "GH200": f"NVIDIA GH200 data sheet, {_SITE}en-us/data-center/grace-hopper-superchip/",
    "HGX": f"NVIDIA HGX platform specifications (per GPU), {_SITE}en-us/data-center/hgx/",
    "GB200": f"NVIDIA GB200 NVL72 specifications (per GPU), {_SITE}en-us/data-center/gb200-nvl72/",
    "GB300": f"NVIDIA GB300 NVL72 specifications (per GPU), {_SITE}en-us/data-center/gb300-nvl72/",
    "export": "figures of the export variant as published by server makers; NVIDIA has no public data sheet",
    "spark": f"NVIDIA DGX Spark specifications, {_WORKSTATIONS}dgx-spark/",
    "thor": f"NVIDIA Jetson Thor specifications, {_JETSON}jetson-thor/",
    "orin": f"NVIDIA Jetson AGX Orin technical brief (dense, GPU alone), {_JETSON}jetson-orin/",
    "PRO": f"NVIDIA RTX PRO 6000 Blackwell data sheet, {_WORKSTATIONS}professional-desktop-gpus/rtx-pro-6000/",
    "Turing": f"NVIDIA Turing {_PAPER}, {_IMAGES}aem-dam/en-zz/Solutions/design-visualization/technologies/"
    "turing-architecture/NVIDIA-Turing-Architecture-Whitepaper.pdf",
    "Ampere": f"NVIDIA Ampere GA102 {_PAPER}, {_SITE}content/PDF/nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.pdf",
    "Ada": f"NVIDIA Ada {_PAPER}, {_IMAGES}aem-dam/Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf",
    "Blackwell": f"NVIDIA RTX Blackwell {_PAPER}, {_IMAGES}aem-dam/Solutions/geforce/blackwell/nvidia-rtx-blackwell-gpu-architecture.pdf",
    "TITAN": f"NVIDIA TITAN V, {_SITE}en-us/titan/titan-v/",
    "sheet": f"NVIDIA {{name}} data sheet, {_WORKSTATIONS}",
}
_DESKTOP = r"(?!.*(?:Laptop|Max-Q|Mobile))"
_data_centre = partial(
    read_table,
    maker="NVIDIA",
    source=f"NVIDIA product page, {_SITE}en-us/data-center/{{cell}}/",
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
    source=f"NVIDIA {{name}} data sheet, {_SITE}en-us/design-visualization/",
    pattern=rf"{{}}\b{_DESKTOP}",
)
_geforce = partial(
    _data_centre, maker="NVIDIA GeForce", pattern=rf"{{}}\b(?! (?:Ti|SUPER|D)\b){_DESKTOP}"
)

TABLE = (
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
