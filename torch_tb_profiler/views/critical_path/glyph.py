"""The lanes and the path of a step as columns: what the page draws as its glyph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from torch_tb_profiler.analysis.critical_path.lane_stretches import (
    PATH_STRETCHES,
    rank_runs,
    stretch_table,
)
from torch_tb_profiler.analysis.critical_path.lanes import (
    BUSY,
    PARTS,
    Lane,
    LaneCategory,
    Lanes,
    LaneWork,
    PathSegments,
    Source,
    lane_area,
    lane_work,
    parts_of,
    path_lanes,
)
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.views.display_wire import table_of, wire_columns
from torch_tb_profiler.views.wire import Wire

__all__ = ["Glyph", "LaneWork", "glyph_of", "lane_work"]
FULL = 250
"""What a column is worth that one part fills."""
MOST_LANES = 16
"""Ranks whose lanes are drawn."""


class LanePart(Wire, frozen=True, kw_only=True):
    """One category of a lane, on the path or beside it: of each column, from 0 to 250, how much it fills."""

    lane: Lane
    category: LaneCategory
    on_path: bool
    columns: list[int]


class CutStart(Wire, frozen=True, kw_only=True):
    """A stretch that is cut out of the columns: nothing shows what the devices did."""

    start_ns: int
    length_ns: int


class RankRun(Wire, frozen=True, kw_only=True):
    """The path is on one rank; ``worker``: its place in ``workers``."""

    worker: int
    start_ns: int
    end_ns: int


class Glyph(Wire, frozen=True, kw_only=True):
    """A step as two lanes and a path. ``shown_ns``: what the columns divide into equal parts: its length without ``cuts``.
    The parts on the path fill exactly one column at every moment; with those beside it they fill the host's lane, and of the device's
    what ``busy`` says, beside copies. ``all_ns``: time of a group whether or not it is on the path, by its key, where that is known.
    ``busy``: share of the time in which a kernel runs; null without a device. ``stretches``: of the path, 1 % of the step or longer.
    ``ranks``: which rank the path is on; empty for a trace alone.
    """

    shown_ns: int
    columns: int
    parts: list[LanePart]
    cuts: list[CutStart]
    all_ns: dict[str, int]
    busy: float | None
    stretches: Annotated[dict[str, Any], table_of(PATH_STRETCHES)]
    ranks: list[RankRun]


def glyph_of(path: PathSegments, sources: Mapping[int, Source], several: bool = False) -> Glyph:
    """The glyph of one step. ``sources``: the traces that it is on; ``several``: whether they are ranks."""
    begin, end = path.bounds
    lanes = path_lanes(path, sources)
    edges = lanes.edges(begin, end)
    drawn = lanes.measured(edges[:-1], edges[1:])
    shown, count = max(drawn.length, 1), len(edges) - 1
    has_device = any(source.work.has_device for source in sources.values())
    return Glyph(
        shown_ns=drawn.length,
        columns=count,
        parts=lane_parts(drawn.times, shown / count),
        cuts=[
            CutStart(start_ns=since, length_ns=until - since)
            for since, until in zip(lanes.cuts.start.tolist(), lanes.cuts.end.tolist(), strict=True)
        ],
        all_ns=lanes.in_all(begin, end),
        busy=lane_area(drawn, "device", BUSY) / shown if has_device else None,
        stretches=wire_columns(stretch_table(path, parts_of(path, sources), several)),
        ranks=[
            RankRun(worker=rank, start_ns=since, end_ns=until)
            for rank, since, until in (rank_runs(path) if several else [])
        ],
    )


class LaneTimes(Wire, frozen=True, kw_only=True):
    """One category of a lane, on the path or beside it: its time in each step, ns."""

    lane: Lane
    category: LaneCategory
    on_path: bool
    time_ns: list[int]


def lane_times(lanes: Lanes, begin: Ints, end: Ints) -> list[LaneTimes]:
    """The lanes of whole steps; the unknown ones end no later than they begin."""
    return [
        LaneTimes(
            lane=PARTS[part][0],
            category=PARTS[part][1],
            on_path=on,
            time_ns=time.tolist(),
        )
        for (part, on), time in sorted(lanes.measured(begin, end).times.items())
    ]


def lane_parts(times: Mapping[tuple[int, bool], Ints], width: float) -> list[LanePart]:
    """Parts of ``Drawn.times`` in columns of ``width`` ns."""
    return [
        LanePart(
            lane=PARTS[part][0],
            category=PARTS[part][1],
            on_path=on,
            columns=_levels(time / width).tolist(),
        )
        for (part, on), time in sorted(times.items())
    ]


def _levels(share: Array) -> Ints:
    """Shares as whole numbers; what is rounded off goes into the next column, so that the area stays."""
    return np.asarray(np.diff(np.rint(np.cumsum(share) * FULL).astype(np.int64), prepend=0))
