"""PyProf's kernel table: one row per kernel launch in time order, without copies and memsets.

``docs/definitions.md`` defines the columns. ``views/work/pyprof.py`` turns the numbers into text.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, occurrences
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.efficiency.workloads import AttributedWork, attributed_work
from torch_tb_profiler.analysis.facts.calltree import call_tree
from torch_tb_profiler.analysis.facts.host_names import distinct
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.module.nodes import Nodes, host_nodes
from torch_tb_profiler.analysis.pyprof.directions import (
    KernelDirections,
    dispatched,
    kernel_directions,
    named_nodes,
)
from torch_tb_profiler.analysis.pyprof.parameters import (
    multiplying,
    parameter_workloads,
    with_gradients,
)
from torch_tb_profiler.analysis.pyprof.sources import LAYER, KernelSources, kernel_sources
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.hardware.work import model_of
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathKind
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


class KernelTable(msgspec.Struct, frozen=True):
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
    node, part_of = _shown_calls(trace, nodes, directions, work.call[piece])
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
        _ordinals(facts, directions, node, row),
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


def _shown_calls(
    trace: Trace, nodes: Nodes, directions: KernelDirections, attributed_to: Ints
) -> tuple[Ints, Ints]:
    """``(call, part_of)`` per kernel, int64, −1 none: the node that names it, and the operator node
    that it is a part of.

    The operator that a kernel works for, and its ordinal among that operator's kernels.

    A kernel is named after the call that the Efficiency view attributes it to, or the autograd-numbered
    operator around that; of nested calls of one family the outermost, which is what a program calls::

        aten::conv2d ▸ aten::convolution (7) ▸ aten::_convolution ▸ aten::cudnn_convolution ▸ kernel     aten  conv2d
        aten::relu_ (8) ▸ aten::clamp_min_ ▸ kernel                                                      aten  relu_
        torch.nn.functional.linear ▸ aten::addmm ▸ kernel                                                torch.nn.functional  linear

    A backward kernel is named after the forward that it differentiates; a kernel without an operator
    after the user's range around its launch.

    ``attributed_to``: row of spans of the call that each kernel is attributed to, −1 none.
    """
    part_of = np.full(len(attributed_to), -1, np.int64)
    own, node = nodes.of_spans(attributed_to)
    part_of[own] = node
    # Replayed work is attributed to no call: its operator ran once, during the capture.
    replayed = np.flatnonzero((directions.captured >= 0) & (directions.node >= 0))
    part_of[replayed] = nearest(nodes.parent, nodes.kind == PathKind.OPERATOR)[
        directions.node[replayed]
    ]
    part_of = np.where(directions.forward >= 0, directions.forward, part_of)
    call = part_of.copy()
    above = np.flatnonzero(
        (directions.operator >= 0) & (directions.operator < call) & (directions.forward < 0)
    )
    above = above[dispatched(trace, nodes)[directions.operator[above]]]
    call[above] = directions.operator[above]
    unnamed = np.flatnonzero((call < 0) & (directions.node >= 0))
    call[unnamed] = nearest(nodes.parent, _ranges(trace, nodes))[directions.node[unnamed]]
    named = np.flatnonzero(call >= 0)
    call[named] = _outermost_of_family(trace, nodes)[call[named]]
    return call, part_of


def _ranges(trace: Trace, nodes: Nodes) -> Mask:
    """Which nodes are ranges of the user's own that are not layers."""
    return np.asarray(
        (nodes.kind == PathKind.ANNOTATION)
        & ~named_nodes(trace, nodes, lambda text: text.startswith(LAYER))
    )


def _outermost_of_family(trace: Trace, nodes: Nodes) -> Array:
    """The outermost operator around each node through operators of its family only."""
    name = trace["spans"]["name"][nodes.row]
    family = np.full(len(trace.strings) + 1, -1, np.int64)
    numbers: dict[str, int] = {}
    operator = nodes.kind == PathKind.OPERATOR
    for number in distinct(name[operator], trace.strings):
        text = trace.strings[number]
        # PyTorch implements aten::softmax in aten::_softmax.
        model = model_of(text) or model_of(text.replace("::", "::_", 1))
        if model is not None:
            family[number] = numbers.setdefault(model.family, len(numbers))
    own = np.where(operator, family[name], -1)
    above = nodes.parent
    same = (above >= 0) & (own >= 0) & (own[above] == own) if len(own) else operator
    return nearest(above, ~same)


def _ordinals(facts: Facts, directions: KernelDirections, call: Ints, row: Ints) -> Ints:
    """The ordinal of each kernel, from 0, among those of its backward function, else its operator,
    else its launch; int64.

    Each replay of captured work counts anew.
    """
    launch = facts["span_links"]["launch"][row].astype(np.int64)
    key = np.where(directions.function >= 0, directions.function, call)
    # Distinct key ranges for nodes and launches; a kernel with neither has its own key.
    key = np.where(
        key >= 0, key, np.where(launch >= 0, -2 - launch, (1 << 62) + np.arange(len(row)))
    )
    _, key = group_rows((key, np.where(directions.captured >= 0, launch, -1)))
    return occurrences(key)
