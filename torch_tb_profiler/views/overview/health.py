"""The trace-health panel."""

from __future__ import annotations

# Declares the kinds that the analysis finds, also in a process that only reads facts.
import torch_tb_profiler.analysis.facts.defects  # noqa: F401
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.figures.absent import unplaced
from torch_tb_profiler.store import defects
from torch_tb_profiler.store.defects import Defect
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.wire import DefectItem


def health_items(facts: Facts) -> list[DefectItem]:
    """Every defect of the trace and of its analysis, the gravest first; ``touched_share`` is of the
    sum of all steps (``touched_ns`` None: not located in time).
    """
    steps, touched = facts["steps"], facts.summary.touched_ns
    wall = int(step_lengths(steps).sum())
    return [
        DefectItem(
            name=defect.name,
            severity=defect.severity.value,
            sentence=_sentence(facts, defect),
            count=count,
            touched_ns=touched.get(defect.name),
            touched_share=touched[defect.name] / wall if defect.name in touched and wall else None,
            doubtful=list(defect.doubtful),
        )
        for defect, count in facts.defects
    ]


_KIND = {defects.NO_CATEGORY: "process", defects.UNKNOWN_CATEGORY: "category"}
"""What the events of a defect are told apart by."""


def _sentence(facts: Facts, defect: Defect) -> str:
    """What is wrong, with the names that the setting maps where that helps."""
    found = unplaced(facts, _KIND[defect.name]) if defect.name in _KIND else None
    return f"{defect.sentence} By name: {found}." if found else defect.sentence
