"""Matches queries against the distinct texts of a trace.

Regular expressions are RE2's, which take time linear in the text. Pattern size, automaton memory,
text length and time per query are bounded as well, so no pattern can stall the server.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import msgspec
import numpy as np
import re2

from torch_tb_profiler.analysis.timeline.kinds import ChosenKind
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.strings import StringTable

LONGEST_QUERY = 4096
"""Characters of a query."""
LONGEST_TEXT = 1 << 14
"""Bytes of a text that a regular expression examines."""
LARGEST_PROGRAM = 4096
"""Instructions of a compiled pattern."""
PATTERN_MEMORY = 1 << 20
"""Bytes that a compiled pattern and its automaton may take."""
LONGEST_SECONDS = 1.0
"""Processor time per query."""
STEPS_UNWATCHED = 1 << 21
"""Bytes × instructions between two looks at the clock: some 10 ms where RE2 has to try every
instruction at every byte.
"""
_BYTES_PER_CALL = 64
"""A call costs about as much as so many bytes."""


class Query(msgspec.Struct, frozen=True):
    """A text or pattern that names, and if ``arguments`` also argument texts, contain; ``kind``: of
    events of that kind.
    """

    text: str
    regex: bool = False
    arguments: bool = False
    case: bool = False
    kind: ChosenKind = "all"


class Texts:
    """Distinct texts of a trace, ready to be matched."""

    def __init__(self, strings: StringTable, numbers: Ints) -> None:
        """``numbers``: string numbers, −1 for an empty text."""
        offsets = strings.offsets if len(strings) else np.zeros(2, np.int64)
        self._begin = np.where(numbers >= 0, offsets[numbers], 0).tolist()
        self._end = np.where(numbers >= 0, offsets[numbers + 1], 0).tolist()
        self._data = np.ascontiguousarray(strings.blob).data

    def matching(self, query: Query, until: float | None = None) -> Mask:
        """Which texts the query matches, bool of shape (texts,). ``until``: when a pattern has to
        be done, in processor time of this thread, s.

        Raises BadRequest if the text is empty, the pattern invalid or too large, or it takes too
        long.
        """
        if not query.text:
            raise BadRequest("Parameter q is empty.", "Give the text to search for.")
        until = deadline() if until is None else until
        matches = self._by_pattern(query, until) if query.regex else self._by_text(query)
        return np.fromiter(matches, np.bool_, len(self._begin))

    def _by_text(self, query: Query) -> Iterator[bool]:
        wanted = query.text.casefold()
        if not query.case:
            return (wanted in text for text in self._folded())
        # A case-sensitive match implies a folded match, so only those texts are read again.
        exact = query.text
        return (
            wanted in text and exact in self._text(index)
            for index, text in enumerate(self._folded())
        )

    def _by_pattern(self, query: Query, until: float) -> Iterator[bool]:
        search, instructions = compiled(query.text, query.case)
        data, left = self._data, 0
        for begin, end in zip(self._begin, self._end, strict=True):
            stop = min(end, begin + LONGEST_TEXT)
            left -= (stop - begin + _BYTES_PER_CALL) * instructions
            if left <= 0:
                left = STEPS_UNWATCHED
                if time.thread_time() > until:
                    raise BadRequest(
                        f"The pattern takes more than {LONGEST_SECONDS:g} s on the texts of this"
                        " trace.",
                        "Give a simpler one, or a plain text.",
                    )
            yield search(data[begin:stop])

    def _folded(self) -> Iterator[str]:
        return (self._text(index).casefold() for index in range(len(self._begin)))

    def _text(self, index: int) -> str:
        return str(self._data[self._begin[index] : self._end[index]], "utf-8", "replace")


def deadline() -> float:
    """When a query that begins now has to be done, in processor time of this thread, s."""
    return time.thread_time() + LONGEST_SECONDS


def compiled(pattern: str, case: bool) -> tuple[Callable[[memoryview], bool], int]:
    """A function that says whether the pattern matches anywhere in a UTF-8 text, and the number of
    its instructions: RE2 takes time by their product with the bytes at worst.

    Raises BadRequest if RE2 rejects the pattern, or it is too large.
    """
    options = re2.Options()
    options.max_mem = PATTERN_MEMORY
    options.log_errors = False
    options.never_capture = True
    options.case_sensitive = case
    try:
        program = re2.compile(pattern.encode("utf-8", "replace"), options)
    except re2.error as error:
        reason = error.args[0] if error.args else b""
        message = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise BadRequest(
            f"Parameter q is no regular expression: {message[:200]}.",
            "The syntax is RE2's: https://github.com/google/re2/wiki/Syntax.",
        ) from None
    if program.programsize > LARGEST_PROGRAM:
        raise BadRequest(
            f"The pattern makes {program.programsize} instructions, at most {LARGEST_PROGRAM} are"
            " accepted.",
            "Give a simpler one.",
        )
    search = program.search
    return lambda text: search(text) is not None, program.programsize
