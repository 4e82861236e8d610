"""The bytes allocated on one device after each of its records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.store.columns import Ints, Mask


@dataclass(frozen=True)
class Totals:
    """``allocated``: int64 bytes after each record. The rest as in ``memory_devices``."""

    allocated: Ints
    begin: int
    end: int
    stated: int
    mismatched: int


def totals(size: Ints, stated: Ints, shared: Mask, before: int) -> Totals:
    """Totals from records in time order.

    size, stated: bytes, and the total that each record states, −1 none.
    shared: which records are of shared memory, which stated totals leave out.
    before: bytes known to be allocated before.

    ``begin`` is the most frequent difference of stated total and running sum: threads write records
        slightly out of order, and a misplaced one must not shift all others. If no record states a
        total, it is the least that the releases allow.
    """
    run = np.cumsum(size)
    known = np.flatnonzero((stated >= 0) & ~shared)
    change = int(run[-1]) if len(run) else 0
    if not len(known):
        begin = max(before, -int(run.min()) if len(run) else 0, 0)
        return Totals(begin + run, begin, begin + change, 0, 0)
    offset = stated[known] - np.cumsum(np.where(shared, 0, size))[known]
    values, first, count = np.unique(offset, return_index=True, return_counts=True)
    begin = int(values[np.lexsort((first, -count))[0]])
    # Records without a total continue from the previous one.
    latest = np.maximum(np.searchsorted(known, np.arange(len(run)), side="right") - 1, 0)
    mismatched = int(np.count_nonzero(np.diff(offset)))
    return Totals(run + offset[latest], begin, begin + change, len(known), mismatched)


def shared_memory(size: Ints, stated: Ints, allocation: Ints, release: Ints) -> Mask:
    """Which host records are of shared memory, bool of shape (records,).

    ATen's ``MapAllocator`` (tensors from DataLoader workers) states a total of 0, less than was
    just allocated. ``allocation`` and ``release``: record positions per block, −1 none.
    """
    is_shared = (size > 0) & (stated == 0)
    pairs = (allocation >= 0) & (release >= 0)
    is_shared[release[pairs]] |= is_shared[allocation[pairs]]
    return np.asarray(is_shared)
