"""Each host thread as a row of segments: the innermost thing that it did at every moment.

::

    spans      |---- aten::linear ----------|            |-- cudaStreamSynchronize --|
                    |-- aten::mm --|
    segments   [linear][    mm     ][linear][  nothing   ][  cudaStreamSynchronize   ]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of, places_in, stable_order
from torch_tb_profiler.analysis.arrays.intervals import Intervals
from torch_tb_profiler.analysis.arrays.nesting import nearest, still_open
from torch_tb_profiler.analysis.critical_path.device import in_call
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.facts.host_names import host_names, spans_named
from torch_tb_profiler.analysis.facts.links import host_mask
from torch_tb_profiler.native.kernels import compiled_as, segments
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

_WAITS = regex(
    r"(?:cuda|cu|hip|musa|xpu|mtia|acl|aclrt|ze|ur)(?!\w*(?:StreamWait|Enqueue))\w*(?:Synchronize|Wait|Finish)\w*$"
    r"|(?:cuda|cu|hip)(?:Free|MemFree)(?:Host|_v2)?$"
    r"|(?:cuda|cu|hip)Memcpy(?!\w*(?:Async|Peer))\w*$"
)
"""Runtime calls that return only when device work has ended; those that let a stream wait are no such."""
_ALLOCATES = regex(
    r"(?:cuda|cu|hip|musa|xpu|acl|aclrt)(?:Host|Mem|Device)?(?:Malloc|Alloc)(?!\w*Async)\w*$"
)
"""Runtime calls that wait for device work at times: where they take far longer than is usual."""
_READS = regex(r"aten::(?:_local_scalar_dense|nonzero|equal|is_nonzero)$")
"""Operators that return a value of the device to the host; where no runtime calls are recorded, they wait."""
_WAITING_FRAME = regex(
    r"(?:^<built-in (?:method|function) |\): )"
    r"(?:_?wait\w*|_?recv\w*|_?select|poll|epoll|kqueue|accept|acquire|sleep|get|join|_poll|readinto|getaddrinfo)\b"
)
"""Python frames in which a thread does nothing but wait: locks, queues, sockets, timers."""
_MODULE, _ENGINE = regex("nn.Module: "), regex("autograd::engine::evaluate_function")
QUEUE = 1_000
"""A launch waits while so many pieces of work are launched and have not begun: drivers keep 1,024 at most."""
LONG_CALL = 4
"""It waited if it took so many times as long as is usual."""
_BLOCK = 1 << 16
"""Segments that are looked at together."""
_OF_ROLE = {
    Role.OPERATOR: PathCause.OPERATOR,
    Role.PYTHON: PathCause.PYTHON,
    Role.RUNTIME: PathCause.RUNTIME,
    Role.ANNOTATION: PathCause.ANNOTATION,
}


class HostSegments(msgspec.Struct, frozen=True):
    """Arrays of shape (segments,), ordered by (track, start); those of a track cover it from the begin
    of its first span to the end of its last. Between two tracks stands one that is of none::

        edges      0    4    9 │ 2    9        thread 0: [0, 4), [4, 9); of none: [9, 2); thread 1: [2, 9)

    edges: of each track the begins of its segments and the end of the last, ns, of shape (segments + 1,).
    span: innermost row of spans, int32, −1 while none is open. cause: ``PathCause``.
    bounds: by row of tracks the position of its first edge, of shape (tracks + 1,).
    """

    edges: Ints
    span: Array
    cause: Array
    bounds: Ints

    @property
    def start(self) -> Ints:
        """Begins, ns."""
        return self.edges[:-1]

    @property
    def end(self) -> Ints:
        """Ends, ns; of what is of no track perhaps before its begin."""
        return self.edges[1:]

    @property
    def track(self) -> Array:
        """Row of tracks of each, int32; −2 of none; made anew each time."""
        track = np.repeat(np.arange(len(self.bounds) - 1, dtype=np.int32), np.diff(self.bounds))
        track[self._last] = -2
        return track[:-1]

    @property
    def _last(self) -> Ints:
        """Positions of the last edges of all tracks, ascending."""
        return self.bounds[1:][np.diff(self.bounds) > 0] - 1

    @property
    def lengths(self) -> Lengths:
        """How long each lasts, ns, 0 of what is of no track."""
        return Lengths(self.edges, self._last[:-1])

    def of_track(self, track: int) -> slice:
        """The segments of a thread."""
        begin, end = int(self.bounds[track]), int(self.bounds[track + 1])
        return slice(begin, max(begin, end - 1))

    def blocks(self, track: int, since: int, until: int) -> Iterator[slice]:
        """The segments of a thread that reach into a time, ns, some at a time: nearly all segments are those of one thread."""
        own = self.of_track(track)
        first = own.start + int(np.searchsorted(self.end[own], since, side="right"))
        stop = own.start + int(np.searchsorted(self.start[own], until, side="left"))
        for begin in range(first, stop, _BLOCK):
            yield slice(begin, min(begin + _BLOCK, stop))

    def periods(self, chosen: Mask) -> dict[int, Intervals]:
        """When threads are in some segments, by row of tracks; those that follow each other touch."""
        found = {}
        for track in range(len(self.bounds) - 1):
            own = self.of_track(track)
            edge = np.flatnonzero(np.diff(chosen[own], prepend=False, append=False))
            if len(edge):
                start, end = self.start[own], self.end[own]
                found[track] = Intervals(start[edge[::2]], end[edge[1::2] - 1])
        return found

    def on_all(self, time: Intervals) -> dict[int, Intervals]:
        """Some periods as those of all threads, by row of tracks."""
        return dict.fromkeys(range(len(self.bounds) - 1), time)

    def first_of(self, track: Ints) -> Ints:
        """When each thread begins, ns; of one without segments, after everything."""
        empty = self.bounds[track] == self.bounds[track + 1]
        after = np.iinfo(np.int64).max
        return np.where(empty, after, np.append(self.edges, after)[self.bounds[track]])


class Lengths:
    """How long each segment of ``edges`` lasts, ns, float64 of shape (segments,), 0 of some, ``none``: as an array that is made
    where it is asked, because it would take as much memory as the edges. Single ones are asked of tracks alone.
    """

    def __init__(self, edges: Ints, none: Ints) -> None:
        self._edges, self._none = edges, none

    def __len__(self) -> int:
        return max(len(self._edges) - 1, 0)

    def __getitem__(self, rows: slice | Array) -> Array:
        if not isinstance(rows, slice):
            return (self._edges.take(rows + 1) - self._edges.take(rows)).astype(np.float64)
        begin, stop, _ = rows.indices(len(self))
        lengths = np.empty(stop - begin)
        np.subtract(self._edges[begin + 1 : stop + 1], self._edges[begin:stop], out=lengths)
        lengths[self._none[(self._none >= begin) & (self._none < stop)] - begin] = 0
        return lengths

    take = __getitem__

    def copy(self) -> Array:
        """All of them."""
        return self[:]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self[:]


def is_waiting_frame(name: str) -> bool:
    """Whether a thread does nothing but wait in a Python frame."""
    return _WAITING_FRAME.search(name) is not None


def host_segments(trace: Trace, facts: Facts, blocking: Mask) -> HostSegments:
    """The segments of all threads with operators, annotations, runtime calls or Python frames."""
    spans, tracks = trace["spans"], trace["tracks"].n
    cause = _causes(trace, facts, blocking)
    row = np.flatnonzero(host_mask(trace)).astype(np.int32)
    start, track = spans["start"].take(row), spans["track"].take(row)
    end = start + spans["dur"].take(row)
    position = places_in(spans.n + 1, row, np.int32)
    parent = position.take(facts["span_links"]["parent"].take(row))
    del position
    order = stable_order(track)
    none = np.zeros(0, np.int64)
    edges, inner = [none], [none]
    for rows in np.split(order, np.searchsorted(track[order], np.arange(1, tracks))):
        own, innermost = _of_track(rows, start, end, parent) if len(rows) else (none, none)
        edges.append(own if len(innermost) else none)
        inner += [innermost, np.full(min(len(innermost), 1), -1)]
    del start, end, track, parent, order, rows, own, innermost
    bounds = np.cumsum([len(part) for part in edges])
    # One after the other: the thread of a program has nearly all of them.
    span = np.append(row, np.int32(-1))[np.concatenate(inner)[:-1]]
    del inner
    return HostSegments(np.concatenate(edges), span, cause.take(span), bounds)


@compiled_as(segments)
def _of_track(rows: Ints, start: Ints, end: Ints, parent: Array) -> tuple[Ints, Ints]:
    """``(edges, innermost)`` of the segments of a thread: their begins and the end of the last, and the row of each;
    ``rows``: its positions in ``start``, ``end`` and ``parent``, which ascend with ``start``, like ``innermost``;
    −1 where none is open.
    """
    first = start[rows[0]]
    # Begins are even: sorted as single numbers, they count what has begun.
    moment = np.concatenate((start[rows] - first, end[rows] - first))
    moment *= 2
    moment[len(rows) :] += 1
    moment.sort(kind="stable")  # ordered but for short stretches: far quicker than the default
    time = moment >> 1
    last = np.flatnonzero(np.append(time[1:] != time[:-1], True))
    begun = np.cumsum((moment & 1) == 0)[last] - 1
    time = time[last] + first
    innermost = still_open(rows[begun], time, end, parent)[:-1]
    new = np.flatnonzero(np.append(True, innermost[1:] != innermost[:-1])[: len(innermost)])
    return np.append(time[new], time[-1]), innermost[new]


def _causes(trace: Trace, facts: Facts, blocking: Mask) -> Array:
    """``PathCause`` of time whose innermost span is each row of spans, the last for none."""
    spans = trace["spans"]
    of_role = np.full(max(Role) + 1, PathCause.NOT_RECORDED, np.uint8)
    of_role[list(_OF_ROLE)] = list(_OF_ROLE.values())
    cause = np.append(of_role[spans["role"]], np.uint8(PathCause.NOT_RECORDED))
    cause[:-1][blocking] = PathCause.SYNCHRONIZATION
    row, parent = np.flatnonzero(host_mask(trace)), facts["span_links"]["parent"]
    name = spans["name"][row]
    names = host_names(trace.strings, name)
    cause[row[names.region[name]]] = PathCause.ANNOTATION
    # The mark of a step in which a thread records nothing else does not tell what that did.
    marks = row[names.step[name] >= 0]
    cause[marks[~np.isin(marks, parent)]] = PathCause.NOT_RECORDED
    for named, what in (
        (names.dataloader, PathCause.DATALOADER),
        (names.transfer, PathCause.COMMUNICATION),
    ):
        if named[name].any():
            inside = nearest(parent, mask_of(spans.n, row[named[name]]))
            cause[row[inside[row] >= 0]] = what
    return cause


def blocking_calls(trace: Trace, facts: Facts) -> Mask:
    """Which rows of spans are calls that wait for device work: by their name, because most of a copy ran before the
    call that issued it returned, because the queue of launches was full, or an allocation took long.
    """
    spans = trace["spans"]
    runtime = spans["role"] == Role.RUNTIME
    blocking = spans_named(trace, runtime, _WAITS.match)
    row = device_rows(trace)
    launch = facts["span_links"]["launch"][row]
    row, launch = row[launch >= 0], launch[launch >= 0]
    ended = spans["start"][row] + spans["dur"][row]
    copied = spans["role"][row] == Role.MEMCPY
    returned = spans["start"][launch] + spans["dur"][launch]
    blocking[launch[copied & in_call(spans["start"][row], ended, returned)]] = True
    called = spans["start"][launch]
    launched = np.searchsorted(np.sort(called), called, side="left")
    begun = np.searchsorted(np.sort(spans["start"][row]), called, side="right")
    taken = spans["dur"][launch]
    long = taken >= LONG_CALL * (np.median(taken) if len(taken) else 0)
    blocking[launch[long & (launched - begun >= QUEUE)]] = True
    blocking |= _waiting_allocations(trace, ended) | _reading_operators(trace, facts)
    return np.asarray(blocking)


def _waiting_allocations(trace: Trace, ended: Ints) -> Mask:
    """Allocations that took long and returned soon after device work had ended, at ``ended``."""
    spans = trace["spans"]
    call = np.flatnonzero(spans_named(trace, spans["role"] == Role.RUNTIME, _ALLOCATES.match))
    waits = np.zeros(spans.n, np.bool_)
    if len(call):
        ordered, taken = np.sort(ended), spans["dur"][call]
        returned, usual = spans["start"][call] + taken, np.median(taken)
        at = np.searchsorted(ordered, returned, side="right") - 1
        last = np.append(ordered, np.iinfo(np.int64).min)[at]
        waited = (last > spans["start"][call]) & (returned - last <= LONG_CALL * usual)
        waits[call[waited & (taken >= LONG_CALL * usual)]] = True
    return waits


def _reading_operators(trace: Trace, facts: Facts) -> Mask:
    spans, parent = trace["spans"], facts["span_links"]["parent"]
    operator = spans["role"] == Role.OPERATOR
    if not facts.summary.has_device or (spans["role"] == Role.RUNTIME).any():
        return np.zeros(spans.n, np.bool_)
    return spans_named(trace, operator, _READS.match) & ~np.isin(np.arange(spans.n), parent)


def program_thread(trace: Trace, facts: Facts, host: HostSegments) -> int:
    """The thread on which the program runs, row of tracks: that of the steps' annotations; without steps the one
    that was longest within the loop (DataLoader, optimizer, modules, annotations), else in operators that
    autograd did not call, in operators and runtime calls, or in Python frames that do not wait; −1 none.
    """
    steps, spans, parent = facts["steps"], trace["spans"], facts["span_links"]["parent"]
    if steps.n:
        same = (spans["start"] == steps["host_start"][0]) & (spans["name"] == steps["name"][0])
        if same.any():
            return int(spans["track"][np.argmax(same)])
    python, role = spans["role"] == Role.PYTHON, spans["role"]
    names = host_names(trace.strings, spans["name"][host_mask(trace)])
    loop = (names.dataloader | names.region)[spans["name"]] & ~python
    loop |= role == Role.ANNOTATION
    loop |= spans_named(trace, python, _MODULE.match)
    engine = spans_named(trace, role == Role.OPERATOR, _ENGINE.match)
    own = np.append(nearest(parent, engine) < 0, False)[host.span]
    in_loop = np.append(nearest(parent, loop) >= 0, False)[host.span]
    called = (host.cause != PathCause.PYTHON) & (host.span >= 0)
    runs = (host.span >= 0) & ~waiting_segments(trace, facts, host)
    for chosen in (in_loop & own, called & own, called, runs):
        time = np.bincount(host.track[chosen], weights=(host.end - host.start)[chosen])
        if time.any():
            return int(time.argmax())
    return -1


def waiting_segments(trace: Trace, facts: Facts, host: HostSegments) -> Mask:
    """In which segments a Python frame that only waits was innermost, or called what was."""
    python = trace["spans"]["role"] == Role.PYTHON
    waits = spans_named(trace, python, _WAITING_FRAME.search)
    if not waits.any():
        return np.zeros(len(host.span), np.bool_)
    under = np.append(nearest(facts["span_links"]["parent"], waits) >= 0, False)
    return np.asarray(under[host.span] & (host.cause == PathCause.PYTHON))
