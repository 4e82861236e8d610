"""Where CUDA graph nodes were captured: a flow leads from there to the work of every replay.

::

    thread   [aten::mm [cudaLaunchKernel, captured]]  ····  [cudaGraphLaunch]
                        └─────────── flow ─────────────────────────────┐
    stream                                                         [gemm kernel]

The graph launch still counts as the launch, because an operator is captured once but its kernels run
with every replay. A cloned node (instantiating a graph clones it) names its original in
``originalGraphNodeId``.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.importers.sqlite.builder import TraceBuilder
from torch_tb_profiler.importers.sqlite.database import MISSING, mapped
from torch_tb_profiler.importers.sqlite.global_ids import process_of, thread_of
from torch_tb_profiler.store.categories import GRAPH_CAPTURE
from torch_tb_profiler.store.columns import Ints

TABLES = ("CUDA_GRAPH_NODE_EVENTS", "CUDA_GRAPH_EVENTS")
"""The second is the name up to version 2023.4."""
_LONGEST_CHAIN = 64


class Captures:
    """The graph nodes of a file: ``read`` it, pass all work to ``replayed``, then ``finish``."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._captured: dict[tuple[int, int], tuple[int, int, int]] = {}
        """(process, node) → ordinal, time and track of its capture."""
        self._originals: dict[tuple[int, int], int] = {}
        self._flow_ids: dict[tuple[int, int], int] = {}
        """(process, node) with replays → flow id."""

    def read(self) -> None:
        """Read where nodes were captured."""
        builder = self._builder
        for table in TABLES:
            for rows, ordinal in builder.chunks(
                table, ["start", "globalTid", "graphNodeId", "originalGraphNodeId"]
            ):
                numbers = rows.numbers
                process, thread = process_of(numbers["globalTid"]), thread_of(numbers["globalTid"])
                track = builder.threads(process, thread).tolist()
                captures = zip(ordinal.tolist(), numbers["start"].tolist(), track, strict=True)
                nodes = rows.tuples("graphNodeId", "originalGraphNodeId")
                for number, (node, original), captured in zip(
                    process.tolist(), nodes, captures, strict=True
                ):
                    if node > 0 and captured[1] != MISSING:
                        # Only the first row counts: later ones are updates.
                        self._captured.setdefault((number, node), captured)
                        if original > 0:
                            self._originals.setdefault((number, node), original)

    def replayed(self, process: Ints, node: Ints, ordinal: Ints, start: Ints, track: Ints) -> None:
        """Add the flow ends of work; arrays of equal length, ``node`` ``MISSING`` or 0 outside
        graphs.
        """
        if not self._captured:
            return
        flow_id = mapped(self._flow_id, process, np.maximum(node, 0))
        rows = np.flatnonzero(flow_id >= 0)
        if len(rows):
            self._builder.flows(
                ordinal[rows], start[rows], track[rows], flow_id[rows], GRAPH_CAPTURE, "f"
            )

    def _flow_id(self, process: int, node: int) -> int:
        """The flow id of a node's first original; −1 unknown."""
        for _ in range(_LONGEST_CHAIN):
            original = self._originals.get((process, node))
            if original is None or (process, original) not in self._captured:
                break
            node = original
        return (
            self._flow_ids.setdefault((process, node), len(self._flow_ids))
            if (process, node) in self._captured
            else -1
        )

    def finish(self) -> None:
        """Add the begins of the flows, one for all replays of a node."""
        if self._flow_ids:
            captured = np.array([self._captured[key] for key in self._flow_ids], np.int64)
            self._builder.flows(
                captured[:, 0],
                captured[:, 1],
                captured[:, 2],
                np.arange(len(captured)),
                GRAPH_CAPTURE,
                "s",
            )
