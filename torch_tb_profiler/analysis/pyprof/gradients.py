"""FLOPs and bytes of backward products whose own shapes were not recorded, from those of the
forward.

::

    Y[M,N] = X[M,K] · W[K,N]      dX[M,K] = dY[M,N] · Wᵀ[N,K]      dW[K,N] = Xᵀ[K,M] · dY[M,N]

Both gradients of a matrix product, and both of a convolution, are 2·M·N·K FLOPs over the same three
arrays (PyProf: prof/linear.py, prof/conv.py). A bias that the forward adds is not in them. So a
backward function of such an operator that has one or two kernels that multiply did a gradient with
each; with more it is not known what each did.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.efficiency.workloads import AttributedWork
from torch_tb_profiler.analysis.facts.names import name_mask
from torch_tb_profiler.analysis.pyprof.directions import KernelDirections
from torch_tb_profiler.hardware.call import read_call
from torch_tb_profiler.hardware.main_kernels import multiplies
from torch_tb_profiler.hardware.work import work_of
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.model import Trace

FAMILIES = ("gemm", "convolution")
GRADIENTS = 2
_SIGNATURE = ("name", "dims", "types", "strides", "concrete")


def with_gradients(
    trace: Trace,
    work: AttributedWork,
    found: KernelDirections,
    row: Ints,
    workload: Ints,
    flops: Ints,
    moved: Ints,
) -> tuple[Ints, Ints]:
    """``flops`` and ``moved`` (bytes) of kernels, with what is known from the forward where they
    are not known at all; −1 unknown.

    Args:
        row: rows of spans of the kernels.
        workload: the workloads whose parameters they have: of those that undo a forward that
            forward's, −1 none.
    """
    modelled = np.append(work.workloads["flops"] >= 0, np.False_)
    # Of a function that was captured the kernels of all replays would count.
    at = np.flatnonzero(
        (found.function >= 0) & modelled[workload] & (flops < 0) & (found.captured < 0)
    )
    family = work.workloads["family"][workload[at]]
    at = at[np.isin(family, [work.texts.number(text) for text in FAMILIES])]
    if not len(at):
        return flops, moved
    product = multiplying(trace, row)
    # Counted among all of the function's: of some the shapes may be known.
    count = np.bincount(
        found.function[product & (found.function >= 0)], minlength=int(found.function.max()) + 1
    )[found.function[at]]
    at, count = at[(count > 0) & (count <= GRADIENTS)], count[(count > 0) & (count <= GRADIENTS)]
    flops, moved = flops.copy(), moved.copy()
    flops[at] = np.where(product[at], _products(work, workload[at]), 0)
    moved[at] = np.where(product[at], work.workloads["bytes"][workload[at]], 0)
    return flops, moved


def multiplying(trace: Trace, row: Ints) -> Mask:
    """Which kernels, by their names, multiply matrices, convolve or attend."""
    name = trace["spans"]["name"][row]
    return np.asarray(name_mask(trace.strings, name, multiplies)[name])


def _products(work: AttributedWork, workload: Ints) -> Ints:
    """FLOPs of workloads without those of a bias."""
    flops = work.workloads["flops"].copy()
    for number in np.unique(workload).tolist():
        call = read_call(*(work.texts[int(work.workloads[key][number])] for key in _SIGNATURE))
        asked = work_of(call) if call is not None else None
        flops[number] -= asked.bias_flops if asked is not None else 0
    return np.asarray(flops[workload])
