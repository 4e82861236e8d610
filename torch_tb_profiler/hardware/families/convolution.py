"""Convolutions in one to three dimensions, forward and backward; also grouped, dilated, transposed."""

from __future__ import annotations

import math

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.data_rows import rows_beside
from torch_tb_profiler.hardware.call import Call, Tensor, required
from torch_tb_profiler.hardware.element_types import kind
from torch_tb_profiler.hardware.results import windows
from torch_tb_profiler.hardware.work import Work, described, matrix_work, model, models_beside

modelled = models_beside(__file__)

SOURCE = (
    "2·N·K·P·Q·(C/groups)·R·S FLOPs (transposed: input positions), one more per output element for"
    " a bias; input, weight and bias read once, the output written once"
)
_FORWARD_LETTERS = {1: ("W", "S", "Q"), 2: ("HW", "RS", "PQ"), 3: ("DHW", "TRS", "ZPQ")}


class _Schema(msgspec.Struct, frozen=True):
    """Argument indices of an operator's schema; -1: no such argument."""

    bias: int
    stride: int
    padding: int
    dilation: int
    groups: int
    transposed: int = -1
    output_padding: int = -1
    always_transposed: bool = False


_ROWS, *_ = rows_beside(__file__)
_SCHEMAS = described(_ROWS["forward"], _Schema)


class _Shapes(msgspec.Struct, frozen=True):
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
        of_x, of_weight, of_out = _FORWARD_LETTERS[len(self.x) - 2]
        letters = f"NC{of_x}K{of_weight}{of_out}"
        sizes = (*self.x, self.out[1], *self.weight[2:], *self.out[2:])
        return dict(zip(letters, sizes, strict=True)) | {"groups": self.groups} | self.others


@model("convolution", *_SCHEMAS, source=SOURCE)
def forward(call: Call) -> Work | None:
    """``convolution(x, W, bias, stride, padding, dilation, …)`` in any of its schemas."""
    schema = _SCHEMAS[call.name]
    x, weight = call.need(0), call.need(1)
    if kind(x.dtype) == "complex":
        return None
    shapes = required(_fit(call, schema, x.shape, weight.shape))
    bias, out = call.tensor(schema.bias), Tensor(shapes.out, x.dtype)
    added = call.tensor(2) if call.name.endswith("_add_relu") else None
    # A fused ReLU or addition is one FLOP per element.
    each = (bias is not None) + (added is not None) + call.name.endswith("_relu")
    tensors = [x, weight, bias, added, out]
    return matrix_work(shapes.flops, x, tensors, shapes.parameters(), each * out.elements)


@modelled
def causal(call: Call) -> Work | None:
    """``_causal_conv1d_fwd_cpp(x[…, D, L], W[D, R], bias, …, silu_activation)``, one filter per
    channel.
    """
    x, weight, bias = call.need(0), call.need(1), call.tensor(2)
    activated = call.boolean(7)
    if len(weight.shape) != 2:
        return None
    length = weight.shape[1]
    others = x.elements * ((bias is not None) + activated)
    parameters = {"shape": x.shape, "R": length}
    tensors = [x, weight, bias, x.dense]
    work = matrix_work(2 * length * x.elements, x, tensors, parameters, others)
    return replace(work, unit="vector")


@modelled
def backward(call: Call) -> Work | None:
    """``convolution_backward(dy, x, W, bias_sizes, …, transposed, output_padding, groups,
    output_mask)``.
    """
    last = 9 if call.name.endswith("_overrideable") else 10
    transposed, groups = call.boolean(last - 3), call.value(last - 1)
    return _gradients(call, (0, 1, 2), call.flags(last, 3), transposed=transposed, groups=groups)


@modelled
def slow_backward(call: Call) -> Work | None:
    """``_slow_conv2d_backward(dy, x, W, kernel_size, stride, padding, output_mask)``."""
    return _gradients(call, (0, 1, 2), call.flags(6, 3))


