"""Which events of one step stand for which of another, or of many pairs of steps at once.

::

    before   step ─┬─ aten::linear [8, 64] ─┬─ aten::addmm ─── cudaLaunchKernel ┄┄ gemm
                   └─ aten::relu            └─ …                                    │ its launch is matched
    after    step ─┬─ aten::linear [8, 64] ─┬─ aten::addmm ─── cudaLaunchKernel ┄┄ gemm
                   ├─ aten::copy_  (no partner)
                   └─ aten::relu

Host operations are matched from the outermost inward: within matched parents those of equal name and shapes, in
their order, as the longest common subsequence; all parents of a depth at once. A subtree that is equal on both sides is
matched as a whole. Work of a device goes with its launch; what has none is matched in its order by name.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    expand_ranges,
    mask_of,
    mixed,
    occurrences,
    picked,
    places_in,
    positions_of,
    same_keys,
)
from torch_tb_profiler.analysis.arrays.nesting import climb, depths, subtree_totals
from torch_tb_profiler.analysis.match.names import same_texts
from torch_tb_profiler.analysis.match.order import common_subsequences
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role

MOST_THREADS = 64
"""Threads of a step that are matched, those with most events."""
_HOST = (Role.OPERATOR, Role.ANNOTATION, Role.RUNTIME)
_ODD = np.uint64(0x9E3779B97F4A7C15)


class StepEvents(msgspec.Struct, frozen=True):
    """The events of some steps.

    Attributes:
        host: rows of spans, of each thread together and in its order, callers before what they call.
        parent: position in ``host`` of the innermost of these around each, −1 none.
        size: how many of these it is and calls, itself included.
        device: rows of spans of device work that the step launched, by begin.
        launch: of each the position in ``host`` of its launch, −1 none.
        host_step, device_step: of each event the number of its step among these.
    """

    trace: Trace
    host: Ints
    parent: Ints
    size: Ints
    device: Ints
    launch: Ints
    host_step: Ints
    device_step: Ints

    @property
    def operations(self) -> Ints:
        """Positions in ``host`` of what counts as an operation: operators, else annotations, else runtime calls."""
        role = self.trace["spans"]["role"][self.host]
        found = (np.flatnonzero(role == kind) for kind in _HOST)
        return next((some for some in found if len(some)), np.zeros(0, np.int64))

    @property
    def track(self) -> Array:
        """The thread of each host event."""
        return self.trace["spans"]["track"][self.host]


class Matched(msgspec.Struct, frozen=True):
    """Pairs of events, arrays of shape (pairs,).

    Attributes:
        host: positions in ``StepEvents.host`` of the one side and of the other.
        device: positions in ``StepEvents.device``.
        operations: how many operations are matched, and of how many. Of what calls others and is not matched only itself
            counts; where the host did nothing, pieces of device work count.
    """

    host: tuple[Ints, Ints]
    device: tuple[Ints, Ints]
    operations: tuple[int, int]

    @property
    def share(self) -> float:
        """Of the operations those that are matched; NaN without any."""
        found, total = self.operations
        return found / total if total else float("nan")


def step_events(trace: Trace, facts: Facts, steps: Ints) -> StepEvents:
    """The events of rows of ``facts["steps"]``, which ascend."""
    spans, links, table = trace["spans"], facts["span_links"], facts["steps"]
    number = places_in(table.n + 1, steps)
    number = number[links["step"]]
    own = np.flatnonzero(number >= 0)
    number, role = number[own], spans["role"][own]
    # The step's own annotation has another name in each.
    itself = (spans["name"][own] == table["name"][steps][number]) & (
        spans["start"][own] == table["host_start"][steps][number]
    )
    host = np.flatnonzero(np.isin(role, _HOST) & ~itself)
    host = host[np.argsort(spans["track"][own[host]], kind="stable")]
    row = own[host]
    kept = mask_of(spans.n, row)
    place = places_in(spans.n + 1, row)
    parent = place[climb(links["parent"], links["parent"][row], kept)]
    device = np.flatnonzero(np.isin(role, DEVICE_ROLES))
    return StepEvents(
        trace,
        row,
        parent,
        subtree_totals(parent, np.ones(len(row), np.int64)),
        own[device],
        place[links["launch"][own[device]]],
        number[host],
        number[device],
    )


def match_steps(a: StepEvents, b: StepEvents) -> Matched:
    """The pairs of two steps, or of as many pairs of steps."""
    host = _match_host(a, b)
    device = _match_device(a, b, host)
    if not len(a.operations) and not len(b.operations):
        return Matched(host, device, (len(device[0]), max(len(a.device), len(b.device))))
    # Operators of the one, annotations of the other are not alike.
    both = int((np.isin(host[0], a.operations) & np.isin(host[1], b.operations)).sum())
    left = max(_outermost(events, own) for events, own in zip((a, b), host, strict=True))
    return Matched(host, device, (both, both + left))


def _outermost(events: StepEvents, matched: Ints) -> int:
    """How many operations without a partner stand at the top or within what has one."""
    found = np.zeros(len(events.host) + 1, np.bool_)
    found[matched] = found[-1] = True
    own = events.operations
    return int((~found[own] & found[events.parent[own]]).sum())


def _match_host(a: StepEvents, b: StepEvents) -> tuple[Ints, Ints]:
    key_a, key_b = _keys(a, b)
    like_a, like_b = _subtrees(a, key_a), _subtrees(b, key_b)
    children_a, children_b = _Children(a.parent), _Children(b.parent)
    of_a, of_b, lengths = _outermost_of(a, b, _threads(a, b, key_a, key_b))
    found: list[tuple[Ints, Ints]] = []
    while len(of_a) and len(of_b):
        i, j = common_subsequences(key_a[of_a], key_b[of_b], lengths)
        i, j = of_a[i], of_b[j]
        found.append((i, j))
        same = (like_a[i] == like_b[j]) & (a.size[i] == b.size[j]) & (like_a[i] != 0)
        inner = a.size[i[same]] - 1
        found.append((expand_ranges(i[same] + 1, inner), expand_ranges(j[same] + 1, inner)))
        (of_a, count_a), (of_b, count_b) = children_a.of(i[~same]), children_b.of(j[~same])
        lengths = count_a, count_b
    if not found:
        return (np.zeros(0, np.int64),) * 2
    pairs = np.concatenate([x for x, _ in found]), np.concatenate([y for _, y in found])
    order = np.argsort(pairs[0], kind="stable")
    return pairs[0][order], pairs[1][order]


class _Children:
    """The children of each node of a forest, in its order."""

    def __init__(self, parent: Ints) -> None:
        self._order = np.argsort(parent, kind="stable")
        self._bounds = np.searchsorted(parent[self._order], np.arange(len(parent) + 1))

    def of(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Those of nodes, one after the other, and how many each has."""
        count = self._bounds[nodes + 1] - self._bounds[nodes]
        return self._order[expand_ranges(self._bounds[nodes], count)], count


