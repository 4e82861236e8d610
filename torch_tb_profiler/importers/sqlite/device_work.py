"""Kernels, copies, memsets and synchronizations: CUPTI's records in the tables of both exporters."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
import numpy as np

from torch_tb_profiler.importers.sqlite.builder import TraceBuilder
from torch_tb_profiler.importers.sqlite.call_names import numbered
from torch_tb_profiler.importers.sqlite.captured_nodes import Captures
from torch_tb_profiler.importers.sqlite.database import MISSING, Rows, mapped
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.roles import Role

COPIES = numbered("1 HtoD DtoH HtoA AtoH AtoA AtoD DtoA DtoD HtoH PtoP HtoD DtoH DtoD")
"""``CUpti_ActivityMemcpyKind`` as Kineto spells it; 11 to 13: unified memory (Nsight Systems only)."""
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


class Dialect(msgspec.Struct):
    """How one exporter writes device work.

    Attributes:
        kernel_names: columns that may hold a kernel's name, the best first.
        kernel_text: text numbers → kernel names.
        memory_kinds: number → memory kind, as Kineto spells it.
        memory_kind, synchronisation: columns of a memset and of a synchronization.
        process: ``globalPid`` → process.
        multiprocessors: device id → number of multiprocessors.
        devices: context id → device id, for records with only a context.
        gpus: (process, device id) → GPU of the machine, if processes number them differently.
        captures: where graph nodes were captured, if the file says so.
    """

    kernel_names: tuple[str, ...]
    kernel_text: Callable[[Ints], list[str]]
    memory_kinds: Mapping[int, str]
    memory_kind: str
    synchronisation: str
    process: Callable[[Ints], Ints]
    multiprocessors: dict[int, int] = msgspec.field(default_factory=dict)
    devices: dict[int, int] = msgspec.field(default_factory=dict)
    gpus: dict[tuple[int, int], int] = msgspec.field(default_factory=dict)
    captures: Captures | None = None


class DeviceWork:
    """Reads tables of device work into a ``TraceBuilder``."""

    def __init__(self, builder: TraceBuilder, dialect: Dialect) -> None:
        self._builder, self._dialect = builder, dialect

    def kernels(self, table: str) -> None:
        """Read a table of kernels."""
        builder, dialect = self._builder, self._dialect
        columns = (
            *_PLACE,
            *dialect.kernel_names,
            *_GRID,
            *_BLOCK,
            "registersPerThread",
            "staticSharedMemory",
            "dynamicSharedMemory",
        )
        for rows, ordinal in builder.chunks(table, columns):
            numbers = rows.numbers
            grid = [numbers[c] for c in _GRID]
            static, dynamic = numbers["staticSharedMemory"], numbers["dynamicSharedMemory"]
            sides = {
                "grid": builder.tuples(*grid),
                "block": builder.tuples(*(numbers[c] for c in _BLOCK)),
                "registers": numbers["registersPerThread"],
                "shared_memory": np.where(
                    (static < 0) | (dynamic < 0), MISSING, static + np.maximum(dynamic, 0)
                ),
                "blocks_per_sm": self._blocks_per_sm(self._devices(numbers), grid),
            }
            names = builder.names(self._kernel_names(numbers))
            self._add(rows, ordinal, names, "kernel", Role.KERNEL, sides)

    def _kernel_names(self, numbers: Mapping[str, Ints]) -> list[str]:
        chosen = np.full(len(numbers["start"]), MISSING)
        for column in self._dialect.kernel_names:
            chosen = np.where(chosen == MISSING, numbers[column], chosen)
        return [text or "kernel without a name" for text in self._dialect.kernel_text(chosen)]

    def _blocks_per_sm(self, device: Ints, grid: list[Ints]) -> Array:
        """Kineto's ``blocks per SM``: blocks of the grid / multiprocessors; NaN unknown."""
        known = self._dialect.multiprocessors
        counts = mapped(lambda number: known.get(number, 0), device).astype(np.float64)
        usable = (counts > 0) & np.logical_and.reduce(
            [(side > 0) & (side < _LARGEST) for side in grid]
        )
        blocks = np.prod([side.astype(np.float64) for side in grid], axis=0)
        return np.where(usable, blocks / np.where(counts > 0, counts, 1.0), np.nan)

    def copies(self, table: str) -> None:
        """Read a table of copies."""
        kinds = self._dialect.memory_kinds

        def name_of(kind: int, source: int, destination: int) -> str:
            ends = (kinds.get(source, "Unknown"), kinds.get(destination, "Unknown"))
            managed = " (Managed)" if kind >= UNIFIED else ""
            known = source != MISSING or destination != MISSING
            detail = f" ({' -> '.join(ends)})" if known else managed
            return f"Memcpy {COPIES.get(kind, 'Unknown')}{detail}"

        columns = ("copyKind", "srcKind", "dstKind")
        self._read(table, columns, name_of, "gpu_memcpy", Role.MEMCPY)

    def memsets(self, table: str) -> None:
        """Read a table of memsets."""
        kinds = self._dialect.memory_kinds
        self._read(
            table,
            (self._dialect.memory_kind,),
            lambda kind: f"Memset ({kinds.get(kind, 'Unknown')})",
            "gpu_memset",
            Role.MEMSET,
        )

    def graphs(self, table: str) -> None:
        """Read a table of graph launches, each recorded as one piece of work."""
        self._read(
            table,
            ("graphId",),
            lambda number: "CUDA_graph" if number == MISSING else f"CUDA_graph_{number}",
            "kernel",
            Role.KERNEL,
        )

    def synchronisations(self, table: str) -> None:
        """Read a table of waits: of the host, or of streams for events."""
        self._read(
            table,
            (self._dialect.synchronisation,),
            lambda kind: SYNCHRONISATIONS.get(kind, "Synchronisation"),
            "cuda_sync",
            Role.SYNC,
        )

    def _read(
        self,
        table: str,
        columns: tuple[str, ...],
        name_of: Callable[..., str],
        category: str,
        role: Role,
    ) -> None:
        """Read a table of work whose names follow from the numbers in some columns."""
        moves = role in (Role.MEMCPY, Role.MEMSET)
        columns_read = (*_PLACE, *columns, *(("bytes",) if moves else ()))
        for rows, ordinal in self._builder.chunks(table, columns_read):
            names = self._builder.names_of(name_of, *(rows.numbers[c] for c in columns))
            side = {"bytes": rows.numbers["bytes"]} if moves else {}
            self._add(rows, ordinal, names, category, role, None if role == Role.SYNC else side)

    def _devices(self, numbers: Mapping[str, Ints]) -> Ints:
        """The device of each row of a chunk."""
        dialect, device = self._dialect, numbers["deviceId"]
        if dialect.devices:
            of_context = mapped(lambda n: dialect.devices.get(n, MISSING), numbers["contextId"])
            device = np.where(device == MISSING, of_context, device)
        if dialect.gpus:
            process = dialect.process(numbers["globalPid"])
            device = mapped(lambda *key: dialect.gpus.get(key, key[1]), process, device)
        return device

    def _add(
        self,
        rows: Rows,
        ordinal: Ints,
        name: Array,
        category: str,
        role: Role,
        side: dict[str, Array] | None,
    ) -> None:
        builder, numbers = self._builder, rows.numbers
        process, context = self._dialect.process(numbers["globalPid"]), numbers["contextId"]
        device = self._devices(numbers)
        # Waits for a context or an event have no stream: CUPTI writes the largest number.
        none = (numbers["streamId"] >= (1 << 32) - 1) | (numbers["streamId"] < 0)
        stream = np.where(none & (numbers["streamId"] != MISSING), -1, numbers["streamId"])
        arguments = None if side is None else {"device": device, "stream": stream, **side}
        track = builder.streams(device, process, context, stream)
        start, end = numbers["start"], numbers["end"]
        link = builder.owners.correlations(process, numbers["correlationId"])
        builder.spans(
            ordinal, start, end, name, category, track, role, correlation=link, device=arguments
        )
        if self._dialect.captures is not None:
            self._dialect.captures.replayed(process, numbers["graphNodeId"], ordinal, start, track)
