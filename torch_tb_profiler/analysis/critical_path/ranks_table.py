"""The critical path through all ranks as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import picked
from torch_tb_profiler.analysis.critical_path.origins import lines_of, names_of, operators_of
from torch_tb_profiler.analysis.critical_path.ranks import RanksPath, RankTrace
from torch_tb_profiler.analysis.critical_path.table import CRITICAL_PATH, KEYS
from torch_tb_profiler.analysis.module.path_modules import module_names_of
from torch_tb_profiler.store.columns import Array, Ints, Mask, unique_values
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.strings import StringBuilder, StringTable

_C = DisplayColumn
_OF_ONE = {column.name: column for column in CRITICAL_PATH.columns}
RANKS_PATH = DisplaySpec(
    "ranks_path",
    "What the end of each step waited for on any rank, back to its begin, in time order; the segments of a step cover"
    " it, from when the last rank begins it until the last begins the next, without hole or overlap. Times are on the"
    " common clock of the ranks.",
    (
        _OF_ONE["kind"],
        _C("step", "id", "", "Number of the step among those of the run, from 0."),
        _C("rank", "id", "", "The rank.", optional=True, unit="rank"),
        _C("worker", "text", "", "Name of its worker."),
        _C("start_ns", "time", "", "Begin, after the first event of the run."),
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


def ranks_table(
    path: RanksPath,
    open_rank: Callable[[int], RankTrace | None],
    workers: Sequence[tuple[int | None, str]],
    chosen: Mask,
) -> DisplayTable:
    """The stretches of the ``chosen`` steps; ``workers``: rank and name of each index of a rank."""
    row = np.flatnonzero(chosen[path.step])
    event, rank = path.event[row], path.rank[row]
    strings, columns = origin_columns(rank, event, open_rank)
    return RANKS_PATH.build(
        strings,
        kind=KEYS[path.cause[row]].tolist(),
        step=path.step[row],
        rank=[workers[number][0] for number in rank.tolist()],
        worker=[workers[number][1] for number in rank.tolist()],
        start_ns=path.start[row],
        dur_ns=path.end[row] - path.start[row],
        event=event,
        **columns,
    )


def origin_columns(
    rank: Ints, event: Ints, open_rank: Callable[[int], RankTrace | None]
) -> tuple[StringTable, dict[str, Ints]]:
    """Name, operator, module and source line of events, each of a rank, as numbers of strings; −1 none."""
    texts = StringBuilder()
    columns = {
        key: np.full(len(event), -1, np.int64) for key in ("name", "operator", "module", "line")
    }
    for number in unique_values(rank).tolist():
        opened = open_rank(number)
        own = np.flatnonzero(rank == number)
        for key, found in (origins(opened, event[own]) if opened else {}).items():
            columns[key][own] = texts.intern_all(found)
            columns[key][own[np.array(found, object) == ""]] = -1
    return texts.table(), columns


def origins(opened: RankTrace, event: Ints) -> dict[str, list[str]]:
    """Name, operator, module and source line of events of a rank, empty where there is none."""
    trace, facts, insight = opened.trace, opened.facts, opened.insight
    paths = insight["span_paths"]["path"]
    modules = picked(module_names_of(insight)[paths], event)

    def texts(numbers: Array) -> list[str]:
        used, place = np.unique(numbers, return_inverse=True)
        distinct = facts.strings.many(used)
        return [distinct[i] for i in place.tolist()]

    return {
        "name": texts(names_of(trace, event)),
        "operator": texts(operators_of(trace, facts, event)),
        "module": list(insight.strings.many(modules)),
        "line": texts(lines_of(trace, facts, event)),
    }
