"""Arguments of a profiler range (``cuda_profiler_range``): every one is a hardware counter, under its own name."""

from __future__ import annotations

import math
from typing import Any

from msgspec import Raw

from torch_tb_profiler.importers.events import ANY, DECODE_ERRORS

_NO_COUNTERS = frozenset(("correlation", "External id", "external id", "device", "stream", "context", "kernel id", "queue"))
"""What ties an event to others is no measurement."""


def counters_of(raw: Raw) -> list[tuple[str, float]]:
    """(name, value) of each counter in the text of an event's arguments; numbers, and texts of numbers as some writers have them.

    What is no finite number is left out: it was not measured.
    """
    try:
        found: Any = ANY.decode(raw)
    except DECODE_ERRORS:
        return []
    if not isinstance(found, dict):
        return []
    values = ((name, _number(value)) for name, value in found.items() if name not in _NO_COUNTERS)
    return [(name, value) for name, value in values if math.isfinite(value)]


def _number(value: Any) -> float:
    """NaN for what is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan
