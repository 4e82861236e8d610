"""Every table that people can ask for by name, declared once.

From this list follow the attributes and methods of traces and runs in Python, ``export --what`` and its help, the schema
``page`` of SQL and with it what assistants may query, the route ``/table``, what a trace prints of itself, and the lists in
the documentation. A table is a line here and a function of its name in the module that the line names::

    Listed("launches", "calls")  ─▶  tables/calls.py   @computes(LAUNCHES)
                                                       def launches(of: TableSource, short_ns: int = SHORT_NS) -> DisplayTable

This module imports nothing that takes time: ``--help`` reads it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from torch_tb_profiler.tables.source import Computed

Needs = Literal["trace", "insight", "ranks", "run"]
"""Of the first of its groups. ``trace``: the trace and its facts; ``insight``; ``ranks``: the insight, and the other ranks of the run where they are
there; ``run``: all ranks, so it is no table of one trace."""


class Listed(msgspec.Struct, frozen=True):
    """A table by name.

    ``module``: of this package, with the function of the same name; empty: Python makes an object of its own that is more
    than a table. ``groups``: what a row can be one of. ``attribute``: in Python an attribute, not a call.
    ``whole``: of the whole recording, whatever steps are selected. ``shared``: columns of its DataFrame share memory with the
    trace. ``without``: columns that only other groups or the other ranks tell. ``not_in_sql``: why no statement can name it.
    """

    name: str
    module: str
    needs: Needs = "trace"
    groups: tuple[str, ...] = ()
    attribute: bool = False
    whole: bool = False
    shared: bool = False
    without: tuple[str, ...] = ()
    not_in_sql: str = ""

    @property
    def computed(self) -> Computed:
        """Its columns and its function; the module is imported now."""
        found: Computed = getattr(
            import_module(f"torch_tb_profiler.tables.{self.module}"), self.name
        )
        return found


_BY_WAITING = ("match", "wait_ns", "transfer_ns", "last_worker", "skewed")
_BY_SHAPE = ("input_shapes", "input_dtypes", "stack", "flops", "bytes")
_BY_LAUNCH = ("operator", "no_operator", "grid", "block", "registers", "shared_memory_bytes")
_CHANGES_BY = ("operator", "parent", "module", "line", "stack", "category")
_STORED = "the table of this name for people has the same rows"

_ALL = (
    Listed("steps", "figures", attribute=True),
    Listed("scalars", "figures", "insight", attribute=True),
    Listed("iterations", "figures", attribute=True),
    Listed("critical_path", "ranks", "ranks"),
    Listed("operators", "work", groups=("name", "shape", "stack"), without=_BY_SHAPE),
    Listed("kernels", "work", groups=("name", "operator", "properties"), without=_BY_LAUNCH),
    Listed("lines", "figures", "insight", groups=("own", "package")),
    Listed("line_ladder", "figures", "insight"),
    Listed("ranges", "figures", "insight"),
    Listed("api_calls", "calls"),
    Listed("long_calls", "calls"),
    Listed("launches", "calls"),
    Listed("copies", "calls"),
    Listed("compiled", "figures"),
    Listed("modules", "figures", "insight", attribute=True),
    Listed("memory", "memory", "insight", attribute=True, whole=True, shared=True),
    Listed("memory_blocks", "memory", "insight", attribute=True, whole=True, shared=True),
    Listed("memory_alive", "memory", "insight", whole=True),
    Listed("memory_categories", "memory", "insight", attribute=True, whole=True),
    Listed("memory_changes", "memory", "insight", groups=_CHANGES_BY, whole=True),
    Listed("memory_segments", "memory", "insight", whole=True),
    Listed("memory_failures", "memory", "insight", attribute=True, whole=True),
    Listed("collectives", "ranks", "ranks", attribute=True, without=_BY_WAITING),
    Listed("process_groups", "ranks", "run", attribute=True, not_in_sql="statements are of one trace"),
    Listed("counters", "measured", attribute=True, not_in_sql="it has a column per counter"),
    Listed("counter_samples", "measured", "insight", attribute=True),
    Listed("efficiency", "measured", "insight", groups=("operator", "kernel")),
    Listed("pyprof", "measured", "insight", whole=True),
    Listed("key_averages", "", whole=True, not_in_sql="it has PyTorch's names and microseconds"),
    Listed("findings", "ranks", "ranks", attribute=True, whole=True),
    Listed("events", "", attribute=True, not_in_sql=_STORED),
)  # fmt: skip

REMOVED = {
    "allocations": "Allocations are the rows of `memory_blocks`.",
    "annotations": "Annotations are the rows of `events` with role 'annotation'.",
    "frames": "Python calls are the rows of `events` with role 'python'.",
    "runtime": "Calls of the runtime are the rows of `events` with role 'runtime'.",
    "kernel_sequences": "Kernel sequences were removed: `events` has the kernels in order.",
    "queues": "Queues of launches were removed: `launches` has their delays.",
}
"""Tables that an earlier version had → what is said where one is asked for."""
TABLES = {table.name: table for table in _ALL}
"""All of them, in the order in which people read them."""
OF_A_TRACE = tuple(name for name, table in TABLES.items() if table.needs != "run")
