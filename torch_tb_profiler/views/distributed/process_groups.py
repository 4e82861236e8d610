"""Route ``/distributed/groups``: the process groups of a run, and who sends how much to whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from torch_tb_profiler.analysis.distributed.group_table import (
    MOST_GROUPS,
    PROCESS_GROUPS,
    group_table,
)
from torch_tb_profiler.analysis.distributed.groups import RankNode, process_groups, traffic
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.units import format_count
from torch_tb_profiler.views.display_wire import table_of, wire_columns
from torch_tb_profiler.views.distributed.payload import PlacedWorker, node_of
from torch_tb_profiler.views.distributed.texts import called
from torch_tb_profiler.views.wire import Wire

MatrixSide = Literal["rank", "node", "ranks"]


class ProcessGroupsPayload(Wire, frozen=True, kw_only=True):
    """Route ``/distributed/groups``. ``sent_bytes``: from each of ``names`` (rows) to each (columns); null within a rank.
    ``side``: what a row and a column is: a rank, a node, or as many consecutive ranks as ``together`` says. ``rule``: how
    the bytes were counted, in words.
    """

    groups: Annotated[dict[str, Any], table_of(PROCESS_GROUPS)]
    names: list[str]
    side: MatrixSide
    together: int
    sent_bytes: list[list[int | None]]
    rule: str
    notes: list[str]
    progress: float


MOST_SIDE = 256
"""Rows and columns of the matrix."""
MOST_RANKS_APART = 64
"""Of more ranks the matrix is of nodes, where these are known."""
RULE = (
    "A collective counts as if every member of its group sent every other one an equal part, in all as much as nccl-tests"
    " counts on the links: the library may route it otherwise. A send counts from its sender to its receiver."
)


class _Side(NamedTuple):
    """Rows and columns of the matrix. ``of``: which one each rank is in."""

    side: MatrixSide
    together: int
    names: list[str]
    of: Ints


def process_groups_payload(
    placed: Sequence[PlacedWorker], figures: RunFigures, progress: float
) -> ProcessGroupsPayload:
    """The payload of the workers that are ready."""
    ready = sorted((worker for worker in placed if worker.place >= 0), key=lambda w: w.place)
    places = [
        RankNode(worker.rank, node_of(worker.worker, figures.ranks[worker.place]))
        for worker in ready
    ]
    groups = process_groups(figures)
    sent = traffic(figures.ranks, places)
    side = _side(ready, places)
    return ProcessGroupsPayload(
        groups=wire_columns(group_table(groups, places, figures.ranks)),
        names=side.names,
        side=side.side,
        together=side.together,
        sent_bytes=_summed(sent.sent, side),
        rule=RULE,
        notes=_notes(sent.left_out, len(groups)),
        progress=progress,
    )


def _side(ready: Sequence[PlacedWorker], places: Sequence[RankNode]) -> _Side:
    """Ranks while there are few; else nodes where all are known; else consecutive ranks together."""
    count = len(places)
    nodes = list(dict.fromkeys(place.node for place in places))
    if count > MOST_RANKS_APART and all(nodes) and 1 < len(nodes) <= MOST_SIDE:
        at = {node: number for number, node in enumerate(nodes)}
        return _Side("node", 1, nodes, np.array([at[place.node] for place in places]))
    together = max(1, -(-count // MOST_SIDE))
    of = np.arange(count, dtype=np.int64) // together
    if together == 1:
        return _Side("rank", 1, [called(worker) for worker in ready], of)
    names = [
        f"{called(ready[first])} … {called(ready[min(first + together, count) - 1])}"
        for first in range(0, count, together)
    ]
    return _Side("ranks", together, names, of)


def _summed(sent: Array, side: _Side) -> list[list[int | None]]:
    """Bytes from row to column; null from a rank to itself."""
    n = len(side.names)
    total = np.zeros((n, n))
    np.add.at(total, (side.of[:, None], side.of[None, :]), sent)
    rows: list[list[int | None]] = np.rint(total).astype(np.int64).tolist()
    if side.side == "rank":
        for i, row in enumerate(rows):
            row[i] = None
    return rows


def _notes(left_out: int, groups: int) -> list[str]:
    notes = []
    if left_out:
        one = left_out == 1
        notes.append(
            f"{format_count(left_out)} {'call is' if one else 'calls are'} not in the matrix: the size of the message, the"
            " members of the group or the other rank is not known or was not recorded."
        )
    if groups > MOST_GROUPS:
        notes.append(
            f"The {format_count(MOST_GROUPS)} groups with the most time of {format_count(groups)} are listed."
        )
    return notes
