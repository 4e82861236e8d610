"""The operators and kernels of the synthetic job: real names, invented durations.

No duration is shorter than the device in the header (an H100 SXM: 3.35 TB/s, 989 TFLOP/s of
bfloat16) needs for the shapes; data movement takes at least bytes / bandwidth / 0.9.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

from synthesis.process import Kernel

_ROWS, _WIDTH = 4096, 1024


@dataclass(frozen=True)
class Input:
    """An operator's argument as recorded: the JSON of its shape, its type, the value of a
    non-tensor.
    """

    dims: str = "[]"
    kind: str = ""
    value: str = ""


@dataclass(frozen=True)
class Call:
    """An operator's call. ``body``: its actions in order, pairs of a word and a value.

    Words: ``call`` (another operator), ``allocate`` and ``copy`` (bytes), ``runtime`` (ns of a call
    that launches nothing), or a launch function (kernel). ``gradient``: the autograd node that it
    creates, which runs the calls of ``backward``.
    """

    name: str
    inputs: tuple[Input, ...] = ()
    body: tuple[tuple[str, Call | Kernel | int], ...] = ()
    gradient: str = ""
    backward: tuple[Call, ...] = ()

    @cached_property
    def args(self) -> str:
        """The inside of the event's ``args``, after the external id."""
        if not self.inputs:
            return ""
        dims, kinds, values = (
            ", ".join(each)
            for each in zip(
                *((i.dims, f'"{i.kind}"', f'"{i.value}"') for i in self.inputs), strict=True
            )
        )
        return f', "Input Dims": [{dims}], "Input type": [{kinds}], "Concrete Inputs": [{values}]'


NONE = Input()


def tensor(*shape: int, kind: str = "c10::BFloat16") -> Input:
    """A tensor."""
    return Input(str(list(shape)), kind)


def tensors(*shapes: tuple[int, ...]) -> Input:
    """A list of tensors."""
    return Input(str([list(shape) for shape in shapes]), "TensorList")


def number(value: float | str) -> Input:
    """A number or boolean."""
    return Input("[]", "Scalar", str(value))


def numbers(*values: int | str) -> Input:
    """A list of numbers."""
    return Input("[]", "ScalarList", f"[{', '.join(map(str, values))}]")


