"""Runs the rules."""

from __future__ import annotations

from typing import Any

from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace


def find_findings(trace: Trace, facts: Facts, insight: Insight) -> list[dict[str, Any]]:
    """The findings of one trace, the largest first."""
    return []
