"""Convolutions in one to three dimensions, forward and backward; also grouped, dilated, transposed."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch_tb_profiler.hardware.call import Call, Tensor, known, moved
from torch_tb_profiler.hardware.element_types import kind, precision
from torch_tb_profiler.hardware.results import windows
from torch_tb_profiler.hardware.work import Work, matrix_work, model, named

SOURCE = (
    "2·N·K·P·Q·(C/groups)·R·S FLOPs (transposed: input positions), one more per output element for"
    " a bias; input, weight and bias read once, the output written once"
)
_BACKWARD = (
    "the FLOPs of the forward for each of the input and weight gradients in output_mask, one per"
    " element of dy for the bias gradient"
)
_FORWARD_LETTERS = {1: ("W", "S", "Q"), 2: ("HW", "RS", "PQ"), 3: ("DHW", "TRS", "ZPQ")}


@dataclass(frozen=True)
class _Schema:
    """Argument indices of an operator's schema; -1: no such argument."""

    bias: int
    stride: int
    padding: int
    dilation: int
    groups: int
    transposed: int = -1
    output_padding: int = -1
    always_transposed: bool = False


_FUNCTIONAL = _Schema(bias=2, stride=3, padding=4, dilation=5, groups=6)
_GENERAL = _Schema(
    bias=2, stride=3, padding=4, dilation=5, groups=8, transposed=6, output_padding=7
)
_CUDNN = _Schema(bias=-1, padding=2, stride=3, dilation=4, groups=5)
_BIASED = _Schema(bias=2, padding=3, stride=4, dilation=5, groups=6)
_SLOW = _Schema(bias=3, stride=4, padding=5, dilation=6, groups=-1)
_TRANSPOSED = _Schema(
    bias=2, stride=3, padding=4, output_padding=5, groups=6, dilation=7, always_transposed=True
)
_SCHEMAS: dict[str, _Schema] = {
    **dict.fromkeys(
        named("aten", "conv1d conv2d conv3d cudnn_convolution_relu miopen_convolution_relu"),
        _FUNCTIONAL,
    ),
    **dict.fromkeys(named("aten", "convolution _convolution convolution_overrideable"), _GENERAL),
    "aten::cudnn_convolution": _CUDNN,
    **dict.fromkeys(
        (
            "aten::miopen_convolution",
            "aten::miopen_depthwise_convolution",
            "aten::mkldnn_convolution",
            "aten::_mps_convolution",
            "mkldnn::_convolution_pointwise",
        ),
        _BIASED,
    ),
    **dict.fromkeys(
        named(
            "aten",
            "thnn_conv2d _slow_conv2d_forward slow_conv3d"
            " slow_conv3d_forward slow_conv_dilated2d"
            " slow_conv_dilated3d",
        ),
        _SLOW,
    ),
    **dict.fromkeys(("aten::_conv_depthwise2d", "aten::conv_depthwise3d"), _SLOW),
    **dict.fromkeys(
        named("aten", "conv_transpose1d conv_transpose2d conv_transpose3d"), _TRANSPOSED
    ),
    **dict.fromkeys(
        named("aten", "slow_conv_transpose2d slow_conv_transpose3d"),
        _Schema(
            bias=3,
            stride=4,
            padding=5,
            output_padding=6,
            dilation=7,
            groups=-1,
            always_transposed=True,
        ),
    ),
    "aten::cudnn_convolution_transpose": _Schema(
        bias=-1, padding=2, output_padding=3, stride=4, dilation=5, groups=6, always_transposed=True
    ),
    "aten::miopen_convolution_transpose": _Schema(
        bias=2, padding=3, output_padding=4, stride=5, dilation=6, groups=7, always_transposed=True
    ),
    # After the weight come the addend and its factor.
    **dict.fromkeys(
        named("aten", "cudnn_convolution_add_relu miopen_convolution_add_relu"),
        _Schema(bias=4, stride=5, padding=6, dilation=7, groups=8),
    ),
}


@dataclass(frozen=True)
class _Shapes:
    """The consistent shapes of a convolution, with the batch, and its options."""

    x: tuple[int, ...]
    weight: tuple[int, ...]
    out: tuple[int, ...]
    groups: int
    transposed: bool
    others: dict[str, object]

    @property
    def flops(self) -> int:
        """FLOPs of the products: every weight times every output (transposed: input) position."""
        return 2 * math.prod(self.x if self.transposed else self.out) * math.prod(self.weight[1:])

    def parameters(self) -> dict[str, object]:
        """Named as in cuDNN: N C H W, K R S, P Q."""
        spatial = len(self.x) - 2
        letters_and_sizes: dict[str, object] = {"N": self.x[0], "C": self.x[1]}
        names = _FORWARD_LETTERS[spatial]
        letters_and_sizes |= zip(names[0], self.x[2:], strict=True)
        letters_and_sizes["K"] = self.out[1]
        letters_and_sizes |= zip(names[1], self.weight[2:], strict=True)
        letters_and_sizes |= zip(names[2], self.out[2:], strict=True)
        return letters_and_sizes | {"groups": self.groups} | self.others


