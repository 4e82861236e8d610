"""The tables of calls of the accelerator's runtime, of what they launch and copy."""

from __future__ import annotations

from torch_tb_profiler.analysis.api_calls.calls import (
    API_CALLS,
    LONG_CALLS,
    call_table,
    calls_of,
)
from torch_tb_profiler.analysis.api_calls.calls import long_calls as long_table
from torch_tb_profiler.analysis.api_calls.copies import COPIES, copy_table
from torch_tb_profiler.analysis.api_calls.launches import (
    LAUNCHES,
    SHORT_NS,
    Launches,
    launch_table,
    launches_of,
)
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.tables.source import TableSource, computes


def _launches(of: TableSource) -> Launches:
    return launches_of(of.trace, of.facts, of.selection)


@computes(API_CALLS)
def api_calls(of: TableSource) -> DisplayTable:
    """Calls of the accelerator's runtime and driver by name, the largest total first."""
    calls = calls_of(of.trace, of.facts, of.selection)
    return call_table(of.trace, of.facts, of.selection, calls, _launches(of))


@computes(LONG_CALLS)
def long_calls(of: TableSource) -> DisplayTable:
    """The longest runtime and driver calls with why they took long."""
    calls = calls_of(of.trace, of.facts, of.selection)
    return long_table(of.trace, of.facts, calls, _launches(of))


@computes(LAUNCHES)
def launches(of: TableSource, short_ns: int = SHORT_NS) -> DisplayTable:
    """Kernels by name with launch delays and the calls shorter than ``short_ns``."""
    return launch_table(of.trace, _launches(of), short_ns)


@computes(COPIES)
def copies(of: TableSource) -> DisplayTable:
    """Copies and memsets by kind, host memory and size."""
    return copy_table(of.trace, of.facts, _launches(of))