@modelled
def library_backward(call: Call) -> Work | None:
    """``cudnn_convolution_backward(x, dy, W, padding, stride, dilation, groups, …, output_mask)``."""
    last = len(call.inputs) - 1
    mask = call.flags(last, 3)
    if mask is None:
        # cuDNN has no bias gradient.
        two = call.flags(last, 2)
        mask = None if two is None else (*two, False)
    return _gradients(call, (1, 0, 2), mask, groups=call.value(6))


@modelled
def input_backward(call: Call) -> Work | None:
    """``cudnn_convolution_backward_input(size of x, dy, W, …)`` of PyTorch before 1.11."""
    size, gradient, weight = call.integers(0), call.need(1), call.need(2)
    if len(gradient.shape) != len(weight.shape):
        return None
    # Without the size, the result's element type is as unknown as its shape.
    result = Tensor((), "") if size is None else Tensor(size, gradient.dtype)
    flops = 2 * gradient.elements * math.prod(weight.shape[1:])
    sizes = {"dy": gradient.shape, "weight": weight.shape}
    return matrix_work(flops, gradient, [gradient, weight, result], sizes)


@modelled
def weight_backward(call: Call) -> Work | None:
    """``cudnn_convolution_backward_weight(size of W, dy, x, …)`` of PyTorch before 1.11."""
    size, gradient, x = required(call.integers(0)), call.need(1), call.need(2)
    if len(size) != len(x.shape):
        return None
    flops = 2 * gradient.elements * math.prod(size[1:])
    sizes = {"dy": gradient.shape, "x": x.shape, "weight": size}
    return matrix_work(flops, x, [gradient, x, Tensor(size, x.dtype)], sizes)


def _gradients(
    call: Call,
    indices: tuple[int, int, int],
    asked: tuple[bool, ...] | None,
    *,
    transposed: bool = False,
    groups: object = 1,
) -> Work | None:
    """The work of the gradients ``asked`` for; ``indices`` of dy, x and the weight."""
    dy, x, weight = map(call.need, indices)
    of_x, of_weight, of_bias = flags = required(asked)
    if len(x.shape) != len(weight.shape) or len(x.shape) - 2 not in _FORWARD_LETTERS:
        return None
    others: dict[str, object] = {"transposed": True} if transposed else {}
    groups = groups if isinstance(groups, int) else 1
    shapes = _Shapes(x.shape, weight.shape, dy.shape, groups, transposed, others)
    read = [dy, *[x] * of_weight, *[weight] * of_x]
    bias = [Tensor((dy.shape[1],), x.dtype)] * of_bias
    written = [*[x.dense] * of_x, *[weight.dense] * of_weight, *bias]
    wanted = zip(("input", "weight", "bias"), flags, strict=True)
    parameters = {"gradients": ", ".join(word for word, flag in wanted if flag)}
    return matrix_work(
        shapes.flops * (of_x + of_weight),
        x,
        read + written,
        shapes.parameters() | parameters,
        dy.elements * of_bias,
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
        transposed = call.boolean(schema.transposed)
    groups = 1 if transposed else x[1] // weight[1]
    if schema.groups >= 0:
        groups = call.integer(schema.groups)
    stride, dilation = required(call.integers(schema.stride, spatial)), (1,) * spatial
    # Some slow convolutions have no dilation in their schema.
    if len(call.inputs) > schema.dilation:
        dilation = required(call.integers(schema.dilation, spatial))
    # padding="same" is not recorded; the nested convolution has the numbers.
    padding = required(call.integers(schema.padding, spatial))
    if min(stride) < 1:
        return None
    if x[1] != (weight[0] if transposed else weight[1] * groups):
        # A different schema, for example with a second operand.
        return None
    channels = weight[1] * groups if transposed else weight[0]
    if transposed:
        output_padding = call.integers(schema.output_padding, spatial) or (0,) * spatial
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
    others: dict[str, object] = {"stride": stride}
    if max(dilation) > 1:
        others["dilation"] = dilation
    if transposed:
        others["transposed"] = True
    return _Shapes(x, weight, (x[0], channels, *ends), groups, transposed, others)
