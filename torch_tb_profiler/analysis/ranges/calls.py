"""The calls of annotations as a forest: which call encloses which, also from the autograd engine's threads.

::

    main thread    ├────────── "backward" ──────────┤         the thread waits in loss.backward()
    autograd thread     ├ "nccl:all_reduce" ┤  launch          both lie in "backward"
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import depths, innermost_at, nest_rows
from torch_tb_profiler.analysis.facts.names import HIDDEN, named
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

MOST_DEPTH = 64
"""Annotations nested deeper count as part of the one around them."""
_EVALUATE = "autograd::engine::evaluate_function: "


@dataclass(frozen=True)
class RangeCalls:
    """Calls of annotations that are no steps, in the order of the table spans; arrays of shape (calls,). Of calls that overlap
    and do not nest, what lies in both belongs to the later one.

    row: rows of spans. name: numbers of strings. start, end: ns.
    parent: position of the enclosing call; −1 none. depth: how many enclose it.
    outermost: whether none of them has its name and lasts until its end.
    caller: the thread whose calls enclose those of autograd threads; −1 unknown.
    nested: ``parent`` on the own thread alone. autograd: rows of tracks.
    """

    row: Array
    name: Array
    start: Ints
    end: Ints
    parent: Array
    depth: Ints
    outermost: Mask
    caller: int
    nested: Array
    autograd: Array
    track: Array

    def at(self, track: Array, time: Ints) -> Ints:
        """The innermost call around each point of a thread; −1 none."""
        found = _innermost(self.track, self.start, self.end, self.nested, track, time)
        if self.caller >= 0:
            left = np.flatnonzero((found < 0) & np.isin(track, self.autograd))
            caller = np.full(len(left), self.caller, np.int64)
            found[left] = _innermost(
                self.track, self.start, self.end, self.nested, caller, time[left]
            )
        return found


def range_calls(trace: Trace, facts: Facts, role: Role = Role.ANNOTATION) -> RangeCalls:
    """The calls of all annotations of a role; on device streams with ``Role.DEVICE_ANNOTATION``."""
    spans, steps = trace["spans"], facts["steps"]
    row = np.flatnonzero(spans["role"] == role)
    row = row[~named(trace, row, lambda text: text in HIDDEN)]
    # A range may begin in one step and end in the next: steps enclose nothing here.
    is_step = np.isin(spans["name"][row], steps["name"])
    if role is Role.ANNOTATION:
        is_step &= np.isin(spans["start"][row], steps["host_start"])
    of_steps, row = spans["track"][row[is_step]], row[~is_step]
    row = row[depths(nest_rows(spans, row).parent) < MOST_DEPTH]
    nested = nest_rows(spans, row).parent
    track, name = spans["track"][row], spans["name"][row]
    start = spans["start"][row]
    end = start + spans["dur"][row]
    caller, autograd = (
        _threads(trace, track, of_steps) if role is Role.ANNOTATION else (-1, np.zeros(0, np.int64))
    )
    parent = nested.astype(np.int64)
    if caller >= 0:
        left = np.flatnonzero((nested < 0) & np.isin(track, autograd))
        points = np.full(len(left), caller, np.int64)
        parent[left] = _innermost(track, start, end, nested, points, start[left])
    outermost = _outermost(parent, name, end)
    return RangeCalls(
        row, name, start, end, parent, depths(parent), outermost, caller, nested, autograd, track
    )  # fmt: skip


def _innermost(
    track: Array, start: Ints, end: Ints, parent: Array, point_track: Array, time: Ints
) -> Ints:
    return innermost_at(track, start, end, parent, point_track, time).astype(np.int64)


def _threads(trace: Trace, annotated: Array, of_steps: Array) -> tuple[int, Array]:
    """The thread that calls the autograd engine, −1 unknown, and the threads of its process on which the engine evaluates
    functions; rows of tracks. Without a device the engine evaluates on the caller's thread.
    """
    spans = trace["spans"]
    row = np.flatnonzero(spans["role"] == Role.OPERATOR)
    row = row[named(trace, row, lambda text: text.startswith(_EVALUATE))]
    autograd = np.unique(spans["track"][row])
    candidates = (np.setdiff1d(annotated, autograd), np.unique(of_steps), np.unique(annotated))
    caller = next((int(tracks[0]) for tracks in candidates if len(tracks) == 1), -1)
    if caller < 0:
        return -1, autograd[:0]
    pid = trace["tracks"]["pid"]
    return caller, autograd[(autograd != caller) & (pid[autograd] == pid[caller])]


def _outermost(parent: Ints, name: Array, end: Ints) -> Mask:
    """Whether no ancestor of the same name lasts at least as long: one of another thread may end earlier."""
    same = np.zeros(len(parent), np.bool_)
    row = np.flatnonzero(parent >= 0)
    above = parent[row]
    while len(row):
        same[row] |= (name[above] == name[row]) & (end[above] >= end[row])
        going = ~same[row] & (parent[above] >= 0)
        row, above = row[going], parent[above[going]]
    return ~same
