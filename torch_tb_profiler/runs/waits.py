"""How far traces are on the way from their files to an answer, by what their jobs say of themselves.

::

    file ──▶ read ──▶ arrange ──▶ analyse (the insight), or lay out (the timeline) ──▶ answer

Each phase is a declared share of the way. Nothing is said of the time that is left: no two traces take the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

Phase = Literal["read", "arrange", "analyse", "lay_out"]
PHASES: Mapping[str, Mapping[Phase, float]] = {
    "insight": {"read": 0.4, "arrange": 0.1, "analyse": 0.5},
    "timeline": {"read": 0.7, "arrange": 0.15, "lay_out": 0.15},
}
"""Of each product of an imported trace the phases and their shares, which add up to 1: about what ``h100_owlv2`` takes,
alone and twelve times in a row, on one core.
"""
NEARLY = 0.99
"""The most that is said before all of it is there."""


class Awaited(NamedTuple):
    """A trace that an answer needs. ``bytes``: of its file; ``phase``: where it is, ``begun``: whether that has begun, and ``done``
    of it, 0 to 1; ``made``: whether all is there; ``over``: nothing more comes of it.
    """

    bytes: int
    phase: Phase
    begun: bool
    done: float
    made: bool
    over: bool = False


class Wait(NamedTuple):
    """``share``: 0 to 1, and 1 only when all is there. ``phase``: that of the asked trace, and whether it has ``begun``.
    ``ready`` of ``total`` traces are there.
    """

    share: float
    phase: Phase
    begun: bool
    ready: int
    total: int


def wait_of(product: str, traces: Sequence[Awaited]) -> Wait:
    """How far all of some traces are, the asked one first; each counts by the bytes of its file."""
    sizes = [max(trace.bytes, 1) for trace in traces]
    ways = [_way(product, trace) for trace in traces]
    share = sum(size * way for size, way in zip(sizes, ways, strict=True)) / sum(sizes)
    if any(way < 1 for way in ways):
        share = min(share, NEARLY)
    first = traces[0]
    ready = sum(trace.made for trace in traces)
    return Wait(share, first.phase, first.begun or first.made, ready, len(traces))


def _way(product: str, trace: Awaited) -> float:
    """The share of its way that a trace is past."""
    if trace.made or trace.over:
        return 1.0
    past = 0.0
    for phase, share in PHASES[product].items():
        if phase == trace.phase:
            return min(past + share * trace.done, NEARLY)
        past += share
    return past
