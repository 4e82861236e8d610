"""What makes long curves cheap to read: sums by category at regular records, and the curve's outline."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import expand_ranges, sum_by
from torch_tb_profiler.analysis.timeline.counters import thinned
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.categories import BLOCK_CATEGORIES
from torch_tb_profiler.store.columns import Array, Ints, Table, unique_values

EVERY = 4096
"""Records between two rows of ``memory_levels``."""
OUTLINE = 1 << 17
"""Records of a curve that are kept as its outline; curves of fewer than four times as many have none."""


def build_levels(curve: Table) -> tuple[Table, Table]:
    """``memory_levels`` and ``memory_outline``."""
    levels: dict[str, list[Array]] = {column.name: [] for column in schema.MEMORY_LEVELS.columns}
    outlines: dict[str, list[Array]] = {"device": [], "record": []}
    devices = int(curve["device"][-1]) + 1 if curve.n else 0
    bounds = np.searchsorted(curve["device"], np.arange(devices + 1, dtype=curve["device"].dtype))
    for device in range(devices):
        rows = slice(int(bounds[device]), int(bounds[device + 1]))
        count = rows.stop - rows.start
        category, size = curve["category"][rows], curve["bytes"][rows]
        block = np.arange(count) // EVERY
        sums = _sums(category, size, block, count // EVERY + 1)
        sums = np.cumsum(sums, axis=1) - sums
        levels["device"].append(np.full(sums.shape[1], device))
        levels["record"].append(rows.start + EVERY * np.arange(sums.shape[1]))
        for name, values in zip(BLOCK_CATEGORIES, sums, strict=True):
            levels[name].append(values)
        if count >= 4 * OUTLINE:
            kept = outline(curve["time"][rows], curve["allocated"][rows], curve["reserved"][rows])
            outlines["record"].append(rows.start + kept)
            outlines["device"].append(np.full(len(kept), device))
    return tuple(
        spec.build(
            **{name: np.concatenate(parts) if parts else [] for name, parts in columns.items()}
        )
        for spec, columns in (
            (schema.MEMORY_LEVELS, levels),
            (schema.MEMORY_OUTLINE, outlines),
        )
    )  # type: ignore[return-value]


def outline(time: Ints, allocated: Ints, reserved: Ints) -> Ints:
    """Positions of the records that ``thinned`` keeps of both curves."""
    kept = (thinned(time, values, OUTLINE // 2) for values in (allocated, reserved))
    return np.asarray(unique_values(*kept))


def changed_before(curve: Table, levels: Table, rows: slice, counted: Ints) -> Array:
    """What the first ``counted`` records of a device's ``rows`` changed by category; int64 of shape
    (categories, len(counted)).
    """
    category, size = curve["category"], curve["bytes"]
    of_device = np.searchsorted(levels["record"], rows.start)
    whole = counted // EVERY
    base = np.array([levels[name][of_device + whole] for name in BLOCK_CATEGORIES])
    rest = counted - whole * EVERY
    point = np.repeat(np.arange(len(counted)), rest)
    row = expand_ranges(rows.start + whole * EVERY, rest)
    return np.asarray(base + _sums(category[row], size[row], point, len(counted)))


def _sums(category: Array, size: Ints, group: Ints, groups: int) -> Array:
    """Bytes by category and group; int64 of shape (categories, groups)."""
    kinds = len(BLOCK_CATEGORIES)
    known = np.flatnonzero((category >= 0) & (category < kinds))
    key = category[known] * np.int64(groups) + group[known]
    return sum_by(key, kinds * groups, size[known]).reshape(kinds, groups)
