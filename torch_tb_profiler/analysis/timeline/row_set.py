"""A set of rows of a table as bits, with a count before every block of rows: small for any number of rows, and quick to count and to walk.

::

    rows     0 1 2 3 4 5 6 7 | 8 …      bits     0 1 1 0 0 0 1 0 | …      before    0 | 3 | …
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.store.columns import Array, Ints, Mask

BLOCK = 1 << 14
"""Rows between two counts; a multiple of 8."""
_BYTES = BLOCK // 8
_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1).astype(np.uint8)


class RowSet:
    """The rows for which a mask holds. ``n`` is how many."""

    def __init__(self, mask: Mask) -> None:
        blocks = -(-len(mask) // BLOCK)
        bits = np.zeros(blocks * _BYTES, np.uint8)
        packed = np.packbits(mask)
        bits[: len(packed)] = packed
        self._bits = bits.reshape(blocks, _BYTES)
        self._before = np.zeros(blocks + 1, np.int64)
        np.cumsum(_ONES[self._bits].sum(axis=1, dtype=np.int64), out=self._before[1:])
        self.n = int(self._before[-1])

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return self._bits.nbytes + self._before.nbytes

    def below(self, rows: Ints) -> Ints:
        """How many members are less than each row, int64; rows from 0 to the length of the mask."""
        block = rows // BLOCK
        found = self._before[np.minimum(block, len(self._bits))]
        touched, of = np.unique(block, return_inverse=True)
        for number, which in enumerate(touched.tolist()):
            if which < len(self._bits) and self._before[which + 1] > self._before[which]:
                mine = of == number
                found[mine] += np.searchsorted(self._members(which), rows[mine])
        return found

    def member(self, index: int) -> int:
        """The member with that many members before it; ``index`` is less than ``n``."""
        block = int(np.searchsorted(self._before, index, "right")) - 1
        return int(self._members(block)[index - int(self._before[block])])

    def first(self, most: int) -> Ints:
        """The lowest members, ``most`` at most."""
        last = int(np.searchsorted(self._before, most))
        found = [self._members(block) for block in range(min(last, len(self._bits)))]
        return np.concatenate(found)[:most] if found else np.zeros(0, np.int64)

    def _members(self, block: int) -> Array:
        return np.flatnonzero(np.unpackbits(self._bits[block])) + block * BLOCK