def _outermost_of(
    a: StepEvents, b: StepEvents, threads: list[tuple[Ints, Ints]]
) -> tuple[Ints, Ints, tuple[Ints, Ints]]:
    """The outermost events of threads, those of each step together, and how many of each thread and step there are."""
    steps = 1 + max(int(events.host_step.max(initial=-1)) for events in (a, b))
    found: tuple[list[Ints], list[Ints]] = ([np.zeros(0, np.int64)], [np.zeros(0, np.int64)])
    lengths: tuple[list[Ints], list[Ints]] = ([np.zeros(0, np.int64)], [np.zeros(0, np.int64)])
    for pair in threads:
        for side, (events, roots) in enumerate(zip((a, b), pair, strict=True)):
            step = events.host_step[roots]
            found[side].append(roots[np.argsort(step, kind="stable")])
            lengths[side].append(np.bincount(step, minlength=steps))
    of_a, of_b, count_a, count_b = (np.concatenate(one) for one in (*found, *lengths))
    return of_a, of_b, (count_a, count_b)


def _threads(
    a: StepEvents,
    b: StepEvents,
    key_a: Ints,
    key_b: Ints,
) -> list[tuple[Ints, Ints]]:
    """The outermost events of threads that do most of the same, pair by pair."""
    roots = [np.flatnonzero(events.parent < 0) for events in (a, b)]
    sides = []
    for events, key, root in ((a, key_a, roots[0]), (b, key_b, roots[1])):
        tracks, events_of = np.unique(events.track, return_counts=True)
        tracks = np.sort(tracks[np.argsort(-events_of, kind="stable")[:MOST_THREADS]])
        thread = positions_of(tracks, events.track)
        width = int(max(key_a.max(initial=-1), key_b.max(initial=-1))) + 1
        counts = [np.bincount(key[thread == i], minlength=width) for i in range(len(tracks))]
        sides.append((counts, [root[thread[root] == i] for i in range(len(tracks))]))
    common = [
        (int(np.minimum(x, y).sum()), i, j)
        for i, x in enumerate(sides[0][0])
        for j, y in enumerate(sides[1][0])
    ]
    used: tuple[set[int], set[int]] = set(), set()
    pairs = []
    for count, i, j in sorted(common, key=lambda item: (-item[0], item[1:])):
        if count and i not in used[0] and j not in used[1]:
            used[0].add(i)
            used[1].add(j)
            pairs.append((sides[0][1][i], sides[1][1][j]))
    return pairs


