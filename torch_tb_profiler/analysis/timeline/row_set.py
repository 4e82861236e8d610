"""A set of table rows as a bitmap with a running count per block: small, quick to count and walk.

::

    rows     0 1 2 3 4 5 6 7 | 8 …      bits     0 1 1 0 0 0 1 0 | …      before    0 | 3 | …
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.store.columns import Array, Ints, Mask

BLOCK = 512
"""Rows per count; a multiple of 8."""
_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1).astype(np.uint8)
_BEFORE = np.array([0, *(0xFF << (8 - bit) & 0xFF for bit in range(1, 8))], np.uint8)
"""Mask of the bits of a byte before a position; the first row is the highest bit."""


class RowSet:
    """The rows for which a mask holds; ``n``: their number."""

    def __init__(self, mask: Mask) -> None:
        self._bytes = BLOCK // 8
        blocks = -(-len(mask) // BLOCK)
        bits = np.zeros(blocks * self._bytes, np.uint8)
        packed = np.packbits(mask)
        bits[: len(packed)] = packed
        self._bits = bits.reshape(blocks, self._bytes)
        self._before = np.zeros(blocks + 1, np.int64)
        np.cumsum(_ONES[self._bits].sum(axis=1, dtype=np.int64), out=self._before[1:])
        self.n = int(self._before[-1])

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self._bits.nbytes + self._before.nbytes

    def below(self, rows: Ints) -> Ints:
        """The number of members less than each row, int64; rows may equal the length of the mask."""
        block, within = rows // BLOCK, rows % BLOCK
        count = self._before[np.minimum(block, len(self._bits))]
        inside = np.flatnonzero(block < len(self._bits))
        bits, byte = self._bits[block[inside]], within[inside] // 8
        ones = np.where(np.arange(self._bytes) < byte[:, None], _ONES[bits], 0).sum(
            axis=1, dtype=np.int64
        )
        count[inside] += (
            ones + _ONES[bits[np.arange(len(inside)), byte] & _BEFORE[within[inside] % 8]]
        )
        return count

    def member(self, index: int) -> int:
        """The member with ``index`` (< ``n``) members before it."""
        block = int(np.searchsorted(self._before, index, "right")) - 1
        return int(self._members(np.array([block]))[index - int(self._before[block])])

    def first(self, most: int) -> Ints:
        """The lowest members, ``most`` at most."""
        needed = int(np.searchsorted(self._before, most))
        filled = np.flatnonzero(np.diff(self._before[: needed + 1]))
        return np.asarray(self._members(filled)[:most])

    def _members(self, blocks: Ints) -> Array:
        block, bit = np.nonzero(np.unpackbits(self._bits[blocks], axis=1))
        return blocks[block] * BLOCK + bit
