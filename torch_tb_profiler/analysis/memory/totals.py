"""What was allocated on one device after each of its records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.store.columns import Ints, Mask


@dataclass(frozen=True)
class Totals:
    """``allocated``: after each record, int64 bytes of shape (records,). The rest as in the table
    ``memory_devices``.
    """

    allocated: Ints
    begin: int
    end: int
    stated: int
    mismatched: int


def totals(size: Ints, stated: Ints, shared: Mask, before: int) -> Totals:
    """From records in time order: their bytes, the totals that they state (−1 none), which are of
    shared memory, and the bytes known to be allocated before.

    The stated totals leave shared memory out: it is added to them. ``begin`` is the stated total
    less the running sum, as most records have it: threads write their records a little out of
    order, and one that stands in the wrong place must not move all others. Where no record states a
    total, it is the least that the releases allow.
    """
    run = np.cumsum(size)
    told = np.flatnonzero((stated >= 0) & ~shared)
    change = int(run[-1]) if len(run) else 0
    if not len(told):
        begin = max(before, -int(run.min()) if len(run) else 0, 0)
        return Totals(begin + run, begin, begin + change, 0, 0)
    offset = stated[told] - np.cumsum(np.where(shared, 0, size))[told]
    values, first, times = np.unique(offset, return_index=True, return_counts=True)
    begin = int(values[np.lexsort((first, -times))[0]])
    # Records without a total go on from the one before them.
    latest = np.maximum(np.searchsorted(told, np.arange(len(run)), side="right") - 1, 0)
    return Totals(
        run + offset[latest],
        begin,
        begin + change,
        len(told),
        int(np.count_nonzero(np.diff(offset))),
    )


def shared_memory(size: Ints, stated: Ints, allocation: Ints, release: Ints) -> Mask:
    """Which records of the host are of shared memory, from their bytes and the totals that they
    state; bool of shape (records,).

    ATen's ``MapAllocator`` (tensors that a DataLoader's workers hand over) writes 0 for the total:
    more was just allocated than there is in all. A release is told by its allocation: positions of
    both, −1 none, per block.
    """
    found = (size > 0) & (stated == 0)
    pairs = (allocation >= 0) & (release >= 0)
    found[release[pairs]] |= found[allocation[pairs]]
    return np.asarray(found)
