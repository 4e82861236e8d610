"""Kernels, copies, memsets and waits of streams, as CUPTI's records of them stand in the tables of
either exporter.

What nvprof calls ``name`` is ``demangledName`` for Nsight Systems, ``memoryKind`` is ``memKind``,
``type`` is ``syncType``; the rest is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from torch_tb_profiler.importers.sqlite.captures import Captures
from torch_tb_profiler.importers.sqlite.database import MISSING, Database, Rows, distinct_rows
from torch_tb_profiler.importers.sqlite.filling import Filling
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.roles import Role

COPIES = {
    1: "HtoD",
    2: "DtoH",
    3: "HtoA",
    4: "AtoH",
    5: "AtoA",
    6: "AtoD",
    7: "DtoA",
    8: "DtoD",
    9: "HtoH",
    10: "PtoP",
    11: "HtoD",
    12: "DtoH",
    13: "DtoD",
}
"""``CUpti_ActivityMemcpyKind`` as Kineto spells it; 11 to 13 are the moves of unified memory, which
Nsight Systems alone tells apart.
"""
UNIFIED = 11
SYNCHRONISATIONS = {1: "Event Sync", 2: "Stream Wait Event", 3: "Stream Sync", 4: "Context Sync"}
"""``CUpti_ActivitySynchronizationType`` as Kineto spells it."""
_PLACE = (
    "start",
    "end",
    "deviceId",
    "contextId",
    "streamId",
    "correlationId",
    "globalPid",
    "graphNodeId",
)
_GRID, _BLOCK = ("gridX", "gridY", "gridZ"), ("blockX", "blockY", "blockZ")
_LARGEST = 1 << 31


@dataclass
class Dialect:
    """How one exporter writes device work.

    Attributes:
        kernel_names: columns of a kernel that may hold its name, the best first.
        kernel_text: numbers of texts → names of kernels.
        memory_kinds: number → kind of memory, as Kineto spells it.
        memory_kind, synchronisation: columns of a memset and of a synchronisation.
        process: ``globalPid`` → process.
        multiprocessors: device id → number of its multiprocessors.
        devices: context id → device id, for records that name the context alone.
        gpus: (process, device id) → GPU of the machine, where processes mean different ones by the
            same id.
        captures: where the nodes of graphs were made, where the file tells it.
    """

    kernel_names: tuple[str, ...]
    kernel_text: Callable[[Ints], list[str]]
    memory_kinds: Mapping[int, str]
    memory_kind: str
    synchronisation: str
    process: Callable[[Ints], Ints]
    multiprocessors: dict[int, int] = field(default_factory=dict)
    devices: dict[int, int] = field(default_factory=dict)
    gpus: dict[tuple[int, int], int] = field(default_factory=dict)
    captures: Captures | None = None


class DeviceWork:
    """Reads tables of device work into a filling."""

    def __init__(self, database: Database, filling: Filling, dialect: Dialect) -> None:
        self._database, self._filling, self._dialect = database, filling, dialect
        self._processes: set[int] = set()

    def kernels(self, table: str) -> None:
        """A table of kernels."""
        filling, dialect = self._filling, self._dialect
        numbers = (
            *_PLACE,
            *dialect.kernel_names,
            *_GRID,
            *_BLOCK,
            "registersPerThread",
            "staticSharedMemory",
            "dynamicSharedMemory",
        )
        filling.begin(table)
        for rows in self._database.rows(table, numbers):
            found = rows.numbers
            self._processes.update(np.unique(dialect.process(found["globalPid"])).tolist())
            grid, block = [found[c] for c in _GRID], [found[c] for c in _BLOCK]
            static, dynamic = found["staticSharedMemory"], found["dynamicSharedMemory"]
            sides = {
                "grid": filling.tuples(*grid),
                "block": filling.tuples(*block),
                "registers": found["registersPerThread"],
                "shared_memory": np.where(
                    (static < 0) | (dynamic < 0), MISSING, static + np.maximum(dynamic, 0)
                ),
                "blocks_per_sm": self._blocks_per_sm(self._devices(found), grid),
            }
            self._add(rows, filling.names(self._kernel_names(found)), "kernel", Role.KERNEL, sides)

    def _kernel_names(self, found: Mapping[str, Ints]) -> list[str]:
        chosen = np.full(len(found["start"]), MISSING)
        for column in self._dialect.kernel_names:
            chosen = np.where(chosen == MISSING, found[column], chosen)
        return [text or "kernel without a name" for text in self._dialect.kernel_text(chosen)]

    def _blocks_per_sm(self, device: Ints, grid: list[Ints]) -> Array:
        """Kineto's ``blocks per SM``: blocks of the grid / multiprocessors of the device; NaN where
        either is not told.
        """
        known, of = np.unique(device, return_inverse=True)
        counts = np.array(
            [self._dialect.multiprocessors.get(number, 0) for number in known.tolist()], np.float64
        )[of]
        usable = (counts > 0) & np.logical_and.reduce(
            [(side > 0) & (side < _LARGEST) for side in grid]
        )
        blocks = np.prod([side.astype(np.float64) for side in grid], axis=0)
        return np.where(usable, blocks / np.where(counts > 0, counts, 1.0), np.nan)

    def tell_processes(self, with_ranges: set[int]) -> None:
        """Count the processes with kernels, in a file without any those with ranges, where there
        are several.
        """
        known = (self._processes or with_ranges) - {MISSING}
        if len(known) > 1:
            self._filling.counts.add(d.SEVERAL_PROCESSES, len(known))

    def copies(self, table: str) -> None:
        """A table of copies."""
        self._filling.begin(table)
        for rows in self._database.rows(
            table, (*_PLACE, "bytes", "copyKind", "srcKind", "dstKind")
        ):
            distinct, of = distinct_rows(
                *(rows.numbers[c] for c in ("copyKind", "srcKind", "dstKind"))
            )
            named = self._filling.names([self._copy_name(*row) for row in distinct])
            self._add(rows, named[of], "gpu_memcpy", Role.MEMCPY, {"bytes": rows.numbers["bytes"]})

    def _copy_name(self, kind: int, source: int, destination: int) -> str:
        kinds = self._dialect.memory_kinds
        way = (
            ""
            if source == destination == MISSING
            else f" ({kinds.get(source, 'Unknown')} -> {kinds.get(destination, 'Unknown')})"
        )
        return (
            "Memcpy"
            f" {COPIES.get(kind, 'Unknown')}{way or (' (Managed)' if kind >= UNIFIED else '')}"
        )

    def memsets(self, table: str) -> None:
        """A table of memsets."""
        column = self._dialect.memory_kind
        self._filling.begin(table)
        for rows in self._database.rows(table, (*_PLACE, "bytes", column)):
            distinct, of = np.unique(rows.numbers[column], return_inverse=True)
            named = self._filling.names(
                [
                    f"Memset ({self._dialect.memory_kinds.get(kind, 'Unknown')})"
                    for kind in distinct.tolist()
                ]
            )
            self._add(rows, named[of], "gpu_memset", Role.MEMSET, {"bytes": rows.numbers["bytes"]})

    def graphs(self, table: str) -> None:
        """A table of graph launches, each recorded as one piece of work."""
        self._filling.begin(table)
        for rows in self._database.rows(table, (*_PLACE, "graphId")):
            distinct, of = np.unique(rows.numbers["graphId"], return_inverse=True)
            named = self._filling.names(
                [
                    "CUDA_graph" if number == MISSING else f"CUDA_graph_{number}"
                    for number in distinct.tolist()
                ]
            )
            self._add(rows, named[of], "kernel", Role.KERNEL, {})

    def synchronisations(self, table: str) -> None:
        """A table of waits: of the host for a stream, an event or a context, and of streams for
        events.
        """
        column = self._dialect.synchronisation
        self._filling.begin(table)
        for rows in self._database.rows(table, (*_PLACE, column)):
            distinct, of = np.unique(rows.numbers[column], return_inverse=True)
            named = self._filling.names(
                [SYNCHRONISATIONS.get(kind, "Synchronisation") for kind in distinct.tolist()]
            )
            self._add(rows, named[of], "cuda_sync", Role.SYNC, None)

    def _devices(self, found: Mapping[str, Ints]) -> Ints:
        """The devices of a chunk's rows."""
        dialect, device = self._dialect, found["deviceId"]
        if dialect.devices:
            known, of = np.unique(found["contextId"], return_inverse=True)
            told = np.array(
                [dialect.devices.get(number, MISSING) for number in known.tolist()], np.int64
            )[of]
            device = np.where(device == MISSING, told, device)
        if dialect.gpus:
            pairs, of = distinct_rows(dialect.process(found["globalPid"]), device)
            device = np.array(
                [dialect.gpus.get((p, number), number) for p, number in pairs], np.int64
            )[of]
        return device

    def _add(
        self, rows: Rows, name: Array, category: str, role: Role, side: dict[str, Array] | None
    ) -> None:
        filling, found = self._filling, rows.numbers
        process, context = self._dialect.process(found["globalPid"]), found["contextId"]
        device = self._devices(found)
        # What waits for a context or an event names no stream: CUPTI writes the largest number
        # there is.
        stream = np.where(
            (found["streamId"] >= (1 << 32) - 1)
            | ((found["streamId"] < 0) & (found["streamId"] != MISSING)),
            -1,
            found["streamId"],
        )
        arguments = None if side is None else {"device": device, "stream": stream, **side}
        ordinal, track = filling.ordinals(rows), filling.streams(device, process, context, stream)
        filling.spans(
            ordinal,
            found["start"],
            found["end"],
            name,
            category,
            track,
            role,
            correlation=filling.correlations(process, found["correlationId"]),
            device=arguments,
        )
        if self._dialect.captures is not None:
            self._dialect.captures.replayed(
                process, found["graphNodeId"], ordinal, found["start"], track
            )
