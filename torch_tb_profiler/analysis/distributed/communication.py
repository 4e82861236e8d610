"""Collectives of a worker."""

from __future__ import annotations

from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.strings import StringBuilder


def build_communication(trace: Trace, facts: Facts, tables: dict[str, Table], texts: StringBuilder) -> tuple[dict[str, Table], dict[str, object]]:
    """The tables ``collectives`` and ``communication_steps``."""
    specs = (schema.COLLECTIVES, schema.COMMUNICATION_STEPS)
    return {spec.name: spec.empty() for spec in specs}, {}
