"""PyProf's kernel table: one row per kernel launch in time order, without copies and memsets.

``docs/definitions.md`` defines the columns. ``views/work/pyprof.py`` turns the numbers into text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from torch_tb_profiler.analysis.efficiency.workloads import AttributedWork, attributed_work
from torch_tb_profiler.analysis.facts.calltree import call_tree
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.module.nodes import Nodes, host_nodes
from torch_tb_profiler.analysis.pyprof.calls import ordinals, shown_calls
from torch_tb_profiler.analysis.pyprof.directions import KernelDirections, kernel_directions
from torch_tb_profiler.analysis.pyprof.gradients import multiplying, with_gradients
from torch_tb_profiler.analysis.pyprof.parameters import parameter_workloads
from torch_tb_profiler.analysis.pyprof.sources import KernelSources, kernel_sources
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import NONE

_LAUNCH_ARGUMENTS = ("device", "stream", "grid", "block")


class MatrixCores(IntEnum):
    """The column ``tc``."""

    NOT_USED = Knowledge.NO
    USED = Knowledge.YES
    UNKNOWN = Knowledge.UNKNOWN
    NOT_APPLICABLE = 3
    """By its name it multiplies no matrices."""


@dataclass(frozen=True)
class KernelTable:
    """Arrays of shape (kernels,), −1 unknown or none; ``directions`` and ``sources`` hold further
    columns.

    row: rows of spans, ascending.
    track: row of tracks, the thread of the launch.
    call: row of spans of the operator that names it.
    workload: row of ``work.workloads`` whose parameters it shows.
    sub: its ordinal among the kernels of that call.
    dur: ns.
    tensor_cores: uint8 ``MatrixCores``.
    flops, bytes: of this launch.
    device, stream: ids.
    grid, block: string numbers of the trace.
    """

    row: Ints
    directions: KernelDirections
    sources: KernelSources
    work: AttributedWork
    track: Ints
    call: Ints
    workload: Ints
    sub: Ints
    dur: Ints
    tensor_cores: Array
    device: Array
    stream: Array
    grid: Array
    block: Array
    flops: Ints
    bytes: Ints


def kernel_table(trace: Trace, facts: Facts, insight: Insight) -> KernelTable:
    """The kernel table of a trace."""
    spans, links = trace["spans"], facts["span_links"]
    row = np.flatnonzero(spans["role"] == Role.KERNEL)
    tree = call_tree(trace)
    nodes = host_nodes(trace, facts, tree)
    directions = kernel_directions(trace, facts, nodes, tree.names, row)
    work = attributed_work(trace, facts, tree)
    piece = np.searchsorted(work.row, row)
    node, part_of = shown_calls(trace, nodes, directions, work.call[piece])
    call = _rows(nodes, node)
    launch = links["launch"][row].astype(np.int64)
    operator = links["operator"][row].astype(np.int64)
    caller = np.where(launch >= 0, launch, operator)
    home, captured = _rows(nodes, directions.home), directions.captured
    anchor = np.where(captured >= 0, captured, np.where(operator >= 0, operator, launch))
    where = kernel_sources(
        trace,
        facts,
        insight,
        np.where(captured >= 0, captured, row),
        np.where(home >= 0, home, anchor),
    )
    workload = parameter_workloads(work, call, _rows(nodes, part_of))
    flops, moved = with_gradients(
        trace, work, directions, row, workload, work.flops[piece], work.bytes[piece]
    )
    return KernelTable(
        row,
        directions,
        where,
        work,
        np.append(spans["track"], NONE)[caller].astype(np.int64),
        call,
        workload,
        ordinals(facts, directions, node, row),
        spans["dur"][row],
        _tensor_cores(trace, facts, row),
        **device_arguments(trace, row, _LAUNCH_ARGUMENTS),
        flops=flops,
        bytes=moved,
    )


def _rows(nodes: Nodes, node: Ints) -> Ints:
    """Rows of spans of nodes; −1 stays."""
    return np.append(nodes.row, NONE)[node]


def _tensor_cores(trace: Trace, facts: Facts, row: Ints) -> Array:
    name, kernels = trace["spans"]["name"][row], facts["kernels"]
    used = np.full(len(facts.strings) + 1, Knowledge.UNKNOWN, np.uint8)
    used[kernels["name"]] = kernels["matrix"]
    idle = (used[name] == Knowledge.NO) & ~multiplying(trace, row)
    return np.where(idle, np.uint8(MatrixCores.NOT_APPLICABLE), used[name])
