"""Which kernels multiply matrices, or convolve, on the vector units instead of on matrix cores.

Names only, of libraries that write the instruction into them; the vector-unit part of
``matrix_cores.NVIDIA_NO`` and ``AMD_NO`` without what is no product (layout changes, reductions),
without products of a matrix and a vector, and without types that matrix cores lack.
"""

from __future__ import annotations

import re
from functools import lru_cache

from torch_tb_profiler.hardware.kernel_names import LONGEST_READ

_PRODUCT = {
    "nvidia": re.compile(
        r"ffma|simt|sgemm(?!_tf32)|scudnn|dgrad_engine|wgrad_alg\d|dgrad_alg\d|dgrad2d_|wgrad2d_|winograd(?!.*(?:transform|generate))|convolve_sgemm"
        r"|cutlassf_f32\w*_sm(?:50|70|75)|hgemm"
    ),
    "amd": re.compile(
        r"gridwise_gemm_dl|cijk_(?!.*_mi\d+x\d+)\w*_mt\d+x\d+|miopensp3asmconv|winograd(?!.*(?:transform|xform))"
    ),
}
_NEVER = re.compile(
    r"gemv|gemmk1|gemmsn|[zcd]gemm|f64|depthwise|conv2d_grouped|reduce|splitk_?reduce|_mi\d+x\d+"
)
_ALIGNED_POORLY = re.compile(r"(?:tensorop|xmma).*_align(?:1|2)(?!\d)")


@lru_cache(maxsize=65536)
def multiplies_on_vector_units(name: str, vendor: str) -> bool:
    """Whether the kernel of this full name does a matrix product or a convolution of single or half
    precision on the vector units.
    """
    lower = name[:LONGEST_READ].lower()
    return (
        vendor in _PRODUCT
        and _PRODUCT[vendor].search(lower) is not None
        and _NEVER.search(lower) is None
    )


@lru_cache(maxsize=65536)
def loads_unaligned(name: str) -> bool:
    """Whether a matrix-core kernel of this name was built for operands that allow it to load one or
    two elements at a time only.
    """
    return _ALIGNED_POORLY.search(name[:LONGEST_READ].lower()) is not None
