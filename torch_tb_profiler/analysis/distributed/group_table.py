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
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.strings import StringTable
from torch_tb_profiler.units import fit_text

MOST_GROUPS = 4000
LONGEST_RANKS = 200
_C = DisplayColumn
PROCESS_GROUPS = DisplaySpec(
    "process_groups",
    "One row per process group that moved anything, those with the most time first. Sums of calls are means of the ranks that"
    " recorded some.",
    (
        _C("group", "text", "Group", "Its name.", "distributed_group", True, width=90),
        _C(
            "description",
            "text",
            "Description",
            "What the program calls it.",
            "distributed_group_description",
            True,
            width=150,
        ),
        _C("backend", "text", "Backend", "Its backends.", "backend", True, width=110, hidden=True),
        _C(
            "ranks",
            "text",
            "Members",
            "Its ranks: `0-7`, `0-56 step 8`.",
            "distributed_group_ranks",
            True,
            width=130,
        ),
        _C("group_size", "count", "Ranks", "How many.", "distributed_group_size", True, width=64),
        _C(
            "recorded",
            "count",
            "Recorded",
            "Of them, how many recorded a call.",
            "distributed_group_recorded",
            width=80,
            hidden=True,
        ),
        _C(
            "reach",
            "text",
            "Reach",
            "`within a node` or `across nodes`.",
            "distributed_group_reach",
            True,
            width=110,
        ),
        _C(
            "nodes",
            "count",
            "Nodes",
            "How many nodes it spans.",
            "distributed_group_nodes",
            True,
            width=64,
            hidden=True,
        ),
        _C(
            "calls",
            "count",
            "Collectives",
            "Calls, the most that a rank recorded.",
            "distributed_group_calls",
            width=92,
        ),
        _C(
            "bytes",
            "bytes",
            "Message sizes",
            "Sum of the message sizes of a rank.",
            "distributed_group_bytes",
            True,
            width=104,
        ),
        _C(
            "total_ns",
            "time",
            "Total",
            "Time of a rank with any of its collectives in flight.",
            "distributed_total",
            bar=True,
            width=110,
        ),
        _C(
            "exposed_ns",
            "time",
            "Exposed",
            "Time of a rank's collectives in which its device computed nothing.",
            "distributed_exposed",
            width=84,
        ),
        _C(
            "waiting_ns",
            "time",
            "Waiting",
            "Of the total, waiting for the last rank.",
            "distributed_waiting",
            True,
            width=84,
            hidden=True,
        ),
        _C(
            "transfer_ns",
            "time",
            "Transferring",
            "Of the total, after the last rank came.",
            "distributed_transfer",
            True,
            width=98,
            hidden=True,
        ),
        _C(
            "bus_bandwidth",
            "B/s",
            "Bus bandwidth",
            "As nccl-tests has it, the mean over the time of the calls.",
            "distributed_bus_bandwidth",
            width=104,
        ),
        _C("link", "text", "Link", "Between its ranks.", "distributed_link", True, width=84),
        _C(
            "link_bandwidth",
            "B/s",
            "Link's peak",
            "What a rank can send over it to the others at best.",
            "distributed_link_peak",
            width=98,
        ),
        _C(
            "link_share",
            "share",
            "Of the link",
            "Bus bandwidth / that peak.",
            "distributed_link_share",
            width=84,
        ),
    ),
)


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
