"""Rules of data that moves between devices or processes."""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import Intervals, shared, subtract, union
from torch_tb_profiler.analysis.findings.case import Case
from torch_tb_profiler.analysis.findings.ledger import Candidate
from torch_tb_profiler.store.roles import Role

HOST_BACKEND = re.compile(r"gloo:(?!:)")


def exposed_communication(case: Case, taken: Intervals) -> Candidate | None:
    """Collectives run while nothing is computed.

    Claims: with device work, the time in which the device ran communication kernels and nothing
        else; without, the time of collectives in which no thread
    ran an operator. Upper bound: communication that is hidden completely costs nothing. Wrong when
    the ranks wait for the slowest one: then that one is to be helped, not the network.
    """
    spans = case.trace["spans"]
    if len(case.work.row):
        talking = case.work.take(case.work.communication)
        row, (piece, start, end) = talking.row, case.alone(talking)
    else:
        row = case.insight["collectives"]["event"].astype(np.int64)
        begin, stop = spans["start"][row], spans["start"][row] + spans["dur"][row]
        of, start, end = shared(
            begin, stop, subtract(union(begin, stop), case.when(case.operators))
        )
        piece = row[of]
    if not len(row):
        return None
    seen = case.within(row)
    return Candidate(
        "exposed_communication",
        piece,
        start,
        end,
        {
            "collectives": len(seen) / len(case.steps),
            "total": int(spans["dur"][seen].sum()) / len(case.steps),
        },
    )


def host_backend(case: Case, taken: Intervals) -> Candidate | None:
    """A device's data travels through gloo, that is, through host memory.

    Claims: the device's idle time within gloo's regions. Upper bound: collectives on the device
        cannot give back more than the device idled for these.
    Wrong when the collective moves host data on purpose (a barrier, a few numbers).
    """
    spans = case.trace["spans"]
    row = case.collectives[case.named(case.collectives, HOST_BACKEND.match)]
    if not len(row) or not len(case.work.row):
        return None
    begin, stop = spans["start"][row], spans["start"][row] + spans["dur"][row]
    of, start, end = shared(begin, stop, union(case.gaps.start, case.gaps.end))
    return Candidate(
        "host_backend",
        row[of],
        start,
        end,
        {"collectives": len(case.within(row)) / len(case.steps)},
    )


def data_parallel(case: Case, taken: Intervals) -> Candidate | None:
    """``DataParallel`` drives several devices from one process. Claims no time: how much of it is
    saved, one process cannot show.
    """
    if not case.facts.summary["data_parallel"] or case.facts["devices"].n < 2:
        return None
    spans = case.trace["spans"]
    calls = np.flatnonzero((spans["role"] == Role.ANNOTATION) | (spans["role"] == Role.OPERATOR))
    row = calls[case.named(calls, "DataParallel.forward".__eq__)]
    row = row[np.argsort(-spans["dur"][row], kind="stable")]
    return Candidate(
        "data_parallel",
        row,
        spans["start"][row],
        spans["start"][row],
        {"devices": case.facts["devices"].n},
        costs=False,
    )
