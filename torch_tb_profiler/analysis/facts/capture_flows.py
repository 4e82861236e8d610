"""Where replayed graph work was captured: the sources of ``GRAPH_CAPTURE`` flows."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import positions_of
from torch_tb_profiler.analysis.facts.span_lookup import span_at
from torch_tb_profiler.store.categories import GRAPH_CAPTURE
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.model import Trace

_BEGIN, _FINISH = ord("s"), ord("f")


def captured_at(trace: Trace) -> Ints:
    """The host span that captured what each span replays, −1 none; int64 of shape (spans,)."""
    spans, flows = trace["spans"], trace["flows"]
    captured = np.full(spans.n, -1, np.int64)
    is_capture = flows["category"] == trace.strings.number(GRAPH_CAPTURE)
    begins = np.flatnonzero(is_capture & (flows["phase"] == _BEGIN))
    ends = np.flatnonzero(is_capture & (flows["phase"] == _FINISH))
    if not len(begins) or not len(ends):
        return captured
    begins = begins[np.argsort(flows["id"][begins], kind="stable")]
    source = positions_of(flows["id"][begins], flows["id"][ends])
    ends, source = ends[source >= 0], source[source >= 0]
    host = span_at(trace, flows["track"][begins], flows["time"][begins])[source]
    # A flow end and its device work are one entry of the file; this tells work apart that starts
    # at the same time on the same stream.
    order = np.argsort(spans["ordinal"], kind="stable")
    target = positions_of(spans["ordinal"][order], flows["ordinal"][ends])
    captured[order[target[target >= 0]]] = host[target >= 0]
    return captured
