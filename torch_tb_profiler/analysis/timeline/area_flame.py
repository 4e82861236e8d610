"""The events of a window as a tree of frames: what called what, by name.

Events of the host stand under those of the same kind around them, device work under the operators
that launched it::

    aten::linear [            ]     aten::linear [    ]        aten::linear
      aten::mm     [    ]             aten::mm   [  ]            aten::mm     2 calls
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import largest_by, mask_of, positions_of, sum_by
from torch_tb_profiler.analysis.arrays.nesting import subtree_totals, with_ancestors
from torch_tb_profiler.analysis.arrays.numbering import number_tree
from torch_tb_profiler.analysis.module.frame_table import flame_table
from torch_tb_profiler.analysis.module.frames import MOST_FRAMES, REST, Frames, drawn
from torch_tb_profiler.analysis.timeline.area import window_of
from torch_tb_profiler.analysis.timeline.kinds import KIND_OF_LOOK, KINDS, Kind
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.store.timeline_schema import Look
from torch_tb_profiler.units import format_count

MOST_EVENTS = 1_000_000
"""Of windows with more of them no tree is made."""
_FRAME_KINDS = {
    Look.OPERATOR: "operator",
    Look.RUNTIME: "runtime",
    Look.PYTHON: "line",
    Look.ANNOTATION: "annotation",
    Look.DEVICE_ANNOTATION: "annotation",
    Look.KERNEL: "kernel",
    Look.COMMUNICATION: "kernel",
    Look.MEMCPY: "kernel",
    Look.MEMSET: "kernel",
}


class AreaFlame(msgspec.Struct, frozen=True):
    """``rows``: the frames, None where there are more than ``MOST_EVENTS`` events. ``pooled``: how
    many more frames are too small to be drawn.
    """

    rows: DisplayTable | None
    pooled: int


def area_flame(
    opened: tuple[Trace, Facts, Timeline], begin: int, end: int, lanes: Ints, kind: Kind
) -> AreaFlame:
    """The tree of the events of a kind on some lanes (ascending) in [begin, end), ns, to which they
    are clipped.

    Operators take as much device time as the device work that they launched takes in the window.
    """
    trace, facts, timeline = opened
    window = window_of(timeline, begin, end, lanes)
    if window.count > MOST_EVENTS:
        return AreaFlame(None, 0)
    places = timeline["places"]
    event, part = window.events()
    own = KIND_OF_LOOK[places["look"][event]] == KINDS.index(kind)
    event, part = event[own], part[own]
    on_device = kind == "device"
    around, above = places["around"], np.zeros(0, np.int64)
    if on_device:
        outer = facts["span_links"]["operator"][event].astype(np.int64)
        above = np.flatnonzero(with_ancestors(around, mask_of(len(around), outer[outer >= 0])))
    else:
        outer = around[event].astype(np.int64)
    rows = np.concatenate((above, event))
    parent = _positions(rows, np.concatenate((around[above].astype(np.int64), outer)))
    time = np.concatenate((np.zeros(len(above), np.int64), part))
    if not on_device:
        inner = parent >= 0
        time -= sum_by(parent[inner], len(rows), time[inner])
    code = places["name"][rows].astype(np.int64) * len(KIND_OF_LOOK) + places["look"][rows]
    tree = number_tree(parent, code, MOST_FRAMES)
    n = len(tree.parent)
    total = subtree_totals(tree.parent, sum_by(tree.path, n, time))
    none, nothing = np.full(n, -1), np.zeros(n, np.int64)
    frames, pooled = drawn(
        Frames(
            tree.parent,
            tree.code,
            none,
            nothing > 0,
            np.bincount(tree.path, minlength=n),
            nothing if on_device else total,
            total if on_device else nothing,
            none,
            rows[largest_by(tree.path, n, time)],
        )
    )
    return AreaFlame(_table(trace, timeline, frames, on_device=on_device), pooled)


def _positions(rows: Ints, event: Ints) -> Ints:
    """The place of each event among ``rows``, −1 of those that are not there."""
    order = np.argsort(rows, kind="stable")
    return np.asarray(np.append(order, -1)[positions_of(rows[order], event)])


def _table(trace: Trace, timeline: Timeline, frames: Frames, *, on_device: bool) -> DisplayTable:
    text = timeline["names"]["text"]
    rest = frames.kind == REST
    name = np.where(rest, 0, frames.name // len(KIND_OF_LOOK))
    names = [
        f"{format_count(code)} smaller" if is_rest else trace.strings[number]
        for code, is_rest, number in zip(
            frames.name.tolist(), rest.tolist(), text[name].tolist(), strict=True
        )
    ]
    kinds = [
        "rest" if is_rest else _FRAME_KINDS.get(Look(look), "other")
        for is_rest, look in zip(
            rest.tolist(), (frames.name % len(KIND_OF_LOOK)).tolist(), strict=True
        )
    ]
    return flame_table(frames, names, kinds, on_device)
