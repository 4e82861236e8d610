"""Route ``/efficiency``."""

from __future__ import annotations

from typing import Any

from torch_tb_profiler.analysis.absent import absent
from torch_tb_profiler.analysis.selection import Selection
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.efficiency_wire import DevicePeaks, EfficiencyColumns, EfficiencyGroup, EfficiencyPayload, FamilyColumns
from torch_tb_profiler.views.texts import missing
from torch_tb_profiler.views.vocabulary import vocabulary


def efficiency_payload(facts: Facts, insight: Insight, selection: Selection, group: EfficiencyGroup) -> EfficiencyPayload:
    """Rates and their shares of the device's peaks in the selected steps."""
    empty: dict[str, list[Any]] = {name: [] for name in EfficiencyColumns.__struct_fields__}
    return EfficiencyPayload(
        group=group, has_device=bool(facts.summary["has_device"]), vocabulary=vocabulary(facts),
        device=DevicePeaks(name=None, entry=None, known=False, bandwidth=None, bandwidth_source="", peaks=[]),
        steps=[], mfu=None, families=FamilyColumns(family=[], calls=[], time_ns=[], matrix_ns=[], matrix_unknown_ns=[], flops=[]),
        time_ns=0, modelled_ns=0, rows=EfficiencyColumns(**empty), pooled=0, notes=[], missing=missing(absent(facts), ("host", "device", "shapes")),
    )
