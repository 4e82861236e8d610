"""FLOPs and bytes of backward products without recorded shapes, from their forward.

::

    Y[M,N] = X[M,K] · W[K,N]      dX[M,K] = dY[M,N] · Wᵀ[N,K]      dW[K,N] = Xᵀ[K,M] · dY[M,N]

Each of the two gradients of a matrix product or convolution takes 2·M·N·K FLOPs over the same three
arrays, without the forward's bias (PyProf: prof/linear.py, prof/conv.py). A backward function with
one or two multiplying kernels did one gradient with each; with more the split is unknown.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.efficiency.workloads import AttributedWork
from torch_tb_profiler.analysis.facts.names import name_mask
from torch_tb_profiler.analysis.pyprof.directions import KernelDirections
from torch_tb_profiler.analysis.pyprof.parameters import recorded_call
from torch_tb_profiler.hardware.main_kernels import multiplies
from torch_tb_profiler.hardware.work import work_of
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.model import Trace

FAMILIES = ("gemm", "convolution")
GRADIENTS = 2


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
    for number in np.unique(workload).tolist():
        call = recorded_call(work, number)
        call_work = work_of(call) if call is not None else None
        flops[number] -= call_work.bias_flops if call_work is not None else 0
    return np.asarray(flops[workload])
