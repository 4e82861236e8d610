"""A trace of several processes, as a profiler states them, or that several ranks were merged into → a trace for each of them,
as if each had a file of its own.

::

    spans of the file   0 1 2 3 4 5        TP00   0 2 5  → 0 1 2
    rank                a b a b - a        TP01   1 3    → 0 1         -: of no rank, in a part of its own
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.facts import defects as d
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.facts.merged_ranks import MergedRanks, find_ranks
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store import schema
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.file_processes import (
    OWNERS,
    PROCESSES,
    FileProcess,
    stated_processes,
)
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role

UNRANKED = "without rank"
"""Name of the part of what belongs to no rank, or to one of several."""
_TIMED = ("memory", "flows", "instants")
_LAST_NUMBER = regex(r"(\d{1,9})\D*$", re.ASCII)


class RankPart(msgspec.Struct, frozen=True):
    """name: of the rank; names: of all parts of the file; trace: what belongs to it."""

    name: str
    names: tuple[str, ...]
    trace: Trace


def rank_parts(trace: Trace) -> Iterator[RankPart]:
    """The ranks of a merged file, or the processes of a profiler's, one at a time, then what belongs to none; nothing for a
    file of one.
    """
    stated = stated_processes(trace.header, trace["tracks"].n)
    ranks = find_ranks(trace) if stated is None else _of_processes(trace, stated)
    if ranks is None:
        return
    spans = trace["spans"]
    of_span = ranks.of_track[spans["track"]]
    of_span[ranks.work] = ranks.of_work
    shared = (of_span < 0) & (spans["role"] == Role.PROFILER)
    unclear = int((ranks.of_work < 0).sum())
    rest = bool(((of_span < 0) & ~shared).any())
    if stated is not None:
        # Counted by what read the file.
        unclear = 0
        rest |= any((ranks.of_track[trace[name]["track"]] < 0).any() for name in _TIMED)
    names = (*ranks.names, UNRANKED) if rest else ranks.names
    for number, name in enumerate(names):
        own = number if number < len(ranks.names) else -1
        rows = (of_span == own) & ~shared
        rows |= shared & _around(spans, rows, own >= 0)
        part = _part(trace, ranks, rows, own)
        part.defects.add(d.UNCLEAR_RANK, unclear)
        if stated is not None and own >= 0:
            part.header.update(stated[own].header)
        yield RankPart(name, names, part)


def _of_processes(trace: Trace, stated: list[FileProcess]) -> MergedRanks | None:
    if len(stated) < 2:
        return None
    of_track, work = np.array(trace.header[OWNERS], np.int64), device_rows(trace)
    names = tuple(process.name for process in stated)
    return MergedRanks(names, of_track, work, of_track[trace["spans"]["track"][work]])


def _around(spans: Table, rows: Mask, wanted: bool) -> Mask:
    """Spans that overlap the time of some rows."""
    if not wanted or not rows.any():
        return np.zeros(spans.n, np.bool_)
    start, end = spans["start"], spans["start"] + spans["dur"]
    return np.asarray((start <= end[rows].max()) & (end >= start[rows].min()))


def _part(trace: Trace, ranks: MergedRanks, rows: Mask, own: int) -> Trace:
    """What belongs to one rank: some rows of spans, and all else on its tracks."""
    chosen = np.flatnonzero(rows)
    timed = {
        name: trace[name].take(np.flatnonzero(ranks.of_track[trace[name]["track"]] == own))
        for name in _TIMED
    }
    used = np.zeros(trace["tracks"].n, np.bool_)
    for table in (trace["spans"].take(chosen), *timed.values()):
        used[table["track"]] = True
    track = np.cumsum(used) - 1
    origin = _first(trace, chosen, timed)
    tables = dict(trace.tables)
    for spec in schema.TRACE_TABLES:
        table = trace[spec.name]
        if spec.name == "spans":
            table = table.take(chosen)
            table = table.replace(start=table["start"] - origin, track=track[table["track"]])
            if own < 0:
                table = _without_ids(table)
        elif "span" in table:
            table = _of_spans(table, rows, chosen)
        elif spec.name in _TIMED:
            table = timed[spec.name]
            table = table.replace(time=table["time"] - origin, track=track[table["track"]])
        elif spec.name == "tracks":
            table = table.take(np.flatnonzero(used))
        elif spec.name == "marks":
            table = table.replace(start=table["start"] - origin)
        tables[spec.name] = table
    tables["device_args"] = _with_devices(trace, tables)
    entries = sum(tables[name].n for name in ("spans", *_TIMED))
    return replace(
        trace,
        tables=tables,
        header=_header(trace.header, own == 0),
        defects=trace.defects.merged(DefectCounts()),
        entries=entries,
        origin_ns=trace.origin_ns + origin,
    )


def _without_ids(spans: Table) -> Table:
    """The spans with ids that lead from no device work to a launch or an operator."""
    work = np.isin(spans["role"], DEVICE_ROLES)
    ids = {name: np.where(work, -1, spans[name]) for name in ("correlation", "external")}
    return spans.replace(**ids)


def _first(trace: Trace, rows: Ints, timed: dict[str, Table]) -> int:
    """Time of the first span, else of the first record."""
    if len(rows):
        return int(trace["spans"]["start"][rows].min())
    return next((int(timed[name]["time"].min()) for name in _TIMED if timed[name].n), 0)


def _of_spans(table: Table, rows: Mask, chosen: Ints) -> Table:
    """The rows of a side table of some spans, with their new numbers."""
    kept = table.take(np.flatnonzero(rows[table["span"]]))
    return kept.replace(span=np.searchsorted(chosen, kept["span"]))


def _with_devices(trace: Trace, tables: dict[str, Table]) -> Table:
    """Where the work does not tell its device, the process id does, behind a label."""
    arguments, spans, tracks = tables["device_args"], tables["spans"], tables["tracks"]
    missing = np.flatnonzero(arguments["device"] < 0)
    if not len(missing):
        return arguments
    numbers = [_LAST_NUMBER.search(text) for text in trace.strings.many(tracks["pid"])]
    of_track = np.array([int(found[1]) if found else -1 for found in numbers], np.int64)
    device: Array = arguments["device"].copy()
    device[missing] = of_track[spans["track"][arguments["span"][missing]]]
    return arguments.replace(device=device)


def _header(header: dict[str, Any], first: bool) -> dict[str, Any]:
    """The header of a part: a merger writes that of the first file, and only that one's rank is known."""
    info = header.get("distributedInfo")
    own = {key: value for key, value in header.items() if key not in (PROCESSES, OWNERS)}
    if not first and isinstance(info, dict):
        own["distributedInfo"] = {key: value for key, value in info.items() if key != "rank"}
    return own
