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


class WaitingPart(Wire, frozen=True, kw_only=True):
    """A phase of the wait and its share of it, 0 to 1."""

    name: str
    share: float


class WaitingPayload(Wire, frozen=True, kw_only=True):
    """Route ``/waiting``. ``progress``: 0 to 1, and 1 only when all is there. ``label``: what happens now. ``parts``: of one trace
    its phases; empty of several.
    """

    progress: float
    label: str
    parts: list[WaitingPart]


def waiting_payload(
    progress: float,
    phase: str,
    begun: bool,
    widths: Iterable[tuple[str, float]],
    size: int,
    ready: int,
    total: int,
    traces: str = "ranks",
) -> WaitingPayload:
    """``phase``: of the asked trace, a key of ``PHASES``, and whether it has ``begun``; ``widths``: (phase, its share);
    ``size``: bytes of its file; ``ready`` of ``total`` ``traces``, as they are called, are read.
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
        parts=[
            WaitingPart(name=PHASES[name][0], share=round(share, 3))
            for name, share in (() if several else widths)
        ],
    )
