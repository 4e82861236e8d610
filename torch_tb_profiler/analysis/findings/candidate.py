"""What a rule hands in: its evidence, and the change that would take the cost away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar, get_args

import msgspec
import numpy as np
from msgspec.structs import astuple, replace

from torch_tb_profiler.analysis.arrays.intervals import Intervals, shared, union
from torch_tb_profiler.analysis.what_if.simulation import Edit
from torch_tb_profiler.store.columns import Ints, Mask

Certainty = Literal["certain", "likely", "theoretical"]
"""certain: the time is on the critical path and the change removes it. likely: the change reaches what
is usually reached, such as a declared share of the device's peak. theoretical: nothing would be lost
at all.
"""
CERTAINTIES: tuple[Certainty, ...] = get_args(Certainty)
THRESHOLD = 0.02
"""Least share of the step that is worth a finding."""


_Own = TypeVar("_Own", bound="Pieces")


class Pieces(msgspec.Struct, frozen=True):
    """When spans, or parts of them, happen: rows of spans, begins and ends, ns; int64 of shape (pieces,). A row may occur more than once."""

    row: Ints
    start: Ints
    end: Ints

    def take(self: _Own, chosen: Mask | Ints) -> _Own:
        """Those of a mask, or at some places."""
        return type(self)(*(column[chosen] for column in astuple(self)))

    def during(self: _Own, time: Intervals) -> _Own:
        """The parts of them within some time."""
        piece, start, end = shared(self.start, self.end, time)
        return replace(self.take(piece), start=start, end=end)

    def __add__(self, other: Pieces) -> Pieces:
        return Pieces(
            np.concatenate((self.row, other.row)),
            np.concatenate((self.start, other.start)),
            np.concatenate((self.end, other.end)),
        )

    @property
    def time(self) -> Intervals:
        """The time that any of them takes."""
        return union(self.start, self.end)

    @property
    def lengths(self) -> Ints:
        """How long each is, ns."""
        return self.end - self.start

    @property
    def total(self) -> int:
        """The sum of their lengths, ns."""
        return int(self.lengths.sum())


class Candidate(msgspec.Struct, frozen=True):
    """What a rule found, before it is simulated.

    Attributes:
        shown: the spans that show it, and when; of pieces without time, and of a candidate that costs no step time, all rows count.
        numbers: what the texts name; times in ns.
        words: texts of the trace by what they are.
        certainty: that of the rule, unless given.
        change: the change as ``whatif`` takes it.
        edit: what the change does; not needed with ``change``. With neither it costs no step time.
        unplanned: it happens once, so that it is no part of how a benchmark is built.
    """

    shown: Pieces
    numbers: dict[str, float] = msgspec.field(default_factory=dict)
    words: dict[str, str] = msgspec.field(default_factory=dict)
    certainty: Certainty | None = None
    change: str | None = None
    edit: Edit | None = None
    unplanned: bool = False

    @property
    def costs(self) -> bool:
        """Whether there is a change to simulate."""
        return self.change is not None or self.edit is not None


Claims = Candidate | Sequence[Candidate] | None
"""What a rule or a question finds: nothing, one thing, or several, those that take most first."""


def several(claims: Claims) -> Sequence[Candidate]:
    """All that was found, as a list."""
    if claims is None:
        return ()
    return (claims,) if isinstance(claims, Candidate) else claims


def without_time(
    numbers: dict[str, float], row: Ints | None = None, words: dict[str, str] | None = None
) -> Candidate:
    """A candidate that costs no step time."""
    row = np.zeros(0, np.int64) if row is None else row
    nothing = np.zeros(len(row), np.int64)
    return Candidate(Pieces(row, nothing, nothing), numbers, words or {})
