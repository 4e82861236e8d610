"""Fused kernels of torch.compile, whose names list what they fuse: ``triton_poi_fused_add_relu_0``."""

from __future__ import annotations

import math

from torch_tb_profiler.data_rows import rows_beside
from torch_tb_profiler.hardware.aten_names import ATEN_NAMES
from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.families.elementwise import flops_of
from torch_tb_profiler.hardware.fused_names import fused_name
from torch_tb_profiler.hardware.results import promoted
from torch_tb_profiler.hardware.work import Work, models_beside, vector_work

modelled = models_beside(__file__)

_ROWS, *_ = rows_beside(__file__)
_MOVES = frozenset(" ".join(_ROWS["moves"]).split())
"""Functions in fused kernels that compute nothing."""
_SEVERAL = {
    name: int(flops)
    for flops, *names in (line.split() for line in _ROWS["flops"])
    for name in names
}
"""FLOPs per element of functions with more than one."""
_COMPUTING = ATEN_NAMES | _SEVERAL.keys()
"""Other names are of custom operators, which are never fused: the kernel prepares their inputs."""


@modelled
def fused(call: Call) -> Work | None:
    """Arguments: tensors, then sizes, ending with ``xnumel`` (``ynumel, xnumel``; reductions:
    ``xnumel, rnumel``).
    """
    named = fused_name(call.name)
    tensors = [tensor for i in range(len(call.inputs)) if (tensor := call.tensor(i)) is not None]
    if named is None or not tensors:
        return None
    count = _elements(call, named.kind, tensors)
    if count is None:
        return None
    each = sum(_flops(function) for function in named.functions)
    parameters: dict[str, object] = {
        "elements": count,
        "tensors": len(tensors),
        "fuses": " ".join(named.functions),
    }
    return vector_work(each * count, promoted(tensors), tensors, [], parameters)


def _elements(call: Call, kind: str, tensors: list[Tensor]) -> int | None:
    """Number of elements the kernel processes; None if the sizes were not recorded."""
    sizes: list[int] = []
    for i in reversed(range(len(call.inputs))):
        value = call.value(i)
        if call.tensor(i) is not None or not isinstance(value, int) or isinstance(value, bool):
            break
        sizes.insert(0, value)
    if not sizes or (kind != "pointwise" and len(sizes) < 2):
        return None
    if kind != "pointwise":
        return sizes[-1] * sizes[-2]
    largest = max((tensor.elements for tensor in tensors), default=0)
    # A tiled kernel has two sizes; those of dynamic shapes come before.
    products = [math.prod(sizes[-n:]) for n in (1, 2, 3) if n <= len(sizes)]
    return largest if largest in products else sizes[-1]


def _flops(name: str) -> int:
    if name.strip("_") in _MOVES or not {name, name.strip("_")} & _COMPUTING:
        return 0
    return _SEVERAL.get(name) or flops_of(name)
