"""Cells of tables: what is told of a value, and how it is said that there is none."""

from __future__ import annotations

from torch_tb_profiler.units import format_ns

UNKNOWN = "unknown"
NONE = "-"


def time(value: int | None) -> str:
    """A time for people; a dash where it is not known."""
    return NONE if value is None else format_ns(value)


def event_id(event: int | None) -> str:
    """How a text names an event."""
    return NONE if event is None else f"#{event}"


def share(value: float | None) -> str:
    """A fraction in percent, or that it is not known."""
    return UNKNOWN if value is None else f"{value:.1%}"
