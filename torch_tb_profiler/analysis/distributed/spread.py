"""How the ranks of a run spread: a few figures of each rank, who lies far out, and which ranks are alike.

::

    step of ranks 0 to 7, ms    101 102 102 103 | 131 | 101 102 102
                                      median 102: rank 4 stands out, by 29 ms
                                ├── alike: 0–3, 5–7 ──┤ gap ├─ 4 ─┤
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, get_args

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.arrays.grouping import mask_of
from torch_tb_profiler.analysis.distributed.coordinates import Dimension
from torch_tb_profiler.analysis.distributed.measures import LEAST_RANKS, WORTH, means, step_times
from torch_tb_profiler.analysis.distributed.rank import SHARES, Rank
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.facts.step_kinds import NORMAL_MAD, ODD_DEVIATIONS
from torch_tb_profiler.store.columns import Array, Ints, unique_values

RankFigure = Literal["step", "computation", "busy", "exposed", "memory"]
FIGURES: tuple[RankFigure, ...] = get_args(RankFigure)
"""In the order in which they are told."""
GAP = 0.03
"""Differences up to this count as none between ranks that are alike: of the median step for times, of the median for bytes,
of 1 for shares."""


class Spread(msgspec.Struct, frozen=True):
    """One figure over all ranks. values: of each rank, NaN unknown; ns, share or bytes.
    quartiles: least value, first quartile, median, third quartile, greatest value.
    deviation: the usual one, 1.4826 × the median absolute deviation.
    whole: what shares of it are taken of: the median step for times, the median for bytes, 1 for shares.
    outliers: places of ranks that stand out, the farthest first; of fewer than four ranks none does.
    """

    values: Array
    quartiles: tuple[float, float, float, float, float]
    deviation: float
    whole: float
    outliers: Ints

    @property
    def median(self) -> float:
        return self.quartiles[2]

    @property
    def limit(self) -> float:
        """The distance from the median from which on a rank stands out."""
        return max(ODD_DEVIATIONS * self.deviation, WORTH * self.whole)


class Outlier(NamedTuple):
    """A rank whose mean is far above that of the others, ns."""

    rank: int
    mean: float
    median: float


def rank_values(figures: RunFigures, steps: Ints | None) -> dict[RankFigure, Array]:
    """Of each rank, the mean of its ``steps`` (common ones, None all of its own); of memory the most in any; NaN unknown."""
    values: dict[RankFigure, Array] = {
        name: np.full(len(figures.ranks), np.nan) for name in FIGURES
    }
    for row, rank in enumerate(figures.ranks):
        place = figures.steps.place[row]
        own = np.isin(place, steps) if steps is not None else np.ones(len(place), np.bool_)
        if own.any():
            for name, value in _of_rank(rank, own).items():
                values[name][row] = value
    return values


def _of_rank(rank: Rank, own: Array) -> dict[RankFigure, float]:
    wall = rank.shares[:, own].sum(axis=0)
    shares = dict(zip(SHARES, rank.shares[:, own].astype(np.float64), strict=True))
    busy, memory = rank.busy[own], rank.peak_memory[own]
    known = busy >= 0
    return {
        "step": float(wall.mean()),
        "computation": float((shares["computation"] + shares["overlap"]).mean()),
        "busy": float(busy[known].sum() / wall[known].sum()) if wall[known].any() else np.nan,
        "exposed": float(shares["communication"].mean()),
        "memory": float(memory.max()) if (memory >= 0).any() else np.nan,
    }


def spreads(values: Mapping[RankFigure, Array]) -> dict[RankFigure, Spread]:
    """How each figure spreads; those that no rank knows are left out."""
    medians = {
        name: float(np.nanmedian(column))
        for name, column in values.items()
        if not np.isnan(column).all()
    }
    whole = {"busy": 1.0, "memory": medians.get("memory", 0.0)}
    return {
        name: spread_of(values[name], whole.get(name, medians.get("step", 0.0))) for name in medians
    }


def spread_of(values: Array, whole: float) -> Spread:
    """How one figure spreads; it is known of one rank at least."""
    known = values[~np.isnan(values)]
    low, first, median, third, high = np.quantile(known, (0, 0.25, 0.5, 0.75, 1)).tolist()
    deviation = NORMAL_MAD * float(np.median(np.abs(known - median)))
    spread = Spread(
        values, (low, first, median, third, high), deviation, whole, np.zeros(0, np.int64)
    )
    if len(known) < LEAST_RANKS:
        return spread
    distance = np.nan_to_num(np.abs(values - median), nan=-1.0)
    far = np.flatnonzero(distance > spread.limit)
    return replace(spread, outliers=far[np.argsort(-distance[far], kind="stable")].astype(np.int64))


def outliers(figures: RunFigures, values: Ints) -> list[Outlier]:
    """Ranks whose mean stands out and is above the median, the largest first."""
    mean, steps = means(values), means(step_times(figures))
    if np.isnan(mean).all():
        return []
    whole = 0.0 if np.isnan(steps).all() else float(np.nanmedian(steps))
    spread = spread_of(mean, whole)
    above = spread.outliers[mean[spread.outliers] > spread.median]
    return [Outlier(rank, float(mean[rank]), spread.median) for rank in above.tolist()]


def alike(found: Mapping[RankFigure, Spread]) -> list[Ints]:
    """Ranks in groups that no gap divides, the largest first: sorted by any figure, neighbours differ by no more than
    ``GAP``, and who stands out in it is apart. Ranks of which nothing is known are in none.
    """
    if not found:
        return []
    pieces = np.stack([_pieces(spread) for spread in found.values()])
    known = np.flatnonzero((pieces >= 0).any(axis=0))
    _, group = np.unique(pieces[:, known], axis=1, return_inverse=True)
    group = group.reshape(-1)
    groups = [known[group == number] for number in range(int(group.max(initial=-1)) + 1)]
    return sorted(groups, key=lambda ranks: (-len(ranks), int(ranks[0])))


def _pieces(spread: Spread) -> Ints:
    """Of each rank, in which piece between gaps its value is; −1 unknown."""
    order = np.argsort(spread.values, kind="stable")
    ascending = spread.values[order]
    # A difference to NaN, which is sorted to the end, is no gap.
    gaps = np.diff(ascending, prepend=ascending[:1]) > GAP * spread.whole
    piece = np.full(len(order), -1, np.int64)
    piece[order] = 2 * np.cumsum(gaps)
    piece[spread.outliers] += 1
    return np.where(np.isnan(spread.values), -1, piece)


def where(members: Ints, dimensions: Sequence[Dimension]) -> dict[Dimension, list[int]]:
    """Places in one or two dimensions that exactly these ranks have, in the fewest dimensions; empty if there are none.
    One rank has its place in each dimension that tells ranks apart.

    Ranks 2, 3, 6, 7 of the eight drawn in ``coordinates``: DP 1. Ranks 2 and 3: PP 0 and DP 1.
    """
    if not dimensions:
        return {}
    if len(members) == 1:
        own = {each: int(each.place[members[0]]) for each in dimensions[::-1] if each.independent}
        return {each: [place] for each, place in own.items() if place >= 0}
    inside = mask_of(len(dimensions[0].place), members)
    covers = []
    for dimension in dimensions:
        places = unique_values(dimension.place[members])
        if (dimension.place < 0).any() or len(places) > dimension.size // 2:
            continue
        cover = np.isin(dimension.place, places)
        if np.array_equal(cover, inside):
            return {dimension: places.tolist()}
        covers.append((dimension, places, cover))
    for row, (first, places, cover) in enumerate(covers):
        for second, others, cover2 in covers[row + 1 :]:
            if np.array_equal(cover & cover2, inside):
                return {first: places.tolist(), second: others.tolist()}
    return {}
