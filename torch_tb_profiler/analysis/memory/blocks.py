"""Records of allocations and releases → blocks.

::

    address 7     +64      -64       +32   +32    -32          -16   -16
    blocks         [64------)         [32---)[32---)      16----)[16--)
                                          └ its release was lost     └ its allocation was lost
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.store.columns import Array, Ints


@dataclass(frozen=True)
class Blocks:
    """Blocks in no order; positions are those of the records given, int64 of shape (blocks,).

    allocation: −1 where no record says it.
    begin: the same; of a block whose allocation was lost the release before it at its address, the
        earliest it can have been; −1 before the first record.
    end: its release; of a block whose release was lost the next allocation at its address, the
        latest it can have been; −1 none.
    releases: whether ``end`` is its own release; bool.
    lost_releases, lost_allocations: how many.
    """

    allocation: Ints
    begin: Ints
    end: Ints
    releases: Array
    lost_releases: int
    lost_allocations: int


def pair(device: Array, address: Array, size: Ints) -> Blocks:
    """Pair records, given in time order within each device, by device and address. Sizes above 0
    allocate, below 0 release.

    Records without an address (0) and without a size are in no block.
    """
    used = np.flatnonzero((address != 0) & (size != 0))
    at = used[np.lexsort((address[used], device[used]))]
    same = np.zeros(len(at) + 1, np.bool_)
    same[1:-1] = (device[at[1:]] == device[at[:-1]]) & (address[at[1:]] == address[at[:-1]])
    follows, followed = same[:-1], same[1:]
    opens = size[at] > 0
    closed = np.append(~opens[1:], False) & followed
    opened = np.flatnonzero(opens)
    orphan = np.flatnonzero(~opens & ~(follows & np.append(False, opens[:-1])))
    end = np.where(followed[opened], np.append(at, -1)[opened + 1], -1)
    begin = np.where(follows[orphan], at[orphan - 1], -1)
    none = np.full(len(orphan), -1, np.int64)
    return Blocks(
        allocation=np.concatenate((at[opened], none)),
        begin=np.concatenate((at[opened], begin)),
        end=np.concatenate((end, at[orphan])),
        releases=np.concatenate((closed[opened], np.ones(len(orphan), np.bool_))),
        lost_releases=int(np.count_nonzero(followed[opened] & ~closed[opened])),
        lost_allocations=int(np.count_nonzero(follows[orphan])),
    )
