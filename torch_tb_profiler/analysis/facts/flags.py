"""Enumerations that the fact tables store as uint8."""

from __future__ import annotations

from enum import IntEnum, IntFlag


class StepFlag(IntFlag):
    """What is special about a step; the column ``steps.flags``."""

    COLD = 1
    """A first step, clearly slower than the rest by what does not recur: it compiles, loads, allocates or tunes."""
    ODD = 2
    """An outlier: slower than the other steps of its kind by far more than their spread."""
    CUT = 4
    """The recording ended before its device work did; averages leave it out."""
    WHOLE = 8
    """The whole recording, which has no steps."""
    INCOMPLETE = 16
    """More than half of it is from before the recording or silent; averages leave it out."""
    PART = CUT | INCOMPLETE
    """Only a part of it was recorded."""


class StepKind(IntEnum):
    """What the steps of a kind do, where what they launch is evidence of it; the column ``step_kinds.what``."""

    UNNAMED = 0
    """Nothing tells."""
    PREFILL = 1
    """The first three: the phases of an inference server, in the order of ``PHASES``."""
    DECODE = 2
    MIXED = 3
    TRAINING = 4
    """A backward pass."""
    VALIDATION = 5
    """No backward pass, but matrix products of the steps that have one."""
    MICRO_BATCH = 6
    """A backward pass whose gradients a later step's optimizer applies."""
    LAST_MICRO_BATCH = 7
    """A backward pass and the optimizer, behind micro-batches."""
    COLD = 8
    """The cold first steps."""


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


class Attribution(IntEnum):
    """What names a piece of device work; the column ``operators.attribution``.

    The first that applies, in the order of ``LAUNCH``, ``CAPTURE``, ``COMPILED``, ``ANNOTATION``,
    ``REPLAY``, ``NONE``.
    """

    LAUNCH = 0
    """The operator around its launch."""
    CAPTURE = 1
    """The operator around the launch that was captured."""
    COMPILED = 2
    """Compiled code: a kernel that fuses operators, or one that a compiled region launches."""
    ANNOTATION = 3
    """An annotation around its launch, and no operator."""
    REPLAY = 4
    """It was replayed, and what was captured is unknown."""
    NONE = 5
    """No launch was recorded, or nothing was around it."""


class Within(IntEnum):
    """How like a call the most alike call around it is; the column ``operators.within``.

    A total counts a call within another one of its row once, whatever the rows of a table are::

        aten::copy_ [32]            NONE    counted in every total
          └ aten::copy_ [32]        SAME    in none: the outer call holds its time
              └ aten::copy_ [8]     NAME    where shapes have rows of their own
    """

    NONE = 0
    NAME = 1
    """Equal names."""
    SHAPES = 2
    """Equal names and input shapes."""
    SAME = 3
    """Equal names, input shapes, input types and stacks."""
