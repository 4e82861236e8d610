"""The rules, in the order in which they may claim time: what says more about the cause goes first.

Each looks at a ``Case`` and at what is taken already, and returns a ``Candidate`` or None. Its
docstring says what it claims, why that is an upper bound of what could be had back, and when it is
wrong.
"""

from __future__ import annotations

from collections.abc import Callable

from torch_tb_profiler.analysis.arrays.intervals import Intervals
from torch_tb_profiler.analysis.findings.case import Case
from torch_tb_profiler.analysis.findings.ledger import Candidate
from torch_tb_profiler.analysis.findings.rules.artefacts import (
    cold_step,
    kernel_loading,
    profiler_overhead,
    python_tracing,
    silent_end,
)
from torch_tb_profiler.analysis.findings.rules.communication import (
    data_parallel,
    exposed_communication,
    host_backend,
)
from torch_tb_profiler.analysis.findings.rules.compute import (
    few_blocks,
    matrix_cores_unused,
    recompute,
    unaligned_shapes,
)
from torch_tb_profiler.analysis.findings.rules.copies import exposed_copies, repeated_copies
from torch_tb_profiler.analysis.findings.rules.efficiency import far_from_peak
from torch_tb_profiler.analysis.findings.rules.host import (
    allocator_churn,
    host_synchronisation,
    idle_host,
    input_bound,
    launch_bound,
)
from torch_tb_profiler.analysis.findings.rules.idle import idle_other, idle_queue
from torch_tb_profiler.analysis.findings.rules.memory import memory_near_capacity
from torch_tb_profiler.analysis.findings.rules.optimizer import optimizer_unfused

Rule = Callable[[Case, Intervals], Candidate | None]

RULES: tuple[Rule, ...] = (
    profiler_overhead,
    silent_end,
    kernel_loading,
    input_bound,
    host_backend,
    exposed_communication,
    allocator_churn,
    host_synchronisation,
    optimizer_unfused,
    launch_bound,
    idle_host,
    idle_queue,
    idle_other,
    recompute,
    matrix_cores_unused,
    unaligned_shapes,
    repeated_copies,
    exposed_copies,
    few_blocks,
    far_from_peak,
    data_parallel,
    memory_near_capacity,
    cold_step,
    python_tracing,
)
