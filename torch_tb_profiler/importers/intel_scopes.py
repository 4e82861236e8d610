"""Kernels that Kineto writes twice on Intel devices: the second one carries the metrics.

::

    kernel  "gemm"            |■■■■■■|         the work
    kernel  "metrics: gemm"  |■■■■■■■■|        from 1 ns before to 1 ns after: not work

Source: ``XpuptiActivityProfilerSession::handleScopeRecord`` in Kineto's ``plugin/xpupti``.
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.store.columns import Array, Mask, unique_values
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

SCOPE_CATEGORY = "xpu_scope_profiler"
_AROUND = "metrics: "


def begins_with(trace: Trace, texts: Array, beginning: str) -> Mask:
    """Mask of the numbers of texts that begin with one."""
    numbers = unique_values(texts).tolist()
    return np.isin(texts, [n for n in numbers if trace.strings[n].startswith(beginning)])


def without_scopes(trace: Trace) -> Trace:
    """The trace with such kernels turned into device annotations."""
    spans = trace["spans"]
    kernels = np.flatnonzero(spans["role"] == Role.KERNEL)
    rows = kernels[begins_with(trace, spans["name"][kernels], _AROUND)]
    if not len(rows):
        return trace
    role = spans["role"].copy()
    role[rows] = Role.DEVICE_ANNOTATION
    tables = {**trace.tables, "spans": spans.replace(role=role)}
    return replace(trace, tables=tables)
