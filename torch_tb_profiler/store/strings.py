"""Interned text: every distinct string of a trace is stored once, rows hold its number.

::

    names   "aten::mm" "aten::add" "aten::mm"      rows  0 1 0
    blob    aten::mmaten::add                      offsets  0 8 17

Number −1 (``NONE``) means "no text".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count, islice, pairwise

import numpy as np

from torch_tb_profiler.store.columns import Array, Ints

NONE = -1


class StringTable:
    """Number → text, over two arrays that a sidecar can map."""

    def __init__(self, offsets: Ints, blob: Array) -> None:
        """``offsets`` int64 of shape (n + 1,) into ``blob`` uint8; text is UTF-8."""
        self.offsets = offsets
        self.blob = blob
        self._numbers: dict[str, int] | None = None

    @staticmethod
    def of(texts: Sequence[str]) -> StringTable:
        """A table in which text i has number i."""
        encoded = [t.encode("utf-8", "replace") for t in texts]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
        return StringTable(offsets, np.frombuffer(b"".join(encoded), np.uint8))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> str:
        """The text of a number; ``""`` for −1."""
        if number < 0:
            return ""
        start, end = int(self.offsets[number]), int(self.offsets[number + 1])
        return self.blob[start:end].tobytes().decode("utf-8", "replace")

    def many(self, numbers: Iterable[int]) -> list[str]:
        """The texts of several numbers, in order; each distinct one is read once."""
        asked = list(map(int, numbers))
        texts = {number: self[number] for number in set(asked)}
        return [texts[number] for number in asked]

    def all(self) -> list[str]:
        """Every text, by number."""
        data, offsets = self.blob.tobytes(), self.offsets.tolist()
        return [data[a:b].decode("utf-8", "replace") for a, b in pairwise(offsets)]

    def number(self, text: str) -> int:
        """The number of a text, −1 if it is not in the table."""
        if self._numbers is None:
            self._numbers = {t: i for i, t in enumerate(self.all())}
        return self._numbers.get(text, NONE)


class StringBuilder:
    """Text → number; a new text gets the next number."""

    def __init__(self, base: StringTable | None = None) -> None:
        self._numbers: dict[str, int] = (
            {t: i for i, t in enumerate(base.all())} if base is not None else {}
        )

    def __len__(self) -> int:
        return len(self._numbers)

    def intern(self, text: str) -> int:
        """The number of a text, assigned now if it is new."""
        return self._numbers.setdefault(text, len(self._numbers))

    def intern_all(self, texts: Iterable[str]) -> list[int]:
        """The numbers of many texts."""
        known = self._numbers
        listed = texts if isinstance(texts, list) else list(texts)
        new = [t for t in dict.fromkeys(listed) if t not in known]
        known.update(zip(new, count(len(known)), strict=False))
        return [known[t] for t in listed]

    def text(self, number: int) -> str:
        """The text of a number that was given out; it takes a walk over those before it."""
        return next(islice(self._numbers, number, None))

    def table(self) -> StringTable:
        """The table of everything interned so far."""
        return StringTable.of(list(self._numbers))


NO_STRINGS = StringTable.of([])
