"""Threads and streams, named by the metadata events."""

from __future__ import annotations

from typing import Any

import numpy as np

from torch_tb_profiler.importers.events import ANY, DECODE_ERRORS, Event
from torch_tb_profiler.importers.gather import Gatherer
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
    named = _Names(gathered.metadata, counts)
    listed = list(rows)
    return schema.TRACKS.build(
        pid=[strings.intern(p) for p, _ in listed],
        tid=[strings.intern(t) for _, t in listed],
        process_name=_numbers(strings, [named.processes.get(p, {}).get("name") for p, _ in listed]),
        process_label=_numbers(
            strings, [named.processes.get(p, {}).get("labels") for p, _ in listed]
        ),
        thread_name=_numbers(strings, [named.threads.get(k, {}).get("name") for k in listed]),
        process_sort=[_int(named.processes.get(p, {}).get("sort_index")) for p, _ in listed],
        thread_sort=[_int(named.threads.get(k, {}).get("sort_index")) for k in listed],
    )


class _Names:
    """What the metadata events say; the last one of a kind wins."""

    def __init__(self, metadata: list[Event], counts: DefectCounts) -> None:
        self.processes: dict[str, dict[str, Any]] = {}
        self.threads: dict[tuple[str, str], dict[str, Any]] = {}
        for event in metadata:
            what, args = event.name or "", event.args
            if args is None:
                continue
            pid = id_text(event.pid)
            target = (
                self.threads.setdefault((pid, id_text(event.tid)), {})
                if what.startswith("thread_")
                else self.processes.setdefault(pid, {})
            )
            for key, raw in (
                ("name", args.label),
                ("labels", args.labels),
                ("sort_index", args.sort_index),
            ):
                if len(raw):
                    try:
                        target[key] = ANY.decode(raw)
                    except DECODE_ERRORS:
                        counts.add(WRONG_TYPE)


def _numbers(strings: StringBuilder, texts: list[Any]) -> list[int]:
    return [NONE if t is None else strings.intern(str(t)) for t in texts]


def _int(value: Any) -> int:
    return value if isinstance(value, int) and abs(value) < 1 << 62 else 0
