"""What was wrong with the trace, counted, and how much step time it touches."""

from __future__ import annotations

from dataclasses import dataclass

# Declares the kinds that the analysis finds, also in a process that only reads facts.
import torch_tb_profiler.analysis.facts.defects  # noqa: F401
from torch_tb_profiler.store.defects import Defect
from torch_tb_profiler.store.model import Facts


@dataclass(frozen=True)
class HealthItem:
    """A kind of defect, how often it was found, and the step time that it touches in ns (None: not
    located in time).
    """

    defect: Defect
    count: int
    touched_ns: int | None


def health(facts: Facts) -> tuple[HealthItem, ...]:
    """Every defect of the trace and of its analysis, the gravest first."""
    touched = facts.summary.get("touched_ns", {})
    return tuple(
        HealthItem(defect, count, touched.get(defect.name)) for defect, count in facts.defects
    )
