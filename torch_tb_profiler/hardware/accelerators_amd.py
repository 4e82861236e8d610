"""AMD accelerators since Vega 20 and current workstation cards. An MI200 device is one die (GCD)."""

from __future__ import annotations

from functools import partial

from torch_tb_profiler.hardware.accelerator import read_table

_SITE = "https://www.amd.com/en/products/"
_instinct = partial(
    read_table,
    maker="AMD Instinct",
    source=f"AMD Instinct {{name}} data sheet, {_SITE}accelerators/instinct/{{cell}}.html",
    sources={
        "vega": f"AMD Radeon Instinct MI60 and MI50 data sheets, {_SITE}accelerators/instinct.html"
    },
)
_radeon = partial(
    read_table,
    maker="AMD Radeon",
    source=f"AMD Radeon {{name}} specifications, {_SITE}graphics/{{cell}}",
)

TABLE = (
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
