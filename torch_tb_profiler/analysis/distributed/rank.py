"""One rank as the figures of its run see it: its index with the texts and labels that these compare."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import expand_ranges
from torch_tb_profiler.analysis.distributed.collectives import (
    Collectives,
    Label,
    ProcessGroup,
    kind_of,
)
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.model import RankIndex
from torch_tb_profiler.store.summary import Writer

SHARES = ("computation", "overlap", "communication", "other")
TRANSFER = "transfer"


class OperationKey(NamedTuple):
    """What the collectives of one row of the table of operations share; empty text and −1 unknown."""

    kind: str
    library: str
    group: str
    group_size: int
    dtype: str
    bytes: int


class Work(NamedTuple):
    """What a rank did in its steps, as the table ``step_work`` of its insight: int64 of shape (rows,); ``name``: index
    into ``names``, −1 none.
    """

    step: Ints
    cause: Ints
    name: Ints
    time: Ints
    names: tuple[str, ...]


class Device(NamedTuple):
    """An accelerator that a worker used; −1 and empty text unknown."""

    id: int
    name: str
    memory: int
    capability: str
    vendor: str


class Rank(msgspec.Struct, frozen=True):
    """One worker. Arrays over its collectives have shape (n,), in time order; times are int64 ns
    after its first event.

    begin: Unix time of its first event, ns, None unknown.
    sorts, sort: the distinct keys, and the index of each collective's key.
    label: index into ``labels``, by which it is matched; −1 not at all.
    event: row of spans.
    step: row of its own steps, −1 outside. step_start, step_end: of each of these steps.
    shares: ns of shape (4, steps) in the order of ``SHARES``.
    on_device: whether its collectives are kernels.
    spans: number of spans in its trace. length: end of its last event.
    """

    begin: int | None
    sorts: tuple[OperationKey, ...]
    sort: Ints
    labels: tuple[Label, ...]
    label: Ints
    sequence: Ints
    event: Ints
    start: Ints
    end: Ints
    step: Ints
    exposed: Ints
    step_name: tuple[str, ...]
    step_number: tuple[int, ...]
    step_start: Ints
    step_end: Ints
    step_source: str
    writer: Writer
    shares: Ints
    work: Work
    on_device: bool
    backend: str | None
    world_size: int | None
    host_name: str
    process: str
    devices: tuple[Device, ...]
    groups: tuple[ProcessGroup, ...]
    spans: int
    length: int

    def __len__(self) -> int:
        return len(self.start)


def rank_of(index: RankIndex, number: int | None) -> Rank:
    """A rank of the index of one rank; ``number``: its rank. Arrays are those of the index where they can be."""
    texts = index.strings.all()
    texts.append("")
    own = {name: int(values[0]) for name, values in index["ranks"].items()}
    collectives, steps = index["rank_collectives"], index["rank_steps"]
    groups, members = _groups(index, texts)
    sorts, sort_of = _sorts(index["rank_sorts"], texts)
    labels, label_of = _labels(index["rank_sorts"], sorts, sort_of, (groups, members), number)
    return Rank(
        begin=own["begin"] if own["begin"] >= 0 else None,
        sorts=sorts,
        sort=sort_of[collectives["sort"]],
        labels=labels,
        label=label_of[collectives["sort"]],
        **{
            key: collectives[key]
            for key in ("sequence", "event", "start", "end", "step", "exposed")
        },
        step_name=tuple(texts[i] for i in steps["name"].tolist()),
        step_number=tuple(steps["number"].tolist()),
        step_start=steps["start"],
        step_end=steps["end"],
        step_source=texts[own["step_source"]],
        writer=Writer(texts[own["writer"]]),
        shares=np.stack([steps[name] for name in SHARES]),
        work=_work(index["rank_work"], texts),
        on_device=bool(own["on_device"]),
        backend=texts[own["backend"]] or None,
        world_size=own["world_size"] if own["world_size"] >= 0 else None,
        host_name=texts[own["host_name"]],
        process=texts[own["process"]],
        devices=_devices(index["rank_devices"], texts),
        groups=groups,
        spans=own["spans"],
        length=own["length"],
    )


def _work(table: Table, texts: list[str]) -> Work:
    used, place = np.unique(table["name"], return_inverse=True)
    place = place - np.searchsorted(used, 0)
    names = tuple(texts[i] for i in used.tolist() if i >= 0)
    return Work(table["step"], table["cause"], np.maximum(place, -1), table["time"], names)


def _groups(
    index: RankIndex, texts: list[str]
) -> tuple[tuple[ProcessGroup, ...], dict[str, tuple[int, ...]]]:
    """The groups, and of each of known ranks, by its name, these as they are stored: few numbers that are equal where the
    ranks are.
    """
    table, runs = index["rank_groups"], index["rank_members"]
    columns = (
        table[name].tolist() for name in ("name", "description", "backend", "size", "members")
    )
    runs_of = np.column_stack([runs[name] for name in ("first", "stride", "count")])
    groups, members, end = [], {}, 0
    for name, description, backend, size, count in zip(*columns, strict=True):
        own, end = runs_of[end : end + count], end + count
        ranks = _ranks(own)
        groups.append(ProcessGroup(texts[name], ranks, texts[description], texts[backend], size))
        if count:
            members[texts[name]] = tuple(own.ravel().tolist())
    return tuple(groups), members


def _ranks(runs: Ints) -> tuple[int, ...]:
    """The ranks of ``(first, stride, count)``."""
    first, stride, count = runs.T
    place = expand_ranges(np.zeros(len(runs), np.int64), count)
    return tuple((np.repeat(first, count) + place * np.repeat(stride, count)).tolist())


def _sorts(table: Table, texts: list[str]) -> tuple[tuple[OperationKey, ...], Array]:
    """The distinct keys, and which of them each row has."""
    kind, library, group, dtype = (
        [texts[i] for i in table[key].tolist()] for key in ("kind", "library", "group", "dtype")
    )
    size, moved = (table[key].tolist() for key in ("group_size", "bytes"))
    keys: dict[OperationKey, int] = {}
    number = [
        keys.setdefault(OperationKey(*row), len(keys))
        for row in zip(kind, library, group, size, dtype, moved, strict=True)
    ]
    return tuple(keys), np.array(number, np.int32)


def _labels(
    table: Table,
    sorts: tuple[OperationKey, ...],
    sort: Array,
    listed: tuple[tuple[ProcessGroup, ...], dict[str, tuple[int, ...]]],
    number: int | None,
) -> tuple[tuple[Label, ...], Array]:
    """What the collectives of each row are matched by; −1 not at all. Both ends of a transfer get a label from sender to
    receiver.

    Host libraries run several collectives concurrently, on threads that start them in any order, so
    there the message is part of the label.
    """
    groups, members_of = listed
    ranks_of = {group.name: group.ranks for group in groups if group.ranks}
    pairs = {name: ranks for name, ranks in ranks_of.items() if len(ranks) == 2}
    labels: dict[Label, int] = {}
    label = np.full(table.n, -1, np.int32)
    columns = zip(sort.tolist(), table["peer"].tolist(), table["on_device"].tolist(), strict=True)
    for row, (at, peer, on_device) in enumerate(columns):
        key = sorts[at]
        pair = pairs.get(key.group, ())
        kind = kind_of(key.kind)
        other = _other(pair, number, peer)
        if key.kind in ("send", "recv"):
            ends = (number, other) if key.kind == "send" else (other, number)
            kind = f"{TRANSFER} {ends[0]} to {ends[1]}" if number is not None and other >= 0 else ""
        elif not kind and on_device and other >= 0 and pair:
            # A send and its receive, or both ways at once: of two ranks the order tells which.
            kind = f"{TRANSFER} between {pair[0]} and {pair[1]}"
        if kind:
            message = "" if on_device else f"{key.bytes} {key.dtype}"
            members = members_of.get(key.group, ())
            label[row] = labels.setdefault(Label(key.group, members, kind, message), len(labels))
    return tuple(labels), label


def _other(pair: tuple[int, ...], number: int | None, peer: int) -> int:
    """The rank at the other end of a transfer; of a group of two it is known without ``peer``; −1 unknown."""
    if number in pair:
        return pair[1 - pair.index(number)]
    return peer


def matchable(rank: Rank, most: int) -> Collectives:
    """The first ``most`` labelled collectives; their rows index the rank's collectives."""
    index = np.flatnonzero(rank.label >= 0)[:most]
    transfer = np.array(
        [label.kind.startswith(TRANSFER) for label in rank.labels] + [False], np.bool_
    )
    # Each end of a transfer counts its own calls.
    sequence = np.where(transfer[rank.label[index]], -1, rank.sequence[index])
    start, end = rank.start[index], rank.end[index]
    return Collectives(rank.labels, index, rank.label[index], sequence, start, end)


def _devices(table: Table, texts: list[str]) -> tuple[Device, ...]:
    columns = (table[key].tolist() for key in ("id", "name", "memory", "capability", "vendor"))
    return tuple(
        Device(number, texts[name], memory, texts[capability], texts[vendor])
        for number, name, memory, capability, vendor in zip(*columns, strict=True)
    )
