"""Decimal microseconds in text → integer nanoseconds, exactly and for a whole column at once.

::

    1419116105356.596   →   1419116105356596
    └── integer ──┘ └┴─ up to three digits; a fourth one rounds half up, further ones are beyond what a clock gives
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

import numpy as np
from msgspec import Raw

from torch_tb_profiler.store.columns import Array, Ints, Mask

INVALID = np.iinfo(np.int64).min
"""Stands for a text that is no usable time."""
LARGEST_NS = 9_000_000_000_000_000_000
_DIGITS = 16
_LARGEST_US = LARGEST_NS // 1000
_DOT, _NEWLINE, _ZERO = ord("."), ord("\n"), ord("0")
_PLAIN = np.zeros(256, np.bool_)
_PLAIN[[*range(_ZERO, _ZERO + 10), _DOT, _NEWLINE]] = True


def nanoseconds(texts: Sequence[Raw]) -> Ints:
    """Times of shape (n,), int64 ns; ``INVALID`` where the text is absent, no number, or beyond ±9e18 ns."""
    n = len(texts)
    if n == 0:
        return np.zeros(0, np.int64)
    text = np.frombuffer(b"\n".join(texts) + b"\n", np.uint8)
    ends = np.flatnonzero(text == _NEWLINE)
    if len(ends) != n:
        return np.array([_one(bytes(t)) for t in texts], np.int64)
    starts = np.concatenate(([0], ends[:-1] + 1))
    dots = np.flatnonzero(text == _DOT)
    owner = np.searchsorted(ends, dots)
    point = ends.copy()
    point[owner] = dots
    whole = _digits(text, starts, point)
    odd = _odd_rows(text, starts, ends, point, owner) | (whole > _LARGEST_US)
    out = np.where(odd, 0, whole) * 1000 + _thousandths(text, point, ends)
    for row in np.flatnonzero(odd):
        out[row] = _one(bytes(texts[row]))
    return out


def _odd_rows(text: Array, starts: Ints, ends: Ints, point: Ints, dot_owner: Ints) -> Mask:
    """Rows that are not just up to 16 digits with at most one point behind them."""
    odd = (ends - starts > 26) | (point - starts > _DIGITS) | (point == starts)
    strange = np.flatnonzero(~_PLAIN[text])
    odd[np.searchsorted(ends, strange)] = True
    odd[dot_owner[1:][dot_owner[1:] == dot_owner[:-1]]] = True
    return np.asarray(odd)


def _digits(text: Array, starts: Ints, stops: Ints) -> Ints:
    value = np.zeros(len(starts), np.int64)
    longest = min(int((stops - starts).max()), _DIGITS) if len(starts) else 0
    for k in range(longest):
        at = starts + k
        inside = at < stops
        digit = text[np.minimum(at, len(text) - 1)].astype(np.int64) - _ZERO
        value = np.where(inside, value * 10 + digit, value)
    return value


def _thousandths(text: Array, point: Ints, ends: Ints) -> Ints:
    if not (point < ends).any():
        return np.zeros(len(point), np.int64)
    value = np.zeros(len(point), np.int64)
    for k in range(1, 4):
        at = point + k
        digit = text[np.minimum(at, len(text) - 1)].astype(np.int64) - _ZERO
        value = value * 10 + np.where(at < ends, digit, 0)
    at = point + 4
    fourth = text[np.minimum(at, len(text) - 1)].astype(np.int64) - _ZERO
    return value + ((at < ends) & (fourth >= 5))


def _one(text: bytes) -> int:
    """The slow way: signs, exponents, quotes, surplus digits."""
    try:
        value = Decimal(text.strip().strip(b'"').decode("ascii")) * 1000
        if not value.is_finite() or abs(value) > LARGEST_NS:
            return int(INVALID)
        return int(value.to_integral_value(rounding="ROUND_HALF_UP"))
    except (InvalidOperation, UnicodeDecodeError, ValueError):
        return int(INVALID)
