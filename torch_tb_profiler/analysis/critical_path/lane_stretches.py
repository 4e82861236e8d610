"""The stretches of a drawn path that are long enough to be told, and the ranks that it is on."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, largest_by, sum_by
from torch_tb_profiler.analysis.critical_path.lanes import COLUMNS, PARTS, PathSegments
from torch_tb_profiler.store.columns import Array, Ints, Mask, unique_values
from torch_tb_profiler.store.display import DisplayTable, display_spec
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts

LEAST = 0.01
"""Share of the step from which on a stretch is told."""
PATH_STRETCHES = display_spec("""
path_stretches: The path of one step in stretches with the lane and the category of most of their time, those that take 1 % of it or more.
    lane      text   -  -                    device or host.
    category  text   -  -                    What it is drawn as.
    start_ns  time   -  -                    Begin, after the first event of the trace.
    end_ns    time   -  -                    End.
    segments  count  -  -                    How many segments of the category lie in it.
    name      code   -  optional             The event of the longest of them.
    line      code   -  optional             Its line.
    worker    row    -  unit=row_of_workers  Place of its worker among ``workers``.
""")


def stretch_table(path: PathSegments, part: Ints, several: bool) -> DisplayTable:
    """The stretches of a path that take at least ``LEAST`` of it. ``part``: what each segment is drawn as. ``several``: whether
    the sources are ranks.
    """
    key, (begin, end) = path.source * len(PARTS) + part, path.bounds
    edges, most, place, same = stretches(path.start, path.end, key, (begin, end))
    longest = largest_by(place[same], len(most), (path.end - path.start)[same])
    found = np.where(longest >= 0, np.append(np.flatnonzero(same), -1)[longest], -1)
    told = np.flatnonzero(np.diff(edges) >= LEAST * (end - begin))
    drawn = [PARTS[part] for part in (most[told] % len(PARTS)).tolist()]
    return PATH_STRETCHES.build(
        path.strings,
        lane=[lane for lane, _ in drawn],
        category=[category for _, category in drawn],
        start_ns=edges[told],
        end_ns=edges[told + 1],
        segments=np.bincount(place[same], minlength=len(most))[told],
        name=np.append(path.name, -1)[found[told]],
        line=np.append(path.line, -1)[found[told]],
        worker=most[told] // len(PARTS) if several else np.full(len(told), -1),
    )


def rank_runs(path: PathSegments) -> list[tuple[int, int, int]]:
    """Which source the path is on, ``(source, begin, end)``, as far as it can be drawn."""
    edges, most, _, _ = stretches(path.start, path.end, path.source, path.bounds)
    return list(zip(most.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def stretches(
    start: Ints, end: Ints, key: Array, bounds: tuple[int, int]
) -> tuple[Ints, Ints, Ints, Mask]:
    """Segments that follow each other from the first to the last of ``bounds``, drawn in at most ``COLUMNS`` stretches.

    Returns ``(edges, most, place, same)``: the edges of the stretches, and the key of most of the time of each; of each
    segment the stretch that has its middle, and whether that is of its key.
    """
    (whole, rest), bins = divmod(bounds[1] - bounds[0], COLUMNS), np.arange(COLUMNS + 1)
    edges = unique_values(bounds[0] + whole * bins + rest * bins // COLUMNS)
    cuts = unique_values(np.concatenate((edges, start)))
    piece = np.searchsorted(start, cuts[:-1], side="right") - 1
    part = np.searchsorted(edges, cuts[:-1], side="right") - 1
    first, group = group_rows((part, key[piece]))
    time = sum_by(group, len(first), np.diff(cuts))
    most = key[piece][first[largest_by(part[first], len(edges) - 1, time)]].astype(np.int64)
    begin = np.flatnonzero(np.append(True, most[1:] != most[:-1]))
    place = np.searchsorted(edges[begin], start + (end - start) // 2, side="right") - 1
    return np.append(edges[begin], edges[-1]), most[begin], place, most[begin][place] == key


def step_segments(facts: Facts, insight: Insight, step: int) -> PathSegments:
    """The path of a step of a trace alone."""
    path, sums = insight["critical_path"], insight["critical_path_steps"]
    own = slice(*np.searchsorted(path["step"], (step, step + 1)).tolist())
    group = path["group"][own]
    name, line = (sums[key][group].astype(np.int64) for key in ("name", "line"))
    return PathSegments(
        facts.strings,
        np.zeros(len(group), np.int64),
        np.asarray(path["start"][own]),
        np.asarray(path["end"][own]),
        path["cause"][own],
        path["event"][own].astype(np.int64),
        name,
        line,
    )
