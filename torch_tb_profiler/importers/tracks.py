"""Threads and streams, named by the metadata events."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from torch_tb_profiler.importers.events import ANY, DECODE_ERRORS, Args, Event
from torch_tb_profiler.importers.gather import Gatherer
from torch_tb_profiler.importers.repair import as_utf8
from torch_tb_profiler.store import schema
from torch_tb_profiler.store.columns import Array, Table
from torch_tb_profiler.store.defects import WRONG_TYPE, DefectCounts
from torch_tb_profiler.store.strings import NONE, StringBuilder

_TRACKED = ("spans", "memory", "flows", "instants")


def id_text(value: Any) -> str:
    """A pid or tid as text; 7, ``"7"`` and 7.0 are equal."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)


def tracks_table(
    gathered: Gatherer,
    group: dict[str, dict[str, Array]],
    strings: StringBuilder,
    counts: DefectCounts,
) -> Table:
    """The ``tracks`` table; replaces the ``track`` columns of ``group`` by its row numbers."""
    rows: dict[tuple[str, str], int] = {}
    numbers = np.array(
        [rows.setdefault((id_text(pid), id_text(tid)), len(rows)) for pid, tid in gathered.tracks],
        np.int32,
    )
    for name in _TRACKED:
        if name in group:
            group[name]["track"] = numbers[group[name]["track"]]
    processes, threads = _names(gathered.metadata, counts)
    of_process, of_thread = [processes[p] for p, _ in rows], [threads[key] for key in rows]

    def texts(named: list[dict[str, Any]], key: str) -> list[int]:
        values = [names.get(key) for names in named]
        return [NONE if v is None else strings.intern(str(v)) for v in values]

    return schema.TRACKS.build(
        pid=strings.intern_all(p for p, _ in rows),
        tid=strings.intern_all(t for _, t in rows),
        process_name=texts(of_process, "name"),
        process_label=texts(of_process, "labels"),
        thread_name=texts(of_thread, "name"),
        process_sort=[_int(names.get("sort_index")) for names in of_process],
        thread_sort=[_int(names.get("sort_index")) for names in of_thread],
    )


def _names(
    metadata: list[Event], counts: DefectCounts
) -> tuple[dict[str, dict[str, Any]], dict[tuple[str, str], dict[str, Any]]]:
    """What the metadata events say of processes and of threads; the last one of a kind wins."""
    processes: dict[str, dict[str, Any]] = defaultdict(dict)
    threads: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    for event in metadata:
        args, pid = event.args or Args(), id_text(event.pid)
        of_thread = (event.name or "").startswith("thread_")
        target = threads[pid, id_text(event.tid)] if of_thread else processes[pid]
        for key, raw in (
            ("name", args.label),
            ("labels", args.labels),
            ("sort_index", args.sort_index),
        ):
            if len(raw):
                try:
                    target[key] = ANY.decode(as_utf8(bytes(raw), counts))
                except DECODE_ERRORS:
                    counts.add(WRONG_TYPE)
    return processes, threads


def _int(value: Any) -> int:
    return value if isinstance(value, int) and abs(value) < 1 << 62 else 0
