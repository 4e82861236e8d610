"""Units as types, and the one way to print them.

Times are integer nanoseconds relative to the first event of a trace; sizes are integer bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NewType

Ns = NewType("Ns", int)
Bytes = NewType("Bytes", int)

_TIME_STEPS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"))
_COUNT_STEPS = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_BYTE_STEPS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def format_names(names: Sequence[str], most: int = 3) -> str:
    """``rank0, rank1, rank2 and 5 more``: names in a sentence."""
    return f"{', '.join(names[:most])} {and_more(len(names) - most)}".rstrip()


def and_more(left: int) -> str:
    """``and 5 more``: what a list leaves out; empty where that is nothing."""
    return f"and {left:,} more" if left > 0 else ""


def format_ns(ns: float) -> str:
    """``1_234_567`` → ``1.23 ms``: three significant digits and the unit that fits."""
    for factor, unit in _TIME_STEPS:
        if abs(ns) >= factor:
            return f"{_three_digits(ns / factor)} {unit}"
    return f"{ns:.0f} ns"


def format_bytes(size: float) -> str:
    """``1536`` → ``1.50 KiB``: powers of 1024, three significant digits."""
    for factor, unit in _BYTE_STEPS:
        if abs(size) >= factor:
            return f"{_three_digits(size / factor)} {unit}"
    return f"{size:.0f} B"


def format_count(number: float) -> str:
    """``3_285_000`` → ``3.29 M``: powers of 1000, three significant digits; of FLOPs and the like."""
    for factor, prefix in _COUNT_STEPS:
        if abs(number) >= factor:
            return f"{_three_digits(number / factor)} {prefix}"
    return f"{number:.0f}"


def format_share(share: float, digits: int = 1) -> str:
    """``0.1234`` → ``12.3 %``; no 0 for what is more than that."""
    least = 0.5 * 10.0 ** -(digits + 2)
    return f"<{10.0**-digits:.{digits}f} %" if 0 < share < least else f"{100 * share:.{digits}f} %"


def _three_digits(value: float) -> str:
    size = abs(value)
    if size >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}"