_GEMM_WIDE = Kernel(
    "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_TNT", (2, 64, 1), (384, 1, 1), 168, 213_000, 19, 96_000
)
_GEMM = Kernel(
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
    (32, 8, 1),
    (384, 1, 1),
    168,
    231_424,
    19,
    52_000,
)
_GEMM_GRADIENT = Kernel(
    "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NTT", (64, 2, 1), (384, 1, 1), 168, 213_000, 19, 88_000
)
_FLASH = Kernel(
    "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false,"
    " cutlass::bfloat16_t, Flash_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >, false,"
    " true, false, false, true, true, false, false>(flash::Flash_fwd_params)",
    (4, 8, 16),
    (128, 1, 1),
    255,
    49_152,
    13,
    71_000,
)
_FLASH_GRADIENT = Kernel(
    "void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<64, 128, 128,"
    " 8, 4, 4, 4, false, false, cutlass::bfloat16_t> >(flash::Flash_bwd_params)",
    (4, 8, 16),
    (256, 1, 1),
    255,
    147_456,
    13,
    182_000,
)
_NORM = Kernel(
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float,"
    " false>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*,"
    " float*, c10::BFloat16*)",
    (_ROWS, 1, 1),
    (32, 4, 1),
    32,
    24,
    88,
    9_600,
)
_NORM_GRADIENT = Kernel(
    "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16,"
    " float, false>(c10::BFloat16 const*, c10::BFloat16 const*, float const*, float const*,"
    " c10::BFloat16 const*, c10::BFloat16*, int)",
    (_ROWS, 1, 1),
    (128, 1, 1),
    40,
    512,
    75,
    16_900,
)
_GELU = Kernel(
    "void at::native::vectorized_elementwise_kernel<4,"
    " at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&,"
    " at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()()"
    " const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)",
    (16_384, 1, 1),
    (128, 1, 1),
    24,
    0,
    91,
    23_600,
)
_ADD = Kernel(
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>,"
    " std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*,"
    " 3ul>)",
    (8192, 1, 1),
    (128, 1, 1),
    20,
    0,
    94,
    8_900,
)
_SUM = Kernel(
    "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16,"
    " at::native::func_wrapper_t<c10::BFloat16, at::native::sum_functor<c10::BFloat16, float,"
    " c10::BFloat16>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int,"
    " c10::BFloat16, 4, 4> >(at::native::ReduceOp)",
    (8, 16, 1),
    (32, 16, 1),
    40,
    8192,
    31,
    12_600,
)
_SOFTMAX = Kernel(
    "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float, float,"
    " at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(float*, c10::BFloat16 const*,"
    " int)",
    (_ROWS, 1, 1),
    (1024, 1, 1),
    32,
    32_768,
    66,
    285_000,
)
_SOFTMAX_GRADIENT = Kernel(
    "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float, float, c10::BFloat16,"
    " at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>(c10::BFloat16*, float const*,"
    " float const*, int)",
    (_ROWS, 1, 1),
    (1024, 1, 1),
    32,
    32_768,
    66,
    460_000,
)
_TRITON = Kernel(
    "triton_poi_fused_add_gelu_backward_0", (4096, 1, 1), (128, 1, 1), 28, 0, 92, 35_500
)
DROPOUT = Kernel(
    "void at::native::(anonymous namespace)::fused_dropout_kernel_vec<c10::BFloat16, float,"
    " unsigned int, 1, 4, bool>(at::cuda::detail::TensorInfo<c10::BFloat16 const, unsigned int>,"
    " unsigned int, float, at::PhiloxCudaState)",
    (1056, 1, 1),
    (256, 1, 1),
    40,
    0,
    62,
    64_000,
)
COLLECTIVE = Kernel(
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    (24, 1, 1),
    (544, 1, 1),
    96,
    82_240,
    1,
    0,
)
STALE = Kernel(
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>,"
    " std::array<char*, 1ul> >(int)",
    (512, 1, 1),
    (128, 1, 1),
    16,
    0,
    24,
    5_000,
)
_ADAM = Kernel(
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous"
    " namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous"
    " namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>"
    " >(at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>)",
    (320, 1, 1),
    (512, 1, 1),
    64,
    0,
    47,
    210_000,
)
_LERP = Kernel(
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous"
    " namespace)::TensorListMetadata<3>, at::native::(anonymous"
    " namespace)::TernaryOpScalarFunctor<float, 3, 2, 0> >(at::native::(anonymous"
    " namespace)::TensorListMetadata<3>)",
    (320, 1, 1),
    (512, 1, 1),
    40,
    0,
    72,
    240_000,
)
GRAPH_KERNELS = (
    Kernel(
        "triton_per_fused_clamp_linalg_vector_norm_1", (256, 1, 1), (256, 1, 1), 24, 64, 58, 3_400
    ),
    Kernel("triton_poi_fused_mul_2", (2048, 1, 1), (256, 1, 1), 18, 0, 93, 4_900),
    _GEMM,
)


def _linear(inputs: int, outputs: int, kernel: Kernel) -> Call:
    x, w, bias, y = (
        tensor(_ROWS, inputs),
        tensor(outputs, inputs),
        tensor(outputs),
        tensor(_ROWS, outputs),
    )
    transpose = Call(
        "aten::t", (w,), (("call", Call("aten::transpose", (w, number(0), number(1)))),)
    )
    product = Call(
        "aten::addmm",
        (bias, x, tensor(inputs, outputs), number(1), number(1)),
        (("allocate", _ROWS * outputs * 2), ("cudaLaunchKernelExC", kernel)),
    )
    back = (
        Call("aten::mm", (y, w), (("cudaLaunchKernelExC", kernel),)),
        Call("aten::mm", (tensor(outputs, _ROWS), x), (("cudaLaunchKernelExC", _GEMM_GRADIENT),)),
        Call("aten::sum", (y, numbers(0), number(True), NONE), (("cudaLaunchKernel", _SUM),)),
    )
    # Autocast dispatches aten::linear to itself: an only child of the same name, which is one call.
    inner = Call("aten::linear", (x, w, bias), (("call", transpose), ("call", product)))
    return Call("aten::linear", (x, w, bias), (("call", inner),), "AddmmBackward0", back)