@model("convolution", *_SCHEMAS, source=SOURCE)
def forward(call: Call) -> Work | None:
    """``convolution(x, W, bias, stride, padding, dilation, …)`` in any of its schemas."""
    schema = _SCHEMAS[call.name]
    x, weight = call.need(0), call.need(1)
    if kind(x.dtype) == "complex":
        return None
    shapes = _fit(call, schema, x.shape, weight.shape)
    if shapes is None:
        return None
    bias = call.tensor(schema.bias) if schema.bias >= 0 else None
    added = call.tensor(2) if call.name.endswith("_add_relu") else None
    outputs = math.prod(shapes.out)
    # A fused ReLU or addition is one FLOP per element.
    extra = outputs * ((bias is not None) + (added is not None) + call.name.endswith("_relu"))
    return matrix_work(
        shapes.flops,
        x,
        [x, weight, bias, added, Tensor(shapes.out, x.dtype)],
        shapes.parameters(),
        extra,
    )


@model(
    "convolution",
    "DaoAILab::_causal_conv1d_fwd_cpp",
    "sgl_kernel::causal_conv1d_fwd",
    "_C::causal_conv1d_fwd",
    source=(
        "2·R FLOPs per element of the result, one more for a bias, one for the activation; input,"
        " weight and bias read, the result written once"
    ),
)
def causal(call: Call) -> Work | None:
    """``_causal_conv1d_fwd_cpp(x[…, D, L], W[D, R], bias, …, silu_activation)``, one filter per
    channel.
    """
    x, weight, bias = call.need(0), call.need(1), call.tensor(2)
    activated = call.boolean(7)
    if len(weight.shape) != 2:
        return None
    extra = x.elements * ((bias is not None) + activated)
    return Work(
        2 * weight.shape[1] * x.elements + extra,
        moved(x, weight, bias, x.dense),
        "vector",
        precision(x.dtype),
        {"shape": x.shape, "R": weight.shape[1]},
        extra,
    )


@model(
    "convolution",
    *named("aten", "convolution_backward convolution_backward_overrideable"),
    source=_BACKWARD,
)
def backward(call: Call) -> Work | None:
    """``convolution_backward(dy, x, W, bias_sizes, …, transposed, output_padding, groups,
    output_mask)``.
    """
    gradient, x, weight = call.first(3)
    last = 9 if call.name.endswith("_overrideable") else 10
    transposed, groups, asked = call.boolean(last - 3), call.value(last - 1), call.flags(last, 3)
    return _gradients(
        gradient,
        x,
        weight,
        asked,
        transposed=transposed,
        groups=groups if isinstance(groups, int) else 1,
    )


@model("convolution", "aten::_slow_conv2d_backward", "aten::thnn_conv2d_backward", source=_BACKWARD)
def slow_backward(call: Call) -> Work | None:
    """``_slow_conv2d_backward(dy, x, W, kernel_size, stride, padding, output_mask)``."""
    return _gradients(call.tensor(0), call.tensor(1), call.tensor(2), call.flags(6, 3))


@model(
    "convolution",
    *named(
        "aten",
        "cudnn_convolution_backward miopen_convolution_backward"
        " mkldnn_convolution_backward mps_convolution_backward",
    ),
    source=_BACKWARD,
)
def library_backward(call: Call) -> Work | None:
    """``cudnn_convolution_backward(x, dy, W, padding, stride, dilation, groups, …, output_mask)``."""
    last = len(call.inputs) - 1
    mask = call.flags(last, 3)
    if mask is None:
        # cuDNN has no bias gradient.
        two = call.flags(last, 2)
        mask = None if two is None else (*two, False)
    groups = call.value(6)
    return _gradients(
        call.tensor(1),
        call.tensor(0),
        call.tensor(2),
        mask,
        groups=groups if isinstance(groups, int) else 1,
    )


@model(
    "convolution",
    *named(
        "aten",
        "cudnn_convolution_backward_input"
        " miopen_convolution_backward_input"
        " mkldnn_convolution_backward_input",
    ),
    source="the FLOPs of the forward: each element of dy meets the weights behind it",
)
def input_backward(call: Call) -> Work | None:
    """``cudnn_convolution_backward_input(size of x, dy, W, …)`` of PyTorch before 1.11."""
    size, gradient, weight = call.integers(0), call.need(1), call.need(2)
    if len(gradient.shape) != len(weight.shape):
        return None
    data = None if size is None else moved(gradient, weight, Tensor(size, gradient.dtype))
    flops = 2 * gradient.elements * math.prod(weight.shape[1:])
    return Work(
        flops,
        data,
        "matrix",
        precision(gradient.dtype),
        {"dy": gradient.shape, "weight": weight.shape},
    )


