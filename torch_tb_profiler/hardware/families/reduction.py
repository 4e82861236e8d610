"""Reductions and scans: sum, mean, maximum, norm, variance, softmax."""

from __future__ import annotations

import math

import msgspec

from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.element_types import kind, scalar_type
from torch_tb_profiler.hardware.families.elementwise import shown
from torch_tb_profiler.hardware.results import broadcast, promoted, reduced
from torch_tb_profiler.hardware.work import Work, model, models_beside, per_element, vector_work

modelled = models_beside(__file__)

SOURCE = (
    "FLOPs per element: 1 of sums, products, extremes (1 more per output of a mean), 2 of norms, 4"
    " of variances and logsumexp; input and result once"
)


class _Reduction(msgspec.Struct, frozen=True):
    """Schema indices (-1: none) of dimensions, keepdim and dtype; FLOPs per element; results."""

    dims: int = 1
    keepdim: int = 2
    dtype: int = -1
    each: int = 1
    per_output: int = 0
    result: str = ""
    """Type of the result; empty: the input's."""
    indices: bool = False
    """Whether it also returns int64 positions."""
    outputs: int = 1


_SUM = _Reduction(dtype=3)
_REDUCTIONS: dict[str, _Reduction] = {
    **dict.fromkeys(("aten::sum", "aten::nansum", "aten::prod"), _SUM),
    **dict.fromkeys(("aten::mean", "aten::nanmean"), _Reduction(dtype=3, per_output=1)),
    **dict.fromkeys(("aten::amax", "aten::amin"), _Reduction()),
    **dict.fromkeys(("aten::max", "aten::min", "aten::median"), _Reduction(indices=True)),
    **dict.fromkeys(("aten::argmax", "aten::argmin"), _Reduction(result="int64")),
    **dict.fromkeys(("aten::all", "aten::any"), _Reduction(result="bool")),
    "aten::count_nonzero": _Reduction(keepdim=-1, result="int64"),
    "aten::aminmax": _Reduction(each=2, outputs=2),
    "aten::norm": _Reduction(dims=2, keepdim=3, dtype=4, each=2, per_output=1),
    "aten::linalg_vector_norm": _Reduction(dims=2, keepdim=3, dtype=4, each=2, per_output=1),
    **dict.fromkeys(("aten::var", "aten::std"), _Reduction(keepdim=3, each=4)),
    **dict.fromkeys(("aten::var_mean", "aten::std_mean"), _Reduction(keepdim=3, each=4, outputs=2)),
    "aten::logsumexp": _Reduction(each=4),
}


@model("reduction", *_REDUCTIONS, source=SOURCE)
def reduction(call: Call) -> Work | None:
    """Any of the table, over all or some dimensions."""
    rule, x = _REDUCTIONS[call.name], call.need(0)
    other = call.tensor(1)
    if (
        call.name in ("aten::max", "aten::min")
        and other is not None
        and (other.shape or not x.shape)
    ):
        both = [x, other]
        result = Tensor(broadcast((x.shape, other.shape)), promoted(both))
        return vector_work(result.elements, result.dtype, both, [result], shown(result.shape, both))
    whole = _is_whole(call, rule)
    out = call.last(max(rule.dims + 1, 2)) if rule.outputs == 1 and not rule.indices else None
    if not whole and not call.recorded and out is None:
        return None
    dims = None if whole else call.integers(rule.dims)
    shape = (
        reduced(x.shape, dims, not whole and call.value(rule.keepdim) is True)
        if call.recorded or whole or out is None
        else out.shape
    )
    dtype = _result(call, rule, x.dtype, whole)
    results = [Tensor(shape, dtype)] * rule.outputs + (
        [Tensor(shape, "int64")] if rule.indices and not whole else []
    )
    flops = rule.each * x.elements + rule.per_output * math.prod(shape)
    return vector_work(
        flops, x.dtype, [x], results, {"shape": x.shape} | ({} if dims is None else {"dim": dims})
    )


def _is_whole(call: Call, rule: _Reduction) -> bool:
    """Whether it is an overload without dimensions: ``sum(x, dtype)``, ``max(x)``, ``norm(x, p)``."""
    count = len(call.inputs) - (call.last(1) is not None)
    return count <= rule.dims or (
        count == 2 and (rule.dtype == _SUM.dtype or isinstance(call.value(1), bool))
    )


