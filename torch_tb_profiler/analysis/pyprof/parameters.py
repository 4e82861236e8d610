"""The parameters of a call as PyProf writes them.

``M=8,N=4,K=16,type=fp16`` with a performance model, else ``T=[(8,16),(16)],type=fp16``.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.efficiency.workloads import AttributedWork
from torch_tb_profiler.analysis.facts.host_names import name_mask
from torch_tb_profiler.analysis.pyprof.directions import KernelDirections
from torch_tb_profiler.hardware.call import Call, Tensor, read_call
from torch_tb_profiler.hardware.element_types import precision
from torch_tb_profiler.hardware.main_kernels import multiplies
from torch_tb_profiler.hardware.work import Work, work_of
from torch_tb_profiler.store.columns import Ints, Mask, unique_values
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.strings import NONE

MOST_TENSORS = 8
"""Shapes that are listed per call; calls that take lists may have thousands."""
_SIGNATURE = ("name", "dims", "types", "strides", "concrete")

FAMILIES = ("gemm", "convolution")

GRADIENTS = 2


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
    """The parameter text of a call and its work; None if no shape was recorded."""
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


def with_gradients(
    trace: Trace,
    work: AttributedWork,
    directions: KernelDirections,
    row: Ints,
    workload: Ints,
    flops: Ints,
    moved: Ints,
) -> tuple[Ints, Ints]:
    """``flops`` and ``moved`` (bytes) of kernels, completed from the forward where unknown; −1
    unknown.

    FLOPs and bytes of backward products without recorded shapes, from their forward.

    ::

        Y[M,N] = X[M,K] · W[K,N]      dX[M,K] = dY[M,N] · Wᵀ[N,K]      dW[K,N] = Xᵀ[K,M] · dY[M,N]

    Each of the two gradients of a matrix product or convolution takes 2·M·N·K FLOPs over the same three
    arrays, without the forward's bias (PyProf: prof/linear.py, prof/conv.py). A backward function with
    one or two multiplying kernels did one gradient with each; with more the split is unknown.

    row: rows of spans of the kernels.
    workload: the workloads whose parameters they show, −1 none.
    """
    modelled = np.append(work.workloads["flops"] >= 0, np.False_)
    # For captured functions the kernels of all replays would be counted.
    candidates = np.flatnonzero(
        (directions.function >= 0) & modelled[workload] & (flops < 0) & (directions.captured < 0)
    )
    family = work.workloads["family"][workload[candidates]]
    candidates = candidates[np.isin(family, [work.texts.number(text) for text in FAMILIES])]
    if not len(candidates):
        return flops, moved
    product = multiplying(trace, row)
    # Count all of the function's products, also those with known shapes.
    count = np.bincount(
        directions.function[product & (directions.function >= 0)],
        minlength=int(directions.function.max()) + 1,
    )[directions.function[candidates]]
    candidates = candidates[(count > 0) & (count <= GRADIENTS)]
    flops, moved = flops.copy(), moved.copy()
    flops[candidates] = np.where(product[candidates], _products(work, workload[candidates]), 0)
    moved[candidates] = np.where(
        product[candidates], work.workloads["bytes"][workload[candidates]], 0
    )
    return flops, moved


def multiplying(trace: Trace, row: Ints) -> Mask:
    """Which kernels, by name, multiply matrices, convolve or attend."""
    name = trace["spans"]["name"][row]
    return np.asarray(name_mask(trace.strings, name, multiplies)[name])


def _products(work: AttributedWork, workload: Ints) -> Ints:
    """FLOPs of workloads without those of a bias."""
    flops = work.workloads["flops"].copy()
    for number in unique_values(workload).tolist():
        call = recorded_call(work, number)
        call_work = work_of(call) if call is not None else None
        flops[number] -= call_work.bias_flops if call_work is not None else 0
    return np.asarray(flops[workload])