@model(
    "convolution",
    *named("aten", "cudnn_convolution_backward_weight miopen_convolution_backward_weight"),
    source="the FLOPs of the forward: each element of dy meets the elements of x behind it",
)
def weight_backward(call: Call) -> Work | None:
    """``cudnn_convolution_backward_weight(size of W, dy, x, …)`` of PyTorch before 1.11."""
    size, gradient, x = known(call.integers(0)), call.need(1), call.need(2)
    if len(size) != len(x.shape):
        return None
    flops = 2 * gradient.elements * math.prod(size[1:])
    return matrix_work(
        flops,
        x,
        [gradient, x, Tensor(size, x.dtype)],
        {"dy": gradient.shape, "x": x.shape, "weight": size},
    )


def _gradients(
    gradient: Tensor | None,
    x: Tensor | None,
    weight: Tensor | None,
    asked: tuple[bool, ...] | None,
    *,
    transposed: bool = False,
    groups: int = 1,
) -> Work | None:
    if (
        gradient is None
        or x is None
        or weight is None
        or asked is None
        or len(x.shape) != len(weight.shape)
        or len(x.shape) - 2 not in _FORWARD_LETTERS
    ):
        return None
    shapes = _Shapes(
        x.shape,
        weight.shape,
        gradient.shape,
        groups,
        transposed,
        {"transposed": True} if transposed else {},
    )
    bias_flops = gradient.elements if asked[2] else 0
    read = moved(gradient, x if asked[1] else None, weight if asked[0] else None)
    written = moved(
        x.dense if asked[0] else None,
        weight.dense if asked[1] else None,
        Tensor((gradient.shape[1],), x.dtype) if asked[2] else None,
    )
    wanted = ", ".join(
        word for word, flag in zip(("input", "weight", "bias"), asked, strict=True) if flag
    )
    return Work(
        shapes.flops * (asked[0] + asked[1]) + bias_flops,
        None if read is None or written is None else read + written,
        "matrix",
        precision(x.dtype),
        shapes.parameters() | {"gradients": wanted},
        bias_flops,
    )


def _fit(
    call: Call, schema: _Schema, x: tuple[int, ...], weight: tuple[int, ...]
) -> _Shapes | None:
    """The shapes of the convolution; None if a stride, padding or the like was not recorded."""
    if len(x) == len(weight) - 1:
        x = (1, *x)
    spatial = len(weight) - 2
    if spatial not in _FORWARD_LETTERS or len(x) != len(weight):
        return None
    transposed = schema.always_transposed
    if schema.transposed >= 0:
        flag = call.value(schema.transposed)
        if not isinstance(flag, bool):
            return None
        transposed = flag
    groups: object = 1 if transposed else x[1] // weight[1]
    if schema.groups >= 0:
        groups = call.value(schema.groups)
    stride = call.integers(schema.stride, spatial)
    # Some slow convolutions have no dilation in their schema.
    dilation = (
        call.integers(schema.dilation, spatial)
        if len(call.inputs) > schema.dilation
        else (1,) * spatial
    )
    # padding="same" is not recorded; the nested convolution has the numbers.
    padding = call.integers(schema.padding, spatial)
    if (
        stride is None
        or padding is None
        or dilation is None
        or not isinstance(groups, int)
        or min(stride) < 1
    ):
        return None
    if x[1] != (weight[0] if transposed else weight[1] * groups):
        # A different schema, for example with a second operand.
        return None
    channels = weight[1] * groups if transposed else weight[0]
    if transposed:
        output_padding = (
            call.integers(schema.output_padding, spatial) if schema.output_padding >= 0 else None
        ) or (0,) * spatial
        ends = tuple(
            (n - 1) * s - 2 * p + d * (k - 1) + o + 1
            for n, s, p, d, k, o in zip(
                x[2:], stride, padding, dilation, weight[2:], output_padding, strict=True
            )
        )
    else:
        ends = tuple(
            windows(n, k, s, p, d)
            for n, k, s, p, d in zip(x[2:], weight[2:], stride, padding, dilation, strict=True)
        )
    others: dict[str, object] = (
        {"stride": stride}
        | ({"dilation": dilation} if max(dilation) > 1 else {})
        | ({"transposed": True} if transposed else {})
    )
    return _Shapes(x, weight, (x[0], channels, *ends), groups, transposed, others)
