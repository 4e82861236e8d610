"""Which kernels multiply matrices or convolve on vector units instead of matrix cores, by name.

The vector-unit part of ``matrix_cores.NVIDIA_NO`` and ``AMD_NO``, without layout changes,
reductions, matrix-vector products and types that matrix cores lack.
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
_OF_DOUBLES = re.compile(r"d884|f64|[dz]gemm")
_ALIGNED_POORLY = re.compile(r"(?:tensorop|xmma).*_align(?:1|2)(?!\d)")


@lru_cache(maxsize=65536)
def multiplies_on_vector_units(name: str, vendor: str) -> bool:
    """Whether the kernel of this full name is an fp32 or half product or convolution on vector units."""
    lower = name[:LONGEST_READ].lower()
    return (
        vendor in _PRODUCT
        and _PRODUCT[vendor].search(lower) is not None
        and _NEVER.search(lower) is None
    )


@lru_cache(maxsize=65536)
def loads_unaligned(name: str) -> bool:
    """Whether a matrix-core kernel of this name loads only one or two elements at a time; of doubles these
    are eight or sixteen bytes.
    """
    lower = name[:LONGEST_READ].lower()
    return _ALIGNED_POORLY.search(lower) is not None and _OF_DOUBLES.search(lower) is None
