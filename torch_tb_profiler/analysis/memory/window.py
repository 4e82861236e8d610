"""Records and blocks of one device in a time window, and its curve in few points."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.timeline.counters import thinned
from torch_tb_profiler.store.categories import BLOCK_CATEGORIES
from torch_tb_profiler.store.columns import Array, Ints, Table, unique_values
from torch_tb_profiler.store.insight import Insight

Window = tuple[int, int]
"""[begin, end), ns."""


class Curve(msgspec.Struct, frozen=True):
    """A step function: a value holds from its time on. int64 of shape (points,).

    reserved: −1 unknown.
    categories: see ``by_category``.
    thinned: whether points were left out.
    peak, peak_time: the highest allocated value in the window, and its first time.
    """

    time: Ints
    allocated: Ints
    reserved: Ints
    categories: Array
    thinned: bool
    peak: int
    peak_time: int


def of_device(table: Table, device: int) -> slice:
    """The rows of ``memory_curve`` or ``allocations`` of a row of ``memory_devices``."""
    low, high = np.searchsorted(
        table["device"], np.array((device, device + 1), table["device"].dtype)
    ).tolist()
    return slice(low, high)


def records_in(insight: Insight, device: int, window: Window | None) -> slice:
    """The rows of ``memory_curve`` of a device in a window; None: all."""
    curve = insight["memory_curve"]
    rows = of_device(curve, device)
    if window is None:
        return rows
    low, high = (
        rows.start + np.searchsorted(curve["time"][rows], np.array(window, np.int64))
    ).tolist()
    return slice(low, high)


def blocks_in(insight: Insight, device: int, window: Window | None) -> Ints:
    """Rows of ``allocations`` that start or end in a window, the largest first; None: all."""
    table = insight["allocations"]
    rows = of_device(table, device)
    blocks = np.arange(rows.start, rows.stop)
    if window is not None:
        begin, end = table["begin"][rows], table["end"][rows]
        blocks = blocks[
            ((begin >= window[0]) & (begin < window[1])) | ((end >= window[0]) & (end < window[1]))
        ]
    return np.asarray(blocks[np.argsort(-table["bytes"][blocks], kind="stable")])


def curve_in(insight: Insight, device: int, window: Window, points: int) -> Curve:
    """The curve of a device in a window: its value at the start, and about ``points`` records.

    If there are more, the first, lowest, highest and last value per bucket stay, of allocated and
    of reserved.
    """
    table = insight["memory_curve"]
    whole, rows = of_device(table, device), records_in(insight, device, window)
    allocated, reserved, time = (table[name][rows] for name in ("allocated", "reserved", "time"))
    chosen = np.arange(len(time))
    if len(chosen) > points:
        some = (chosen, time[chosen], max(points // 2, 4))
        chosen = unique_values(*(_kept(values, *some) for values in (allocated, reserved)))
    held = rows.start - 1
    known = held >= whole.start
    first = (
        int(table["allocated"][held]) if known else int(insight["memory_devices"]["begin"][device])
    )
    top = int(np.argmax(allocated)) if len(time) else -1
    above = top >= 0 and int(allocated[top]) > first
    return Curve(
        time=np.concatenate(([window[0]], time[chosen])),
        allocated=np.concatenate(([first], allocated[chosen])),
        reserved=np.concatenate(
            ([table["reserved"][held] if known else -1], reserved[chosen])
        ).astype(np.int64),
        categories=by_category(insight, device, np.concatenate(([held], rows.start + chosen))),
        thinned=len(chosen) < len(time),
        peak=int(allocated[top]) if above else first,
        peak_time=int(time[top]) if above else window[0],
    )


def _kept(values: Ints, chosen: Ints, time: Ints, most: int) -> Ints:
    return np.asarray(chosen[thinned(time, values[chosen], most)])


def by_category(insight: Insight, device: int, records: Ints) -> Array:
    """Bytes by category after some records; int64 of shape (categories + 2, records).

    The last two: what was there before the recording and is of no known block, and what is unknown.
    All add up to ``allocated`` exactly; the unknown ones are below 0 where records contradict each
    other.
    """
    begin = insight.about["memory_begin_categories"]
    if not begin:
        return np.zeros((0, len(records)), np.int64)
    table = insight["memory_curve"]
    rows = of_device(table, device)
    category, size, counted = (
        table["category"][rows],
        table["bytes"][rows],
        records - rows.start + 1,
    )
    levels = [
        begin[device][number]
        + np.append(0, np.cumsum(np.where(category == number, size, 0)))[counted]
        for number in range(len(BLOCK_CATEGORIES))
    ]
    levels.append(np.full(len(records), begin[device][-1]))
    first = insight["memory_devices"]["begin"][device]
    allocated = np.append(first, table["allocated"][rows])[counted]
    return np.array([*levels, allocated - sum(levels)])
