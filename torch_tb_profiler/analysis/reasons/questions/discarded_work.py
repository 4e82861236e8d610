"""Work whose result is thrown away: of a tensor that the program makes, only a part is read later in the step.

::

    logits = head(hidden)        makes [1024, 4000]                 cost 30 ms with its backward
    logits = logits[mask]        reads 120 of 1,024 rows of it      and nothing else reads it
                                 → 88 % of the head was for nothing: head(hidden[mask])

Evidence: shapes and order. The calls of a step are gone through from its end: what reads a tensor of a shape counts for every tensor of that shape
made before. Where all that is read is slices, selections, diagonals, rows by index or mask, whose shares add up to half at most, the
calls that made it (products, convolutions, elementwise functions, copies, sorting, drawing) are named, with their backward.
Change: they take the share that is read; a sort for its first k what finding these takes. Likely. Wrong where the rest is read by what no operator tells.
"""

from __future__ import annotations

import math

import msgspec

from torch_tb_profiler.analysis.findings.rule import Claims, Question, Reach, RuleContext
from torch_tb_profiler.analysis.reasons.calls import Part, blocks, calls_of
from torch_tb_profiler.analysis.reasons.uses import How, Use
from torch_tb_profiler.hardware.results import Shape

MOST_READ = 0.5
"""Share of a tensor that may be read at most."""
MOST_CALLS = 200_000
"""Calls that are gone through."""
_NEAR = 4
"""Calls after a mask among which one shows how many rows it took."""


class _Read(msgspec.Struct):
    """What later calls read of tensors of a shape: all, or parts, by their arguments; the call that reads first; whether along the last dimension."""

    whole: bool = False
    parts: dict[int, float] = msgspec.field(default_factory=dict)
    by: int = -1
    last: bool = False

    @property
    def share(self) -> float:
        """1 where all is read, and where nothing is: then what reads it is unknown."""
        return 1.0 if self.whole or not self.parts else min(sum(self.parts.values()), 1.0)


def _claim(context: RuleContext) -> Claims:
    calls = calls_of(context)
    uses = calls.uses
    if not any(use is not None and use.how == How.PART for use in uses):
        return None
    parts = []
    wasted = blocks(
        calls.step[:MOST_CALLS], [calls.kind], lambda at: _wasted(calls.kind[at].tolist(), uses)
    )
    for place, found in wasted:
        for *numbers, share, shape in found:
            maker, reader = place[numbers].tolist()
            what, part = calls.text(maker), calls.text(reader)
            words = {"what": what, "part": part, "shape": str(list(shape))}
            key = int(calls.line[reader]), int(calls.name[reader])
            parts.append((key, Part({maker: share}, {"read": share}, words)))
    return calls.claims(parts)


def _wasted(kind: list[int], uses: list[Use | None]) -> list[tuple[int, int, float, Shape]]:
    """Of the calls of one step, by their kinds, those that make more than is read: position in the step of it and of the call that reads a part, the
    share that is read, of which shape.
    """
    read: dict[Shape, _Read] = {}
    found: list[tuple[int, int, float, Shape]] = []
    for at in reversed(range(len(kind))):
        use = uses[kind[at]]
        if use is None:
            continue
        makes = use.makes or _taken(use, kind[at + 1 : at + 1 + _NEAR], uses)
        made = read.get(makes) if makes else None
        if made is not None and makes and use.how != How.WHOLE:
            share = made.share
            if use.how == How.ROWS and made.last:
                share = 1.0
            if use.how == How.ORDERS:
                share = max(share, 1 / math.log2(max(2, *(makes or ()))))
            if share <= MOST_READ:
                found.append((at, made.by, share, makes))
        kept = use.kept
        if math.isnan(kept):
            kept = math.prod(makes) / max(math.prod(use.reads[0]), 1) if makes else 1.0
        _note(read, use, made, at, min(kept, 1.0), kind[at])
    return found


def _note(
    read: dict[Shape, _Read], use: Use, made: _Read | None, at: int, kept: float, kind: int
) -> None:
    """Notes what a call reads."""
    if use.how == How.PART and use.reads:
        own = read.setdefault(use.reads[0], _Read())
        # A part of a part.
        again = made.share if made is not None and use.makes != use.reads[0] else 1.0
        own.parts[kind] = max(own.parts.get(kind, 0.0), kept * again)
        own.by, own.last = at, own.last or use.last
        return
    for shape in use.reads:
        if use.how in (How.VIEW, How.EACH, How.ROWS) and made is not None and not made.whole:
            if shape == use.makes:
                # What is read of its result is noted for this shape already.
                if use.how == How.ROWS and made.last:
                    made.whole = True
                continue
            if use.how == How.VIEW and made.parts:
                own = read.setdefault(shape, _Read())
                own.parts |= {-1 - at: made.share}
                own.by, own.last = made.by, True
                continue
        read.setdefault(shape, _Read()).whole = True


def _taken(use: Use, after: list[int], uses: list[Use | None]) -> Shape | None:
    """The shape of what a mask, or indices that are not recorded, take of a tensor: what the first call after it reads that has as many
    columns; all of it only if that is the next one.
    """
    if use.how != How.PART or not math.isnan(use.kept):
        return None
    shape = use.reads[0]
    for number, kind in enumerate(after):
        later: Use | None = uses[kind]
        for other in later.reads if later else ():
            rest = len(other) - 1
            alike = rest < len(shape) and other[1:] == shape[len(shape) - rest :]
            if alike and (other != shape or not number):
                return other
    return None


QUESTION = Question(__name__)
QUESTION.state("discarded_work", 241, _claim, certainty="likely", reach=Reach(0.6, 1.3))
