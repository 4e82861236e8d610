"""Count what a database holds but no view shows, so that nothing is dropped silently.

Sources: the SQLite schema in Nsight Systems' User Guide; ``cupti_activity.h`` for nvprof's tables.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from torch_tb_profiler.importers.sqlite.database import Database
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.defects import DefectCounts

_TIMES = ("start", "timestamp", "rawtimestamp")
_COUNTED = regex("CUPTI_", re.IGNORECASE)
"""Tables of events without a time, such as nvprof's counters of kernels. Others without a time are
descriptions.
"""
_FAMILIES = (
    (
        regex(r"SCHED_EVENTS|COMPOSITE_EVENTS|PERF_EVENT|THREAD_STATE|ETW_", re.IGNORECASE),
        d.CPU_NOT_READ,
    ),
    (regex(r"CUDA_UM_|CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY", re.IGNORECASE), d.MANAGED_NOT_READ),
    (regex(r"CUPTI_ACTIVITY_KIND_CDP_KERNEL$", re.IGNORECASE), d.NESTED_KERNELS_NOT_READ),
    (
        regex(
            r"NET_|NIC_|IB_|SOC_METRICS|(?:UNCORE_)?PMU_|CUPTI_ACTIVITY_KIND_(?:METRIC|EVENT|INSTANTANEOUS_|ENVIRONMENT|PC_SAMPLING|NVLINK|GLOBAL_ACCESS|BRANCH|INSTRUCTION)",
            re.IGNORECASE,
        ),
        d.METRICS_NOT_READ,
    ),
)


def count_unread(database: Database, read: Sequence[str], counts: DefectCounts) -> None:
    """Count, approximately, the rows of event tables that are not read."""
    known = {table.lower() for table in read}
    for table in database.tables:
        if table.lower() not in known:
            family = next(
                (defect for pattern, defect in _FAMILIES if pattern.match(table)), d.NOT_READ
            )
            timed = not {column.lower() for column in database.columns(table)}.isdisjoint(_TIMES)
            if timed or (family != d.NOT_READ and _COUNTED.match(table)):
                counts.add(family, database.about(table))