def _result(call: Call, rule: _Reduction, dtype: str, whole: bool) -> str:
    """Type of the result: of ``out``, as requested, by the rule, or the input's; integer sums are
    int64.
    """
    out = call.last(2) if rule.outputs == 1 and not rule.indices else None
    if out is not None:
        return out.dtype
    index = 1 if whole and rule.dtype == _SUM.dtype else rule.dtype
    asked = scalar_type(call.value(index)) if rule.dtype >= 0 else ""
    if asked or rule.result:
        return asked or rule.result
    return "int64" if rule == _SUM and kind(dtype) in ("int", "bool") else dtype


@modelled
def scan(call: Call) -> Work | None:
    """``cumsum(x, dim, dtype)``."""
    x = call.need(0)
    in_place = call.name.endswith("_")
    dtype = scalar_type(call.value(2)) or (
        "int64" if kind(x.dtype) in ("int", "bool") and not in_place else x.dtype
    )
    result = x if in_place else Tensor(x.shape, dtype)
    return vector_work(x.elements, dtype, [x], [result], {"shape": x.shape})


@modelled
def to_one(call: Call) -> Work | None:
    """``trace(x)``, ``equal(a, b)``."""
    a, b = call.need(0), call.tensor(1)
    if (call.name == "aten::trace") != (b is None):
        return None
    if b is not None:
        return per_element(1, a, [a, b], []) if a.shape == b.shape else None
    if len(a.shape) != 2:
        return None
    diagonal, one = Tensor((min(a.shape),), a.dtype), Tensor((), a.dtype)
    return vector_work(diagonal.elements, a.dtype, [diagonal], [one], {"shape": a.shape})


@modelled
def selective_scan(call: Call) -> Work | None:
    """``selective_scan_fwd(u[…, D, L], delta, A[D, N], B, C, D, z, bias, …)``, in place of delta or
    z.
    """
    u, delta, a, *rest = call.need(0), call.need(1), call.need(2), *map(call.tensor, range(3, 8))
    if len(a.shape) != 2 or u.shape != delta.shape:
        return None
    states = a.shape[1]
    return per_element(7 * states, u, [u, delta, a, *rest], [u], states=states)


@modelled
def distances(call: Call) -> Work | None:
    """``_cdist_forward(x1[…, P, M], x2[…, R, M], p, compute_mode)``."""
    a, b = call.need(0), call.need(1)
    if len(a.shape) < 2 or len(b.shape) < 2 or a.shape[-1] != b.shape[-1]:
        return None
    shape = (*broadcast((a.shape[:-2], b.shape[:-2])), a.shape[-2], b.shape[-2])
    result, columns = Tensor(shape, a.dtype), a.shape[-1]
    return per_element(3 * columns, result, [a, b], [result], columns=columns)


@modelled
def distances_backward(call: Call) -> Work | None:
    """``_cdist_backward(dy, x1[…, P, M], x2[…, R, M], p, distances)``."""
    dy, a, b, known = call.need(0), call.need(1), call.need(2), call.tensor(4)
    columns = a.shape[-1]
    parameters = {"shape": dy.shape, "columns": columns}
    return vector_work(5 * dy.elements * columns, a.dtype, [dy, a, b, known], [a.dense], parameters)


@modelled
def histogram(call: Call) -> Work | None:
    """``histc(x, bins, min, max)``."""
    x, bins = call.need(0), call.integer(1)
    return per_element(2, x, [x], [Tensor((bins,), x.dtype)])


@modelled
def softmax(call: Call) -> Work | None:
    """``_softmax(x, dim, half_to_float)``, ``_masked_softmax(x, mask, …)``."""
    x, mask = call.need(0), call.tensor(1)
    wide = call.value(2) is True and call.name in ("aten::_softmax", "aten::_log_softmax")
    result = Tensor(x.shape, "float32" if wide else x.dtype)
    return per_element(5, x, [x, mask], [result], dim=call.value(1))


@modelled
def softmax_backward(call: Call) -> Work | None:
    """``_softmax_backward_data(dy, y, dim, input_dtype)``, ``_masked_softmax_backward(dy, y, mask,
    dim)``.
    """
    gradient, y = call.need(0), call.need(1)
    if "_masked" in call.name:
        return per_element(4, y, [gradient, y, call.tensor(2)], [y.dense], dim=call.value(3))
    dtype = scalar_type(call.value(3)) or y.dtype
    return per_element(4, y, [gradient, y], [Tensor(y.shape, dtype)], dim=call.value(2))