def _keys(a: StepEvents, b: StepEvents) -> tuple[Ints, Ints]:
    """A number for each host event, equal where role, name and shapes are. Shapes count where both have any; of the
    numbers in the names of annotations none does, as they count steps and requests.
    """
    dims = [_dims(events) for events in (a, b)]
    if not all((column >= 0).any() for column in dims):
        dims = [np.full(len(column), -1) for column in dims]
    columns = []
    for events, dim in zip((a, b), dims, strict=True):
        spans = events.trace["spans"]
        role = spans["role"][events.host].astype(np.int64)
        columns.append((role, spans["name"][events.host], dim))
    names = same_texts(
        (a.trace.strings, columns[0][1], columns[0][0] == Role.ANNOTATION),
        (b.trace.strings, columns[1][1], columns[1][0] == Role.ANNOTATION),
    )
    shapes = same_texts((a.trace.strings, dims[0], False), (b.trace.strings, dims[1], False))
    return same_keys((columns[0][0], names[0], shapes[0]), (columns[1][0], names[1], shapes[1]))


def _dims(events: StepEvents) -> Ints:
    args = events.trace["operator_args"]
    at = positions_of(args["span"], events.host)
    return picked(args["dims"], at).astype(np.int64)


def _subtrees(events: StepEvents, key: Ints) -> Array:
    """A number for each event that is equal where all that it calls is, in its order; 0 where that is not known.

    The sequence of keys and depths of a subtree, as a polynomial; its powers have inverses modulo 2 ** 64.
    """
    n = len(events.host)
    if not n:
        return np.zeros(0, np.uint64)
    depth = depths(events.parent)
    fall = np.diff(depth, prepend=0).astype(np.uint64)
    value = mixed(mixed(key.astype(np.uint64) + np.uint64(1)) + fall)
    powers = np.cumprod(np.full(n + 1, _ODD, np.uint64))
    inverse = np.cumprod(np.full(n + 1, pow(int(_ODD), -1, 1 << 64), np.uint64))
    total = np.concatenate((np.zeros(1, np.uint64), np.cumsum(value * powers[:-1])))
    at = np.arange(n)
    inner = (total[at + events.size] - total[at + 1]) * inverse[at + 1]
    found = inner + mixed(key.astype(np.uint64) + np.uint64(3))
    # Of spans that overlap without nesting not all that one calls stands behind it.
    last = subtree_totals(events.parent, at.copy(), np.maximum)
    return np.asarray(np.where(last - at + 1 == events.size, found, np.uint64(0)))


def _match_device(a: StepEvents, b: StepEvents, host: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    pair = [np.full(len(events.host) + 1, -1, np.int64) for events in (a, b)]
    for numbers, matched in zip(pair, host, strict=True):
        numbers[matched] = np.arange(len(matched))
    launched = [numbers[events.launch] for numbers, events in zip(pair, (a, b), strict=True)]
    named = [events.trace["spans"]["name"][events.device] for events in (a, b)]
    names = same_texts((a.trace.strings, named[0], False), (b.trace.strings, named[1], False))
    # What a launch starts alone is matched whatever its name; of several the names decide.
    alone = [np.bincount(one[one >= 0], minlength=len(host[0]) + 1) == 1 for one in launched]
    single = alone[0] & alone[1]
    name = [np.where(single[one], -1, name) for one, name in zip(launched, names, strict=True)]
    known = [np.flatnonzero(one >= 0) for one in launched]
    keys = same_keys(*((one[at], n[at]) for one, n, at in zip(launched, name, known, strict=True)))
    places = same_keys(*((key, occurrences(key)) for key in keys))
    order = np.argsort(places[1])
    at = positions_of(places[1][order], places[0])
    of_launch = known[0][at >= 0], known[1][order[at[at >= 0]]]
    free = [np.flatnonzero(events.launch < 0) for events in (a, b)]
    step = [events.device_step[own] for events, own in zip((a, b), free, strict=True)]
    free = [own[np.argsort(of, kind="stable")] for own, of in zip(free, step, strict=True)]
    most = 1 + max(int(of.max(initial=-1)) for of in step)
    lengths = np.bincount(step[0], minlength=most), np.bincount(step[1], minlength=most)
    i, j = common_subsequences(names[0][free[0]], names[1][free[1]], lengths)
    pairs = (
        np.concatenate((of_launch[0], free[0][i])),
        np.concatenate((of_launch[1], free[1][j])),
    )
    by_begin = np.argsort(pairs[0], kind="stable")
    return pairs[0][by_begin], pairs[1][by_begin]
