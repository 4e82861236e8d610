"""Which ranks are known to have waited for each other, and whether anybody else may have kept them waiting.

Only ranks that share a matched collective or transfer are compared, have a path in common, or can be to blame::

    rank 0  rank 1  rank 2      rank 5         ranks 0, 1 and 2 are tied; nothing ties rank 5 to them
       └──all_reduce──┘            .
                └─send─┘
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.distributed.collectives import Matches, kind_of
from torch_tb_profiler.analysis.distributed.rank import Rank
from torch_tb_profiler.store.columns import Mask


def tied(matches: Matches) -> Mask:
    """The largest set of ranks that matches join, bool of shape (ranks,); none where nothing was matched."""
    n = matches.ranks
    same = matches.match[1:] == matches.match[:-1]
    joined = np.zeros(n * n, np.bool_)
    joined[matches.rank[:-1][same] * n + matches.rank[1:][same]] = True
    parent = list(range(n))

    def root(rank: int) -> int:
        while parent[rank] != rank:
            parent[rank] = parent[parent[rank]]
            rank = parent[rank]
        return rank

    for edge in np.flatnonzero(joined).tolist():
        parent[root(edge // n)] = root(edge % n)
    of = np.array([root(rank) for rank in range(n)], np.int64)
    sizes = np.bincount(of, minlength=n) if n else of
    if not n or sizes.max() < 2:
        return np.zeros(n, np.bool_)
    return np.asarray(of == int(sizes.argmax()))


def is_whole(ranks: Sequence[Rank], among: Mask) -> bool:
    """Whether all members of each process group in which some ranks called a collective are among these, as far as sizes
    are known; of groups of unknown size all ranks of the job.
    """
    called: dict[tuple[str, tuple[int, ...]], int] = {}
    sizes: dict[tuple[str, tuple[int, ...]], int] = {}
    for number in np.flatnonzero(among).tolist():
        rank = ranks[number]
        members = {group.name: group.ranks for group in rank.groups}
        own: dict[tuple[str, tuple[int, ...]], int] = {}
        for key in rank.sorts:
            if kind_of(key.kind):
                known = members.get(key.group, ())
                size = key.group_size if key.group_size > 0 else len(known) or rank.world_size or 0
                group = (key.group, known)
                own[group] = max(own.get(group, 0), size)
        for group, size in own.items():
            called[group] = called.get(group, 0) + 1
            sizes[group] = max(sizes.get(group, 0), size)
    return bool(among.any()) and all(called[group] >= size for group, size in sizes.items())
