"""Where replayed work was captured: what the arrows of ``GRAPH_CAPTURE`` lead from."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.facts.span_lookup import span_at
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.flow_categories import GRAPH_CAPTURE
from torch_tb_profiler.store.model import Trace

_BEGIN, _FINISH = ord("s"), ord("f")


def captured_at(trace: Trace) -> Ints:
    """For every span the row of the host's span in which the node of a graph that it replays was
    made, −1 none; int64 of shape (spans,).
    """
    spans, flows = trace["spans"], trace["flows"]
    found = np.full(spans.n, -1, np.int64)
    mine = flows["category"] == trace.strings.number(GRAPH_CAPTURE)
    begins = np.flatnonzero(mine & (flows["phase"] == _BEGIN))
    ends = np.flatnonzero(mine & (flows["phase"] == _FINISH))
    if not len(begins) or not len(ends) or not spans.n:
        return found
    begins = begins[np.argsort(flows["id"][begins], kind="stable")]
    place = np.minimum(np.searchsorted(flows["id"][begins], flows["id"][ends]), len(begins) - 1)
    tied = flows["id"][begins[place]] == flows["id"][ends]
    made = span_at(trace, flows["track"][begins], flows["time"][begins])[place[tied]]
    # An arrow and the work at its end are one entry of the file; work that begins at one time on
    # one stream is told apart by it.
    order = np.argsort(spans["ordinal"], kind="stable")
    ordinal = spans["ordinal"][order]
    at = np.minimum(np.searchsorted(ordinal, flows["ordinal"][ends[tied]]), spans.n - 1)
    same = ordinal[at] == flows["ordinal"][ends[tied]]
    found[order[at[same]]] = made[same]
    return found
