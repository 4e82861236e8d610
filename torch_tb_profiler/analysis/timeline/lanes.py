"""Assigns every event to a lane so that no lane has overlaps.

Calls of a thread are laid out by depth. Events that overlap without nesting, and all overlaps on a
stream, get sub-lanes of the same depth::

    calls of a thread                       work of a stream
    depth 0          [step              ]   depth 0 sub 0   {a     }   {c}
    depth 1 sub 0     [mm   ] [add ]        depth 0 sub 1       {b    }
    depth 1 sub 1          [async ]
"""

from __future__ import annotations

import heapq
from itertools import pairwise

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of, scatter, stable_order
from torch_tb_profiler.analysis.arrays.nesting import depths, nest
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role
from torch_tb_profiler.store.timeline_schema import GroupKind

NESTED = (GroupKind.PYTHON, GroupKind.CALLS, GroupKind.DEVICE_ANNOTATION, GroupKind.SYNC)
_KINDS = len(GroupKind)
_COUNTER_PHASE = ord("C")


class Lanes(msgspec.Struct, frozen=True):
    """The lanes; counter samples have none and are left out of ``order``.

    start, dur: int64 ns of shape (events,), spans first, then instants (length 0).
    order: events by (lane, start); int64 of shape (slices,).
    lane: int32 of shape (events,), −1 for counter samples.
    group, depth, sub, first, count: int64 of shape (lanes,).
    track, kind: int64 of shape (groups,).
    overlapping: events on a sub-lane, int64 of shape (groups,).
    """

    start: Ints
    dur: Ints
    order: Ints
    lane: Array
    group: Ints
    depth: Ints
    sub: Ints
    first: Ints
    count: Ints
    track: Ints
    kind: Ints
    overlapping: Ints


def _kind_of_role() -> Array:
    """``GroupKind`` of every ``Role``; uint8 of shape (roles,)."""
    kinds = np.full(max(Role) + 1, GroupKind.CALLS, np.uint8)
    kinds[list(DEVICE_ROLES)] = GroupKind.WORK
    kinds[Role.PYTHON] = GroupKind.PYTHON
    kinds[Role.DEVICE_ANNOTATION] = GroupKind.DEVICE_ANNOTATION
    kinds[[Role.SYNC, Role.COUNTER_RANGE]] = GroupKind.SYNC
    return kinds


def lay_out(trace: Trace, rank_of_track: Ints) -> Lanes:
    """Lanes of all spans and instants; ``rank_of_track``, shape (tracks,), orders the groups."""
    spans, instants = trace["spans"], trace["instants"]
    # Instants before the first span are drawn at its start: a timeline has no negative times.
    start = np.concatenate((spans["start"], np.maximum(instants["time"], 0)))
    dur = np.concatenate((spans["dur"], np.zeros(instants.n, np.int64)))
    kind = np.concatenate(
        (_kind_of_role()[spans["role"]], np.full(instants.n, GroupKind.INSTANT, np.uint8))
    )
    track = np.concatenate((spans["track"], instants["track"])).astype(np.int64)
    shown = np.ones(len(start), np.bool_)
    shown[spans.n :] = instants["phase"] != _COUNTER_PHASE
    code, codes = _compact(rank_of_track[track] * _KINDS + kind, shown)
    depth = _depth(code, kind, start, dur, shown)
    deepest = int(depth.max()) + 1 if len(depth) else 1
    order = _by_key(code.astype(np.int64) * deepest + depth, shown)
    key = code[order].astype(np.int64) * deepest + depth[order]
    sub = _sub_lanes(key, start[order], start[order] + dur[order])
    widest = int(sub.max()) + 1 if len(sub) else 1
    if widest > 1:
        key = key * widest + sub
        again = np.argsort(key, kind="stable")
        order, key = order[again], key[again]
    keys, first, count = np.unique(key, return_index=True, return_counts=True)
    lane = scatter(len(start), order, np.repeat(np.arange(len(keys)), count), -1, np.int32)
    group = keys // widest // deepest
    sub_of_lane = keys % widest
    track_of_rank = np.argsort(rank_of_track)
    overlapping = np.bincount(
        group, weights=np.where(sub_of_lane > 0, count, 0), minlength=len(codes)
    ).astype(np.int64)
    return Lanes(
        start,
        dur,
        order,
        lane,
        group,
        keys // widest % deepest,
        sub_of_lane,
        first,
        count,
        track_of_rank[codes // _KINDS],
        codes % _KINDS,
        overlapping,
    )


def _compact(key: Ints, shown: Mask) -> tuple[Array, Ints]:
    """Keys as 0, 1, 2 … in their order, and the distinct keys; hidden events get 0."""
    present = mask_of(int(key.max()) + 1 if len(key) else 0, key[shown])
    codes = np.flatnonzero(present)
    number = scatter(len(present), codes, np.arange(len(codes)), 0, np.int32)
    return number[key], codes


def _depth(code: Array, kind: Array, start: Ints, dur: Ints, shown: Mask) -> Array:
    """The number of events of its own group that enclose each event; int32."""
    depth = np.zeros(len(start), np.int32)
    nested = mask_of(_KINDS, list(NESTED))
    row = np.flatnonzero(nested[kind] & shown)
    if len(row):
        begin = start[row]
        depth[row] = depths(nest(code[row], begin, begin + dur[row]).parent)
    return depth


def _by_key(key: Ints, shown: Mask) -> Ints:
    """Events by key, equal ones in time order."""
    row = np.flatnonzero(shown)
    return np.asarray(row[stable_order(key[row])])


def _sub_lanes(key: Ints, start: Ints, end: Ints) -> Ints:
    """The lowest sub-lane that is free at each start; events are ordered by (key, start)."""
    sub = np.zeros(len(key), np.int64)
    edges = np.flatnonzero(np.diff(key, prepend=-1, append=-1))
    for begin, stop in pairwise(edges.tolist()):
        if stop - begin < 2:
            continue
        reached = np.maximum.accumulate(end[begin : stop - 1])
        crossing = start[begin + 1 : stop] < reached
        if crossing.any():
            _spread(sub, begin, crossing, start, end)
    return sub


def _spread(sub: Ints, begin: int, crossing: Mask, start: Ints, end: Ints) -> None:
    """Set one key's sub-lanes; ``crossing[i]``: event i + 1 overlaps an earlier one."""
    member = np.zeros(len(crossing) + 1, np.bool_)
    member[1:] = crossing
    member[:-1] |= crossing
    position = begin + np.flatnonzero(member)
    lanes: list[int] = []
    running: list[tuple[int, int]] = []
    free: list[int] = []
    used = 0
    for started, until in zip(start[position].tolist(), end[position].tolist(), strict=True):
        while running and running[0][0] <= started:
            heapq.heappush(free, heapq.heappop(running)[1])
        if free:
            lane = heapq.heappop(free)
        else:
            lane, used = used, used + 1
        heapq.heappush(running, (until, lane))
        lanes.append(lane)
    sub[position] = lanes
