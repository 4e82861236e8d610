"""What the critical path through all ranks adds up to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, largest_by, sum_by
from torch_tb_profiler.analysis.critical_path.lanes import PathSegments
from torch_tb_profiler.analysis.critical_path.origins import origin_columns
from torch_tb_profiler.analysis.critical_path.ranks import RanksPath, RankTrace
from torch_tb_profiler.analysis.critical_path.table import (
    CRITICAL_PATH,
    KEYS,
    KINDS,
    Window,
    kinds_of,
)
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.display import (
    DisplayColumn,
    DisplaySpec,
    DisplayTable,
    display_columns,
    display_spec,
)
from torch_tb_profiler.store.strings import StringTable

RanksGroup = Literal["rank", "event", "operator", "module", "line"]
"""What a row of the table is one of, each on one rank."""

_C = DisplayColumn
_OF_ONE = {column.name: column for column in CRITICAL_PATH.columns}
RANKS_PATH = DisplaySpec(
    "ranks_path",
    "What the end of each step waited for on any rank, back to its begin, in time order; the segments of a step cover"
    " it, from when the last rank begins it until the last begins the next, without hole or overlap. Times are on the"
    " common clock of the ranks.",
    (
        _OF_ONE["kind"],
        *display_columns("""
    step      id    -  -                   Number of the step among those of the run, from 0.
    rank      id    -  optional unit=rank  The rank.
    worker    text  -  -                   Name of its worker.
    start_ns  time  -  -                   Begin, after the first event of the run.
"""),
        _OF_ONE["dur_ns"],
        _OF_ONE["name"],
        _C(
            "event",
            "row",
            "",
            "Its number in the trace of the worker; missing where nothing was recorded.",
        ),
        *(_OF_ONE[key] for key in ("operator", "module", "line")),
    ),
)
PATH_RANKS = display_spec("""
path_ranks: The critical path through all ranks by rank, and by what runs on it.
    name      code      Event        term=path_event optional pool=other width=340  Name.
    worker    row       -            unit=row_of_workers                            Place of its worker among ``workers``.
    kind      category  Kind         term=path_kind width=180                       The kind of most of it.
    path_ns   time      On the path  term=path_time pool=sum bar                    Time.
    share     share     Share        term=path_share pool=sum                       Its part of the time of the steps.
    segments  count     Segments     term=path_segments pool=sum                    How many.
    event     row       -            -                                              The longest of them, in the trace of the worker.
""")


class RanksSegments(msgspec.Struct, frozen=True):
    """The path of some steps; arrays of shape (segments,) in the order of steps and time.

    start, end: ns after ``origin``, a time on the common clock. event: row of spans of the rank, −1 none. name, operator,
    module, line: numbers of ``strings``, −1 none.
    """

    strings: StringTable
    origin: int
    step: Ints
    rank: Ints
    start: Ints
    end: Ints
    cause: Array
    event: Ints
    name: Ints
    operator: Ints
    module: Ints
    line: Ints


def origin_of(path: RanksPath) -> int:
    """When the first step begins of which the path is known."""
    return int(path.begin[path.stop > path.begin].min(initial=np.iinfo(np.int64).max))


def ranks_segments(
    path: RanksPath, open_rank: Callable[[int], RankTrace | None], chosen: Mask
) -> RanksSegments:
    """The path of the ``chosen`` common steps."""
    row, origin = np.flatnonzero(chosen[path.step]), origin_of(path)
    rank, event = path.rank[row], path.event[row]
    strings, columns = origin_columns(rank, event, open_rank)
    start, end = path.start[row] - origin, path.end[row] - origin
    return RanksSegments(
        strings, origin, path.step[row], rank, start, end, path.cause[row], event, **columns
    )


def ranks_table(segments: RanksSegments, workers: Sequence[tuple[int | None, str]]) -> DisplayTable:
    """The segments one by one; ``workers``: rank and name of each index of a rank."""
    own = [workers[number] for number in segments.rank.tolist()]
    return RANKS_PATH.build(
        segments.strings,
        kind=KEYS[segments.cause].tolist(),
        rank=[rank for rank, _ in own],
        worker=[worker for _, worker in own],
        start_ns=segments.start + segments.origin,
        dur_ns=segments.end - segments.start,
        **{
            key: getattr(segments, key)
            for key in ("step", "event", "name", "operator", "module", "line")
        },
    )


def ranks_kinds(
    segments: RanksSegments, window: Window | None = None, steps: Ints | None = None
) -> DisplayTable:
    """What the path, or that of some ``steps``, is made of, or what of it lies in a window, the most first."""
    time = _time(segments, window)
    if steps is not None:
        time = np.where(np.isin(segments.step, steps), time, 0)
    return kinds_of(segments.strings, segments.cause, time, (time > 0).astype(np.int64))


def ranks_rows(
    segments: RanksSegments, by: RanksGroup, window: Window | None = None
) -> DisplayTable:
    """The path by rank and by what ``by`` says, the most first. ``worker`` holds indices of ranks; by rank there is no
    name.
    """
    time = _time(segments, window)
    row = np.flatnonzero(time > 0)
    time, rank, cause = time[row], segments.rank[row], segments.cause[row].astype(np.int64)
    keys = [rank]
    if by == "event":
        keys += [cause, segments.name[row]]
    elif by != "rank":
        keys.append(getattr(segments, by)[row])
    first, group = group_rows(keys)
    n, width = len(first), len(KINDS)
    total = sum_by(group, n, time)
    kinds = sum_by(group * width + cause, n * width, time).reshape(-1, width)
    made = PATH_RANKS.build(
        segments.strings,
        name=keys[-1][first] if by != "rank" else np.full(n, -1, np.int64),
        worker=rank[first],
        kind=KEYS[kinds.argmax(axis=1)].tolist(),
        path_ns=total,
        share=total / max(int(total.sum()), 1),
        segments=np.bincount(group, minlength=n),
        event=segments.event[row][largest_by(group, n, time)],
    )
    return made.take(np.argsort(-total, kind="stable"))


def ranks_step(segments: RanksSegments, step: int) -> PathSegments:
    """The path of one step; its sources are the ranks."""
    own = slice(*np.searchsorted(segments.step, (step, step + 1)).tolist())
    columns = ("rank", "start", "end", "cause", "event", "name", "line")
    return PathSegments(segments.strings, *(getattr(segments, key)[own] for key in columns))


def _time(segments: RanksSegments, window: Window | None) -> Ints:
    """Time of each segment, or what of it lies in a window."""
    if window is None:
        return segments.end - segments.start
    begin, end = window
    inside = np.minimum(segments.end, end) - np.maximum(segments.start, begin)
    return np.asarray(np.maximum(inside, 0))
