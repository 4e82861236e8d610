"""The parameters of a call as PyProf writes them.

``M=8,N=4,K=16,type=fp16`` with a performance model, else ``T=[(8,16),(16)],type=fp16``.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.efficiency.workloads import AttributedWork
from torch_tb_profiler.hardware.call import Call, Tensor, read_call
from torch_tb_profiler.hardware.element_types import precision
from torch_tb_profiler.hardware.work import Work
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.strings import NONE

MOST_TENSORS = 8
"""Shapes that are listed per call; calls that take lists may have thousands."""
_SIGNATURE = ("name", "dims", "types", "strides", "concrete")


def parameter_workloads(work: AttributedWork, call: Ints, part_of: Ints) -> Ints:
    """The workload whose parameters each kernel shows, −1 none; int64 of shape (kernels,).

    call: rows of spans of the operators that name the kernels, −1 none.
    part_of: rows of those that they are a part of. Modelled parameters of either come before
        shapes.
    """
    of_span = np.append(work.of_span, np.int32(NONE))
    shown = np.full(len(call), NONE, np.int64)
    for column in ("dims", "parameters"):
        known = np.append(work.workloads[column] >= 0, np.False_)
        for rows in (part_of, call):
            workload = of_span[rows]
            shown = np.where(known[workload], workload, shown)
    return shown


def parameters(work: AttributedWork, workload: int) -> str | None:
    """The parameter text of a row of ``work.workloads``; None if no shape was recorded."""
    table, texts = work.workloads, work.texts
    written = texts[int(table["parameters"][workload])]
    if written:
        kind = texts[int(table["precision"][workload])]
        return _joined(written, kind)
    return _shapes(recorded_call(work, workload))


def call_parameters(call: Call, known: Work | None) -> str | None:
    """The same of a call and its work."""
    if known is not None and known.parameters:
        written = ", ".join(f"{key}={value}" for key, value in known.parameters.items())
        return _joined(written, known.precision)
    return _shapes(call)


def _shapes(call: Call | None) -> str | None:
    tensors: list[Tensor] = []
    for given in call.inputs if call is not None else ():
        if given is not None:
            tensors += given if isinstance(given, tuple) else (given,)
    if not tensors:
        return None
    shapes = [f"({','.join(map(str, tensor.shape))})" for tensor in tensors[:MOST_TENSORS]]
    return _joined(
        f"T=[{','.join([*shapes, *(['...'] if len(tensors) > MOST_TENSORS else [])])}]",
        _kind(tensors),
    )


def recorded_call(work: AttributedWork, workload: int) -> Call | None:
    """The call of a row of ``work.workloads`` with its arguments."""
    return read_call(*(work.texts[int(work.workloads[key][workload])] for key in _SIGNATURE))


def _joined(written: str, kind: str) -> str:
    written = written.replace(" ", "")
    return f"{written},type={kind}" if kind else written


def _kind(tensors: list[Tensor]) -> str:
    """The numeric type of the first tensor that has one; empty for indices alone."""
    return next(filter(None, (precision(tensor.dtype) for tensor in tensors)), "")
