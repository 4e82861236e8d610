"""Sorting and selection of the largest elements."""

from __future__ import annotations

from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.work import Work, models_beside, per_element

modelled = models_beside(__file__)


@modelled
def top(call: Call) -> Work | None:
    """``topk(x, k, dim)``; ``kthvalue`` and ``mode`` return one per row."""
    x, is_topk = call.need(0), call.name == "aten::topk"
    k = call.value(1) if is_topk else 1
    dim = call.integer({"aten::topk": 2, "aten::kthvalue": 2, "aten::mode": 1}[call.name])
    if not isinstance(k, int) or not x.shape:
        return None
    selected = Tensor((x.elements // max(x.shape[dim], 1) * k,), x.dtype)
    return per_element(0, x, [x], [selected, Tensor(selected.shape, "int64")], k=k)
