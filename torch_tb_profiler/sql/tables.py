"""Every table that a statement may name, by schema: ``main`` for people, ``trace``, ``facts`` and ``insight`` as they are
stored (``docs/columns.md``), ``page`` as the page and the DataFrames show them (``docs/api.md``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.sql.readable import READABLE
from torch_tb_profiler.store.columns import Table, TableSpec
from torch_tb_profiler.store.display import DisplaySpec, DisplayTable
from torch_tb_profiler.store.fact_schema import FACT_TABLES
from torch_tb_profiler.store.insight_schema import INSIGHT_TABLES
from torch_tb_profiler.store.schema import TRACE_TABLES
from torch_tb_profiler.tables.registry import TABLES
from torch_tb_profiler.tables.source import TableSource

SCHEMAS = {
    "main": "One row per call or sample, with texts and times in ns",
    "page": "As the page and the DataFrames show them, of the whole recording",
    "facts": "Sums per distinct thing and step, and links between events",
    "insight": "Modules, memory, communication, the critical path",
    "trace": "The events and their arguments as stored",
}
"""Where a name without a schema is looked for, in this order, and what is in it."""
Name = tuple[str, str]


class SqlTable(msgspec.Struct, frozen=True):
    """A table of a statement. ``insight``: whether it is made from the insight; ``build``: its rows."""

    schema: str
    spec: TableSpec | DisplaySpec
    build: Callable[[TableSource], Table | DisplayTable]
    insight: bool

    @property
    def numbered(self) -> bool:
        """Whether a column ``row`` is added, which columns of other tables refer to."""
        return self.schema in ("facts", "insight", "trace")


def _shown(name: str) -> SqlTable:
    """A table of the page, without the columns that need other groups or other ranks."""
    listed = TABLES[name]
    spec = listed.computed.spec
    columns = tuple(c for c in spec.columns if c.name not in listed.without)

    return SqlTable(
        "page", replace(spec, columns=columns), listed.computed, listed.needs != "trace"
    )


def _stored(schema: str, name: str) -> Callable[[TableSource], Table]:
    if schema == "trace":
        return lambda data: data.trace[name]
    return lambda data: data.facts[name] if schema == "facts" else data.insight[name]


def _all() -> Iterator[SqlTable]:
    for readable in READABLE.values():
        yield SqlTable("main", readable.spec, readable.build, insight=False)
    for name, listed in TABLES.items():
        if not listed.not_in_sql:
            yield _shown(name)
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
