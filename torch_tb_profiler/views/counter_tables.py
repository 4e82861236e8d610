"""Route ``/counters``."""

from __future__ import annotations

from torch_tb_profiler.analysis.selection import Selection
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.views.counters_wire import CountersTablePayload, ProfiledColumns, SampledColumns
from torch_tb_profiler.views.vocabulary import vocabulary


def counters_table_payload(trace: Trace, facts: Facts, insight: Insight, selection: Selection, limit: int) -> CountersTablePayload:
    """Profiled ranges and sampled counters of the selected steps."""
    return CountersTablePayload(
        vocabulary=vocabulary(facts), counters=[], profiled=ProfiledColumns(**{name: [] for name in ProfiledColumns.__struct_fields__}), matching="",
        measured="", sampled_counters=[], sampled=SampledColumns(**{name: [] for name in SampledColumns.__struct_fields__}), steps=[], pooled=0, missing=[],
    )
