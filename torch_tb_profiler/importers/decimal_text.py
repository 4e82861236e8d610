"""Decimal microseconds in text → integer nanoseconds, exactly, a whole column at once.

::

    1419116105356.59   →  without the point 141911610535659, two decimals  →  · 10  =  1419116105356590

Signs, exponents, quotes and more than three decimals take a slow, exact path (rounding half up).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
from msgspec import Raw

from torch_tb_profiler.store.columns import Ints, Mask

INVALID = np.iinfo(np.int64).min
"""Marks a text that is not a valid time."""
LARGEST_NS = 3_000_000_000_000_000_000
"""Up to the year 2065; three of these fit into int64, so differences and span ends do not overflow.
"""
LONGEST_NS = 1 << 53
"""The longest duration, 104 days: a thousand of them can be summed, and a browser reads them exactly."""
_DIGITS = 18
"""Digits that always fit into int64."""
_DOT, _NEWLINE, _ZERO = ord("."), ord("\n"), ord("0")
_PLAIN = np.zeros(256, np.bool_)
_PLAIN[[*range(_ZERO, _ZERO + 10), _DOT, _NEWLINE]] = True
_SCALE = np.array([1000, 100, 10, 1], np.int64)


def nanoseconds(texts: Sequence[Raw]) -> Ints:
    """Times, int64 ns of shape (n,); ``INVALID`` if absent, not a number, or beyond ±3e18 ns.

    numpy reads the digits without the point as integers, which are scaled by the decimals.
    """
    n = len(texts)
    if n == 0:
        return np.zeros(0, np.int64)
    joined = b"\n".join(texts)
    text = np.frombuffer(joined, np.uint8)
    ends = np.append(np.flatnonzero(text == _NEWLINE), len(text))
    if len(ends) != n:
        return np.array([exact(bytes(t)) for t in texts], np.int64)
    dots = np.flatnonzero(text == _DOT)
    owner = np.searchsorted(ends, dots)
    length = np.diff(ends, prepend=-1) - 1
    behind = np.zeros(n, np.int64)
    behind[owner] = ends[owner] - dots - 1
    before = length - behind
    before[owner] -= 1
    odd = (before <= 0) | (length > _DIGITS) | (behind > 3)
    if not _PLAIN[text].all():
        odd[np.searchsorted(ends, np.flatnonzero(~_PLAIN[text]))] = True
    odd[owner[1:][owner[1:] == owner[:-1]]] = True
    bare = joined.replace(b".", b"") if not odd.any() else _without(texts, odd)
    whole = np.fromstring(bare, np.int64, sep="\n")
    factor = _SCALE[np.minimum(behind, 3)]
    odd |= whole > LARGEST_NS // factor
    out = np.where(odd, 0, whole) * factor
    for row in np.flatnonzero(odd).tolist():
        out[row] = exact(bytes(texts[row]))
    return out


def _without(texts: Sequence[Raw], odd: Mask) -> bytes:
    return b"\n".join(
        b"0" if o else bytes(t) for t, o in zip(texts, odd.tolist(), strict=True)
    ).replace(b".", b"")


def exact(text: bytes) -> int:
    """The slow path: signs, exponents, quotes, surplus digits."""
    try:
        value = Decimal(text.strip().strip(b'"').decode("ascii")) * 1000
        if not value.is_finite() or abs(value) > LARGEST_NS:
            return int(INVALID)
        return int(value.to_integral_value(rounding="ROUND_HALF_UP"))
    except (ArithmeticError, UnicodeDecodeError, ValueError):
        return int(INVALID)
