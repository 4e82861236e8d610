"""What a call was given, as PyProf writes it: ``M=8,N=4,K=16,type=fp16`` of what has a performance
model, ``T=[(8,16),(16)],type=fp16`` of the rest.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.efficiency.workloads import AttributedWork
from torch_tb_profiler.hardware.call import Tensor, read_call
from torch_tb_profiler.hardware.element_types import precision
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.strings import NONE

MOST_TENSORS = 8
"""Shapes that are written of one call; those that take lists may have thousands."""
_SIGNATURE = ("name", "dims", "types", "strides", "concrete")


def parameter_workloads(work: AttributedWork, call: Ints, part_of: Ints) -> Ints:
    """For every kernel the workload whose parameters it has, −1 none; int64 of shape (kernels,).

    Args:
        call: rows of spans of the operators that name the kernels, −1 none.
        part_of: of those whose work they are a part of. What was modelled of either goes before
            shapes.
    """
    of_span = np.append(work.of_span, np.int32(NONE))
    found = np.full(len(call), NONE, np.int64)
    for column in ("dims", "parameters"):
        known = np.append(work.workloads[column] >= 0, np.False_)
        for rows in (part_of, call):
            workload = of_span[rows]
            found = np.where(known[workload], workload, found)
    return found


def parameters(work: AttributedWork, workload: int) -> str | None:
    """The text of a row of ``work.workloads``; None where no shape was recorded."""
    table, texts = work.workloads, work.texts
    written = texts[int(table["parameters"][workload])]
    if written:
        kind = texts[int(table["precision"][workload])]
        return _joined(written.replace(" ", ""), kind)
    call = read_call(*(texts[int(table[key][workload])] for key in _SIGNATURE))
    tensors = (
        []
        if call is None
        else [
            t
            for given in call.inputs
            if given is not None
            for t in (given if isinstance(given, tuple) else (given,))
        ]
    )
    if not tensors:
        return None
    shapes = [f"({','.join(map(str, tensor.shape))})" for tensor in tensors[:MOST_TENSORS]]
    return _joined(
        f"T=[{','.join([*shapes, *(['...'] if len(tensors) > MOST_TENSORS else [])])}]",
        _kind(tensors),
    )


def _joined(written: str, kind: str) -> str:
    return f"{written},type={kind}" if kind else written


def _kind(tensors: list[Tensor]) -> str:
    """The type of the numbers that are computed with: the first that is one; of indices alone none."""
    return next(filter(None, (precision(tensor.dtype) for tensor in tensors)), "")
