"""What shows that calls held the host up: gaps of the device that ended with the next launch after them."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.findings.case import Case
from torch_tb_profiler.store.columns import Ints


def gaps_after(case: Case, row: Ints) -> tuple[Ints, Ints, Ints]:
    """Of each gap that waited for the host, the call of ``row`` that held it up, and the end of the gap, no longer
    than the call: ``(row, start, end)``. That is the longest of those that returned between the same two launches
    as the last one before the launch that ended the gap::

        host   <launch a> [cudaMemcpyAsync      ][cudaStreamSynchronize] <launch b>
        gpu       {a                          }                             {b  }
    """
    none = np.zeros(0, np.int64)
    gaps = case.gaps.take(case.gaps.for_host & (case.gaps.launch >= 0))
    if not len(row) or not len(gaps.start):
        return none, none, none
    begin, end = case.times(row)
    order = np.argsort(end, kind="stable")
    launched = case.trace["spans"]["start"][gaps.launch]
    last = np.searchsorted(end[order], launched, side="right") - 1
    after = last >= 0
    starts = case.trace["spans"]["start"]
    launches = np.zeros(len(starts) + 1, np.bool_)
    launches[case.work.launch] = True
    launches[row] = False
    others = np.flatnonzero(launches[:-1])
    between = np.searchsorted(np.sort(starts[others], kind="stable"), end)
    longest = np.zeros(len(others) + 1, np.int64)
    by_length = np.argsort(end - begin, kind="stable")
    longest[between[by_length]] = by_length
    call = longest[between[order[last[after]]]]
    length = np.minimum((gaps.end - gaps.start)[after], (end - begin)[call])
    return row[call], gaps.end[after] - length, gaps.end[after]
