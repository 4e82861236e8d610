"""Cells of tables that are no numbers."""

from __future__ import annotations

from torch_tb_profiler.units import UNKNOWN


def event_id(event: int | None) -> str:
    """How a text names an event."""
    return UNKNOWN if event is None else f"#{event}"
