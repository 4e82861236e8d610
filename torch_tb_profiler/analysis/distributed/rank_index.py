"""The index of one rank, made of its trace: small, so that the figures of a run need no trace."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.distributed.collectives import LONGEST_TEXT, listed_groups
from torch_tb_profiler.analysis.facts.header import distributed_info, unix_begin
from torch_tb_profiler.store import rank_schema as schema
from torch_tb_profiler.store.columns import Ints, Table
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, RankIndex, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringBuilder

_OPERATION = ("kind", "library", "group", "group_size", "dtype", "bytes", "peer")
_TEXTS = ("kind", "library", "group", "dtype")
_SHARES = ("computation", "overlap", "communication", "other")


def build_index(trace: Trace, facts: Facts, insight: Insight) -> RankIndex:
    """The index of a trace; any trace has one."""
    texts = StringBuilder()
    tables = {
        **_collectives(trace, insight, texts),
        "rank_steps": _steps(facts, insight, texts),
        "rank_work": _work(facts, insight, texts),
        **_groups(trace, texts),
        "rank_devices": _devices(facts, texts),
    }
    info = distributed_info(trace)
    world_size = facts.summary.world_size
    backend = facts.summary.backend or ", ".join(facts.summary.communication_backends)
    begin = unix_begin(trace)

    def text(value: str) -> list[int]:
        return [texts.intern(value) if value else -1]

    tables["ranks"] = schema.RANKS.build(
        begin=[-1 if begin is None else begin],
        length=[trace_length(trace, facts)],
        spans=[trace["spans"].n],
        world_size=[-1 if world_size is None else world_size],
        on_device=[bool(tables["rank_sorts"]["on_device"].any())],
        step_source=text(facts.summary.step_source),
        writer=text(facts.summary.writer.value),
        host_name=text(
            str(trace.header.get("host_name") or info.get("host_name") or "")[:LONGEST_TEXT]
        ),
        process=text(_process(trace)),
        backend=text(backend),
    )
    return RankIndex(texts.table(), tables)


def trace_length(trace: Trace, facts: Facts) -> int:
    """End of the last event, ns."""
    instants = trace["instants"]["time"]
    return max(facts.summary.span_ns, int(instants[-1]) if len(instants) else 0)


def _collectives(trace: Trace, insight: Insight, texts: StringBuilder) -> dict[str, Table]:
    table = insight["collectives"]
    on_device = trace["spans"]["role"][table["event"]] == Role.KERNEL
    columns = {name: table[name] for name in _OPERATION} | {"on_device": on_device.astype(np.int64)}
    first, sort = group_rows(tuple(columns.values()))
    distinct = {name: values[first] for name, values in columns.items()}
    for name in _TEXTS:
        distinct[name] = _interned(texts, insight.strings.many(distinct[name]), distinct[name])
    kept = {name: table[name] for name in ("event", "step", "sequence", "start", "end", "exposed")}
    return {
        "rank_collectives": schema.RANK_COLLECTIVES.build(sort=sort, **kept),
        "rank_sorts": schema.RANK_SORTS.build(**distinct),
    }


def _interned(texts: StringBuilder, found: list[str], numbers: Ints) -> Ints:
    """Numbers of texts in another table; −1 stays."""
    return np.where(numbers < 0, -1, np.array(texts.intern_all(found), np.int64))


def _steps(facts: Facts, insight: Insight, texts: StringBuilder) -> Table:
    steps, shares = facts["steps"], insight["communication_steps"]
    return schema.RANK_STEPS.build(
        name=_interned(texts, facts.strings.many(steps["name"]), steps["name"]),
        **{key: steps[key] for key in ("number", "start", "end")},
        **{name: shares[name] for name in _SHARES},
    )


def busy_of_steps(facts: Facts) -> Ints:
    """Time of each step with device work, ns, the mean over the devices; −1 without any, and where work is missing."""
    table, devices = facts["device_steps"], facts["devices"].n
    busy = np.zeros(facts["steps"].n, np.int64)
    if not devices:
        return busy - 1
    np.add.at(busy, table["step"], table["busy"])
    busy //= devices
    busy[table["step"][table["busy"] < 0]] = -1
    return busy


def peak_memory(insight: Insight, start: Ints, end: Ints) -> Ints:
    """Highest allocated on an accelerator from ``start`` to ``end``, in bytes; −1 without a record of one."""
    devices, curve = insight["memory_devices"], insight["memory_curve"]
    peak = np.full(len(start), -1, np.int64)
    for device in np.flatnonzero(devices["type"] > 0).tolist():
        rows = slice(*np.searchsorted(curve["device"], (device, device + 1)).tolist())
        time = curve["time"][rows]
        # What was allocated before the first record, and what is after the last one.
        held = np.concatenate((devices["begin"][[device]], curve["allocated"][rows]))
        low, high = np.searchsorted(time, start), np.searchsorted(time, end, "right") + 1
        bounds = np.column_stack((low, high)).ravel()
        most = np.maximum.reduceat(np.append(held, -1), bounds)[::2] if len(start) else peak
        peak = np.maximum(peak, most)
    return peak


def _work(facts: Facts, insight: Insight, texts: StringBuilder) -> Table:
    table = insight["step_work"]
    used, place = np.unique(table["name"], return_inverse=True)
    names = _interned(texts, facts.strings.many(used), used)
    return schema.RANK_WORK.build(
        step=table["step"], cause=table["cause"], name=names[place], time=table["time"]
    )


def _groups(trace: Trace, texts: StringBuilder) -> dict[str, Table]:
    rows, members = [], []
    for group in listed_groups(trace):
        runs = progressions(group.ranks)
        named = (group.name, group.description, group.backend)
        numbers = [texts.intern(text) if text else -1 for text in named]
        rows.append((*numbers, group.size, len(runs)))
        members += runs
    group_columns = zip(*rows, strict=True) if rows else ((),) * 5
    member_columns = zip(*members, strict=True) if members else ((),) * 3
    names = [column.name for column in schema.RANK_GROUPS.columns]
    return {
        "rank_groups": schema.RANK_GROUPS.build(**dict(zip(names, group_columns, strict=True))),
        "rank_members": schema.RANK_MEMBERS.build(
            **dict(zip(("first", "stride", "count"), member_columns, strict=True))
        ),
    }


def progressions(ranks: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """Ascending numbers as ``(first, stride, count)``: 0, 8, 16, 17 is (0, 8, 3), (17, 1, 1)."""
    found: list[tuple[int, int, int]] = []
    for rank in ranks:
        first, stride, count = found[-1] if found else (rank, 1, 0)
        if found and count == 1:
            found[-1] = first, rank - first, 2
        elif found and rank == first + stride * count:
            found[-1] = first, stride, count + 1
        else:
            found.append((rank, 1, 1))
    return found


def _devices(facts: Facts, texts: StringBuilder) -> Table:
    table, vendor = facts["devices"], facts.summary.vendor
    named = {
        key: _interned(texts, facts.strings.many(table[key]), table[key])
        for key in ("name", "capability")
    }
    return schema.RANK_DEVICES.build(
        id=table["id"],
        memory=table["memory"],
        vendor=[texts.intern(vendor) if vendor else -1] * table.n,
        **named,
    )


def _process(trace: Trace) -> str:
    """Id of the process whose threads ran operators; empty if none did."""
    spans = trace["spans"]
    track = spans["track"][spans["role"] == Role.OPERATOR]
    if not len(track):
        return ""
    return trace.strings[int(trace["tracks"]["pid"][int(np.argmax(np.bincount(track)))])]
