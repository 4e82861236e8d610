"""The critical path of one rank of a run whose other ranks are known: waiting for a rank apart from transfer."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.critical_path.build import path_tables
from torch_tb_profiler.analysis.critical_path.ranks import releases
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts, Trace


def with_waiting(
    trace: Trace, facts: Facts, insight: Insight, figures: RunFigures, rank: int
) -> Insight:
    """The insight with communication on the path divided at the moment when the last rank began; ``rank``: index
    among the ranks of the run.

    ::

        communication    [ waiting for a rank | communication ]
                                              ▲ the last rank begins
    """
    path = insight["critical_path"]
    event, release, _ = releases(figures, rank)
    order = np.argsort(event, kind="stable")
    at = np.searchsorted(event[order], path["event"])
    known = np.append(event[order], -1)[at] == path["event"]
    until = np.append(release[order], 0)[at]
    waits = known & (path["cause"] == PathCause.COMMUNICATION) & (until > path["start"])
    if not waits.any():
        return insight
    split = waits & (until < path["end"])
    row = np.repeat(np.arange(path.n), 1 + split)
    second = np.append(False, row[1:] == row[:-1])
    first = np.append(second[1:], False)
    start, end = path["start"][row], path["end"][row]
    cause = path["cause"][row]
    cause[waits[row] & ~second] = PathCause.WAITING
    tables = path_tables(
        trace,
        facts,
        insight.tables,
        path["step"][row],
        np.where(second, until[row], start),
        np.where(first, until[row], end),
        cause,
        path["event"][row],
    )
    return replace(insight, tables=insight.tables | tables)
