"""Where names of recordings stand in a sentence: what words the recordings hold tells it, so that no text has to say which of
its words are theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.patterns import regex
from torch_tb_profiler.views.words.escapes import markdown_name, markdown_text, one_line

if TYPE_CHECKING:
    from torch_tb_profiler.runs.model import Opened

_WORD = regex(r"\S+")
_AROUND = "“”\"'()[].,;:…"
"""What a sentence puts around a word."""
_MARKUP = regex(r"[\[\]<>|*#~&$@`\\]|//")
_BETWEEN = " · "
"""Between the names of run, worker and span."""


class RecordedNames:
    """The words of all names of some recordings: which there are, and which follow one another."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._whole: set[str] = set()
        self._next: dict[str, set[str]] = {}

    def add(self, opened: Opened) -> None:
        """Take the names of a recording: of its events, of its header, and of itself."""
        own = {*opened.key, opened.span.path, *_texts(opened.trace.header)}
        self._whole |= {one_line(text) for text in own}
        texts = {*own, *opened.trace.strings.all()} - self._seen
        self._seen |= texts
        for text in texts:
            words = list(map(_bare, one_line(text).split()))
            for word in words:
                self._next.setdefault(word, set())
            for word, after in pairwise(words):
                self._next[word].add(after)

    def marked(self, text: str, *, within: bool = False) -> str:
        """A text as Markdown, with names as code: all that a recording itself is called, and of other names words that hold
        more than letters or follow one another as in a name. ``within``: it begins no line.
        """
        parts = one_line(text).split(_BETWEEN)
        return _BETWEEN.join(
            markdown_name(part) if part in self._whole else self._marked(part, within or number > 0)
            for number, part in enumerate(parts)
        )

    def _marked(self, text: str, within: bool) -> str:
        shown, at = "", 0
        for start, end in self._names(text):
            shown += markdown_text(text[at:start], within=within or at > 0)
            shown += markdown_name(text[start:end])
            at = end
        return shown + markdown_text(text[at:], within=within or at > 0)

    def _names(self, text: str) -> Iterator[tuple[int, int]]:
        """Begin and end of each name."""
        words = list(_WORD.finditer(text))
        keys = [_bare(word[0]) for word in words]
        first = 0
        while first < len(words):
            last = first
            while last + 1 < len(words) and self._follows(keys, words, last, last == first):
                last += 1
            if last == first and not self._is_name(keys[first], words[first][0]):
                first += 1
                continue
            start, end = words[first].start(), words[last].end()
            start += len(text[start:end]) - len(text[start:end].lstrip(_AROUND))
            # A bracket that the name itself opens is a part of it, as in `GPU (H100)`.
            while text[end - 1] in _AROUND[:-1] and not _closes(text[start:end]):
                end -= 1
            yield start, end
            first = last + 1

    def _follows(self, keys: list[str], words: list[re.Match[str]], at: int, begins: bool) -> bool:
        """Whether the next word goes on with a name that this one is of, or ``begins``, as `GPU 0` does not."""
        word, after = keys[at : at + 2]
        known = self._next.get(word, ())
        if words[at + 1][0].endswith("…"):
            return any(each.startswith(after) for each in known)
        return after in known and not (begins and (word.isdigit() or after.isdigit()))

    def _is_name(self, key: str, word: str) -> bool:
        if key.isalpha() or not any(map(str.isalpha, key)):
            return False
        if key in self._next:
            return True
        part = _MARKUP.search(key) or word.endswith("…")
        return bool(part) and any(key in known for known in self._next)


def _closes(name: str) -> bool:
    return any(name[-1] == close and open_ in name for open_, close in ("()", "[]"))


def _bare(word: str) -> str:
    return (word.strip(_AROUND) or word).casefold()


def _texts(value: Any) -> Iterator[str]:
    """All texts of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
