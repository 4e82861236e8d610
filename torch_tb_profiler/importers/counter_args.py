"""Arguments of a profiler range (``cuda_profiler_range``): every one is a hardware counter, under
its own name.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec
from msgspec import Raw

from torch_tb_profiler.importers.events import ANY, DECODE_ERRORS

_NO_COUNTERS = frozenset(
    (
        "correlation",
        "External id",
        "external id",
        "device",
        "stream",
        "context",
        "kernel id",
        "queue",
    )
)
"""What ties an event to others is no measurement."""
_PLAIN = msgspec.json.Decoder(dict[str, float])


def counters_of(raw: Raw) -> dict[str, float]:
    """Value of each counter in the text of an event's arguments: numbers, and texts of numbers as
    some writers have them.

    What is no finite number is left out: it was not measured.
    """
    try:
        plain = _PLAIN.decode(raw)
    except DECODE_ERRORS:
        return _of_any(raw)
    return (
        plain
        if _NO_COUNTERS.isdisjoint(plain) and math.isfinite(sum(plain.values()))
        else _counters(plain)
    )


def _of_any(raw: Raw) -> dict[str, float]:
    try:
        found: Any = ANY.decode(raw)
    except DECODE_ERRORS:
        return {}
    return _counters(found) if isinstance(found, dict) else {}


def _counters(found: dict[str, Any]) -> dict[str, float]:
    values = ((name, _number(value)) for name, value in found.items() if name not in _NO_COUNTERS)
    return {name: value for name, value in values if math.isfinite(value)}


def _number(value: Any) -> float:
    """NaN for what is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan
