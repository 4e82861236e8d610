"""Optimizers: functions of lists of tensors (``_foreach_…``) and fused steps (``_fused_…``).

Most versions record only the shapes of a list's tensors; without element types, bytes are unknown.
"""

from __future__ import annotations

from torch_tb_profiler.hardware.call import Call, Tensor, required
from torch_tb_profiler.hardware.families.elementwise import flops_of
from torch_tb_profiler.hardware.results import promoted
from torch_tb_profiler.hardware.work import Work, models_beside, vector_work

modelled = models_beside(__file__)

_MOVES = ("copy", "zero", "clone")


@modelled
def foreach(call: Call) -> Work | None:
    """``_foreach_add_(tensors, others, alpha)`` and similar."""
    lists = _lists(call)
    if not lists:
        return None
    base = call.name.removeprefix("aten::_foreach_").removesuffix("_")
    count, total = len(lists[0]), sum(tensor.elements for tensor in lists[0])
    read = [tensor for entries in lists for tensor in entries]
    scaled = base in ("add", "sub") and len(lists) > 1 and call.value(2) not in (None, 1)
    flops, results = (flops_of(base) + scaled) * total, total
    if base in ("norm", "max"):
        flops, results = (total if base == "max" else 2 * total + count), count
    elif base in _MOVES:
        # The overwritten list is not read.
        flops, read = 0, read if base == "clone" else read[count:]
    dtype = promoted(lists[0])
    return vector_work(flops, dtype, read, [Tensor((results,), dtype)], _shown(lists[0], total))


@modelled
def unscale(call: Call) -> Work | None:
    """``_amp_foreach_non_finite_check_and_unscale_(gradients, found_inf, inv_scale)``."""
    gradients = required(call.tensors(0))
    total = sum(tensor.elements for tensor in gradients)
    read = [*gradients, call.tensor(1), call.tensor(2)]
    return vector_work(total, promoted(gradients), read, gradients, _shown(gradients, total))


@modelled
def adam(call: Call) -> Work | None:
    """``_fused_adam_(parameters, gradients, exp_avgs, exp_avg_sqs, maxima, steps, lr, …)``."""
    decay, amsgrad, scaled = required(call.value(9)), call.boolean(11), call.tensor(13) is not None
    decays = 0 if decay == 0 else 1 if "adamw" in call.name else 2
    return _step(call, 13 + decays + amsgrad + scaled, counted=True, scaled=scaled)


@modelled
def sgd(call: Call) -> Work | None:
    """``_fused_sgd_(parameters, gradients, momentum buffers, weight_decay, momentum, lr, …)``."""
    decay, momentum, nesterov = required(call.value(3)), required(call.value(4)), call.boolean(7)
    buffers = 0 if momentum == 0 else 2 + (call.value(6) != 0)
    each = 2 + 2 * (decay != 0) + buffers + 2 * nesterov
    return _step(call, each, counted=False, scaled=call.tensor(10) is not None)


@modelled
def adagrad(call: Call) -> Work | None:
    """``_fused_adagrad_(parameters, gradients, sums, steps, lr, lr_decay, weight_decay, eps, …)``."""
    each = 7 + 2 * (required(call.value(6)) != 0)
    return _step(call, each, counted=True, scaled=call.tensor(9) is not None)


def _lists(call: Call) -> list[tuple[Tensor, ...]]:
    """The lists of tensors among the arguments, in order."""
    return [entries for i in range(len(call.inputs)) if (entries := call.tensors(i))]


def _shown(tensors: tuple[Tensor, ...], total: int) -> dict[str, object]:
    return {"tensors": len(tensors), "elements": total}


def _step(call: Call, each: int, *, counted: bool, scaled: bool) -> Work | None:
    """A step reads all lists and writes all but step counts and, unless unscaled, gradients."""
    lists, total = _lists(call), sum(tensor.elements for tensor in required(call.tensors(0)))
    read = [tensor for entries in lists for tensor in entries]
    changed = lists[:-1] if counted else lists
    written = [
        tensor for i, entries in enumerate(changed) for tensor in entries if i != 1 or scaled
    ]
    return vector_work(each * total, promoted(lists[0]), read, written, _shown(lists[0], total))
