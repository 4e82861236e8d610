"""Runtime calls that launch kernels."""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.facts.names import distinct
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.model import Trace

_CAPTURE = re.compile(r"(?:cuda|cu|hip)Stream(Begin|End)Capture")
_KERNEL_LAUNCH = re.compile(
    r"(?:cuda|cu|hip|hipModule|hipExt|hipExtModule)Launch(?:Cooperative)?Kernel\w*$"
)


def kernel_launches(trace: Trace, calls: Ints) -> Ints:
    """Those of some runtime calls (rows, ascending) whose name launches a kernel directly.

    Copies, memsets and graph launches are not among them, nor launches of any thread while a graph
    is being captured, when nothing runs.
    """
    launches, begins, ends = (np.zeros(len(trace.strings) + 1, np.bool_) for _ in range(3))
    name = trace["spans"]["name"][calls]
    for number in distinct(name, trace.strings):
        text = trace.strings[number]
        launches[number] = _KERNEL_LAUNCH.match(text) is not None
        capture = _CAPTURE.match(text)
        begins[number] = capture is not None and capture.group(1) == "Begin"
        ends[number] = capture is not None and capture.group(1) == "End"
    last = np.maximum.accumulate(np.where(begins[name] | ends[name], np.arange(len(calls)), -1))
    capturing = (last >= 0) & begins[name[last]]
    return np.asarray(calls[launches[name] & ~capturing])
