"""The small enumerations that fact tables store as uint8."""

from __future__ import annotations

from enum import IntEnum, IntFlag


class StepFlag(IntFlag):
    """What is particular about a step; the column ``steps.flags``."""

    COLD = 1
    """A first step clearly slower than the rest."""
    ODD = 2
    """Slower than the others by far more than they differ among themselves."""
    CUT = 4
    """The end of the recording cut its device work off; averages leave it out."""
    WHOLE = 8
    """Stands for the whole span because the recording has no steps."""


class NoOperator(IntEnum):
    """Why the operator of a kernel is not known; the column ``kernels.reason``."""

    KNOWN = 0
    NO_LAUNCH = 1
    """No launch was recorded for it."""
    NO_HOST = 2
    """The trace has no host operators at all."""
    OUTSIDE = 3
    """Launched outside every operator."""
    GRAPH = 4
    """Replayed by a graph launch that no operator encloses."""
