"""What a difference is made of: causes whose sizes add up to it, none larger than it.

::

    categories of the step      kernel +5   cpu_exec −7   other +10          the step  +8
    1. larger than the whole:   kernel +5   other +10 with cpu_exec −7: +3             +8
    2. by rows of a category:   gemm +9 with copy −4: +5                               +8

A category is told by its rows (names of device work, of runtime calls, of operators) as far as these
changed in its direction: rows that run at the same time, or hidden behind a device, change by more
than the step does, so theirs is shared out. What is new took the place of what is gone: one cause,
of the size that remains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from torch_tb_profiler.hardware.kernel_names import communication_library
from torch_tb_profiler.patterns import regex

_COPY = regex(r"Memcpy|Copy(?:Host|Device)|MEMORY_COPY")


class Part(msgspec.Struct, frozen=True):
    """A row. delta: B less A, ns. paired: whether both sides have it."""

    name: str
    delta: float
    paired: bool


class Cause(msgspec.Struct, frozen=True):
    """A part of the difference.

    categories: of the step, that of most of it first.
    names: rows, the largest first; none where it is of the whole category, or of what its rows leave.
    delta: ns, of all of them together.
    """

    categories: tuple[str, ...]
    names: tuple[str, ...]
    delta: float


def category_of(name: str) -> str:
    """The category of the step that device work of this name is in."""
    if communication_library(name):
        return "communication"
    if name.startswith("Memset"):
        return "memset"
    return "memcpy" if _COPY.match(name) else "kernel"


def causes(categories: Mapping[str, float], rows: Mapping[str, Sequence[Part]]) -> list[Cause]:
    """The causes of a difference, the largest in its direction first; their sizes add up to it.

    categories: category → B less A, ns; they add up to the difference.
    rows: category → what took its time, where that is known.
    """
    whole = sum(categories.values())
    found: list[Cause] = []
    for cause in _netted([Cause((key,), (), delta) for key, delta in categories.items()], whole):
        own = rows.get(cause.categories[0], ()) if len(cause.categories) == 1 else ()
        found += _netted(_told(cause, own), whole)
    sign = -1 if whole < 0 else 1
    return sorted((one for one in found if one.delta), key=lambda one: -sign * one.delta)


def _told(cause: Cause, rows: Sequence[Part]) -> list[Cause]:
    """A category by its rows, and what these leave."""
    apart = [row for row in rows if not row.paired and row.delta]
    replaced = sum(row.delta for row in apart)
    told = [Cause(cause.categories, (row.name,), row.delta) for row in rows if row.paired]
    if apart:
        sign = -1 if replaced < 0 else 1
        names = [row.name for row in sorted(apart, key=lambda row: -sign * row.delta)]
        told.append(Cause(cause.categories, tuple(names), replaced))
    total = sum(one.delta for one in told)
    if total * cause.delta <= 0:
        return [cause]
    scale = min(1.0, cause.delta / total)
    told = [Cause(one.categories, one.names, one.delta * scale) for one in told]
    rest = cause.delta - sum(one.delta for one in told)
    return [*told, Cause(cause.categories, (), rest)]


def _netted(given: Sequence[Cause], whole: float) -> list[Cause]:
    """Causes, those that exceed the whole together with what they exceed it for."""
    left = sorted(given, key=lambda one: one.delta)
    while len(left) > 1 and max(-left[0].delta, left[-1].delta) > abs(whole) * (1 + 1e-9):
        first, last = left.pop(0), left.pop()
        large, small = (last, first) if last.delta >= -first.delta else (first, last)
        both = Cause(
            tuple(dict.fromkeys((*large.categories, *small.categories))),
            (*large.names, *small.names),
            large.delta + small.delta,
        )
        left = sorted([*left, both], key=lambda one: one.delta)
    return left
