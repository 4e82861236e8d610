"""Units as types, and the one rule by which numbers are printed (docs/definitions.md, "Numbers").

Times are integer nanoseconds relative to the first event of a trace; sizes are integer bytes. The
page prints by the same rule (fe/src/base/units.ts); fe/src/base/units_cases.json holds both to it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import NewType, TypeGuard

from torch_tb_profiler.patterns import regex

Ns = NewType("Ns", int)
Bytes = NewType("Bytes", int)

UNKNOWN = "–"
"""What stands where a figure is not known: an en dash."""
NARROW_SPACE = "\u202f"
"""Between groups of three digits; no line breaks there."""

_Steps = tuple[tuple[float, str], ...]
_TIME_STEPS: _Steps = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns"))
_BYTE_STEPS: _Steps = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))
_PREFIXES: _Steps = tuple(zip((1e18, 1e15, 1e12, 1e9, 1e6, 1e3, 1), [*"EPTGMk", ""], strict=True))
_ALL = 1e-12
"""A share this close to all of it is all of it: sums of fractions are not exact."""


def format_names(names: Sequence[str], most: int = 3) -> str:
    """``rank0, rank1 and rank2``, ``rank0, rank1, rank2 and 5 more``: names in a sentence."""
    left = len(names) - most
    named = [*names[:most], f"{format_count(left)} more"] if left > 1 else list(names)
    return " and ".join(filter(None, (", ".join(named[:-1]), *named[-1:])))


def agreeing(number: int, one: str, several: str) -> str:
    """The verb, or any other word, of so many: ``holds`` of one, ``hold`` of several."""
    return one if number == 1 else several


def and_more(left: int) -> str:
    """``and 5 more``: what a list leaves out; empty where that is nothing."""
    return f"and {format_count(left)} more" if left > 0 else ""


def format_ns(ns: float | None) -> str:
    """``1_234_567`` → ``1.23 ms``: three significant digits and the unit that fits."""
    return _quantity(ns, _TIME_STEPS) if _known(ns) else UNKNOWN


_BEFORE_UNIT = regex(r"(?<=\d) (?=(?:[pnµm]?s|[kKMGTPE]?i?(?:B|FLOP)(?:/s)?|%)(?!\w))")
NO_BREAK = "\u00a0"


def unbroken(text: str) -> str:
    """A sentence whose lines are about to be broken: none breaks between a number and its unit."""
    return _BEFORE_UNIT.sub(NO_BREAK, text)


def format_about(ns: float) -> str:
    """A time that is expected: ``6_410_000`` → ``6.4 ms``, with two significant digits, so that it never looks measured."""
    factor, unit = next((s for s in _TIME_STEPS if abs(ns) >= s[0] * 0.995), _TIME_STEPS[-1])
    return f"{_two_digits(ns / factor)} {unit}"


def format_delta(ns: float | None) -> str:
    """A difference with its sign: ``1_500`` → ``+1.50 µs``."""
    return f"{'+' if _known(ns) and ns > 0 else ''}{format_ns(ns)}"


def format_date(ns: int, *, time: bool = False) -> str:
    """``8 June 2021``, with ``time`` ``8 June 2021 09:04``: a Unix time, UTC."""
    when = datetime.fromtimestamp(ns // 1_000_000_000, timezone.utc)
    return f"{when.day} {when:%B %Y}" + (f" {when:%H:%M}" if time else "")


def format_bytes(size: float | None) -> str:
    """``1536`` → ``1.50 KiB``: powers of 1024, three significant digits."""
    return _quantity(size, _BYTE_STEPS) if _known(size) else UNKNOWN


def format_rate(value: float | None, unit: str) -> str:
    """``3_285_000`` of ``FLOP`` → ``3.29 MFLOP``: powers of 1000, three significant digits."""
    return _quantity(value, _PREFIXES, unit) if _known(value) else UNKNOWN


def format_count(number: float | None) -> str:
    """``1_234_567`` → ``1 234 567``: every digit, in groups of three."""
    return _fixed(number, 0) if _known(number) else UNKNOWN


def format_counted(number: int, one: str, several: str = "") -> str:
    """``1 step``, ``12 steps``; ``several``: other words than with an s."""
    return f"{format_count(number)} {one if number == 1 else several or plural(one)}"


def fit_text(text: str, longest: int) -> str:
    """A text of so many characters at most: of a longer one the begin and "…"."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def plural(noun: str) -> str:
    """``steps``, ``micro-batches``."""
    return f"{noun}es" if noun.endswith("tch") else f"{noun}s"


def format_number(value: float | None) -> str:
    """A number without a unit: whole ones as counts, others with three significant digits."""
    if not _known(value):
        return UNKNOWN
    if value == int(value):
        return format_count(value)
    digits, bound = 2, 0.9995
    while abs(value) < bound and digits < 6:
        digits, bound = digits + 1, bound / 10
    return _fixed(value, digits) if digits > 2 else _three_digits(value)


def format_share(share: float | None) -> str:
    """``0.1234`` → ``12.3 %``; only none at all is ``0 %``, only all of it ``100 %``."""
    if not _known(share):
        return UNKNOWN
    if not share or abs(share - 1) < _ALL:
        return "100 %" if share else "0 %"
    percent = share * 100
    if abs(percent) < 0.05:
        return "<0.1 %" if percent > 0 else ">−0.1 %"
    return ">99.9 %" if 99.95 <= percent < 100 else f"{_fixed(percent, 1)} %"


def format_value(value: float | None, unit: str) -> str:
    """By the name of its unit: ``ns``, ``bytes``, ``share``, ``FLOP``, ``bytes/s``, or another, unnamed."""
    formats = {"ns": format_ns, "bytes": format_bytes, "share": format_share}
    if unit in ("FLOP", "bytes/s"):
        return format_rate(value, unit.replace("bytes/s", "B/s"))
    return formats.get(unit, format_number)(value)


def format_limit(share: float) -> str:
    """A share that is a setting, not a figure: ``0.05`` → ``5 %``."""
    return f"{share * 100:g} %"


def _known(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)


def _quantity(value: float, steps: _Steps, unit: str = "") -> str:
    """In the largest step that keeps the rounded number at 1 or more."""
    factor, name = next((step for step in steps if abs(value) >= step[0] * 0.9995), steps[-1])
    whole = factor == 1 and value == int(value)
    text = _fixed(value, 0) if whole else _three_digits(value / factor)
    return f"{text} {name}{unit}".rstrip()


def _three_digits(value: float) -> str:
    size = abs(value)
    return _fixed(value, 0 if size >= 99.95 else 1 if size >= 9.995 else 2)


def _two_digits(value: float) -> str:
    size = abs(value)
    if size >= 99.5:
        return _fixed(float(f"{value:.2g}"), 0)
    return _fixed(value, 0 if size >= 9.95 else 1 if size >= 0.995 or not size else 2)


def _fixed(value: float, digits: int) -> str:
    size = abs(value)
    # A tie is rounded away from 0, as the page's `toFixed` does; Python rounds it to even.
    if size * 2 ** (digits + 1) % 2 == 1:
        size = math.nextafter(size, math.inf)
    text = f"{size:,.{digits}f}".replace(",", NARROW_SPACE)
    return f"−{text}" if value < 0 and text.strip("0.") else text
