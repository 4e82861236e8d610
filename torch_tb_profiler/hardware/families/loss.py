"""Losses and their gradients."""

from __future__ import annotations

from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.results import broadcast
from torch_tb_profiler.hardware.work import Work, model, models_beside, per_element, vector_work

modelled = models_beside(__file__)

_POINTWISE = {
    "aten::mse_loss": 2,
    "aten::l1_loss": 2,
    "aten::smooth_l1_loss": 4,
    "aten::huber_loss": 4,
    "aten::binary_cross_entropy": 6,
    "aten::binary_cross_entropy_with_logits": 6,
    "aten::kl_div": 3,
    "aten::soft_margin_loss": 4,
}
"""FLOPs per element of the formula in PyTorch's documentation."""
_GRADIENTS = {
    "aten::mse_loss_backward": 3,
    "aten::smooth_l1_loss_backward": 4,
    "aten::huber_loss_backward": 4,
    "aten::binary_cross_entropy_backward": 5,
    "aten::soft_margin_loss_backward": 5,
}
_NONE = 0
"""``at::Reduction::None``."""


@model(
    "loss",
    *_POINTWISE,
    source=(
        "FLOPs of the loss formula per element, one more for the sum of a reduction; inputs read"
        " once, the result written once"
    ),
)
def pointwise(call: Call) -> Work | None:
    """``mse_loss(x, target, reduction)``, ``binary_cross_entropy(x, target, weight, reduction)``
    and similar.
    """
    x, target = call.need(0), call.need(1)
    weighted = {"aten::binary_cross_entropy": 3, "aten::binary_cross_entropy_with_logits": 4}
    index = weighted.get(call.name, 2)
    reduction = call.integer(index)
    whole = Tensor(broadcast((x.shape, target.shape)), x.dtype)
    out = whole if reduction == _NONE else Tensor((), x.dtype)
    each = _POINTWISE[call.name] + (reduction != _NONE)
    return per_element(each, whole, [x, target, *map(call.tensor, range(2, index))], [out])


@model(
    "loss",
    *_GRADIENTS,
    source=(
        "FLOPs of the gradient formula per element; dy, inputs and targets read once, dx written"
        " once"
    ),
)
def gradient(call: Call) -> Work | None:
    """``mse_loss_backward(dy, x, target, …)``."""
    dy, x, target = call.need(0), call.need(1), call.need(2)
    out = Tensor(broadcast((x.shape, target.shape)), x.dtype)
    return per_element(_GRADIENTS[call.name], out, [dy, x, target], [out])


@modelled
def nll(call: Call) -> Work | None:
    """``nll_loss_forward(x, target, weight, reduction, …)`` returns the loss and the sum of
    weights.
    """
    x, target, weight, reduction = call.need(0), call.need(1), call.tensor(2), call.integer(3)
    read = [target, Tensor(target.shape, x.dtype), weight]
    out = [Tensor(target.shape if reduction == _NONE else (), x.dtype), Tensor((), x.dtype)]
    return vector_work(target.elements, x.dtype, read, out, {"shape": x.shape})


@modelled
def cross_entropy(call: Call) -> Work | None:
    """``cross_entropy_loss(logits, target, weight, reduction, …)``."""
    x, target, weight, reduction = call.need(0), call.need(1), call.tensor(2), call.integer(3)
    samples = target.shape if target.shape != x.shape else (x.shape[0], *x.shape[2:])
    out = Tensor(samples if reduction == _NONE else (), x.dtype)
    return per_element(5, x, [x, target, weight], [out])
