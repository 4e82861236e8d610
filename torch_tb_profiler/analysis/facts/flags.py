"""Enumerations that the fact tables store as uint8."""

from __future__ import annotations

from enum import IntEnum, IntFlag


class StepFlag(IntFlag):
    """What is special about a step; the column ``steps.flags``."""

    COLD = 1
    """A first step that is clearly slower than the rest."""
    ODD = 2
    """An outlier: slower than the other steps by far more than their spread."""
    CUT = 4
    """The recording ended before its device work did; averages leave it out."""
    WHOLE = 8
    """The whole recording, which has no steps."""


class NoOperator(IntEnum):
    """Why the operator of a kernel is unknown; the column ``kernels.reason``."""

    KNOWN = 0
    NO_LAUNCH = 1
    """No launch was recorded for it."""
    NO_HOST = 2
    """The trace has no host operators at all."""
    OUTSIDE = 3
    """Launched outside every operator."""
    GRAPH = 4
    """Replayed by a graph launch that no operator encloses."""
