"""The part of a worker's trace that its run's figures need: small, and copied out of mapped files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.distributed.alignment import unix_begin
from torch_tb_profiler.analysis.distributed.collectives import (
    Collectives,
    Label,
    kind_of,
    ranks_of_groups,
)
from torch_tb_profiler.analysis.facts.header import distributed_info
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

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


@dataclass(frozen=True)
class Rank:
    """One worker. Arrays over its collectives have shape (n,), in time order; times are int64 ns
    after its first event.

    begin: Unix time of its first event, ns, None unknown.
    sorts, sort: the distinct keys, and the index of each collective's key.
    label: index into ``labels``, by which it is matched; −1 not at all.
    event, host: rows of spans.
    step: row of its own steps, −1 outside. step_start, step_end: of each of these steps.
    shares: ns of shape (4, steps) in the order of ``SHARES``.
    on_device: whether its collectives are kernels.
    spans: number of spans in its trace.
    """

    begin: int | None
    sorts: tuple[OperationKey, ...]
    sort: Ints
    labels: tuple[Label, ...]
    label: Ints
    sequence: Ints
    event: Ints
    host: Ints
    start: Ints
    end: Ints
    step: Ints
    exposed: Ints
    step_name: tuple[str, ...]
    step_number: tuple[int, ...]
    step_start: Ints
    step_end: Ints
    step_source: str
    shares: Ints
    work: Work
    on_device: bool
    backend: str | None
    world_size: int | None
    host_name: str
    process: str
    devices: tuple[Device, ...]
    spans: int

    def __len__(self) -> int:
        return len(self.start)


def rank_of(trace: Trace, facts: Facts, insight: Insight, number: int | None) -> Rank:
    """A worker's part of its run; ``number``: its rank."""
    table, steps, shares = insight["collectives"], facts["steps"], insight["communication_steps"]
    columns = [table[name] for name in ("kind", "library", "group", "group_size", "dtype", "bytes")]
    first, sort = group_rows(columns)
    sorts = tuple(
        _sort(insight, [int(column[row]) for column in columns]) for row in first.tolist()
    )
    on_device = trace["spans"]["role"][table["event"]] == Role.KERNEL
    labels, label = _labels(trace, sorts, (sort, table["peer"].astype(np.int64), on_device), number)
    info = distributed_info(trace)
    return Rank(
        begin=unix_begin(trace),
        sorts=sorts,
        sort=sort,
        labels=labels,
        label=label,
        sequence=table["sequence"].astype(np.int64),
        event=table["event"].astype(np.int64),
        host=table["host"].astype(np.int64),
        start=table["start"].copy(),
        end=table["end"].copy(),
        step=table["step"].astype(np.int64),
        exposed=table["exposed"].copy(),
        step_name=tuple(facts.strings.many(steps["name"])),
        step_number=tuple(steps["number"].tolist()),
        step_start=steps["start"].copy(),
        step_end=steps["end"].copy(),
        step_source=str(facts.summary["step_source"]),
        shares=np.stack([shares[name] for name in SHARES]),
        work=_work_of(facts, insight),
        on_device=bool(on_device.any()),
        backend=_backend(facts),
        world_size=facts.summary["world_size"],
        host_name=str(trace.header.get("host_name") or info.get("host_name") or "")[:200],
        process=_process(trace),
        devices=_devices(facts),
        spans=trace["spans"].n,
    )


def _work_of(facts: Facts, insight: Insight) -> Work:
    table = insight["step_work"]
    step, cause, name, time = (
        table[key].astype(np.int64) for key in ("step", "cause", "name", "time")
    )
    used = np.unique(name[name >= 0])
    place = np.where(name >= 0, np.searchsorted(used, name), -1)
    return Work(step, cause, place, time, tuple(facts.strings.many(used)))


def _sort(insight: Insight, row: list[int]) -> OperationKey:
    kind, library, group, size, dtype, moved = row
    texts = insight.strings
    return OperationKey(texts[kind], texts[library], texts[group], size, texts[dtype], moved)


def _labels(
    trace: Trace,
    sorts: tuple[OperationKey, ...],
    columns: tuple[Ints, Ints, Mask],
    number: int | None,
) -> tuple[tuple[Label, ...], Ints]:
    """What each collective is matched by. Both ends of a transfer get a label from sender to
    receiver.

    Host libraries run several collectives concurrently, on threads that start them in any order, so
    there the message is part of the label.
    """
    ranks = ranks_of_groups(trace)
    sort, peer, on_device = columns
    first, group = group_rows((sort, peer, on_device.astype(np.int64)))
    labels: dict[Label, int] = {}
    label = np.full(len(first) + 1, -1, np.int64)
    for i, row in enumerate(first.tolist()):
        key = sorts[int(sort[row])]
        members = ranks.get(key.group, ())
        kind = kind_of(key.kind)
        other = _other(members, number, int(peer[row]))
        if key.kind in ("send", "recv"):
            ends = (number, other) if key.kind == "send" else (other, number)
            kind = f"{TRANSFER} {ends[0]} to {ends[1]}" if number is not None and other >= 0 else ""
        elif not kind and on_device[row] and other >= 0:
            # A send and its receive, or both ways at once: of two ranks the order tells which.
            kind = f"{TRANSFER} between {members[0]} and {members[1]}"
        if kind:
            message = "" if on_device[row] else f"{key.bytes} {key.dtype}"
            label[i] = labels.setdefault(Label(key.group, members, kind, message), len(labels))
    return tuple(labels), label[group]


def _other(members: tuple[int, ...], number: int | None, peer: int) -> int:
    """The rank at the other end of a transfer; of a group of two it is known without ``peer``; −1 unknown."""
    if len(members) == 2 and number in members:
        return members[1 - members.index(number)]
    return peer


def matchable(rank: Rank, most: int) -> Collectives:
    """The first ``most`` labelled collectives; their rows index the rank's collectives."""
    index = np.flatnonzero(rank.label >= 0)[:most]
    transfer = np.array(
        [label.kind.startswith(TRANSFER) for label in rank.labels] + [False], np.bool_
    )
    # Each end of a transfer counts its own calls.
    sequence = np.where(transfer[rank.label[index]], -1, rank.sequence[index])
    return Collectives(rank.labels, index, rank.label[index], sequence, rank.end[index])


def _backend(facts: Facts) -> str | None:
    backend = facts.summary["backend"] or ", ".join(facts.summary["communication_backends"])
    return backend or None


def _process(trace: Trace) -> str:
    """Id of the process whose threads ran operators; empty if none did."""
    spans = trace["spans"]
    track = spans["track"][spans["role"] == Role.OPERATOR]
    if not len(track):
        return ""
    return trace.strings[int(trace["tracks"]["pid"][int(np.argmax(np.bincount(track)))])]


def _devices(facts: Facts) -> tuple[Device, ...]:
    table, vendor = facts["devices"], facts.summary["vendor"]
    names, capabilities = (facts.strings.many(table[key]) for key in ("name", "capability"))
    return tuple(
        Device(number, name, memory, capability, vendor)
        for number, name, memory, capability in zip(
            table["id"].tolist(), names, table["memory"].tolist(), capabilities, strict=True
        )
    )
