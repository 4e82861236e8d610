"""Which kernels of a product, convolution or attention multiply, and which prepare or finish."""

from __future__ import annotations

from functools import lru_cache

from torch_tb_profiler.hardware.kernel_names import LONGEST_READ
from torch_tb_profiler.hardware.matrix_cores import PARTS
from torch_tb_profiler.patterns import regex

_MULTIPLIES = regex(
    r"gemm|gemv|gemmk1|conv(?!ert)|scudnn|attn|attention|flash|fmha|sdpa|matmul|(?:^|_)mm(?:_|$)|bmm|mma|wgrad|dgrad|fprop|cijk|cutlass|xmma|nvjet|winograd|xdl"
    r"|dot_kernel|fft|lstm|gru_|rnn|moe"
)
_TRANSFORMS = regex(
    r"winograd\w*(?:transform|xform|tiles|data|delta|filter|output)|fft\w*(?:r2c|c2r|r2r)"
)
"""Winograd and FFT convolutions transform the operands, multiply, and transform back."""
_FEWER = regex(rf"{_TRANSFORMS.pattern}|winograd|sp3asmconv")
"""MIOpen's ``miopenSp3AsmConv…_f2x3`` is Winograd too."""
_NEVER = rf"{PARTS}|reduce_wgrad|compute\w*offsets|nchwtonhwc|nhwctonchw|scalepackedtensor|im2col|col2im|memset|splitk\w*reduc|reduc\w*splitk|postgsu"
_HELPS = regex(
    rf"{_NEVER}|{_TRANSFORMS.pattern}|transpose|quantize|_cast|routing|finalize|fill_tensormaps|triton_(?:poi|red|per)_|subtensorop|softmax|reduce_1block"
)
_ALONE = regex(_NEVER)
_PYTORCH = regex(
    r"(?:^|void"
    r" )at::native::(?!.*(?:flash|attention|gemm|conv|int4))|_zn2at6native(?!.*(?:flash|attention|gemm|conv))"
)
_ENABLED = regex(r"^std::enable_if<!?\((?:true|false|[01])\), ?void>::type ")
"""cuBLAS's ``gemvx::kernel`` has this as a return type."""


def _head(name: str) -> str:
    """The lower-case name without parameters."""
    return (
        _ENABLED.sub("", name[:LONGEST_READ].lower())
        .replace("(anonymous namespace)::", "")
        .split("(", 1)[0]
    )


@lru_cache(maxsize=65536)
def multiplies(name: str) -> bool:
    """Whether the kernel of this full name computes its operator's products, as far as names tell."""
    head = _head(name)
    return (
        _PYTORCH.search(head) is None
        and _HELPS.search(head) is None
        and _MULTIPLIES.search(head) is not None
    )


@lru_cache(maxsize=65536)
def transforms(name: str) -> bool:
    """Whether the kernel of this full name is a transform of a Winograd or FFT convolution."""
    return _TRANSFORMS.search(_head(name)) is not None


@lru_cache(maxsize=65536)
def computes_less(name: str) -> bool:
    """Whether the kernel of this full name is of a fast convolution, with fewer FLOPs than counted.

    Winograd's F(2×2, 3×3) needs 16 multiplications instead of 36, F(4×4, 3×3) 36 instead of 144
    (Lavin and Gray, arXiv:1509.09308).
    """
    return _FEWER.search(_head(name)) is not None


@lru_cache(maxsize=65536)
def only_helps(name: str) -> bool:
    """Whether the kernel of this full name never does its operator's arithmetic."""
    return _ALONE.search(_head(name)) is not None