_HIDDEN, _WIDE, _SCALES = tensor(8, 512, _WIDTH), tensor(8, 512, 4 * _WIDTH), tensor(_WIDTH)
_MOMENT = tensor(8, 512, 1, kind="float")
_NORMED = (_HIDDEN, numbers(_WIDTH), _SCALES, _SCALES, number("1.0000000000000001e-05"))
_NORM_CALL = Call(
    "aten::layer_norm",
    (*_NORMED, number(True)),
    (
        (
            "call",
            Call(
                "aten::native_layer_norm",
                _NORMED,
                (("allocate", _ROWS * _WIDTH * 2), ("cudaLaunchKernel", _NORM)),
            ),
        ),
    ),
    "NativeLayerNormBackward0",
    (
        Call(
            "aten::native_layer_norm_backward",
            (
                _HIDDEN,
                _HIDDEN,
                numbers(_WIDTH),
                _MOMENT,
                _MOMENT,
                _SCALES,
                _SCALES,
                numbers(True, True, True),
            ),
            (("cudaLaunchKernel", _NORM_GRADIENT), ("cudaLaunchKernel", _SUM)),
        ),
    ),
)
_HEADS, _HEADS_LAST = tensor(8, 16, 512, 64), tensor(8, 512, 16, 64)
_NO, _YES, _LENGTH = number(False), number(True), number(512)
_SEED = tensor(kind="unsigned long int")
_FLASH_CALL = Call(
    "aten::_flash_attention_forward",
    (
        *(_HEADS_LAST,) * 3,
        NONE,
        NONE,
        _LENGTH,
        _LENGTH,
        number("0."),
        _YES,
        _NO,
        number(0.125),
        NONE,
        NONE,
        NONE,
        NONE,
    ),
    (("cudaLaunchKernel", _FLASH),),
)
_ATTENTION = Call(
    "aten::scaled_dot_product_attention",
    (*(_HEADS,) * 3, NONE, number("0."), _YES, NONE, _NO),
    (
        (
            "call",
            Call(
                "aten::_scaled_dot_product_flash_attention",
                (*(_HEADS,) * 3, number("0."), _YES, _NO, NONE),
                (("allocate", _ROWS * _WIDTH * 2), ("call", _FLASH_CALL)),
            ),
        ),
    ),
    "ScaledDotProductFlashAttentionBackward0",
    (
        Call(
            "aten::_scaled_dot_product_flash_attention_backward",
            (
                *(_HEADS,) * 5,
                tensor(8, 16, 512, kind="float"),
                NONE,
                NONE,
                _LENGTH,
                _LENGTH,
                number("0."),
                _YES,
                _SEED,
                _SEED,
                NONE,
            ),
            (("cudaLaunchKernel", _FLASH_GRADIENT),),
        ),
    ),
)
# Here the inner call of the same name has a sibling, so these are two calls.
_CLONE = Call(
    "aten::clone",
    (_HEADS, number(0)),
    (
        ("runtime", 900),
        ("call", Call("aten::clone", (_HEADS, number(0)), (("copy", _ROWS * _WIDTH * 2),))),
    ),
)
_GELU_CALL = Call(
    "aten::gelu",
    (_WIDE, NONE),
    (("allocate", _ROWS * 4 * _WIDTH * 2), ("cudaLaunchKernel", _GELU)),
    "GeluBackward0",
    (Call("aten::gelu_backward", (_WIDE, _WIDE, NONE), (("cuLaunchKernel", _TRITON),)),),
)
_ADD_CALL = Call(
    "aten::add",
    (_HIDDEN, _HIDDEN, number(1)),
    (("allocate", _ROWS * _WIDTH * 2), ("cudaLaunchKernel", _ADD)),
    "AddBackward0",
)

