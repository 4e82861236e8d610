"""Pairs records of allocations and releases into blocks.

::

    address 7     +64      -64       +32   +32    -32          -16   -16
    blocks         [64------)         [32---)[32---)      16----)[16--)
                                          └ its release was lost     └ its allocation was lost
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.store.columns import Array, Ints, Mask


class Totals(msgspec.Struct, frozen=True):
    """``allocated``: int64 bytes after each record. The rest as in ``memory_devices``."""

    allocated: Ints
    begin: int
    end: int
    stated: int
    mismatched: int


class Blocks(msgspec.Struct, frozen=True):
    """Unordered blocks; int64 positions of the given records, of shape (blocks,).

    allocation: −1 if not recorded.
    begin: the same; if the allocation was lost, the previous release at that address, the earliest
        possible time; −1 before the first record.
    end: its release; if that was lost, the next allocation at that address, the latest possible
        time; −1 none.
    releases: whether ``end`` is its own release.
    lost_releases, lost_allocations: their numbers.
    """

    allocation: Ints
    begin: Ints
    end: Ints
    releases: Array
    lost_releases: int
    lost_allocations: int


def pair(device: Array, address: Array, size: Ints) -> Blocks:
    """Pair records (in time order per device) by device and address. Sizes > 0 allocate, < 0
    release.

    Records without an address (0) or a size belong to no block.
    """
    used = np.flatnonzero((address != 0) & (size != 0))
    by_address = used[np.lexsort((address[used], device[used]))]
    same = np.zeros(len(by_address) + 1, np.bool_)
    same[1:-1] = (device[by_address[1:]] == device[by_address[:-1]]) & (
        address[by_address[1:]] == address[by_address[:-1]]
    )
    follows, followed = same[:-1], same[1:]
    opens = size[by_address] > 0
    closed = np.append(~opens[1:], False) & followed
    opened = np.flatnonzero(opens)
    orphan = np.flatnonzero(~opens & ~(follows & np.append(False, opens[:-1])))
    end = np.where(followed[opened], np.append(by_address, -1)[opened + 1], -1)
    begin = np.where(follows[orphan], by_address[orphan - 1], -1)
    none = np.full(len(orphan), -1, np.int64)
    return Blocks(
        allocation=np.concatenate((by_address[opened], none)),
        begin=np.concatenate((by_address[opened], begin)),
        end=np.concatenate((end, by_address[orphan])),
        releases=np.concatenate((closed[opened], np.ones(len(orphan), np.bool_))),
        lost_releases=int(np.count_nonzero(followed[opened] & ~closed[opened])),
        lost_allocations=int(np.count_nonzero(follows[orphan])),
    )


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
