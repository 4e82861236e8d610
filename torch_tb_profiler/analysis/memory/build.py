"""Blocks of memory."""

from __future__ import annotations

from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.strings import StringBuilder


def build_memory(trace: Trace, facts: Facts, tables: dict[str, Table], texts: StringBuilder) -> tuple[dict[str, Table], dict[str, object]]:
    """The tables ``memory_devices``, ``memory_curve``, ``memory_nodes`` and ``allocations``."""
    specs = (schema.MEMORY_DEVICES, schema.MEMORY_CURVE, schema.MEMORY_NODES, schema.ALLOCATIONS)
    return {spec.name: spec.empty() for spec in specs}, {"memory_source": ""}
