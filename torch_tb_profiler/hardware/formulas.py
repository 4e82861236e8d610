"""Formulas that are often written out of pointwise operators and reductions, and the call that does each in one pass.

Each operator is a letter; what only changes the view or the type is none. Formulas are regular expressions
over the letters of operators that follow each other::

    mean sub pow mean add sqrt div mul add      m s p m a q d x a      F.layer_norm
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from torch_tb_profiler.data_rows import rows_beside
from torch_tb_profiler.patterns import regex

_WORDS, *_FORMULAS = rows_beside(__file__)
_LETTER = {name: line[0] for line in _WORDS["letter"] for name in line[2:].split()}
_NEUTRAL = frozenset(" ".join(_WORDS["neutral"]).split())
BREAK, NONE = "|", ""


class Formula(msgspec.Struct, frozen=True):
    """A formula: its name in a sentence, the call that does it, and the letters."""

    name: str
    call: str
    letters: re.Pattern[str]


FORMULAS = tuple(
    Formula(row["name"][0], row["call"][0], regex(row["letters"][0])) for row in _FORMULAS
)
"""The first that fits at a place stands."""


def letter_of(operator: str) -> str:
    """The letter of an operator; ``NONE`` for what computes nothing, ``BREAK`` for all others."""
    namespace, _, name = operator.partition("::")
    if namespace != "aten":
        return BREAK
    if name in _NEUTRAL:
        return NONE
    return _LETTER.get(name) or _LETTER.get(name.rstrip("_")) or BREAK


def formulas_in(letters: str) -> Iterator[tuple[Formula, int, int]]:
    """The formulas in a text of letters, with first and last (excluded) place; none overlap."""
    taken = bytearray(len(letters))
    for formula in FORMULAS:
        for match in formula.letters.finditer(letters):
            first, last = match.span()
            if not any(taken[first:last]):
                taken[first:last] = b"\1" * (last - first)
                yield formula, first, last
