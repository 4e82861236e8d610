"""What the ranks that were recorded together tell: findings, critical paths, collectives, process groups, and waiting
for each other.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.critical_path.table import CRITICAL_PATH, critical_path_table
from torch_tb_profiler.analysis.critical_path.waiting import with_waiting
from torch_tb_profiler.analysis.distributed.communication import COLLECTIVES, collective_table
from torch_tb_profiler.analysis.distributed.group_table import PROCESS_GROUPS, group_table
from torch_tb_profiler.analysis.distributed.groups import RankNode
from torch_tb_profiler.analysis.distributed.groups import process_groups as sums_of_groups
from torch_tb_profiler.analysis.figures.selection import mask
from torch_tb_profiler.runs.fleet import Fleet
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.tables.source import FleetPlace, TableSource, computes
from torch_tb_profiler.views.distributed.payload import node_of
from torch_tb_profiler.views.findings.payload import Source, findings_in_run, findings_payload
from torch_tb_profiler.views.findings.table import FINDINGS, findings_table
from torch_tb_profiler.views.findings.wire import FindingsPayload


@computes(FINDINGS)
def findings(of: TableSource) -> DisplayTable:
    """What costs recoverable time, in all steps; of a run stragglers included. ``attrs["headline"]`` is the answer in one
    sentence, ``attrs["detail"]`` what follows it, ``attrs["subject"]`` what all figures are of.
    """
    payload = findings_of(of)
    return findings_table(payload).with_attributes(
        headline=payload.headline,
        detail=payload.detail,
        healthy=payload.healthy,
        subject=msgspec.to_builtins(payload.subject),
    )


@computes(CRITICAL_PATH)
def critical_path(of: TableSource) -> DisplayTable:
    """What the end of each step waited for, segment by segment; the segments of a step add up to its wall time."""
    return critical_path_table(of.trace, of.facts, path_insight(of), of.selection)


@computes(COLLECTIVES)
def collectives(of: TableSource) -> DisplayTable:
    """Collectives and point-to-point transfers; of a run matched, with waiting separated from transfer."""
    table = collective_table(of.insight).with_columns(**waiting_columns(of.in_fleet))
    return table.take(mask(of.selection, table["step"]))


@computes(PROCESS_GROUPS)
def process_groups(fleet: Fleet) -> DisplayTable:
    """Process groups, of one run: members, nodes, collectives, bytes, time, bus bandwidth beside the peak of NVLink or xGMI
    where it is known.
    """
    figures, members = fleet.figures, [member.worker for member in fleet.ranks]
    places = [
        RankNode(worker.rank, node_of(worker.name, rank))
        for worker, rank in zip(members, figures.ranks, strict=True)
    ]
    return group_table(sums_of_groups(figures), places, figures.ranks)


def findings_of(of: TableSource) -> FindingsPayload:
    """The findings of a trace; of a member of a fleet, stragglers of its run included."""
    worker, span = (of.opened.worker.name, of.opened.span.name) if of.opened else ("", "")
    job = of.opened.run.name if of.opened else ""
    source = Source(of.trace, of.facts, of.insight, worker, span, of.selection.steps, job)
    if of.in_fleet is None:
        return findings_payload(source)
    fleet, _ = of.in_fleet
    return findings_in_run(source, fleet.figures, fleet.verdict, fleet.names)


def path_insight(of: TableSource) -> Insight:
    """The insight of a trace; of a member of a fleet, waiting for other ranks on its path apart from transfer."""
    if of.in_fleet is None:
        return of.insight
    fleet, rank = of.in_fleet
    return with_waiting(of.trace, of.facts, of.insight, fleet.figures, rank)


def waiting_columns(member: FleetPlace | None) -> dict[str, Any]:
    """The columns ``match``, ``wait_ns``, ``transfer_ns``, ``last_worker`` and ``skewed`` of a
    trace, one entry per row of its ``collectives``; none where the trace is of no fleet.
    """
    if member is None:
        return {}
    fleet, rank = member
    figures = fleet.figures
    own, waits = figures.ranks[rank], figures.waits
    matches = figures.matched.matches
    entry = matches.of_rank(rank)
    row, shared = matches.row[entry], matches.match[entry]
    match, wait, last = (np.full(len(own), -1, np.int64) for _ in range(3))
    skewed = np.zeros(len(own), np.bool_)
    match[row] = shared
    wait[row] = waits.wait[entry]
    last[row] = waits.last[shared]
    skewed[row] = waits.spoiled[shared]
    transfer: Ints = np.where(wait >= 0, own.end - own.start - wait, -1)
    workers = [worker for worker, _ in fleet.names]
    return {
        "match": match,
        "wait_ns": wait,
        "transfer_ns": transfer,
        "last_worker": [workers[number] if number >= 0 else None for number in last.tolist()],
        "skewed": skewed,
    }
