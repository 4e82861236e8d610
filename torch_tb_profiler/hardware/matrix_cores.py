"""Which kernels use matrix cores (NVIDIA: Tensor Cores, AMD: Matrix Cores), and which operators
could, by name.

Libraries put the instruction of a matrix product into the kernel's name. Other names of matrix
products are unknown, and all other kernels use none.
"""

from __future__ import annotations

from functools import lru_cache

from torch_tb_profiler.hardware.kernel_names import LONGEST_READ, communication_library
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.patterns import regex

__all__ = ["Knowledge", "operator_could", "uses_matrix_cores"]

FIRST_CAPABILITY = 7
"""Tensor Cores came with Volta, compute capability 7.0."""

PARTS = r"flash_?(?:attn)?_?bwd_?(?:pre|post)process|flash_bwd_(?:dot_do_o|convert_d)|splitkv_combine|reshape_and_cache|splitkreduce|reducesplitk|convertdq"
"""Searched in the lower-case name: parts of attention and split products without multiplication."""

NVIDIA_NO: tuple[str, ...] = (
    PARTS,
    # Vector-unit instructions, as cuBLAS, cuDNN and CUTLASS name them.
    r"ffma|simt|sgemm(?!_tf32)|[cz]gemm|gcgemm|scudnn|gemv|gemmk1|gemmsn|dot_kernel|fft2d|cutlassf_f32\w*_sm(?:50|70|75)",
    # cuDNN's engines from before Tensor Cores.
    r"dgrad_engine|wgrad_alg\d|dgrad_alg\d|dgrad2d_|wgrad2d_|winograd|convolve_sgemm|conv2d_grouped_direct|conv_depthwise|spatial_?depthwise",
    # Bookkeeping of convolutions and layout changes.
    r"reduce_wgrad|compute\w*offsets|nchwtonhwc|nhwctonchw|scalepackedtensor|im2col|col2im|layer_norm|batch_?norm|softmax|transpose|quantize|_cast|routing|finalize",
    # Inductor's pointwise, reduction and persistent-reduction kernels have no tl.dot.
    r"triton_(?:poi|red|per)_|_finalize_matmul|fill_tensormaps",
)
"""Regular expressions searched in the lower-case name, before ``NVIDIA_YES``."""

NVIDIA_YES: tuple[str, ...] = (
    # Shapes of the mma instructions: s884, h884, i8816, s1688, s16816, s161616, i16832, d884 ...
    r"(?<![0-9a-z])(?:[hsidcbqef]|tf32_|bf16_)?(?:884|8816|8832|1688|16816|161616|16832|16864|168128)(?=[a-z_]|$)",
    r"[hidqb]mma(?!k)|wgmma|gmma|umma|utcmma|tcgen05|wmma|(?<!sub)tensor_?op|xmma_|nvjet",
    # Hopper and later have no vector-unit kernels under these names.
    r"(?:^|[^a-z0-9])(?:sm)?(?:90|100|103|120)a?_.*gemm|cutlass3x_sm(?:9|1)\d+|(?:bmm|gemm)_.*_sm1\d\da?f?|fmhasm(?:9|1)\d+|sm(?:9|1)\d+.*warpspecialized",
    # Only matrix cores multiply FP8 and smaller types.
    r"gemm.*(?:fp8|e4m3|e5m2|mxf|nvf)|(?:fp8|e4m3|e5m2|mxf|nvf).*gemm|deep_gemm|marlin",
    # Attention written for mma instructions.
    r"flash_(?:fwd|bwd)|flash::|flashattn|fmha_cutlass[fb]_b?f16|_sdpa_(?:sm|flash)|fort_native_sdpa|fmha_v2|batchprefillwith|batchdecodewithpagedkvcachekernel_tc",
    # triton_kernels put the types of their tl.dot into the name.
    r"^_matmul_ogs_\w*(?:bf16|fp16|fp8|mx)",
)

AMD_NO: tuple[str, ...] = (
    r"gridwise_gemm_dl|gemv|subtensorop|batched_transpose|transpose_\w+2|igemm_\w+_gtc_|softmax|rmsnorm|layer_?norm|batch_?norm|reshape_and_cache|quant",
    r"triton_(?:poi|red|per)_|_finalize_matmul|im2col|col2im|miopensp3asmconv|winograd",
)
AMD_YES: tuple[str, ...] = (
    r"mfma|wmma|xdl",
    # Tensile and hipBLASLt name the matrix instruction.
    r"cijk_.*_mi\d+x\d+",
    # MIOpen's generated xdlops kernels.
    r"igemm_\w+_gtcx",
    # AOTriton's attention and products of triton_kernels: AMD's Triton lowers tl.dot to matrix
    # instructions.
    r"^(?:attn_fwd|bwd_kernel_(?:dk_dv|dq|fuse))(?![a-z])|^_matmul_ogs_\w*(?:bf16|fp16|fp8|mx)",
)

