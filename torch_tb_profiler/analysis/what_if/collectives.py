"""Communication that is hidden, and collectives that are merged.

::

    all_reduce × 4    [lat|b][lat|b][lat|b][lat|b]        lat: what a collective costs whatever it moves
    one bucket        [lat|b b b b]                       b: its bytes at the recording's own bandwidth
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    group_rows,
    mask_of,
    medians,
    positions_of,
    sum_floats,
)
from torch_tb_profiler.analysis.arrays.intervals import Intervals, shared
from torch_tb_profiler.analysis.arrays.nesting import nearest, with_ancestors
from torch_tb_profiler.analysis.facts.host_names import named
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.removal import fusible, only_for
from torch_tb_profiler.analysis.what_if.replay import Durations
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask, median_of, unique_values
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role

MERGED = ["all_reduce", "reduce_scatter", "all_gather", "reduce", "broadcast"]
"""Kinds of collectives of which several can be one."""
_SLOWEST = 1e9
"""Bytes/s that any link reaches: where all messages of a recording have one size, what they take beyond this is latency."""
_BRIEF = (100_000, 2_000_000)
"""ns that a collective of a device and of a host may take to count as small where its size is unknown."""
_APART = 4
"""How many times as large as the smallest message the largest must be to tell latency from bandwidth."""
_PRODUCT = regex(
    r"aten::(?:mm|addmm|bmm|baddbmm|mv|addmv|matmul|linear|(?:_?convolution\w*|conv\w+)|embedding|scaled_dot_\w+)"
)
"""Operators on the host that nothing can be moved across; see ``_needed_by_host``."""
_ACCUMULATES = regex(r"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad")
_LIBRARY = regex(r".*torch/distributed/.+\.py\(\d+\): .+", re.DOTALL)


def hide(scene: Scene, durations: Durations) -> None:
    """Nothing waits for transfers, but no step is shorter than its transfers, as long as these now take. Waiting for another rank
    stays.
    """
    work, steps = scene.graph.work, scene.facts["steps"]
    own = np.flatnonzero(scene.work_causes == PathCause.COMMUNICATION)
    waiting = scene.waiting[own]
    begin = work.start[own] + waiting.astype(np.int64)
    measured = (work.end[own] - begin).astype(np.float64)
    moves = np.maximum(durations.work[own] - waiting, 0)
    ratio = np.divide(moves, measured, out=np.zeros(len(own)), where=measured > 0)
    alone = _shares(begin, work.end[own])
    piece, start, end = shared(begin, work.end[own], Intervals(steps["start"], steps["end"]))
    if len(piece):
        step = np.searchsorted(steps["start"], start, side="right") - 1
        taken = (alone(end) - alone(start)) * ratio[piece]
        durations.floor[:] = np.maximum(durations.floor, sum_floats(step, steps.n, taken))
    durations.work[own] = np.minimum(durations.work[own], waiting)


def _shares(start: Ints, end: Ints) -> Callable[[Ints], Array]:
    """A clock of which each interval takes its share, ns: time that several cover is divided among them."""
    moment = np.concatenate((start, end))
    order = np.argsort(moment, kind="stable")
    running = np.cumsum(np.repeat([1, -1], len(start))[order])[:-1]
    passed = np.cumsum(np.diff(moment[order]) / np.maximum(running, 1))
    at, clock = moment[order].astype(np.float64), np.append(0.0, passed)
    return lambda time: np.interp(time, at, clock)


class Merges(msgspec.Struct, frozen=True):
    """Collectives that become one with others, in order; arrays of shape (collectives,).

    row: rows of the table ``collectives``. work: position among device work; −1 none. last: whether it is the last of
    its bucket, whose call stays. time: what the bucket takes for each, ns,
    no longer than it took.
    """

    row: Ints
    work: Ints
    last: Mask
    time: Array

    @property
    def count(self) -> int:
        """How many collectives fewer there are."""
        return int((~self.last).sum())


def merges(scene: Scene, most: float) -> Merges:
    """The collectives of a trace that could be one, ``most`` bytes at a time: of one step, thread, kind, group and
    type, between which nothing but what can be fused needs the result of the first.
    """
    table, spans = scene.insight["collectives"], scene.trace["spans"]
    kinds = [scene.insight.strings.number(kind) for kind in MERGED]
    row = np.flatnonzero(np.isin(table["kind"], kinds) & (table["step"] >= 0))
    row = row[(table["bytes"][row] >= 0) | _brief(scene, row)]
    caller = np.where(table["host"] >= 0, table["host"], table["event"])[row]
    columns = (
        *(table[key][row] for key in ("step", "kind", "group", "dtype")),
        spans["track"][caller],
    )
    _, like = group_rows(columns)
    order = np.lexsort((table["start"][row], like))
    row, like = row[order], like[order]
    work = positions_of(scene.graph.work.row, table["event"][row])
    size = np.maximum(table["bytes"][row], 0).astype(np.float64)
    taken = (table["end"] - table["start"])[row].astype(np.float64)
    fitted = _fitted(table["kind"][row], table["group"][row], size, taken)
    needed = _needed(scene, work, table["start"][row], like) | _needed_by_host(scene, row, like)
    bucket = _buckets(like, size, most, needed)
    several = np.bincount(bucket, minlength=1)[bucket] > 1 if len(bucket) else np.zeros(0, np.bool_)
    row, work, size, taken = row[several], work[several], size[several], taken[several]
    latency, slope = (column[several] for column in fitted)
    _, bucket = np.unique(bucket[several], return_inverse=True)
    last = np.append(bucket[1:] != bucket[:-1], np.True_)[: len(bucket)]
    # Each moves its bytes as they come, the last one pays what a collective costs, and one that is late makes all
    # of its bucket late, once.
    waited = np.maximum(taken - latency - slope * size, 0)
    latest = np.zeros(len(row), np.bool_)
    order = np.lexsort((waited, bucket))
    latest[order[last]] = True
    time = np.minimum(
        slope * size + np.where(last, latency, 0) + np.where(latest, waited, 0), taken
    )
    return Merges(row, work, last, time)


def _brief(scene: Scene, row: Ints) -> Mask:
    """Of which rows of ``collectives`` the kind and group are so brief that they move little, whatever is recorded."""
    table, spans = scene.insight["collectives"], scene.trace["spans"]
    taken = (table["end"] - table["start"])[row]
    on_device = np.isin(spans["role"][table["event"][row]], DEVICE_ROLES)
    first, like = group_rows((table["kind"][row], table["group"][row], on_device))
    median = medians(like, len(first), taken)
    return np.asarray((median <= np.where(on_device[first], *_BRIEF))[like])


def _fitted(kind: Array, group: Array, size: Array, taken: Array) -> tuple[Array, Array]:
    """What a collective costs whatever it moves, ns, and per byte, ns, for those of each kind and group: a line
    through the medians of each size; neither is below 0.
    """
    latency, slope = np.zeros((2, len(size)))
    _, like = group_rows((kind, group))
    for number in unique_values(like).tolist():
        own = np.flatnonzero(like == number)
        sizes, which = np.unique(size[own], return_inverse=True)
        median = np.array([median_of(taken[own[which == i]]) for i in range(len(sizes))])
        if sizes[-1] < _APART * max(sizes[0], 1.0):
            slope[own] = 1e9 / _SLOWEST
            latency[own] = max(median_of(taken[own] - slope[own] * size[own]), 0.0)
            continue
        weight = np.sqrt(np.bincount(which))
        line = np.stack((np.ones(len(sizes)), sizes), axis=1)
        a, b = np.linalg.lstsq(line * weight[:, None], median * weight, rcond=None)[0]
        if b < 0:
            a, b = median_of(taken[own]), 0.0
        elif a < 0:
            a, b = 0.0, float((median * sizes * weight**2).sum() / (sizes**2 * weight**2).sum())
        latency[own], slope[own] = a, b
    return latency, slope


def _buckets(like: Ints, size: Array, most: float, needed: Mask) -> Ints:
    """The number of the bucket of each collective."""
    bucket = np.zeros(len(like), np.int64)
    number, filled, before = -1, 0.0, -1
    for i, (own, bytes_, ends) in enumerate(
        zip(like.tolist(), size.tolist(), needed.tolist(), strict=True)
    ):
        if own != before or filled + bytes_ > most:
            number, filled = number + 1, 0.0
        bucket[i] = number
        filled, before = filled + bytes_, -1 if ends else own
    return bucket


def _needed(scene: Scene, work: Ints, start: Ints, like: Ints) -> Mask:
    """After which collectives something that cannot be fused ran before the next one began, on their stream or on one
    that had waited for them.
    """
    graph, track = scene.graph.work, scene.trace["spans"]["track"]
    alone = np.flatnonzero((scene.work_causes == PathCause.KERNEL) & ~fusible(scene))
    following = np.append(start[1:], 0)[: len(start)]
    same = np.append(like[1:] == like[:-1], np.False_)[: len(like)] & (work >= 0)
    place = np.full(len(graph.row) + 1, -1)
    place[work[same]] = np.flatnonzero(same)
    waited = [np.flatnonzero(same)]
    streams, since = [track[graph.row[work[same]]]], [graph.end[work[same]]]
    for target in (graph.elsewhere, graph.awaits):
        some = np.flatnonzero(place[target] >= 0)
        waited.append(place[target[some]])
        streams.append(track[graph.row[some]])
        since.append(graph.start[some])
    number, stream, begin = (np.concatenate(parts) for parts in (waited, streams, since))
    needed = np.zeros(len(start), np.bool_)
    for one in unique_values(stream).tolist():
        own = stream == one
        ran = np.sort(graph.start[alone[track[graph.row[alone]] == one]])
        low, high = (np.searchsorted(ran, time) for time in (begin[own], following[number[own]]))
        needed[number[own][high > low]] = True
    return needed


def _needed_by_host(scene: Scene, row: Ints, like: Ints) -> Mask:
    """After which collectives the host, which had waited for them, ran a product before it called the next one: what
    that needs cannot come later. Gradients that are sent as they are made do not count: nothing waits for them before
    the backward pass ends.
    """
    table, spans = scene.insight["collectives"], scene.trace["spans"]
    needed = np.zeros(len(row), np.bool_)
    if not len(row) or (scene.work_causes == PathCause.KERNEL).any():
        return needed
    host = table["host"][row].astype(np.int64)
    calls = np.flatnonzero(spans["role"] == Role.OPERATOR)
    nodes = mask_of(spans.n, calls[named(scene.trace, calls, _ACCUMULATES.fullmatch)])
    as_made = np.append(nearest(scene.facts["span_links"]["parent"], nodes) >= 0, np.False_)[host]
    products = calls[named(scene.trace, calls, _PRODUCT.fullmatch)]
    end, following = table["end"][row][:-1], table["start"][row][1:]
    called = np.where(host >= 0, spans["start"][host], table["start"][row])
    following = np.minimum(following, called[1:])
    same = (like[1:] == like[:-1]) & (host[1:] >= 0) & ~as_made[1:]
    for thread in unique_values(spans["track"][host[1:][same]]).tolist():
        own = np.flatnonzero(same & (spans["track"][host[1:]] == thread))
        ran = np.sort(spans["start"][products[spans["track"][products] == thread]])
        low, high = (np.searchsorted(ran, time[own]) for time in (end, following))
        needed[own[high > low]] = True
    return needed


class _Merged(msgspec.Struct, frozen=True):
    """What a merger does: device work and the share of its time that stays; work that is gone; segments of host threads
    that are. Positions of the graph.
    """

    work: Ints
    share: Array
    gone: Ints
    segment: Ints


def merge(scene: Scene, durations: Durations, most: float) -> None:
    """Collectives are merged into buckets of at most ``most`` bytes: fewer calls and less latency, the bytes stay."""
    merged = scene.once(("buckets", most), lambda: _merged(scene, merges(scene, most)))
    durations.work[merged.work] *= merged.share
    durations.lead[merged.gone] = np.minimum(durations.lead[merged.gone], 0)
    durations.latency[merged.gone] = np.minimum(durations.latency[merged.gone], 0)
    durations.segment[merged.segment] = 0


def _merged(scene: Scene, found: Merges) -> _Merged:
    known = found.work >= 0
    table, spans = scene.insight["collectives"], scene.trace["spans"]
    taken = (table["end"] - table["start"])[found.row].astype(np.float64)
    # Where other changes made them shorter, the bucket is shorter as much.
    share = np.divide(found.time, taken, out=np.ones(len(taken)), where=taken > 0)
    calls = table["host"].astype(np.int64)
    leaves = calls[found.row[~found.last]]
    stays = np.setdiff1d(calls[calls >= 0], leaves)
    leaves = leaves[leaves >= 0]
    spare = only_for(scene, leaves, stays)
    frames = np.flatnonzero(spans["role"] == Role.PYTHON)
    inside = mask_of(spans.n, frames[named(scene.trace, frames, _LIBRARY.fullmatch)])
    parent = scene.facts["span_links"]["parent"]
    of_gone, of_kept = np.zeros((2, spans.n), np.bool_)
    of_gone[leaves], of_kept[stays] = True, True
    spare |= inside & with_ancestors(parent, of_gone) & ~with_ancestors(parent, of_kept)
    return _Merged(
        work=found.work[known],
        share=share[known],
        gone=found.work[known & ~found.last],
        segment=np.flatnonzero(scene.inside(spare).segment),
    )
