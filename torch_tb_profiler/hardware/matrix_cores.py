"""Which kernels use matrix cores (NVIDIA: Tensor Cores, AMD: Matrix Cores), and which operators
could, by name.

Libraries put the instruction of a matrix product into the kernel's name. Other names of matrix
products are unknown, and all other kernels use none.
"""

from __future__ import annotations

from functools import lru_cache

from torch_tb_profiler.data_rows import rows_beside
from torch_tb_profiler.hardware.kernel_names import LONGEST_READ, communication_library
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.patterns import regex

__all__ = ["Knowledge", "operator_could", "uses_matrix_cores"]

FIRST_CAPABILITY = 7
"""Tensor Cores came with Volta, compute capability 7.0."""

(_ROWS,) = rows_beside(__file__)
(PARTS,) = _ROWS["parts"]
NVIDIA_NO = (PARTS, *_ROWS["nvidia_no"])
MATRIX_PRODUCT = regex(
    r"gemm|conv|attn|attention|flash|fmha|mha|matmul|(?:^|_)mm(?:_|$)|bmm|mma|wgrad|dgrad|fprop|cijk|triton_|lstm|rnn|gru|einsum|\bdot|moe|mlp|linear(?!iz)"
    # A CUDA graph recorded as one piece of work; its content is unknown.
    r"|^cuda_graph"
)
"""Searched in the lower-case name; names without a match multiply no matrices."""

ELIGIBLE_OPERATORS = frozenset(" ".join(_ROWS["eligible"]).split())

_OWN = regex(
    r"(?:aten|prim|prims|autograd|torch|c10d|_c10d_functional|profiler|optimizer)::|torch::|Optimizer\.|\w+Backward\d*$"
)

_NO = {"nvidia": regex("|".join(NVIDIA_NO)), "amd": regex("|".join(_ROWS["amd_no"]))}
_YES = {"nvidia": regex("|".join(_ROWS["nvidia_yes"])), "amd": regex("|".join(_ROWS["amd_yes"]))}

_PRODUCT = {
    "nvidia": regex(
        r"ffma|simt|sgemm(?!_tf32)|scudnn|dgrad_engine|wgrad_alg\d|dgrad_alg\d|dgrad2d_|wgrad2d_|winograd(?!.*(?:transform|generate))|convolve_sgemm"
        r"|cutlassf_f32\w*_sm(?:50|70|75)|hgemm"
    ),
    "amd": regex(
        r"gridwise_gemm_dl|cijk_(?!.*_mi\d+x\d+)\w*_mt\d+x\d+|miopensp3asmconv|winograd(?!.*(?:transform|xform))"
    ),
}

_NEVER = regex(
    r"gemv|gemmk1|gemmsn|[zcd]gemm|f64|depthwise|conv2d_grouped|reduce|splitk_?reduce|_mi\d+x\d+"
)

_OF_DOUBLES = regex(r"d884|f64|[dz]gemm")

_ALIGNED_POORLY = regex(r"(?:tensorop|xmma).*_align(?:1|2)(?!\d)")


@lru_cache(maxsize=65536)
def uses_matrix_cores(name: str, vendor: str, capability_major: int | None = None) -> Knowledge:
    """Whether the kernel of this full name uses matrix cores on a vendor's device.

    ``capability_major``: of the oldest NVIDIA device of the trace; None unknown.
    """
    if vendor == "nvidia" and capability_major is not None and capability_major < FIRST_CAPABILITY:
        return Knowledge.NO
    if communication_library(name) is not None:
        return Knowledge.NO
    if vendor not in _YES:
        return Knowledge.UNKNOWN
    lower = name[:LONGEST_READ].lower()
    head = lower.replace("(anonymous namespace)::", "").split("(", 1)[0].replace("fbgemm", "")
    if _PYTORCH.search(head) and not _ATTENTION.search(head.split("<", 1)[0]):
        return Knowledge.NO
    if _NO[vendor].search(head):
        return Knowledge.NO
    if _YES[vendor].search(head):
        return Knowledge.YES
    return Knowledge.UNKNOWN if MATRIX_PRODUCT.search(head) else Knowledge.NO


_PYTORCH = regex(r"(?:^|void )at::native::|_zn2at6native")
_ATTENTION = regex(r"flash|attention|int4|marlin|gemm|tinygemm")


@lru_cache(maxsize=65536)
def operator_could(name: str) -> Knowledge:
    """Whether matrix cores could do an operator's work; unknown for operators not of PyTorch."""
    if name in ELIGIBLE_OPERATORS:
        return Knowledge.YES
    return Knowledge.NO if _OWN.match(name) else Knowledge.UNKNOWN


@lru_cache(maxsize=65536)
def multiplies_on_vector_units(name: str, vendor: str) -> bool:
    """Whether the kernel of this full name is an fp32 or half product or convolution on vector units.

    Which kernels multiply matrices or convolve on vector units instead of matrix cores, by name.

    The vector-unit part of ``nvidia_no`` and ``amd_no`` in ``matrix_cores.txt``, without layout changes,
    reductions, matrix-vector products and types that matrix cores lack.
    """
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
