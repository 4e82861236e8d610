"""Which kernels of a matrix product, a convolution or attention do the multiplying, and which prepare or finish it."""

from __future__ import annotations

import re
from functools import lru_cache

from torch_tb_profiler.hardware.kernel_names import LONGEST_READ
from torch_tb_profiler.hardware.matrix_cores import PARTS

_MULTIPLIES = re.compile(
    r"gemm|gemv|gemmk1|conv(?!ert)|attn|attention|flash|fmha|sdpa|matmul|(?:^|_)mm(?:_|$)|bmm|mma|wgrad|dgrad|fprop|cijk|cutlass|xmma|nvjet|winograd|xdl"
    r"|dot_kernel|fft|lstm|gru_|rnn|moe"
)
_HELPS = re.compile(
    rf"{PARTS}|reduce_wgrad|compute\w*offsets|nchwtonhwc|nhwctonchw|scalepackedtensor|im2col|col2im|transpose|quantize|_cast|routing|finalize|fill_tensormaps"
    r"|triton_(?:poi|red|per)_|subtensorop"
    r"|winograd\w*(?:transform|xform|tiles|data|filter|output)|fft\w*(?:r2c|c2r|r2r)|memset|softmax|reduce_1block|splitk\w*reduc|reduc\w*splitk|postgsu"
)
_PYTORCH = re.compile(r"(?:^|void )at::native::(?!.*(?:flash|attention|gemm|conv|int4))|_zn2at6native(?!.*(?:flash|attention|gemm|conv))")


@lru_cache(maxsize=65536)
def multiplies(name: str) -> bool:
    """Whether the kernel of this full name does the products of its operator, as far as names tell."""
    head = name[:LONGEST_READ].lower().replace("(anonymous namespace)::", "").split("(", 1)[0]
    return _PYTORCH.search(head) is None and _HELPS.search(head) is None and _MULTIPLIES.search(head) is not None
