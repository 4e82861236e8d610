"""Kernels that Kineto writes twice on Intel devices: the second one carries the metrics.

::

    kernel  "gemm"            |■■■■■■|         the work
    kernel  "metrics: gemm"  |■■■■■■■■|        from 1 ns before to 1 ns after: not work

Source: ``XpuptiActivityProfilerSession::handleScopeRecord`` in Kineto's ``plugin/xpupti``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

SCOPE_CATEGORY = "xpu_scope_profiler"
_AROUND = "metrics: "


def without_scopes(trace: Trace) -> Trace:
    """The trace with such kernels turned into device annotations."""
    spans = trace["spans"]
    kernels = np.flatnonzero(spans["role"] == Role.KERNEL)
    around = [
        number
        for number in np.unique(spans["name"][kernels]).tolist()
        if trace.strings[number].startswith(_AROUND)
    ]
    rows = kernels[np.isin(spans["name"][kernels], around)]
    if not len(rows):
        return trace
    role = spans["role"].copy()
    role[rows] = Role.DEVICE_ANNOTATION
    tables = {**trace.tables, "spans": spans.replace(role=role)}
    return replace(trace, tables=tables)
