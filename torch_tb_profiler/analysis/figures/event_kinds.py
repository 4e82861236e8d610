"""The looks and modules of events."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.host_names import named
from torch_tb_profiler.store.columns import Array
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.timeline_schema import Look

MODULE = "nn.Module:"
"""How the name of a Python frame begins that is a module's call."""


def looks(trace: Trace, facts: Facts) -> Array:
    """``Look`` of every span and instant; uint8."""
    spans, instants, kernels = trace["spans"], trace["instants"], facts["kernels"]
    talks = mask_of(len(facts.strings) + 1, kernels["name"][kernels["communication"] == 1])
    look = spans["role"].astype(np.uint8)
    look[(look == Role.KERNEL) & talks[spans["name"]]] = Look.COMMUNICATION
    return np.concatenate((look, np.full(instants.n, Look.INSTANT, np.uint8)))


def modules(trace: Trace, facts: Facts) -> Array:
    """For every span the row of the innermost module frame around it, itself included, or around
    what launched it; -1 none.

    int32 of shape (spans,); empty where no module was recorded.
    """
    links = facts["span_links"]
    frames = np.flatnonzero(trace["spans"]["role"] == Role.PYTHON)
    frames = frames[named(trace, frames, lambda text: text.startswith(MODULE))]
    if not len(frames):
        return np.zeros(0, np.int32)
    is_module = mask_of(trace["spans"].n, frames)
    above = links["parent"]
    # Device work stands under its launch, or under its operator where no launch was recorded.
    above = np.where(
        above >= 0, above, np.where(links["launch"] >= 0, links["launch"], links["operator"])
    )
    return nearest(above, is_module)
