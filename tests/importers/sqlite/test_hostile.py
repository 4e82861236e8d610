"""Values of any type in any column that is read break nothing."""

from __future__ import annotations

import itertools
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.builders import nsight, nvprof
from tests.builders.nsight import PID, TID, NsightFile, global_id
from tests.importers.sqlite.asked import read
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.span_lookup import captured_at
from torch_tb_profiler.analysis.timeline.arrows import arrows_of

pytestmark = pytest.mark.slow

VALUES = (
    "4611686018427387904",
    "-4611686018427387904",
    "2305843009213693951",
    "-2305843009213693951",
    "NULL",
    "'text'",
    "x'00ff'",
    "1.5",
    "1e300",
    "-1e300",
    "9223372036854775807",
    "-9223372036854775808",
    "-5",
    "''",
)
WRITTEN = (
    "StringIds",
    "ThreadNames",
    "PROCESSES",
    "ENUM_CUDA_MEM_KIND",
    "TARGET_INFO_SESSION_START_TIME",
    "TARGET_INFO_GPU",
    "TARGET_INFO_CUDA_DEVICE",
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUBLAS_EVENTS",
    "OSRT_API",
    "NVTX_EVENTS",
    "CUDA_GPU_MEMORY_USAGE_EVENTS",
    "DIAGNOSTIC_EVENT",
    "TARGET_INFO_GPU_METRICS",
    "GPU_METRICS",
)
"""Tables of ``nsight.write_training``."""


def make_hostile(path: Path, table: str) -> None:
    """Add rows to a table, each with one strange value in place of what belongs there."""
    with closing(sqlite3.connect(path)) as database, database:
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        database.execute(f"CREATE TABLE kept AS SELECT * FROM {table}")
        assert database.execute("SELECT count(*) FROM kept").fetchone()[0] > 0
        database.execute(f"DROP TABLE {table}")
        database.execute(f"ALTER TABLE kept RENAME TO {table}")
        for value, column in itertools.product(VALUES, columns):
            others = ", ".join(value if name == column else f"[{name}]" for name in columns)
            database.execute(f"INSERT INTO {table} SELECT {others} FROM {table} LIMIT 1")


@pytest.mark.parametrize("table", WRITTEN)
def test_any_value_may_stand_anywhere(table: str, tmp_path: Path) -> None:
    path = tmp_path / "report1.sqlite"
    nsight.write_training(path, 1)
    make_hostile(path, table)
    derive(read(path))


RARE = (
    "CUDA_GRAPH_NODE_EVENTS",
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "ANALYSIS_DETAILS",
    "NVTX_EVENTS",
    "GENERIC_EVENTS",
    "TARGET_INFO_NVTX_CUDA_STREAM",
    "TARGET_INFO_NETWORK_METRICS",
    "TARGET_INFO_NIC_INFO",
    "NIC_ID_MAP",
    "NET_NIC_METRIC",
)


@pytest.mark.parametrize("table", RARE)
def test_any_value_may_stand_in_tables_that_few_exports_have(table: str, tmp_path: Path) -> None:
    path, thread = tmp_path / "report1.sqlite", global_id(PID, TID)
    with NsightFile(path) as file:
        file.add("ANALYSIS_DETAILS", duration=9000)
        file.add(
            "NVTX_EVENTS",
            start=1,
            eventType=33,
            category=1,
            text="io",
            globalTid=thread,
            domainId=0,
        )
        file.add("NVTX_EVENTS", start=2, eventType=34, category=1, globalTid=thread, domainId=0)
        for node in (1, 2):
            file.add(
                "CUDA_GRAPH_NODE_EVENTS",
                start=10,
                end=20,
                globalTid=thread,
                graphNodeId=node,
                originalGraphNodeId=node - 1,
            )
        file.kernel("gemm", 300, 400, (100, 200), graphNodeId=2)
        file.add("GENERIC_EVENTS", timestamp=10, typeId=1, data='{"SM Active": 1}')
        file.add(
            "TARGET_INFO_NVTX_CUDA_STREAM", name="prefetch", processId=PID, contextId=1, streamId=7
        )
        file.add("TARGET_INFO_NETWORK_METRICS", metricsListId=1, name="Bytes sent", unit="B")
        file.add("TARGET_INFO_NIC_INFO", nicId=5, name="mlx5_0")
        file.add("NIC_ID_MAP", nicId=5, globalId=6)
        file.add("NET_NIC_METRIC", start=100, end=200, globalId=6, metricsListId=1, value=70)
    make_hostile(path, table)
    trace = read(path)
    arrows_of(trace, derive(trace), np.arange(trace["spans"].n))
    captured_at(trace)


@pytest.mark.parametrize(
    "table",
    [
        "CONCURRENT_KERNEL",
        "GRAPH_TRACE",
        "MEMCPY",
        "RUNTIME",
        "MARKER",
        "NAME",
        "OVERHEAD",
        "CONTEXT",
        "DEVICE",
        "MEMORY2",
    ],
)
def test_any_value_may_stand_anywhere_in_a_file_of_nvprof(table: str, tmp_path: Path) -> None:
    path = tmp_path / "profile.nvprof"
    with nvprof.NvprofFile(path) as file:
        file.device()
        file.add("NAME", objectKind=5, objectId=bytes(12), name=file.text("prefetch"))
        file.add("OVERHEAD", objectKind=2, objectId=nvprof.object_id(), start=1, end=2)
        file.marker("step", 1, 900)
        number = file.kernel("gemm", 300, 400, (100, 200))
        file.add("MEMCPY", start=500, end=600, correlationId=number)
        file.add("GRAPH_TRACE", start=700, end=800, correlationId=number)
        file.add("MEMORY2", timestamp=5, bytes=4, memoryOperationType=1, memoryKind=3)
    make_hostile(path, f"CUPTI_ACTIVITY_KIND_{table}")
    derive(read(path))
