"""Route ``/waiting``: how far an answer is, in words."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from torch_tb_profiler.units import format_bytes, format_count
from torch_tb_profiler.views.wire import Wire

WaitingFor = Literal["answer", "timeline"]
PHASES = {
    "read": ("Read", "Reading"),
    "arrange": ("Arrange", "Arranging the events"),
    "analyse": ("Analyse", "Finding what holds the step back"),
    "lay_out": ("Lay out", "Laying out the timeline"),
}
"""Of each phase its name, and what happens in it."""
_STEPS = ((10, 1), (60, 5), (600, 30), (math.inf, 60))
"""Seconds below which a time left is told in multiples of so many."""


class WaitingPart(Wire, frozen=True, kw_only=True):
    """A phase of the wait and its share of it, 0 to 1."""

    name: str
    share: float


class WaitingPayload(Wire, frozen=True, kw_only=True):
    """Route ``/waiting``. ``progress``: 0 to 1, never falls, and 1 only when all is there. ``label``: what happens now; ``left``:
    about how long the rest takes, empty where earlier imports do not tell. ``parts``: of one trace, those that were ahead
    when somebody began to wait; empty of several.
    """

    progress: float
    label: str
    left: str
    parts: list[WaitingPart]


def waiting_payload(
    progress: float,
    left: float | None,
    phase: str,
    begun: bool,
    widths: Iterable[tuple[str, float]],
    size: int,
    ready: int,
    total: int,
    traces: str = "ranks",
) -> WaitingPayload:
    """``left``: seconds; ``phase``: of the asked trace, a key of ``PHASES``, and whether it has ``begun``; ``widths``: (phase, its
    share); ``size``: bytes of its file; ``ready`` of ``total`` ``traces``, as they are called, are read.
    """
    several = total > 1
    label = PHASES[phase][1]
    if several:
        label = f"{format_count(ready)} of {format_count(total)} {traces} read"
    elif phase == "read" and not begun:
        label = "Waiting to be read"
    elif phase == "read" and size:
        label = f"Reading {format_bytes(size)}"
    return WaitingPayload(
        progress=math.floor(progress * 1000) / 1000,
        label=label,
        left="" if left is None else left_text(left),
        parts=[
            WaitingPart(name=PHASES[name][0], share=round(share, 3))
            for name, share in (() if several else widths)
        ],
    )


def left_text(seconds: float) -> str:
    """``3.7`` → ``about 4 s left``: rounded so that it does not look measured."""
    step = next(step for below, step in _STEPS if seconds < below)
    whole = max(round(seconds / step), 1) * step
    minutes, rest = divmod(whole, 60)
    half = " 30 s" if rest else ""
    return f"about {f'{minutes} min{half}' if minutes else f'{whole} s'} left"
