"""Which ranks are stages of one pipeline. These do different work, so how long they wait for each other is a bubble, and what only
they meet in makes none of them late.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of
from torch_tb_profiler.analysis.distributed.collectives import Matches
from torch_tb_profiler.analysis.distributed.coordinates import dimension_name
from torch_tb_profiler.analysis.distributed.rank import TRANSFER, Rank
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, Mask

_DIRECTED = regex(rf"{TRANSFER} \d+ to \d+")


def pipelines(ranks: Sequence[Rank], matches: Matches) -> Ints:
    """The number of the pipeline that each rank is a stage of, one of its own where it is of none."""
    names = {
        group.name
        for rank in ranks
        for group in rank.groups
        if dimension_name(group.description) == "PP"
    }
    of_stages = [label.group in names for label in matches.labels]
    return tied_sets(matches.take(directed(matches) | np.array([*of_stages, False])[matches.label]))


def directed(matches: Matches) -> Mask:
    """Which matches are transfers of which sender and receiver are known."""
    known = [bool(_DIRECTED.match(label.kind)) for label in matches.labels]
    return np.array([*known, False])[matches.label]


def between_pipelines(matches: Matches, pipeline: Ints) -> Mask:
    """Which matches a rank can be late to: no transfers, and of more than one pipeline."""
    first, last = (
        matches.reduced(reduction, pipeline[matches.rank]) for reduction in (np.minimum, np.maximum)
    )
    return np.asarray(~directed(matches) & (first != last))


def tied_sets(matches: Matches) -> Ints:
    """Of each rank the number of the set that matches join it to, one of its own where they join it to nobody."""
    n = matches.ranks
    same = matches.match[1:] == matches.match[:-1]
    pairs = mask_of(n * n, matches.rank[:-1][same] * n + matches.rank[1:][same])
    parent = list(range(n))

    def root(rank: int) -> int:
        while parent[rank] != rank:
            parent[rank] = parent[parent[rank]]
            rank = parent[rank]
        return rank

    for edge in np.flatnonzero(pairs).tolist():
        parent[root(edge // n)] = root(edge % n)
    return np.array([root(rank) for rank in range(n)], np.int64)
