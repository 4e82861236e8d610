"""Convolutions, forward and backward, of one to three dimensions, grouped, dilated and transposed."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch_tb_profiler.hardware.call import Call, Tensor, moved
from torch_tb_profiler.hardware.element_types import kind, precision
from torch_tb_profiler.hardware.results import windows
from torch_tb_profiler.hardware.work import Work, model

SOURCE = (
    "2·N·K·P·Q·(C/groups)·R·S FLOPs (transposed: of the input's positions), one more per output"
    " element for a bias; input, weight and bias read once"
)
_BACKWARD = (
    "as many FLOPs as the forward for each of the input's and the weight's gradient that"
    " output_mask asks for, one per element of dy for the bias'"
)
_FORWARD_LETTERS = {1: ("W", "S", "Q"), 2: ("HW", "RS", "PQ"), 3: ("DHW", "TRS", "ZPQ")}


@dataclass(frozen=True)
class _Places:
    """Where an operator's schema has what decides the work; -1: nowhere."""

    bias: int
    stride: int
    padding: int
    dilation: int
    groups: int
    transposed: int = -1
    output_padding: int = -1
    always_transposed: bool = False


_FUNCTIONAL = _Places(bias=2, stride=3, padding=4, dilation=5, groups=6)
_GENERAL = _Places(
    bias=2, stride=3, padding=4, dilation=5, groups=8, transposed=6, output_padding=7
)
_CUDNN = _Places(bias=-1, padding=2, stride=3, dilation=4, groups=5)
_BIASED = _Places(bias=2, padding=3, stride=4, dilation=5, groups=6)
_SLOW = _Places(bias=3, stride=4, padding=5, dilation=6, groups=-1)
_TRANSPOSED = _Places(
    bias=2, stride=3, padding=4, output_padding=5, groups=6, dilation=7, always_transposed=True
)
_SCHEMAS: dict[str, _Places] = {
    **dict.fromkeys(
        (
            "aten::conv1d",
            "aten::conv2d",
            "aten::conv3d",
            "aten::cudnn_convolution_relu",
            "aten::miopen_convolution_relu",
        ),
        _FUNCTIONAL,
    ),
    **dict.fromkeys(
        ("aten::convolution", "aten::_convolution", "aten::convolution_overrideable"), _GENERAL
    ),
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
        (
            "aten::thnn_conv2d",
            "aten::_slow_conv2d_forward",
            "aten::slow_conv3d",
            "aten::slow_conv3d_forward",
            "aten::slow_conv_dilated2d",
            "aten::slow_conv_dilated3d",
        ),
        _SLOW,
    ),
    **dict.fromkeys(("aten::_conv_depthwise2d", "aten::conv_depthwise3d"), _SLOW),
    **dict.fromkeys(
        ("aten::conv_transpose1d", "aten::conv_transpose2d", "aten::conv_transpose3d"), _TRANSPOSED
    ),
    **dict.fromkeys(
        ("aten::slow_conv_transpose2d", "aten::slow_conv_transpose3d"),
        _Places(
            bias=3,
            stride=4,
            padding=5,
            output_padding=6,
            dilation=7,
            groups=-1,
            always_transposed=True,
        ),
    ),
    "aten::cudnn_convolution_transpose": _Places(
        bias=-1, padding=2, output_padding=3, stride=4, dilation=5, groups=6, always_transposed=True
    ),
    "aten::miopen_convolution_transpose": _Places(
        bias=2, padding=3, output_padding=4, stride=5, dilation=6, groups=7, always_transposed=True
    ),
    # After the weight: what is added to the result, and the factor of it.
    **dict.fromkeys(
        ("aten::cudnn_convolution_add_relu", "aten::miopen_convolution_add_relu"),
        _Places(bias=4, stride=5, padding=6, dilation=7, groups=8),
    ),
}


@dataclass(frozen=True)
class _Shapes:
    """A convolution that fits together: shapes with the batch, and the rest."""

    x: tuple[int, ...]
    weight: tuple[int, ...]
    out: tuple[int, ...]
    groups: int
    transposed: bool
    others: dict[str, object]

    @property
    def flops(self) -> int:
        """Of the products: each element of the weight meets each position of the output
        (transposed: of the input), per channel it reads.
        """
        return 2 * math.prod(self.x if self.transposed else self.out) * math.prod(self.weight[1:])

    def parameters(self) -> dict[str, object]:
        """The letters of cuDNN: N C H W, K R S, P Q."""
        spatial = len(self.x) - 2
        made: dict[str, object] = {"N": self.x[0], "C": self.x[1]}
        letters = _FORWARD_LETTERS[spatial]
        made |= zip(letters[0], self.x[2:], strict=True)
        made["K"] = self.out[1]
        made |= zip(letters[1], self.weight[2:], strict=True)
        made |= zip(letters[2], self.out[2:], strict=True)
        return made | {"groups": self.groups} | self.others