MATRIX_PRODUCT = regex(
    r"gemm|conv|attn|attention|flash|fmha|mha|matmul|(?:^|_)mm(?:_|$)|bmm|mma|wgrad|dgrad|fprop|cijk|triton_|lstm|rnn|gru|einsum|\bdot|moe|mlp|linear(?!iz)"
    # A CUDA graph recorded as one piece of work; its content is unknown.
    r"|^cuda_graph"
)
"""Searched in the lower-case name; names without a match multiply no matrices."""

_ELIGIBLE_ATEN = (
    "_convolution conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d"
    " convolution convolution_backward convolution_overrideable cudnn_convolution"
    " cudnn_convolution_transpose cudnn_convolution_relu cudnn_convolution_add_relu"
    " cudnn_convolution_transpose_backward cudnn_convolution_backward"
    " cudnn_convolution_backward_input cudnn_convolution_backward_weight"
    " cudnn_convolution_transpose_backward_input cudnn_convolution_transpose_backward_weight"
    " miopen_convolution miopen_convolution_transpose prelu addmm addmm_ addmv addr matmul mm mv"
    " linear addbmm baddbmm baddbmm_ bmm chain_matmul linalg_multi_dot linalg_matmul"
    " linear_backward matmul_backward _addmm_activation _scaled_mm _scaled_grouped_mm _grouped_mm"
    " _int_mm _weight_int8pack_mm _weight_int4pack_mm scaled_dot_product_attention _scaled_mm_v2"
    " _scaled_grouped_mm_v2 _mixed_dtypes_linear _sparse_semi_structured_mm"
    " _sparse_semi_structured_addmm _sparse_semi_structured_linear _cslt_sparse_mm _foreach_mm"
    " _flash_attention_forward_no_dropout_inplace _scaled_dot_product_fused_attention_overrideable"
    " _scaled_dot_product_fused_attention_overrideable_backward _scaled_dot_product_flash_attention"
    " _scaled_dot_product_flash_attention_backward _scaled_dot_product_efficient_attention"
    " _scaled_dot_product_efficient_attention_backward _scaled_dot_product_cudnn_attention"
    " _scaled_dot_product_cudnn_attention_backward _scaled_dot_product_attention_math"
    " _flash_attention_forward _flash_attention_backward _efficient_attention_forward"
    " _efficient_attention_backward _cudnn_attention_forward _cudnn_attention_backward"
    " _thnn_fused_lstm_cell _thnn_fused_gru_cell _cudnn_rnn _cudnn_rnn_backward lstm_cell gru_cell"
    " rnn_tanh_cell rnn_relu_cell einsum bilinear _trilinear"
)
_ELIGIBLE_BACKWARD = (
    "CudnnConvolutionBackward BmmBackward0 CudnnConvolutionTransposeBackward MmBackward"
    " AddmvBackward MvBackward AddmmBackward AddbmmBackward MmBackward0 AddmmBackward0"
    " AddmvBackward0 MvBackward0 AddbmmBackward0 BaddbmmBackward0 ConvolutionBackward0"
    " LinearBackward0 CudnnConvolutionBackward0"
)
ELIGIBLE_OPERATORS = frozenset(
    [f"aten::{name}" for name in _ELIGIBLE_ATEN.split()] + _ELIGIBLE_BACKWARD.split()
)
"""Operators whose work matrix cores can do in a suitable data type."""

_OWN = regex(
    r"(?:aten|prim|prims|autograd|torch|c10d|_c10d_functional|profiler|optimizer)::|torch::|Optimizer\.|\w+Backward\d*$"
)

_NO = {"nvidia": regex("|".join(NVIDIA_NO)), "amd": regex("|".join(AMD_NO))}
_YES = {"nvidia": regex("|".join(NVIDIA_YES)), "amd": regex("|".join(AMD_YES))}

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

    The vector-unit part of ``NVIDIA_NO`` and ``AMD_NO``, without layout changes,
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
