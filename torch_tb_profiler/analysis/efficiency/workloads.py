"""Calls of operators with all that decides their work → the tables ``workloads``, ``workload_steps`` and ``workload_kernels``."""

from __future__ import annotations

from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.strings import StringBuilder


def build_workloads(trace: Trace, facts: Facts, tables: dict[str, Table], texts: StringBuilder) -> tuple[dict[str, Table], dict[str, object]]:
    """The three tables."""
    return {spec.name: spec.empty() for spec in (schema.WORKLOADS, schema.WORKLOAD_STEPS, schema.WORKLOAD_KERNELS)}, {}
