"""The trace-health panel."""

from __future__ import annotations

from torch_tb_profiler.analysis.figures.health import health
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.wire import DefectItem


def health_items(facts: Facts) -> list[DefectItem]:
    """Counted defects, the gravest first; ``touched_share`` is of the sum of all steps."""
    steps = facts["steps"]
    wall = int((steps["end"] - steps["start"]).sum())
    return [
        DefectItem(
            name=item.defect.name,
            severity=item.defect.severity.value,
            sentence=item.defect.sentence,
            count=item.count,
            touched_ns=item.touched_ns,
            touched_share=item.touched_ns / wall if item.touched_ns is not None and wall else None,
            doubtful=list(item.defect.doubtful),
        )
        for item in health(facts)
    ]
