"""Which calls load modules of kernels: a driver loads them when a kernel of theirs is first launched.

::

    host      <launch a                              ><launch b><launch a>
    stream 7                                          [ a ]     [ b ]     [ a ]
              └ the module of a is loaded            ┘
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of
from torch_tb_profiler.analysis.critical_path.device import Begin
from torch_tb_profiler.analysis.facts.host_names import GRAPH_LAUNCH, named, spans_named
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, unique_values
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.roles import Role

LONG_LAUNCH = 1_000_000
"""ns; a launch onto an idle stream takes some µs, and a module some ms to load."""
_LOADS = regex(r"(?:cu|cuda|hip)(?:Module|Library)Load\w*$")


def loading_calls(scene: Scene) -> Ints:
    """Rows of spans that load modules, ascending: by their name, or the first launch of a kernel that takes long although
    its stream is idle, and whose kernel begins once it has returned.
    """
    spans, work, host = scene.trace["spans"], scene.graph.work, scene.graph.host
    end = spans["start"] + spans["dur"]
    kernel = np.flatnonzero((work.launch >= 0) & (spans["role"][work.row] == Role.KERNEL))
    kernel = kernel[np.lexsort((work.start[kernel], spans["start"][work.launch[kernel]]))]
    first = kernel[np.unique(spans["name"][work.row[kernel]], return_index=True)[1]]
    first = first[
        (work.begin[first] == Begin.LAUNCH) & (work.start[first] >= end[work.launch[first]])
    ]
    launch = unique_values(work.launch[first])
    launch = launch[(spans["dur"][launch] >= LONG_LAUNCH) & (spans["role"][launch] == Role.RUNTIME)]
    launch = launch[~named(scene.trace, launch, GRAPH_LAUNCH.match)]
    launch = launch[mask_of(spans.n + 1, host.span[host.cause == PathCause.RUNTIME])[launch]]
    loads = spans_named(scene.trace, spans["role"] == Role.RUNTIME, _LOADS.match)
    return unique_values(np.flatnonzero(loads), launch)
