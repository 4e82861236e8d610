"""The table of the process groups of a run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from torch_tb_profiler.analysis.arrays.grouping import consecutive
from torch_tb_profiler.analysis.distributed.groups import (
    GroupKey,
    GroupSums,
    RankNode,
    crosses_nodes,
    link_rate,
    node_count,
)
from torch_tb_profiler.analysis.distributed.rank import Rank
from torch_tb_profiler.store.display import DisplayTable, display_spec
from torch_tb_profiler.store.strings import StringTable
from torch_tb_profiler.units import fit_text

MOST_GROUPS = 4000
LONGEST_RANKS = 200
PROCESS_GROUPS = display_spec("""
process_groups: One row per process group that moved anything, those with the most time first. Sums of calls are means of the ranks that recorded some.
    group           text   Group          term=distributed_group optional width=90               Its name.
    description     text   Description    term=distributed_group_description optional width=150  What the program calls it.
    backend         text   Backend        term=backend optional width=110 hidden                 Its backends.
    ranks           text   Members        term=distributed_group_ranks optional width=130        Its ranks: `0-7`, `0-56 step 8`.
    group_size      count  Ranks          term=distributed_group_size optional width=64          How many.
    recorded        count  Recorded       term=distributed_group_recorded width=80 hidden        Of them, how many recorded a call.
    reach           text   Reach          term=distributed_group_reach optional width=110        `within a node` or `across nodes`.
    nodes           count  Nodes          term=distributed_group_nodes optional width=64 hidden  How many nodes it spans.
    calls           count  Collectives    term=distributed_group_calls width=92                  Calls, the most that a rank recorded.
    bytes           bytes  Message sizes  term=distributed_group_bytes optional width=104        Sum of the message sizes of a rank.
    total_ns        time   Total          term=distributed_total bar width=110                   Time of a rank with any of its collectives in flight.
    exposed_ns      time   Exposed        term=distributed_exposed width=84                      Time of a rank's collectives in which its device computed
        nothing.
    waiting_ns      time   Waiting        term=distributed_waiting optional width=84 hidden      Of the total, waiting for the last rank.
    transfer_ns     time   Transferring   term=distributed_transfer optional width=98 hidden     Of the total, after the last rank came.
    bus_bandwidth   B/s    Bus bandwidth  term=distributed_bus_bandwidth width=104               As nccl-tests has it, the mean over the time of the calls.
    link            text   Link           term=distributed_link optional width=84                Between its ranks.
    link_bandwidth  B/s    Link's peak    term=distributed_link_peak width=98                    What a rank can send over it to the others at best.
    link_share      share  Of the link    term=distributed_link_share width=84                   Bus bandwidth / that peak.
""")


def group_table(
    groups: dict[GroupKey, GroupSums], places: Sequence[RankNode], ranks: Sequence[Rank]
) -> DisplayTable:
    """The first ``MOST_GROUPS`` groups. ``places``: of the ranks."""
    rows = [_row(key, sums, places, ranks) for key, sums in list(groups.items())[:MOST_GROUPS]]
    return PROCESS_GROUPS.build(
        StringTable.of([]),
        **{column.name: [row[column.name] for row in rows] for column in PROCESS_GROUPS.columns},
    )


def _row(
    key: GroupKey, sums: GroupSums, places: Sequence[RankNode], ranks: Sequence[Rank]
) -> dict[str, Any]:
    recorded, listed = len(sums.recorded), sums.listed
    crosses, link = crosses_nodes(key, sums, places), link_rate(key, sums, places, ranks)
    nodes, speed = node_count(key, sums, places), sums.bus_bandwidth
    divided = sums.unsplit == 0 or sums.waiting + sums.transfer > 0
    return {
        "group": key.name or None,
        "description": (listed.description if listed else "") or None,
        "backend": (listed.backend if listed else "") or None,
        "ranks": compact(key.ranks) or None,
        "group_size": sums.size if sums.size > 0 else None,
        "recorded": recorded,
        "reach": None if crosses is None else "across nodes" if crosses else "within a node",
        "nodes": nodes if nodes >= 0 else None,
        "calls": max(sums.calls),
        "bytes": None if sums.moved is None else round(sums.moved / recorded),
        "total_ns": round(sums.time / recorded),
        "exposed_ns": round(sums.exposed / recorded),
        "waiting_ns": round(sums.waiting / recorded) if divided else None,
        "transfer_ns": round(sums.transfer / recorded) if divided else None,
        "bus_bandwidth": speed,
        "link": link[0].name if link else None,
        "link_bandwidth": link[1] if link else None,
        "link_share": speed / link[1] if link and speed is not None else None,
    }


def compact(ranks: Sequence[int]) -> str:
    """``0-7``, ``0-56 step 8``, ``0, 3, 8-15``; cut where it is long."""
    steps = {b - a for a, b in pairwise(ranks)}
    if len(ranks) > 2 and len(steps) == 1 and (step := steps.pop()) > 1:
        return f"{ranks[0]}-{ranks[-1]} step {step}"
    return fit_text(
        ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in consecutive(ranks)), LONGEST_RANKS
    )
