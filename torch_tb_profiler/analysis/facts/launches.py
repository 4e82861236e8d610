"""Runtime calls that launch kernels, wait for the device, and take memory from the driver."""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.facts.host_names import name_mask, named
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.model import Trace

_CAPTURE = r"(?:cuda|cu|hip)Stream{}Capture"
KERNEL_LAUNCH = regex(
    r"\w*(?:Launch\w*Kernel|KernelLaunch)\w*$|clEnqueueNDRangeKernel$|\w+@launch$"
)
"""Runtime calls that launch a kernel, of any vendor."""

GIVES_WORK = regex(r"\w*(?:Launch|Memcpy|Memset|Enqueue)")
"""Runtime calls that give the device anything to do, matched at the start of the name."""
WAITS = regex(
    r"(?:cuda|cu|hip|acl|aclrt|ze|ur|xpu)\w*Synchron|synchronize|(?:cuda|hip|cu)Memcpy(?!\w*Async)|urEventWait|urQueueFinish|(?:cuda|hip)MemcpyWithStream"
)
"""Runtime calls that wait for the device, matched at the start of the name."""
ALLOCATES = regex(
    r"(?:cuda|hip|cu)(?:Malloc|Free|Mem(?:Create|Map|Unmap|Release|Alloc|Free))(?!Host|Pitch)"
)
"""Runtime calls that take memory from the driver or give it back, matched at the start of the name."""


def kernel_launches(trace: Trace, calls: Ints) -> Ints:
    """Those of some runtime calls (rows, ascending) whose name launches a kernel directly.

    Copies, memsets and graph launches are not among them, nor launches of any thread while a graph
    is being captured, when nothing runs.
    """
    return np.asarray(calls[named(trace, calls, KERNEL_LAUNCH.match) & ~capturing(trace, calls)])


def capturing(trace: Trace, calls: Ints) -> Mask:
    """Which of some runtime calls are made while a graph is being captured."""
    begins, ends = capture_marks(trace, calls)
    last = np.maximum.accumulate(np.where(begins | ends, np.arange(len(calls)), -1))
    return np.asarray((last >= 0) & begins[last])


def capture_marks(trace: Trace, calls: Ints) -> tuple[Mask, Mask]:
    """Which of some runtime calls (rows) begin the capture of a graph, and which end one."""
    name = trace["spans"]["name"][calls]
    begins = name_mask(trace.strings, name, re.compile(_CAPTURE.format("Begin")).match)
    ends = name_mask(trace.strings, name, re.compile(_CAPTURE.format("End")).match)
    return np.asarray(begins[name]), np.asarray(ends[name])