_LINEAR_FRAME = "torch/nn/modules/linear.py(130): forward"
LAYER: tuple[tuple[str, str, tuple[Call, ...]], ...] = (
    ("LayerNorm", "torch/nn/modules/normalization.py(229): forward", (_NORM_CALL,)),
    ("Linear", _LINEAR_FRAME, (_linear(_WIDTH, 3 * _WIDTH, _GEMM_WIDE),)),
    ("Attention", "model.py(41): forward", (_ATTENTION, _CLONE)),
    ("Linear", _LINEAR_FRAME, (_linear(_WIDTH, _WIDTH, _GEMM), _ADD_CALL)),
    ("LayerNorm", "torch/nn/modules/normalization.py(229): forward", (_NORM_CALL,)),
    ("Linear", _LINEAR_FRAME, (_linear(_WIDTH, 4 * _WIDTH, _GEMM_WIDE),)),
    ("GELU", "torch/nn/modules/activation.py(816): forward", (_GELU_CALL,)),
    ("Linear", _LINEAR_FRAME, (_linear(4 * _WIDTH, _WIDTH, _GEMM_WIDE), _ADD_CALL)),
)
"""Of each module of a layer: its class, the Python frame of its ``forward``, and the operators
called there.
"""

_LOGITS, _LOGARITHMS, _TARGETS = (
    tensor(_ROWS, 32000),
    tensor(_ROWS, 32000, kind="float"),
    tensor(_ROWS, kind="long int"),
)
_PICKED = (_LOGARITHMS, _TARGETS, NONE, number(1), number(-100))
LOSS = Call(
    "aten::cross_entropy_loss",
    (_LOGITS, _TARGETS, NONE, number(1), number(-100), number("0.")),
    (
        (
            "call",
            Call(
                "aten::log_softmax",
                (_LOGITS, number(1), number(6)),
                (
                    (
                        "call",
                        Call(
                            "aten::_log_softmax",
                            (_LOGITS, number(1), number(True)),
                            (("allocate", _ROWS * 32000 * 4), ("cudaLaunchKernel", _SOFTMAX)),
                        ),
                    ),
                ),
            ),
        ),
        (
            "call",
            Call(
                "aten::nll_loss_nd",
                _PICKED,
                (("call", Call("aten::nll_loss_forward", _PICKED, (("cudaLaunchKernel", _SUM),))),),
            ),
        ),
    ),
    "LogSoftmaxBackward0",
    (
        Call(
            "aten::_log_softmax_backward_data",
            (_LOGARITHMS, _LOGARITHMS, number(1), number(15)),
            (("cudaLaunchKernel", _SOFTMAX_GRADIENT),),
        ),
    ),
)


def _weights(layers: int) -> Input:
    """The weights of the layers above, and what is kept for each."""
    shapes: list[tuple[int, ...]] = [(_WIDTH, 4 * _WIDTH), *[(_WIDTH,)] * 5]
    for times in (3, 1, 4):
        shapes += [(times * _WIDTH, _WIDTH), (times * _WIDTH,)]
    return tensors(*shapes * layers)


@cache
def adam(layers: int) -> Call:
    """The optimizer's step."""
    weights, rest = (
        _weights(layers),
        (
            number("1e-4"),
            number("0.9"),
            number("0.999"),
            number("0.01"),
            number("1e-8"),
            _NO,
            _NO,
            NONE,
            NONE,
        ),
    )
    return Call(
        "aten::_fused_adamw_",
        (*(weights,) * 4, tensors(), tensors(*((),) * 12 * layers), *rest),
        (("runtime", 2_000), ("cudaLaunchKernel", _ADAM), ("cudaLaunchKernel", _ADAM)),
    )


@cache
def average(layers: int) -> Call:
    """The step of a running average of the weights."""
    return Call(
        "aten::_foreach_lerp_",
        (_weights(layers), _weights(layers), number("0.001")),
        (("cudaLaunchKernel", _LERP),),
    )
