"""Where the nodes of CUDA graphs were made: an arrow leads from there to every piece of work that a
launch of the graph replays.

::

    thread   [aten::mm [cudaLaunchKernel, captured]]  ····  [cudaGraphLaunch]
                        └─────────── arrow ────────────────────────────┐
    stream                                                         [gemm kernel]

The graph launch stays the launch: an operator is captured once and its kernels run with every
replay, so that its time is not theirs. A clone of a node (instantiating a graph clones it) names
the original in ``originalGraphNodeId``; the one without an original is what the program captured or
added.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.importers.sqlite.database import MISSING, Database, distinct_rows
from torch_tb_profiler.importers.sqlite.filling import Filling
from torch_tb_profiler.importers.sqlite.global_ids import process_of, thread_of
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.flow_categories import GRAPH_CAPTURE

TABLES = ("CUDA_GRAPH_NODE_EVENTS", "CUDA_GRAPH_EVENTS")
"""The second is its name up to version 2023.4."""
_LONGEST_CHAIN = 64


class Captures:
    """The nodes of a file. Read it, tell it of all work, then ``finish``."""

    def __init__(self, database: Database, filling: Filling) -> None:
        self._database, self._filling = database, filling
        self._made: dict[tuple[int, int], tuple[int, int, int]] = {}
        """(process, node) → ordinal, time and track of its making."""
        self._originals: dict[tuple[int, int], int] = {}
        self._arrows: dict[tuple[int, int], int] = {}
        """(process, node) that something came from → number of its arrows."""

    def read(self) -> None:
        """Read where nodes were made."""
        filling = self._filling
        for table in TABLES:
            filling.begin(table)
            for rows in self._database.rows(
                table, ["start", "globalTid", "graphNodeId", "originalGraphNodeId"]
            ):
                found, ordinal = rows.numbers, filling.ordinals(rows)
                process, thread = process_of(found["globalTid"]), thread_of(found["globalTid"])
                places = zip(
                    ordinal.tolist(),
                    found["start"].tolist(),
                    filling.threads(process, thread).tolist(),
                    strict=True,
                )
                keys = zip(
                    process.tolist(),
                    found["graphNodeId"].tolist(),
                    found["originalGraphNodeId"].tolist(),
                    strict=True,
                )
                for (number, node, original), place in zip(keys, places, strict=True):
                    if node > 0 and place[1] != MISSING:
                        # What is changed later keeps the place of its making.
                        self._made.setdefault((number, node), place)
                        if original > 0:
                            self._originals.setdefault((number, node), original)

    def replayed(self, process: Ints, node: Ints, ordinal: Ints, start: Ints, track: Ints) -> None:
        """Work of nodes; arrays of one length, ``node`` ``MISSING`` or 0 for what is of no graph."""
        if not self._made:
            return
        distinct, of = distinct_rows(process, np.maximum(node, 0))
        arrow = np.array([self._arrow(*key) for key in distinct], np.int64)[of]
        at = np.flatnonzero(arrow >= 0)
        if len(at):
            self._filling.flows(ordinal[at], start[at], track[at], arrow[at], GRAPH_CAPTURE, "f")

    def _arrow(self, process: int, node: int) -> int:
        """Number of the arrows of a node's first original; −1 where it is not known."""
        for _ in range(_LONGEST_CHAIN):
            original = self._originals.get((process, node))
            if original is None or (process, original) not in self._made:
                break
            node = original
        return (
            self._arrows.setdefault((process, node), len(self._arrows))
            if (process, node) in self._made
            else -1
        )

    def finish(self) -> None:
        """Add the begins of the arrows, one for all replays of a node."""
        if self._arrows:
            made = np.array([self._made[key] for key in self._arrows], np.int64)
            self._filling.flows(
                made[:, 0], made[:, 1], made[:, 2], np.arange(len(made)), GRAPH_CAPTURE, "s"
            )
