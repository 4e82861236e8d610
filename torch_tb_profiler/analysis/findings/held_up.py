"""What calls cost that hold the host up, so that the device has to wait for its next launch."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import Intervals, join, union
from torch_tb_profiler.analysis.findings.case import Case
from torch_tb_profiler.analysis.findings.ledger import Candidate, spent
from torch_tb_profiler.store.columns import Ints


def held_up(
    case: Case, row: Ints, taken: Intervals, numbers: dict[str, float], words: dict[str, str]
) -> Candidate:
    """What the calls ``row`` cost: of the gaps that waited for the host and that a launch ended, as
    much as the host was held up before (``ledger.spent``).

    A launch waits for the calls of its own thread. Where there are steps it waits for those of
    their thread, too, which the backward pass's thread follows.
    """
    spans = case.trace["spans"]
    waiting = case.gaps.take(case.gaps.for_host & (case.gaps.launch >= 0))
    track, of_gap = spans["track"][row], spans["track"][waiting.launch]
    accounts = [] if case.is_whole else [(row[track == case.main_track], waiting)]
    for thread in np.unique(
        track[np.isin(track, of_gap) & (case.is_whole | (track != case.main_track))]
    ).tolist():
        accounts.append((row[track == thread], waiting.take(of_gap == thread)))
    evidence, start, end = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    for calls, some in accounts:
        gaps = some.free(join(taken, union(start, end)))
        begin, length = _separate(*case.times(calls))
        closed, payer = spent(begin, length, gaps.start, gaps.end)
        paid = payer >= 0
        evidence = np.concatenate((evidence, calls[payer[paid]]))
        start = np.concatenate((start, gaps.end[paid] - closed[paid]))
        end = np.concatenate((end, gaps.end[paid]))
    return Candidate(evidence, start, end, numbers, words)


def _separate(start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Begin of each call, and its length without what an earlier one of them covers: two threads
    that wait at once hold nobody up twice.
    """
    reach = np.maximum.accumulate(np.concatenate((start[:1], end[:-1])))
    return start, np.maximum(end - np.maximum(start, reach), 0)
