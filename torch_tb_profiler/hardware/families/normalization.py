"""Normalizations: batch, layer, group and instance norm, forward and backward."""

from __future__ import annotations

import math

from torch_tb_profiler.hardware.call import Call, Tensor, required
from torch_tb_profiler.hardware.work import Work, models_beside, per_element, vector_work

modelled = models_beside(__file__)


@modelled
def layer_norm(call: Call) -> Work | None:
    """``layer_norm(x, normalized_shape, weight, bias, eps)``; each normalized element is a channel."""
    x, weight, bias = call.need(0), call.tensor(2), call.tensor(3)
    shape = call.integers(1) or (weight.shape if weight is not None else None)
    if shape is None:
        return None
    return _forward(x, math.prod(shape), weight, bias, training=True)


@modelled
def batch_norm(call: Call) -> Work | None:
    """``batch_norm(x, weight, bias, running_mean, running_var, training, …)``."""
    x = call.need(0)
    training = {
        "aten::_batch_norm_with_update": True,
        "aten::_batch_norm_no_update": False,
        "aten::_native_batch_norm_legit_no_training": False,
    }.get(call.name)
    if training is None:
        # Without running statistics, the flag comes two arguments earlier.
        earlier = call.name == "aten::_native_batch_norm_legit" and len(call.inputs) == 6
        training = call.boolean(3 if earlier else 5)
    return _forward(x, x.shape[1], call.tensor(1), call.tensor(2), training=training)


@modelled
def group_norm(call: Call) -> Work | None:
    """``group_norm(x, groups, weight, bias)``, ``native_group_norm(x, weight, bias, N, C, HxW,
    groups, eps)``.
    """
    first = 1 if call.name == "aten::native_group_norm" else 2
    x = call.need(0)
    return _forward(x, x.shape[1], call.tensor(first), call.tensor(first + 1), training=True)


@modelled
def layer_norm_backward(call: Call) -> Work | None:
    """``native_layer_norm_backward(dy, x, normalized_shape, mean, rstd, weight, bias,
    output_mask)``.
    """
    dy, x, *statistics, weight = call.need(0), call.need(1), *map(call.tensor, (3, 4, 5))
    shape = call.integers(2)
    channels = math.prod(shape) if shape else weight.elements if weight is not None else 0
    return _backward(dy, x, weight, channels, call.flags(7, 3), statistics, training=True)


@modelled
def group_norm_backward(call: Call) -> Work | None:
    """``native_group_norm_backward(dy, x, mean, rstd, weight, N, C, HxW, groups, output_mask)``."""
    dy, x, *statistics, weight = call.need(0), call.need(1), *map(call.tensor, (2, 3, 4))
    return _backward(dy, x, weight, x.shape[1], call.flags(9, 3), statistics, training=True)


@modelled
def batch_norm_backward(call: Call) -> Work | None:
    """``native_batch_norm_backward(dy, x, weight, …, save_mean, save_invstd, train, eps,
    output_mask)``.
    """
    dy, x, weight, training = call.need(0), call.need(1), call.tensor(2), call.boolean(7)
    statistics = [call.tensor(i) for i in ((5, 6) if training else (3, 4))]
    return _backward(dy, x, weight, x.shape[1], call.flags(9, 3), statistics, training=training)


@modelled
def library_batch_norm_backward(call: Call) -> Work | None:
    """``cudnn_batch_norm_backward(x, dy, weight, …)`` in training; always all three gradients."""
    x, dy, *others = call.need(0), call.need(1), *map(call.tensor, (2, 5, 6))
    return _backward(dy, x, others[0], x.shape[1], (True, True, True), others[1:], training=True)


@modelled
def batch_norm_stats(call: Call) -> Work | None:
    """``batch_norm_stats(x, eps)`` of synchronized batch norm."""
    x = call.need(0)
    return per_element(4, x, [x], [Tensor((2, x.shape[1]), "float32")])


@modelled
def synchronised_backward(call: Call) -> Work | None:
    """``batch_norm_backward_reduce(dy, x, mean, invstd, weight, …)``, ``batch_norm_backward_elemt``."""
    dy, x = call.need(0), call.need(1)
    if len(x.shape) < 2:
        return None
    sums = call.name.endswith("_reduce")
    result = Tensor((4, x.shape[1]), "float32") if sums else x.dense
    read = [call.tensor(i) for i in range(2, 5 if sums else 8)]
    return per_element(4 if sums else 5, x, [dy, x, *read], [result])


@modelled
def batch_norm_update_stats(call: Call) -> Work | None:
    """``batch_norm_update_stats(x, running_mean, running_var, momentum)`` updates running
    statistics.
    """
    x, running = call.need(0), [call.tensor(1), call.tensor(2)]
    return per_element(4, x, [x, *running], [Tensor((2, x.shape[1]), "float32"), *running])


@modelled
def batch_norm_gather(call: Call) -> Work | None:
    """``batch_norm_gather_stats_with_counts(x, means[ranks, C], deviations[ranks, C], …, counts)``."""
    _, mean, deviation, counts = call.need(0), call.need(1), call.need(2), call.tensor(7)
    if len(mean.shape) != 2:
        return None
    running = [call.tensor(3), call.tensor(4)]
    return vector_work(
        8 * mean.elements,
        mean.dtype,
        [mean, deviation, counts, *running],
        [Tensor((2, mean.shape[1]), mean.dtype), *running],
        {"ranks": mean.shape[0], "channels": mean.shape[1]},
    )


@modelled
def weight_norm(call: Call) -> Work | None:
    """``_weight_norm_interface(v, g, dim)`` returns weight and norms, ``…_backward`` the gradients
    of v and g.
    """
    back = call.name.endswith("_backward")
    dw, v, g, norms = (
        call.tensor(i) if back else call.tensor(i - 1) if i else None for i in range(4)
    )
    if v is None or g is None or (back and (dw is None or norms is None)):
        return None
    return per_element(4 if back else 3, v, [dw, v, g, norms if back else None], [v.dense, g.dense])


def _forward(
    x: Tensor, channels: int, weight: Tensor | None, bias: Tensor | None, *, training: bool
) -> Work | None:
    values = 2 + (weight is not None) + (bias is not None) + 2 * training
    flops = 6 * channels + (5 if training else 2) * x.elements
    parameters = {"shape": x.shape, "channels": channels, "training": training}
    read = [x, Tensor((values * channels,), x.dtype)]
    return vector_work(flops, x.dtype, read, [x.dense], parameters)


def _backward(
    dy: Tensor,
    x: Tensor,
    weight: Tensor | None,
    channels: int,
    asked: tuple[bool, ...] | None,
    statistics: list[Tensor | None],
    *,
    training: bool,
) -> Work | None:
    of_x, *of_parameters = required(asked)
    each = 4 + of_x * (5 if training else 2)
    flops = each * x.elements + (3 * channels if not training else 0)
    gradient = Tensor((channels,), x.dtype if weight is None else weight.dtype)
    gradients = [x.dense] * of_x + [gradient] * sum(of_parameters)
    parameters = {"shape": x.shape, "channels": channels, "training": training}
    return vector_work(flops, x.dtype, [dy, x, weight, *statistics], gradients, parameters)
