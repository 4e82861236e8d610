"""The process groups of a run: who belongs to them, what they move, how fast beside the link, and who sends how much to whom.

::

    group "tp"  ranks 0 1       matrix     to 0    1    2    3
    group "dp"  ranks 0 2       from 0      –    tp   dp
    all_reduce of S bytes            1     tp     –
    in a group of n: each            2     dp          –
    member sends 2 S / n to          3                      –
    every other one
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from torch_tb_profiler.analysis.distributed.bandwidth import ALL, Operation, bus_factor
from torch_tb_profiler.analysis.distributed.collectives import ProcessGroup
from torch_tb_profiler.analysis.distributed.rank import TRANSFER, OperationKey, Rank
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.distributed.steps import CollectiveTime, own_waits, split
from torch_tb_profiler.hardware.accelerators import find
from torch_tb_profiler.hardware.links import Link, link_of
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints

_TRANSFER = regex(rf"{TRANSFER} (\d+) to (\d+)")


class GroupKey(NamedTuple):
    """A process group of the run. ``ranks``: its members, empty unknown; then groups of one name are one."""

    name: str
    ranks: tuple[int, ...]


class GroupSums(msgspec.Struct):
    """Sums over the ranks that recorded calls in a group; ns, bytes.

    recorded: indices of these ranks. calls: of each. moved: Σ message sizes, None once one is unknown. time: with any of its
    collectives in flight. traffic, carried: Σ bytes that the links carried by nccl-tests, and the time for it.
    """

    listed: ProcessGroup | None
    size: int
    recorded: list[int] = msgspec.field(default_factory=list)
    calls: list[int] = msgspec.field(default_factory=list)
    moved: int | None = 0
    time: int = 0
    waiting: int = 0
    transfer: int = 0
    unsplit: int = 0
    exposed: int = 0
    traffic: float = 0.0
    carried: int = 0

    @property
    def bus_bandwidth(self) -> float | None:
        """Bytes/s, the mean over the time of the calls with a known bandwidth."""
        return self.traffic * 1e9 / self.carried if self.carried > 0 else None


def process_groups(figures: RunFigures) -> dict[GroupKey, GroupSums]:
    """The groups in which something was called, those with the most time first."""
    found: dict[GroupKey, GroupSums] = {}
    operations = _operations(figures)
    for index, rank in enumerate(figures.ranks):
        own = {group.name: group for group in reversed(rank.groups)}
        number: dict[str, int] = {}
        group_of = [number.setdefault(sort.group, len(number)) for sort in rank.sorts]
        sums = [_sums(found, name, own.get(name)) for name in number]
        times = _times(figures, index, rank, np.array(group_of, np.int64), len(number))
        for place, one in enumerate(sums):
            _add_times(one, index, times, place)
        for place, sort in zip(group_of, rank.sorts, strict=True):
            sums[place].size = max(sums[place].size, sort.group_size)
        for row in operations.get(index, ()):
            _add_operation(sums[number[row.sort.group]], row)
    return dict(sorted(found.items(), key=lambda item: -item[1].time))


def _sums(found: dict[GroupKey, GroupSums], name: str, listed: ProcessGroup | None) -> GroupSums:
    """The sums of a group, which are begun with its first rank."""
    key = GroupKey(name, listed.ranks if listed is not None else ())
    return found.setdefault(key, GroupSums(listed, len(key.ranks) or -1))


def _operations(figures: RunFigures) -> dict[int, list[Operation]]:
    rows: dict[int, list[Operation]] = {}
    for row in figures.operations:
        if row.rank != ALL:
            rows.setdefault(row.rank, []).append(row)
    return rows


def _times(
    figures: RunFigures, index: int, rank: Rank, group_of: Ints, groups: int
) -> CollectiveTime:
    """Time with a collective of each group in flight on a rank."""
    wait = own_waits(index, len(rank), figures.matched.matches, figures.waits)
    return split(rank.start, rank.end, wait, group_of[rank.sort], groups)


def _add_times(sums: GroupSums, index: int, times: CollectiveTime, place: int) -> None:
    sums.recorded.append(index)
    sums.calls.append(0)
    sums.time += int(times.total[place])
    sums.waiting += int(times.waiting[place])
    sums.transfer += int(times.transfer[place])
    sums.unsplit += int(times.unsplit[place])


def _add_operation(sums: GroupSums, row: Operation) -> None:
    sums.calls[-1] += row.calls
    sums.exposed += row.exposed
    if row.sort.kind == "barrier":
        return
    known = row.sort.bytes >= 0
    sums.moved = (
        None if sums.moved is None or not known else sums.moved + row.sort.bytes * row.calls
    )
    factor = bus_factor(row.sort.kind, row.sort.group_size)
    if known and factor and row.carried > 0:
        sums.traffic += row.sort.bytes * row.calls * factor
        sums.carried += row.carried


class RankNode(msgspec.Struct, frozen=True):
    """Where a rank of the figures runs. number: its rank, None unknown. node: empty unknown."""

    number: int | None
    node: str


def node_count(key: GroupKey, sums: GroupSums, places: Sequence[RankNode]) -> int:
    """Nodes that a group spans; −1 unless every member was recorded and says where it ran."""
    nodes = _known_nodes(key, sums, places)
    return len(set(nodes)) if nodes and len(nodes) == sums.size else -1


def crosses_nodes(key: GroupKey, sums: GroupSums, places: Sequence[RankNode]) -> bool | None:
    """Whether a group spans several nodes, which two of its members can tell; None unknown."""
    if len(set(_known_nodes(key, sums, places))) > 1:
        return True
    count = node_count(key, sums, places)
    return None if count < 0 else count > 1


def _known_nodes(key: GroupKey, sums: GroupSums, places: Sequence[RankNode]) -> list[str]:
    if key.ranks:
        members = frozenset(key.ranks)
        return [place.node for place in places if place.number in members and place.node]
    # Several groups may share a name; only where they are few enough to be one it is one.
    if len(sums.recorded) > sums.size > 0:
        return []
    return [places[index].node for index in sums.recorded if places[index].node]


def link_rate(
    key: GroupKey, sums: GroupSums, places: Sequence[RankNode], ranks: Sequence[Rank]
) -> tuple[Link, float] | None:
    """The link between the members of a group and bytes/s that one of them can send over it; None where the group leaves
    its node or its devices are not known to have one.
    """
    if crosses_nodes(key, sums, places) is not False or sums.size < 2:
        return None
    devices = {
        (device.name, device.vendor, device.memory)
        for index in sums.recorded
        for device in ranks[index].devices
    }
    known = [find(name, vendor, -1, memory) for name, vendor, memory in devices]
    if len({one.name if one else "" for one in known}) != 1 or known[0] is None:
        return None
    link = link_of(known[0])
    return None if link is None else (link, link.rate(sums.size))


def pair_share(kind: str, ranks: int) -> float | None:
    """Of a collective's message, what each member of a group sends to each other one; None for other kinds and sizes.

    What nccl-tests counts on the links (``bus_factor``), in equal parts for every ordered pair: all_reduce 2 / n;
    all_gather, reduce_scatter, all_to_all, and, as nobody says who the root is, broadcast and reduce 1 / n; gather and
    scatter 1 / n². A model: the library may route it otherwise.
    """
    if ranks < 2:
        return None
    if kind == "all_reduce":
        return 2 / ranks
    if kind in ("gather", "scatter"):
        return 1 / ranks**2
    if kind in ("all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce"):
        return 1 / ranks
    return None


class Traffic(NamedTuple):
    """Bytes from each rank of the figures to each, float64 of shape (ranks, ranks). left_out: calls of which size, members or
    peer are not known, or whose other ranks were not recorded.
    """

    sent: Array
    left_out: int


def traffic(ranks: Sequence[Rank], places: Sequence[RankNode]) -> Traffic:
    """Who sends how much to whom: collectives by ``pair_share``, a transfer from its sender to its receiver, as the sender
    recorded it.
    """
    index_of = {place.number: i for i, place in enumerate(places) if place.number is not None}
    sent, left_out = np.zeros((len(ranks), len(ranks))), 0
    columns: dict[tuple[int, ...], list[int]] = {}
    for index, rank in enumerate(ranks):
        members = {group.name: group.ranks for group in reversed(rank.groups)}
        for sort, label, calls in _called(rank):
            key = rank.sorts[sort]
            moved = max(key.bytes, 0) * calls
            if key.kind in ("send", "recv"):
                left_out += not _add_transfer(sent, rank, label, (key, moved), index_of) and calls
                continue
            group = members.get(key.group, ())
            share = pair_share(key.kind, len(group))
            if share is None or key.bytes < 0:
                left_out += calls * (key.kind != "barrier")
                continue
            if group not in columns:
                columns[group] = [index_of[one] for one in group if one in index_of]
            sent[index, columns[group]] += moved * share
            sent[index, index] = 0
    return Traffic(sent, left_out)


def _called(rank: Rank) -> list[tuple[int, int, int]]:
    """Number of calls of each (key, label)."""
    labels = len(rank.labels) + 1
    counts = np.bincount(
        rank.sort.astype(np.int64) * labels + rank.label + 1, minlength=len(rank.sorts) * labels
    )
    return [
        (at // labels, at % labels - 1, int(counts[at])) for at in np.flatnonzero(counts).tolist()
    ]


def _add_transfer(
    sent: Array,
    rank: Rank,
    label: int,
    message: tuple[OperationKey, int],
    index_of: dict[int, int],
) -> bool:
    """Whether a transfer's ends and size are known; its bytes are added once, by the sender's record."""
    key, moved = message
    ends = _TRANSFER.fullmatch(rank.labels[label].kind) if label >= 0 else None
    if ends is None or key.bytes < 0:
        return False
    sender, receiver = (index_of.get(int(number), -1) for number in ends.groups())
    if sender < 0 or receiver < 0:
        return False
    if key.kind == "send":
        sent[sender, receiver] += moved
    return True
