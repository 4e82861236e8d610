"""Compiled regions and graphs as modules: their annotations say where they begin and end.

::

    Torch-Compiled Region: 0/0                     Torch-Compiled Region: 0/0
      [CompiledFunction, number 7]                   CompiledFxGraph fal4…
        ## Call CompiledFxGraph fal4… ##               triton_poi_fused_add_0
    [CompiledFunctionBackward, 7]                    CompiledFxGraph fkz2…   backward
      ## Call CompiledFxGraph fkz2… ##
"""

from __future__ import annotations

from torch_tb_profiler.analysis.compiled.calls import graph_of, region_of
from torch_tb_profiler.analysis.facts.calltree import is_call
from torch_tb_profiler.analysis.facts.names import name_mask
from torch_tb_profiler.store.columns import Mask
from torch_tb_profiler.store.model import Trace

GRAPH = "CompiledFxGraph "
"""How the name of a module that is a compiled graph begins."""


def compiled_names(trace: Trace) -> Mask:
    """Which strings of the trace name a compiled region or graph, bool of shape (strings + 1,)."""
    spans = trace["spans"]
    used = spans["name"][is_call(spans["role"])]
    return name_mask(trace.strings, used, lambda text: bool(region_of(text) or graph_of(text)))


def compiled_title(text: str) -> str:
    """The name of the module that is a compiled graph; other texts as they are."""
    key = graph_of(text)
    return GRAPH + key if key else text
