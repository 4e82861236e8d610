"""Every table that a statement may name, by schema: ``main`` for people, ``trace``, ``facts`` and ``insight`` as they are
stored (``docs/columns.md``), ``page`` as the page and the DataFrames show them (``docs/api.md``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from torch_tb_profiler.analysis.critical_path.table import CRITICAL_PATH, critical_path_table
from torch_tb_profiler.analysis.distributed.collective_table import COLLECTIVES, collective_table
from torch_tb_profiler.analysis.figures.iterations import ITERATIONS, iteration_table
from torch_tb_profiler.analysis.figures.kernels import KERNELS, kernel_rows
from torch_tb_profiler.analysis.figures.operators import OPERATORS, operator_rows
from torch_tb_profiler.analysis.figures.selection import Selection, select
from torch_tb_profiler.analysis.figures.step_table import STEPS, step_table
from torch_tb_profiler.analysis.module.modules import module_sums, module_tree
from torch_tb_profiler.analysis.module.table import MODULES, module_table
from torch_tb_profiler.analysis.ranges.table import RANGES, range_table
from torch_tb_profiler.sql.readable import READABLE, Data
from torch_tb_profiler.store.columns import Table, TableSpec
from torch_tb_profiler.store.display import DisplaySpec, DisplayTable
from torch_tb_profiler.store.fact_schema import FACT_TABLES
from torch_tb_profiler.store.insight_schema import INSIGHT_TABLES
from torch_tb_profiler.store.schema import TRACE_TABLES

SCHEMAS = {
    "main": "One row per call or record, with texts and times in ns",
    "page": "As the page and the DataFrames show them, of the whole recording",
    "facts": "Sums per distinct thing and step, and links between events",
    "insight": "Modules, memory, communication, the critical path",
    "trace": "The events and their arguments as stored",
}
"""Where a name without a schema is looked for, in this order, and what is in it."""
Name = tuple[str, str]


@dataclass(frozen=True)
class SqlTable:
    """A table of a statement. ``insight``: whether it is made from the insight; ``build``: its rows."""

    schema: str
    spec: TableSpec | DisplaySpec
    build: Callable[[Data], Table | DisplayTable]
    insight: bool

    @property
    def numbered(self) -> bool:
        """Whether a column ``row`` is added, which columns of other tables refer to."""
        return self.schema in ("facts", "insight", "trace")


def _whole(data: Data) -> Selection:
    return select(data.facts)


def _modules(data: Data) -> DisplayTable:
    insight = data.insight()
    tree = module_tree(insight)
    return module_table(data.facts, insight, tree, module_sums(insight, tree, _whole(data)))


def _without(spec: DisplaySpec, *names: str) -> DisplaySpec:
    """The table without columns that need other groups or other workers."""
    return replace(spec, columns=tuple(c for c in spec.columns if c.name not in names))


_PAGE: tuple[tuple[DisplaySpec, Callable[[Data], DisplayTable], bool], ...] = (
    (STEPS, lambda d: step_table(d.facts, _whole(d)), False),
    (
        _without(OPERATORS, "input_shapes", "input_dtypes", "stack", "flops", "bytes"),
        lambda d: operator_rows(d.facts, _whole(d), "name", of_calls=True),
        False,
    ),
    (
        _without(
            KERNELS, "operator", "no_operator", "grid", "block", "registers", "shared_memory_bytes"
        ),
        lambda d: kernel_rows(d.facts, _whole(d), "name", of_calls=True),
        False,
    ),
    (ITERATIONS, lambda d: iteration_table(d.facts, _whole(d)), False),
    (MODULES, _modules, True),
    (RANGES, lambda d: range_table(d.facts, d.insight(), _whole(d)), True),
    (
        _without(COLLECTIVES, "match", "wait_ns", "transfer_ns", "last_worker", "skewed"),
        lambda d: collective_table(d.insight()),
        True,
    ),
    (
        CRITICAL_PATH,
        lambda d: critical_path_table(d.trace, d.facts, d.insight(), _whole(d)),
        True,
    ),
)


def _stored(schema: str, name: str) -> Callable[[Data], Table]:
    if schema == "trace":
        return lambda data: data.trace[name]
    return lambda data: data.facts[name] if schema == "facts" else data.insight()[name]


def _all() -> Iterator[SqlTable]:
    for readable in READABLE.values():
        yield SqlTable("main", readable.spec, readable.build, readable.insight)
    for spec, build, insight in _PAGE:
        yield SqlTable("page", spec, build, insight)
    declared = (("facts", FACT_TABLES), ("insight", INSIGHT_TABLES), ("trace", TRACE_TABLES))
    for schema, specs in declared:
        for stored in specs:
            yield SqlTable(schema, stored, _stored(schema, stored.name), schema == "insight")


@cache
def tables() -> dict[Name, SqlTable]:
    """All of them by schema and name."""
    return {(table.schema, table.spec.name): table for table in _all()}


def find(schema: str, name: str) -> SqlTable | None:
    """The table of a name, without regard to case; of a name alone the first there is."""
    places = (schema.lower(),) if schema else SCHEMAS
    known: Any = (tables().get((place, name.lower())) for place in places)
    return next((table for table in known if table is not None), None)
