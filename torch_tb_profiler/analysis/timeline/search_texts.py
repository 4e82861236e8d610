"""Which texts of a trace a query matches, asked once per distinct text.

Regular expressions are RE2's: they take time linear in the text whatever the pattern, so no pattern
can hold the server up. Its size, the memory of its automaton, the length of a text and the time of
a whole query are bounded beside that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import re2

from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.strings import StringTable

LONGEST_QUERY = 4096
"""Characters of a query."""
LONGEST_TEXT = 1 << 14
"""Bytes of a text that a regular expression looks at."""
LARGEST_PROGRAM = 4096
"""Instructions of a compiled pattern."""
PATTERN_MEMORY = 1 << 20
"""Bytes that a compiled pattern and its automaton may take."""
LONGEST_SECONDS = 1.0
"""Processor time of one query over all texts."""
FOLDED_BYTES = 32 << 20
"""Texts are kept ready for comparison up to this size."""
_CHECK_EVERY = 256


@dataclass(frozen=True)
class Query:
    """What is searched for: a text that names contain, or a pattern that they match anywhere;
    ``arguments``: in the arguments of events as well.
    """

    text: str
    regex: bool = False
    arguments: bool = False
    case: bool = False


class Texts:
    """Distinct texts of a trace, ready to be matched."""

    def __init__(self, strings: StringTable, numbers: Ints) -> None:
        """``numbers``: numbers of strings, −1 for an empty text."""
        offsets = strings.offsets if len(strings) else np.zeros(2, np.int64)
        self._begin = np.where(numbers >= 0, offsets[numbers], 0).tolist()
        self._end = np.where(numbers >= 0, offsets[numbers + 1], 0).tolist()
        self._data = np.ascontiguousarray(strings.blob).data
        self._folded: list[str] | None = None

    def matching(self, query: Query) -> Mask:
        """Which texts the query matches, bool of shape (texts,).

        Raises:
            BadRequest: the text is empty, the pattern is wrong or too large, or it takes too long.
        """
        if not query.text:
            raise BadRequest("Parameter q is empty.", "Give the text to search for.")
        found = self._by_pattern(query) if query.regex else self._by_text(query)
        return np.fromiter(found, np.bool_, len(self._begin))

    def _by_text(self, query: Query) -> Iterator[bool]:
        wanted = query.text.casefold()
        if not query.case:
            return (wanted in text for text in self._all_folded())
        # What contains a text also contains it folded, and only such texts are read again.
        exact = query.text
        return (
            wanted in text and exact in self._text(place)
            for place, text in enumerate(self._all_folded())
        )

    def _by_pattern(self, query: Query) -> Iterator[bool]:
        search, data = compiled(query.text, query.case), self._data
        until = time.thread_time() + LONGEST_SECONDS
        for place, (begin, end) in enumerate(zip(self._begin, self._end, strict=True)):
            if place % _CHECK_EVERY == 0 and time.thread_time() > until:
                raise BadRequest(
                    f"The pattern takes more than {LONGEST_SECONDS:g} s on the {len(self._begin)}"
                    " texts of this trace.",
                    "Give a simpler one, or a plain text.",
                )
            yield search(data[begin : min(end, begin + LONGEST_TEXT)])

    def _all_folded(self) -> Iterator[str]:
        if self._folded is not None:
            return iter(self._folded)
        texts = (self._text(place).casefold() for place in range(len(self._begin)))
        if sum(self._end) - sum(self._begin) > FOLDED_BYTES:
            return texts
        self._folded = list(texts)
        return iter(self._folded)

    def _text(self, place: int) -> str:
        return str(self._data[self._begin[place] : self._end[place]], "utf-8", "replace")


def compiled(pattern: str, case: bool) -> Callable[[memoryview], bool]:
    """A function that says whether the pattern matches anywhere in a text, given as UTF-8.

    Raises:
        BadRequest: RE2 does not take the pattern, or it is too large.
    """
    options = re2.Options()
    options.max_mem = PATTERN_MEMORY
    options.log_errors = False
    options.never_capture = True
    options.case_sensitive = case
    try:
        found = re2.compile(pattern.encode("utf-8", "replace"), options)
    except re2.error as error:
        reason = error.args[0] if error.args else b""
        told = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise BadRequest(
            f"Parameter q is no regular expression: {told[:200]}.",
            "The syntax is RE2's: https://github.com/google/re2/wiki/Syntax.",
        ) from None
    if found.programsize > LARGEST_PROGRAM:
        raise BadRequest(
            f"The pattern makes {found.programsize} instructions, at most {LARGEST_PROGRAM} are"
            " accepted.",
            "Give a simpler one.",
        )
    search = found.search
    return lambda text: search(text) is not None


def used_strings(column: Array, strings: int) -> Mask:
    """Which strings occur in a column of their numbers, bool of shape (strings + 1,): the last
    place answers for −1.
    """
    used = np.zeros(strings + 1, np.bool_)
    used[column] = True
    return used