@model("convolution", *_SCHEMAS, source=SOURCE)
def forward(call: Call) -> Work | None:
    """``convolution(x, W, bias, stride, padding, dilation, …)`` in any of its schemas."""
    places = _SCHEMAS[call.name]
    x, weight = call.tensor(0), call.tensor(1)
    if x is None or weight is None or kind(x.dtype) == "complex":
        return None
    shapes = _fit(call, places, x.shape, weight.shape)
    if shapes is None:
        return None
    bias = call.tensor(places.bias) if places.bias >= 0 else None
    added = call.tensor(2) if call.name.endswith("_add_relu") else None
    outputs = math.prod(shapes.out)
    # A fused relu compares each element once, a fused addition adds once.
    extra = outputs * ((bias is not None) + (added is not None) + call.name.endswith("_relu"))
    return Work(
        shapes.flops + extra,
        moved(x, weight, bias, added, Tensor(shapes.out, x.dtype)),
        "matrix",
        precision(x.dtype),
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
    """``_causal_conv1d_fwd_cpp(x[…, D, L], W[D, R], bias, …, silu_activation)``: every channel with
    its own R weights, as long as the input.
    """
    x, weight, bias = call.first(3)
    activated = call.value(7)
    if x is None or weight is None or len(weight.shape) != 2 or not isinstance(activated, bool):
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
    "aten::convolution_backward",
    "aten::convolution_backward_overrideable",
    source=_BACKWARD,
)
def backward(call: Call) -> Work | None:
    """``convolution_backward(dy, x, W, bias_sizes, stride, padding, dilation, transposed,
    output_padding, groups, output_mask)``.
    """
    gradient, x, weight = call.first(3)
    last = 9 if call.name.endswith("_overrideable") else 10
    transposed, groups, asked = call.value(last - 3), call.value(last - 1), call.flags(last, 3)
    if not isinstance(transposed, bool):
        return None
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
    "aten::cudnn_convolution_backward",
    "aten::miopen_convolution_backward",
    "aten::mkldnn_convolution_backward",
    "aten::mps_convolution_backward",
    source=_BACKWARD,
)
def library_backward(call: Call) -> Work | None:
    """``cudnn_convolution_backward(x, dy, W, padding, stride, dilation, groups, …, output_mask)``."""
    last = len(call.inputs) - 1
    mask = call.flags(last, 3)
    if mask is None:
        # cuDNN's has no bias.
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
    "aten::cudnn_convolution_backward_input",
    "aten::miopen_convolution_backward_input",
    "aten::mkldnn_convolution_backward_input",
    source="as many FLOPs as the forward: each element of dy meets the weights that made it",
)
def input_backward(call: Call) -> Work | None:
    """``cudnn_convolution_backward_input(size of x, dy, W, …)`` of PyTorch before 1.11; the bytes
    need the size of x.
    """
    size, gradient, weight = call.integers(0), call.tensor(1), call.tensor(2)
    if gradient is None or weight is None or len(gradient.shape) != len(weight.shape):
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
    "aten::cudnn_convolution_backward_weight",
    "aten::miopen_convolution_backward_weight",
    source="as many FLOPs as the forward: each element of dy meets the elements of x that made it",
)
def weight_backward(call: Call) -> Work | None:
    """``cudnn_convolution_backward_weight(size of W, dy, x, …)`` of PyTorch before 1.11."""
    size, gradient, x = call.integers(0), call.tensor(1), call.tensor(2)
    if size is None or gradient is None or x is None or len(size) != len(x.shape):
        return None
    flops = 2 * gradient.elements * math.prod(size[1:])
    return Work(
        flops,
        moved(gradient, x, Tensor(size, x.dtype)),
        "matrix",
        precision(x.dtype),
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
    given = moved(gradient, x if asked[1] else None, weight if asked[0] else None)
    made = moved(
        x.dense if asked[0] else None,
        weight.dense if asked[1] else None,
        Tensor((gradient.shape[1],), x.dtype) if asked[2] else None,
    )
    wanted = ", ".join(
        word for word, flag in zip(("input", "weight", "bias"), asked, strict=True) if flag
    )
    return Work(
        shapes.flops * (asked[0] + asked[1]) + bias_flops,
        None if given is None or made is None else given + made,
        "matrix",
        precision(x.dtype),
        shapes.parameters() | {"gradients": wanted},
        bias_flops,
    )


def _fit(
    call: Call, places: _Places, x: tuple[int, ...], weight: tuple[int, ...]
) -> _Shapes | None:
    """The shapes of the convolution; None where a stride, padding or the like was not recorded."""
    if len(x) == len(weight) - 1:
        x = (1, *x)
    spatial = len(weight) - 2
    if spatial not in _FORWARD_LETTERS or len(x) != len(weight):
        return None
    transposed = places.always_transposed
    if places.transposed >= 0:
        told = call.value(places.transposed)
        if not isinstance(told, bool):
            return None
        transposed = told
    groups = (
        call.value(places.groups)
        if places.groups >= 0
        else x[1] // weight[1]
        if not transposed
        else 1
    )
    stride = call.integers(places.stride, spatial)
    # The slow convolutions without a dilation have none in their schema.
    dilation = (
        call.integers(places.dilation, spatial)
        if len(call.inputs) > places.dilation
        else (1,) * spatial
    )
    # padding="same" is not recorded: then the convolution below tells the numbers.
    padding = call.integers(places.padding, spatial)
    if (
        stride is None
        or padding is None
        or dilation is None
        or not isinstance(groups, int)
        or min(stride) < 1
    ):
        return None
    if x[1] != (weight[0] if transposed else weight[1] * groups):
        # Not the schema that it seems to be: with a second operand, say.
        return None
    channels = weight[1] * groups if transposed else weight[0]
    if transposed:
        more = (
            call.integers(places.output_padding, spatial) if places.output_padding >= 0 else None
        ) or (0,) * spatial
        ends = tuple(
            (n - 1) * s - 2 * p + d * (k - 1) + o + 1
            for n, s, p, d, k, o in zip(
                x[2:], stride, padding, dilation, weight[2:], more, strict=True
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
