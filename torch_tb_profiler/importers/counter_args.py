"""Arguments of a profiler range (``cuda_profiler_range``): each is a hardware counter."""

from __future__ import annotations

import contextlib
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
"""Arguments that link an event to others."""
_PLAIN = msgspec.json.Decoder(dict[str, float])


def counters_of(raw: Raw | bytes) -> dict[str, float]:
    """The finite values, by counter, in the JSON of an event's arguments; some are text."""
    args: Any = None
    try:
        args = _PLAIN.decode(raw)
        if _NO_COUNTERS.isdisjoint(args) and math.isfinite(sum(args.values())):
            return dict(args)
    except DECODE_ERRORS:
        with contextlib.suppress(*DECODE_ERRORS):
            args = ANY.decode(raw)
    if not isinstance(args, dict):
        return {}
    values = ((name, _number(value)) for name, value in args.items() if name not in _NO_COUNTERS)
    return {name: value for name, value in values if math.isfinite(value)}


def _number(value: Any) -> float:
    """The value as a float, NaN if it is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan
