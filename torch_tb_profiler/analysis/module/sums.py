"""The tables ``path_steps``, ``path_sums``, ``span_paths`` and ``name_steps``."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by
from torch_tb_profiler.analysis.arrays.nesting import depths, innermost_at, nearest
from torch_tb_profiler.analysis.arrays.numbering import NumberedPaths
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.facts.replay_calls import joined
from torch_tb_profiler.analysis.module.nodes import Nodes, ReplayedNodes
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Array, Ints, Table, summed
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts, Trace

_SUMS = tuple(column.name for column in schema.PATH_SUMS.columns)
_OF_NAMES = tuple(column.name for column in summed(schema.NAME_STEPS, "name"))
_CPU = 0
"""Device type of the CPU in memory records (c10::DeviceType)."""


class LaunchedWork(msgspec.Struct, frozen=True):
    """Device work, arrays of shape (device events,); ``node``: the launching one, −1 none."""

    row: Ints
    node: Array
    step: Array


def launched_work(
    trace: Trace, facts: Facts, nodes: Nodes, replayed: ReplayedNodes
) -> LaunchedWork:
    """What launched the device work, and of replayed work what launched it when it was captured.

    The operator that it is attributed to, unless a module is called between that and the launch:
    then the innermost node.
    """
    links = facts["span_links"]
    row = device_rows(trace)
    launch, operator, step = links["launch"][row], links["operator"][row], links["step"][row]
    if not len(row) or not len(nodes.row):
        return LaunchedWork(row, np.full(len(row), -1, np.int32), step)
    node = np.where(launch >= 0, nodes.around[launch], np.int32(-1))
    inner = np.where(node >= 0, nearest(nodes.parent, nodes.kind != PathKind.ANNOTATION)[node], -1)
    known = operator >= 0
    # Only a module that the operator itself calls is in between.
    own = nearest(nodes.parent, nodes.kind == PathKind.OPERATOR)
    between = (
        known
        & (inner >= 0)
        & (nodes.kind[inner] == PathKind.MODULE)
        & (own[inner] == nodes.around[operator])
    )
    node = np.where(known & ~between, nodes.around[operator], node)
    step = np.where(node >= 0, links["step"][nodes.row[node]], step)
    within = replayed.calls.around(row)
    return LaunchedWork(row, np.where(within >= 0, within + len(nodes.row), node), step)


def path_steps(
    trace: Trace,
    facts: Facts,
    nodes: Nodes,
    replayed: ReplayedNodes,
    numbered: NumberedPaths,
    work: LaunchedWork,
) -> tuple[Table, Table]:
    """The tables ``path_steps`` and ``span_paths``."""
    path = numbered.path
    spans = trace["spans"]
    step = joined(facts["span_links"]["step"][nodes.row], replayed.calls.step)
    dur = spans["dur"][nodes.row]
    counted = ~numbered.pooled
    n = len(nodes.row)
    launched = work.node >= 0
    row, launcher = work.row[launched], work.node[launched]
    own = {
        "host_total": np.where(counted[:n], dur, 0),
        "host_self": np.maximum(dur - nodes.children - nodes.runtime, 0),
        "runtime": nodes.runtime,
    }
    first, cell = group_rows((step, path))
    groups = len(first)
    node, size = _memory(trace, nodes)
    cells = {key: sum_by(cell[:n], groups, values) for key, values in own.items()} | {
        "calls": sum_by(cell, groups, counted),
        "device_self": sum_by(cell[launcher], groups, spans["dur"][row]),
        "launched": np.bincount(cell[launcher], minlength=groups),
        "increase": sum_by(cell[node], groups, size),
        "allocated": sum_by(cell[node], groups, np.maximum(size, 0)),
        "path": path[first].astype(np.int64),
        "step": step[first].astype(np.int64),
    }
    rest = _unattributed(work.step[~launched], spans["dur"][work.row[~launched]])
    carried = _carried_up(cells["path"], cells["step"], cells["device_self"], numbered.parent)
    span_path = np.where(nodes.around >= 0, path[nodes.around], -1) if n else np.full(spans.n, -1)
    span_path[row] = path[launcher]
    return _table((cells, rest, carried)), schema.SPAN_PATHS.build(path=span_path)


def _unattributed(step: Array, dur: Ints) -> dict[str, Ints]:
    first, group = group_rows((step,))
    n = len(first)
    total = sum_by(group, n, dur)
    return {
        "path": np.full(n, -1, np.int64),
        "step": step[first].astype(np.int64),
        "device_self": total,
        "device_total": total,
        "launched": np.bincount(group, minlength=n),
    }


def _carried_up(path: Ints, step: Ints, value: Ints, parent: Ints) -> dict[str, Ints]:
    """Each path's total with its descendants, per step; level by level from the deepest."""
    depth = depths(parent)
    nonzero = np.flatnonzero(value)
    nonzero = nonzero[np.argsort(-depth[path[nonzero]], kind="stable")]
    path, step, value = path[nonzero], step[nonzero], value[nonzero]
    levels = np.arange(int(depth.max()) + 2 if len(depth) else 1)
    bounds = np.searchsorted(-depth[path], -levels[::-1], side="left")
    levels_done: list[tuple[Ints, Ints, Ints]] = []
    up = (path[:0], step[:0], value[:0])
    for begin, end in pairwise([*bounds[1:].tolist(), len(path)]):
        joined = [
            np.concatenate(both)
            for both in zip(up, (path[begin:end], step[begin:end], value[begin:end]), strict=True)
        ]
        first, group = group_rows(joined[:2])
        level_sums = (joined[0][first], joined[1][first], sum_by(group, len(first), joined[2]))
        levels_done.append(level_sums)
        above = parent[level_sums[0]]
        up = (above[above >= 0], level_sums[1][above >= 0], level_sums[2][above >= 0])
    columns = (
        [np.concatenate(column) for column in zip(*levels_done, strict=True)]
        if levels_done
        else [path, step, value]
    )
    return dict(zip(("path", "step", "device_total"), columns, strict=True))


def _table(parts: tuple[dict[str, Ints], ...]) -> Table:
    """Rows of equal path and step added up, by step; missing columns are 0."""
    path = np.concatenate([part["path"] for part in parts])
    step = np.concatenate([part["step"] for part in parts])
    first, group = group_rows((step, path))
    summed = {key: np.zeros(len(first), np.int64) for key in _SUMS}
    for part, groups in zip(
        parts, np.split(group, np.cumsum([len(part["path"]) for part in parts])[:-1]), strict=True
    ):
        for key in part.keys() & summed.keys():
            summed[key][groups] += part[key]
    return schema.PATH_STEPS.build(path=path[first], step=step[first], **summed)


def _memory(trace: Trace, nodes: Nodes) -> tuple[Ints, Ints]:
    """``(node, bytes)`` of every memory record that a node wrote; negative bytes are released."""
    memory = trace["memory"]
    # Records from before the recording belong to no node.
    used = memory["ordinal"] >= 0
    other = used & (memory["device_type"] != _CPU)
    rows = np.flatnonzero(other if other.any() else used)
    if not len(rows) or not len(nodes.row):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    track, start, dur = (trace["spans"][key][nodes.row] for key in ("track", "start", "dur"))
    node = innermost_at(
        track, start, start + dur, nodes.parent, memory["track"][rows], memory["time"][rows]
    )
    inside = node >= 0
    return node[inside], memory["bytes"][rows[inside]]


def name_steps(facts: Facts) -> Table:
    """The table ``name_steps``."""
    steps = facts["operator_steps"]
    name = facts["operators"]["name"][steps["operator"]]
    first, group = group_rows((steps["step"], name))
    return schema.NAME_STEPS.build(
        name=name[first],
        step=steps["step"][first],
        **{key: sum_by(group, len(first), steps[key]) for key in _OF_NAMES},
    )
