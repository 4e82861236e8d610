"""The collectives of a trace, and which of them are the same on several ranks.

A collective is identified by its process group (name and ranks), its kind, and its sequence number
in the group. Without a number those are the same that overlap in time on the Unix clocks; where no clock
tells, their position among those of their group and kind decides, which is comparable only between ranks that recorded
equally many::

    rank 0   allreduce  allreduce  broadcast       ranks 0 and 1 match in all three
    rank 1   allreduce  allreduce  broadcast
    rank 2   allreduce  broadcast                  matches in the broadcast only

Kernels represent the collectives where there are any, because they end together. On the host it is
the ``nccl:`` or ``gloo:`` region, which ends with the collective, else the ``record_param_comms`` or
``c10d::`` operator, which may not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    group_rows,
    mask_of,
    occurrences,
    places_in,
    positions_of,
    scatter,
)
from torch_tb_profiler.analysis.arrays.nesting import climb
from torch_tb_profiler.analysis.facts.calltree import is_call
from torch_tb_profiler.analysis.facts.communication import communication_rows
from torch_tb_profiler.analysis.facts.device_causes import by_external
from torch_tb_profiler.analysis.facts.header import distributed_info, integer
from torch_tb_profiler.analysis.facts.host_names import HOST_LIBRARIES, distinct, name_mask
from torch_tb_profiler.analysis.timeline.call_path import device_work, launched_by
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

MOST_COLLECTIVES = 1 << 14
"""Collectives of a trace that are matched, the first ones: keeps 64 ranks within a second."""

KINDS = (
    "reducescatter",
    "allreduce",
    "allgather",
    "alltoall",
    "broadcast",
    "barrier",
    "gather",
    "scatter",
    "reduce",
)
"""Kinds that are matched; the first one in a name counts. Both ends of a transfer are numbered on
their own, so sends and receives are not matched.
"""
SYNCHRONISING = ("reducescatter", "allreduce", "allgather", "alltoall", "barrier")
"""Kinds that no rank can finish before every rank has started."""

LONGEST_TEXT = 200
"""Of descriptions in a header."""

_REGION = regex(r"\w+:(?!:)(?P<kind>\w+)")
_POINT_TO_POINT = regex(r"_?i?(send|recv)(?!_?recv)", re.I)
_OPERATOR = regex(r"_?c10d\w*::(?P<kind>\w+)")
_NOT_LETTERS = regex(r"[^a-z]+")

_LEAST_SHARE = 0.5
"""Of the collectives that both ranks recorded meanwhile so many overlap, or the clocks do not tell."""


class Label(msgspec.Struct, frozen=True):
    """What collectives must share to be the same one on several ranks.

    ranks: of the group, in any form that is equal where they are; empty if unknown.
    message: size and type of what they move; empty where they need not agree.
    """

    group: str
    ranks: tuple[int, ...]
    kind: str
    message: str = ""


class ProcessGroup(msgspec.Struct, frozen=True):
    """A process group. ranks: ascending, empty unknown. description, backend: empty unknown. size: −1 unknown."""

    name: str
    ranks: tuple[int, ...]
    description: str
    backend: str
    size: int


class Collectives(msgspec.Struct, frozen=True):
    """Collectives of a trace in time order, at most ``MOST_COLLECTIVES``; int64 arrays of shape
    (n,).

    row: rows of spans.
    label: index into ``labels``.
    sequence: number in the group, −1 unknown.
    start, end: ns.
    """

    labels: tuple[Label, ...]
    row: Ints
    label: Ints
    sequence: Ints
    start: Ints
    end: Ints


class Matches(msgspec.Struct, frozen=True, dict=True):
    """Collectives that at least two ranks share, by time. Each rank's call of one is an entry: so few ranks of a group
    among many need no more room than they are.

    ::

                 match 0   match 1            match  0 0 1 1 1
        rank 0   row 3     row 4      ─▶      rank   0 2 0 1 2
        rank 1             row 2              row    3 5 4 2 7
        rank 2   row 5     row 7              first  0   2     5

    ranks: how many.
    label: index into ``labels``, shape (matches,).
    number: sequence number, else position among those of its label; int64 of shape (matches,).
    match, rank: of each entry, ascending by both; int64 of shape (entries,).
    row: its row of spans in the trace of its rank. end: ns of the rank's own time. Likewise.
    """

    labels: tuple[Label, ...]
    ranks: int
    label: Ints
    number: Ints
    match: Ints
    rank: Ints
    row: Array
    end: Ints

    def __len__(self) -> int:
        return len(self.label)

    @cached_property
    def first(self) -> Ints:
        """The first entry of each match, and behind them the number of entries."""
        return np.searchsorted(self.match, np.arange(len(self) + 1))

    @cached_property
    def _by_rank(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.rank, kind="stable")
        return order, np.searchsorted(self.rank[order], np.arange(self.ranks + 1))

    def of_rank(self, rank: int) -> Ints:
        """The entries of a rank, by match."""
        order, bounds = self._by_rank
        return order[bounds[rank] : bounds[rank + 1]]

    def of_match(self, match: int) -> slice:
        """The entries of a match, by rank."""
        return slice(int(self.first[match]), int(self.first[match + 1]))

    def reduced(self, reduction: np.ufunc, values: Array) -> Array:
        """``reduction`` of the values of the entries of each match, of shape (matches,)."""
        return reduction.reduceat(values, self.first[:-1]) if len(self) else values[:0]

    def take(self, chosen: Mask) -> Matches:
        """The chosen ones of the matches."""
        entry, number = chosen[self.match], np.cumsum(chosen) - 1
        columns = (column[entry] for column in (self.rank, self.row, self.end))
        return Matches(
            self.labels,
            self.ranks,
            self.label[chosen],
            self.number[chosen],
            number[self.match[entry]],
            *columns,
        )

    def by_rank(self, values: Array, missing: int = -1) -> Array:
        """Values of the entries as an array of shape (ranks, matches)."""
        table = np.full((self.ranks, len(self)), missing, values.dtype)
        table[self.rank, self.match] = values
        return table


class CollectiveCalls(msgspec.Struct, frozen=True):
    """Collectives and point-to-point transfers in time order; int64 arrays of shape (n,), −1
    unknown.

    row: row of spans of the communication kernel, else of the host region or operator.
    named: row of the host call that names it (a region, else an operator) at or around its launch.
    argument: row of ``collective_args``.
    """

    row: Ints
    named: Ints
    argument: Ints


def collective_calls(trace: Trace, facts: Facts) -> CollectiveCalls:
    """Communication kernels and host-library collectives, or without kernels host calls."""
    spans, links = trace["spans"], facts["span_links"]
    parent = links["parent"]
    regions, operators = _host_names(trace)
    on_host = regions | operators
    carries = mask_of(spans.n, trace["collective_args"]["span"])
    kernels = communication_rows(trace, facts)
    row = (
        np.sort(np.concatenate((kernels, _of_host_libraries(trace, regions))))
        if len(kernels)
        else _host_rows(trace, regions, operators, carries)
    )
    on_device = spans["role"][row] == Role.KERNEL
    above = np.where(on_device, links["launch"][row], parent[row]).astype(np.int64)
    lost = np.flatnonzero(on_device & (above < 0))
    if len(lost):
        calls = np.flatnonzero(is_call(spans["role"]) & on_host[spans["name"]])
        above[lost] = np.append(calls, -1)[by_external(trace, calls, row[lost])]
    # The enclosing calls add what a kernel or region lacks: the region its kind,
    # record_param_comms the arguments.
    named = climb(parent, above, on_host[spans["name"]])
    itself = ~on_device & regions[spans["name"][row]]
    arguments = np.where(carries[row], row, climb(parent, above, carries))
    return CollectiveCalls(
        row, np.where(itself, row, named), positions_of(trace["collective_args"]["span"], arguments)
    )


def _of_host_libraries(trace: Trace, regions: Mask) -> Ints:
    """Rows of the regions of host libraries; those of other libraries only launch kernels."""
    spans = trace["spans"]
    numbers = np.flatnonzero(regions[:-1])
    own = name_mask(trace.strings, numbers, lambda text: text.partition(":")[0] in HOST_LIBRARIES)
    return np.flatnonzero(is_call(spans["role"]) & own[spans["name"]])


def _host_names(trace: Trace) -> tuple[Mask, Mask]:
    """By string number: names of ``backend:kind`` regions, names of collective operators."""
    spans = trace["spans"]
    regions, operators = (np.zeros(len(trace.strings) + 1, np.bool_) for _ in range(2))
    for number in distinct(spans["name"][is_call(spans["role"])], trace.strings):
        text = trace.strings[number]
        for pattern, known in ((_REGION, regions), (_OPERATOR, operators)):
            match = pattern.match(text)
            if match and (kind_of(match["kind"]) or point_to_point(match["kind"])):
                known[number] = True
    return regions, operators


def kind_of(text: str) -> str:
    """The kind of a collective in any spelling (``all_reduce``, ``AllReduce_Sum``), or empty."""
    letters = _NOT_LETTERS.sub("", text.lower())
    return (
        next((kind for kind in KINDS if kind in letters), "") if "sendrecv" not in letters else ""
    )


def point_to_point(text: str) -> str:
    """``send`` or ``recv`` for one end of a transfer (``isend``, ``recv_any_source``), or empty."""
    match = _POINT_TO_POINT.match(text)
    return match[1] if match else ""


def _host_rows(trace: Trace, regions: Mask, operators: Mask, carries: Mask) -> Ints:
    """Rows of the first kind of host events that exists: regions, events with arguments, operators."""
    spans = trace["spans"]
    call = is_call(spans["role"])
    for chosen in (regions[spans["name"]], carries, operators[spans["name"]]):
        row = np.flatnonzero(call & chosen)
        if len(row):
            return row
    return np.zeros(0, np.int64)


def argument_column(arguments: Table, row: Ints, column: str) -> Ints:
    """A column of ``collective_args`` for some of its rows; −1 for row −1. int64."""
    return np.append(arguments[column], -1).astype(np.int64)[row]


def listed_groups(trace: Trace) -> list[ProcessGroup]:
    """The process groups that the header lists."""
    listed: Any = distributed_info(trace).get("pg_config")
    return [
        _group(group)
        for group in (listed if isinstance(listed, list) else ())
        if isinstance(group, dict)
    ]


def _group(listed: dict[str, Any]) -> ProcessGroup:
    ranks, size = listed.get("ranks"), integer(listed.get("pg_size"))
    if not isinstance(ranks, list) or not all(
        type(rank) is int and abs(rank) < 1 << 62 for rank in ranks
    ):
        ranks = []
    description, backend = (
        str(listed.get(key) or "")[:LONGEST_TEXT] for key in ("pg_desc", "backend_config")
    )
    return ProcessGroup(
        str(listed.get("pg_name")),
        tuple(sorted(ranks)),
        description,
        backend,
        -1 if size is None else size,
    )


def ranks_of_groups(trace: Trace) -> dict[str, tuple[int, ...]]:
    """The ranks of every process group of which the header lists them, by group name."""
    return {group.name: group.ranks for group in listed_groups(trace) if group.ranks}


def match_collectives(ranks: Sequence[Collectives], begins: Sequence[int | None] = ()) -> Matches:
    """Which collectives are the same on several ranks of a run. ``begins``: Unix time of the first event of each, ns; None
    unknown.
    """
    labels: dict[Label, int] = {}
    global_label = [
        np.array([labels.setdefault(label, len(labels)) for label in collectives.labels], np.int64)[
            collectives.label
        ]
        for collectives in ranks
    ]
    of_rank = np.repeat(np.arange(len(ranks)), [len(collectives.row) for collectives in ranks])
    if not len(of_rank):
        none = np.zeros(0, np.int64)
        return Matches((), len(ranks), *(none,) * 6)
    label = np.concatenate(global_label)
    sequence, row, start, end = (
        np.concatenate([getattr(c, name) for c in ranks])
        for name in ("sequence", "row", "start", "end")
    )
    _, kind = group_rows((label, sequence))
    _, cell = group_rows((of_rank, kind))
    position = occurrences(cell)
    count = np.bincount(cell)[cell].astype(np.int64)
    agreed = count == _usual(of_rank, kind, count)[kind]
    offset = np.array([-1 if b is None else b for b in begins] or [-1] * len(ranks), np.int64)
    timed = (sequence < 0) & (offset >= 0)[of_rank]
    if timed.any():
        begins_at, ends_at = start + offset[of_rank], end + offset[of_rank]
        odd = timed & _out_of_place(kind, cell, position, begins_at, ends_at)[kind]
        if odd.any():
            position[odd], agreed[odd] = _by_clock(
                kind[odd], of_rank[odd], begins_at[odd], ends_at[odd], agreed[odd]
            )
    first, column = group_rows((kind[agreed], position[agreed]))
    shared = np.bincount(column, minlength=len(first)) > 1
    of_rank, row, end, label, sequence, position = (
        values[agreed] for values in (of_rank, row, end, label, sequence, position)
    )
    order = np.flatnonzero(shared)
    order = order[np.argsort(end[first[order]], kind="stable")]
    new = places_in(len(first), order)
    match = new[column]
    entry = np.flatnonzero(match >= 0)
    # They come by rank, which a stable sort keeps within each match.
    entry = entry[np.argsort(match[entry], kind="stable")]
    example = first[order]
    return Matches(
        tuple(labels),
        len(ranks),
        label[example],
        np.where(sequence[example] >= 0, sequence[example], position[example]),
        match[entry],
        of_rank[entry],
        row[entry],
        end[entry],
    )


def match_of(trace: Trace, facts: Facts, matches: Matches, rank: int, row: int) -> int:
    """The match that a span of a rank's trace belongs to, −1 none.

    Also the launching call and what encloses that or the region, unless it encloses another
    collective.
    """
    entries = matches.of_rank(rank)
    own = matches.row[entries]
    matched = np.flatnonzero(own == row)
    if not len(matched):
        spans = trace["spans"]
        end = int(spans["start"][row]) + int(spans["dur"][row])
        enclosed = (
            (own > row)
            & (spans["track"][own] == spans["track"][row])
            & (spans["start"][own] + spans["dur"][own] <= end)
        )
        matched = np.flatnonzero(
            enclosed | np.isin(own, launched_by(trace, device_work(trace, facts), row))
        )
    return int(matches.match[entries[matched[0]]]) if len(matched) == 1 else -1


def _usual(of_rank: Ints, kind: Ints, count: Array) -> Ints:
    """The number of each kind that most ranks recorded; the smaller of equally frequent ones."""
    first, _ = group_rows((of_rank, kind))
    votes, vote = group_rows((kind[first], count[first]))
    voters = np.bincount(vote, minlength=len(votes))
    voted_kind, voted = kind[first][votes], count[first][votes]
    order = np.lexsort((voted, -voters, voted_kind))
    opens = order[np.unique(voted_kind[order], return_index=True)[1]]
    usual = scatter(int(kind.max()) + 1, voted_kind[opens], voted[opens], 0)
    return usual


def _out_of_place(kind: Ints, cell: Ints, position: Ints, start: Ints, end: Ints) -> Mask:
    """Of which kinds some collectives at equal places do not overlap, or not all ranks have equally many; bool by kind. The
    others need no look at the clocks.

    cell: number of each collective's kind and rank. position: its place among those.
    """
    first, place = group_rows((kind, position))
    opens, closes = start[first[place]], end[first[place]]
    near = (start <= closes) & (opens <= end)
    count = np.bincount(cell)
    overlap = np.bincount(cell, weights=near)
    total = np.bincount(cell, weights=np.where(near, end - closes, 0))
    late = np.rint(total / np.maximum(overlap, 1)).astype(np.int64)[cell]
    apart = ~near & ((start - late > closes) | (opens > end - late))
    example = scatter(len(count), cell, kind, 0)
    kinds = int(kind.max(initial=-1)) + 1
    odd = mask_of(kinds, example[overlap < _LEAST_SHARE * count])
    odd[kind[apart]] = True
    least, most = np.full(kinds, np.iinfo(np.int64).max), np.zeros(kinds, np.int64)
    np.minimum.at(least, example, count)
    np.maximum.at(most, example, count)
    return np.asarray(odd | (least < most))


def _by_clock(kind: Ints, rank: Ints, start: Ints, end: Ints, by_place: Mask) -> tuple[Ints, Mask]:
    """``(position, matched)`` of collectives: equal positions of a kind are the same one.

    Which collectives without a number are the same, by the clocks of their ranks: those that overlap in time.

    ::

        rank 0   [0]  [1]  [2]            rank 1 began to record one iteration later: by position 0 would be 1,
        rank 1        [0]  [1]  [2]       by the clocks 1 is 0 and 2 is 1

    A collective of one rank overlaps only one of another's, because each rank runs those of a group one after another. They
    end together, so the mean by which the ends of overlapping ones differ is about what the clocks differ by: less that, others
    may overlap.

    Of each kind every rank is laid beside the rank with most of them. Where the clocks do not tell, the place of a
    collective among those of its rank stays its position, if ``by_place`` says that these are comparable.

    kind, rank: of each collective, int64 of shape (n,), each rank's in the order of time. start, end: Unix time, ns.
    """
    position, matched = np.zeros(len(kind), np.int64), by_place.copy()
    _, cell = group_rows((kind, rank))
    position[:] = occurrences(cell)
    order = np.lexsort((position, rank, kind))
    bounds = np.flatnonzero(np.append(True, np.diff(cell[order]) != 0))
    cells = np.split(order, bounds[1:]) if len(order) else []
    of_kind: dict[int, list[Ints]] = {}
    for own in cells:
        of_kind.setdefault(int(kind[own[0]]), []).append(own)
    for ranks in of_kind.values():
        if len(ranks) > 1:
            _lay_beside(ranks, start, end, position, matched)
    return position, matched


def _lay_beside(ranks: list[Ints], start: Ints, end: Ints, position: Ints, matched: Mask) -> None:
    """Give the collectives of all ranks of a kind the positions of those of the rank with most that they overlap."""
    most = max(ranks, key=len)
    opens, closes = start[most], end[most]
    matched[most] = True
    for own in ranks:
        if own is most:
            continue
        near, far, overlap = nearest(opens, closes, start[own], end[own])
        both = (end[own] >= opens[0]) & (start[own] <= closes[-1])
        if not overlap.any() or overlap.sum() < _LEAST_SHARE * both.sum():
            # By place with those that have equally many, and only with them.
            equal = len(own) == len(most)
            matched[own] |= equal
            position[own] += 0 if equal else len(most)
            continue
        late = int(np.mean((end[own] - closes[near])[overlap]))
        corrected = nearest(opens, closes, start[own] - late, end[own] - late)
        near, far, overlap = np.where(overlap, (near, far, overlap), corrected)
        overlap = overlap.astype(np.bool_)
        # Two that overlap the same one: the nearer end is it.
        order = np.lexsort((far, near, ~overlap))
        once = np.append(True, (np.diff(near[order]) != 0) | ~overlap[order][1:])
        chosen = np.zeros(len(own), np.bool_)
        chosen[order] = once & overlap[order]
        position[own], matched[own] = near, chosen


def nearest(opens: Ints, closes: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Mask]:
    """For each collective of a rank the other rank's that ends nearest, how far from it, and whether they overlap."""
    last = len(closes) - 1
    after = np.clip(np.searchsorted(closes, end), min(1, last), last)
    before = np.maximum(after - 1, 0)
    near = np.where(end - closes[before] <= np.abs(closes[after] - end), before, after)
    return near, np.abs(closes[near] - end), (start <= closes[near]) & (opens[near] <= end)
