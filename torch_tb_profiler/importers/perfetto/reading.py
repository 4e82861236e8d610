"""Perfetto's own traces (``.pftrace``), as PyTorch and others write them → ``Trace``.

::

    bytes ─▶ PacketReader ─▶ Translation (entries of a Chrome trace) ─▶ decode_chunk ─▶ Gatherer (columns) ─▶ assemble ─▶ Trace
              packets          │                                                              ▲
                               └── begins and ends of slices ─▶ match ─▶ durations ───────────┘
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.importers.assemble import assemble
from torch_tb_profiler.importers.chunks import Batch, decode_entries
from torch_tb_profiler.importers.decimal_text import LONGEST_NS
from torch_tb_profiler.importers.gather import Gatherer
from torch_tb_profiler.importers.inferred_roles import placed
from torch_tb_profiler.importers.peeked_text import count_problem
from torch_tb_profiler.importers.perfetto import PERFETTO
from torch_tb_profiler.importers.perfetto.entries import Translation
from torch_tb_profiler.importers.perfetto.packets import PacketReader, Piece
from torch_tb_profiler.importers.perfetto.pairs import match
from torch_tb_profiler.importers.perfetto.sequences import Slices
from torch_tb_profiler.importers.window import Progress, Text, Window
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import own_roles

_UNLIMITED = 1 << 62
_SIDE_TABLES = (
    "operator_args",
    "device_args",
    "python_args",
    "collective_args",
    "sync_args",
    "counter_args",
)
_POINTS = ("spans", "memory", "flows", "instants")


def read_perfetto(stream: Text, settings: Settings, progress: Progress | None = None) -> Trace:
    """Read a trace; see ``importers.read_trace``.

    Raises:
        NotATrace: it has packets but no track events, or none at all.
        SourceError: reading failed.
    """
    counts, own = DefectCounts(), own_roles(settings.categories)
    gathered = Gatherer(counts, own)
    reader = PacketReader(Window(stream, progress), counts)
    translation = Translation(counts, settings.max_inflated_bytes)
    for piece in reader.pieces():
        for _ in translation.add(piece.packets, piece.text):
            _gather(gathered, translation, piece)
        _gather(gathered, translation, piece)
    count_problem(stream, counts)
    ends = _close(gathered, translation.slices, counts)
    if not any(name in gathered.groups for name in _POINTS):
        _refuse(translation)
        counts.add(d.NO_EVENTS)
    _order_flows(gathered)
    gathered.metadata += translation.places.metadata()
    entries = translation.entries + translation.lost + reader.lost + ends + len(gathered.metadata)
    return placed(assemble(gathered, _header(translation), entries), own)


def entries_at(stream: Text, trace: Trace, number: int) -> list[str]:
    """The entries of a row of ``chunks`` with all their arguments, read again, as JSON.

    Raises:
        SourceError: reading failed.
    """
    counts = DefectCounts()
    offset = int(trace["chunks"]["offset"][number])
    reader = PacketReader(Window(stream), counts)
    translation = Translation(counts, _UNLIMITED, trace.header[PERFETTO], whole=True)
    for piece in reader.pieces():
        if piece.offset < offset:
            translation.skip(piece.packets)
            continue
        for _ in translation.add(piece.packets, piece.text):
            pass
        break
    return translation.texts


def _gather(gathered: Gatherer, translation: Translation, piece: Piece) -> None:
    texts = translation.texts
    if not texts:
        return
    translation.texts = []
    batch = decode_entries(texts, gathered.counts)
    whole = Batch(batch.events, batch.text, piece.offset, piece.size)
    gathered.add(whole, translation.entries - len(texts))


def _header(translation: Translation) -> dict[str, Any]:
    base = translation.base or 0
    wall = translation.clocks.wall(base)
    header: dict[str, Any] = {PERFETTO: base}
    if wall is not None and abs(wall) < 1 << 62:
        header["baseTimeNanoseconds"] = wall
    return header


def _refuse(translation: Translation) -> None:
    """Raise NotATrace for a trace of the operating system."""
    if translation.system_packets and not translation.lost:
        raise NotATrace(
            "A Perfetto trace of the operating system (ftrace) without track events.",
            "Open it at ui.perfetto.dev, or record with torch.profiler.",
        )


def _close(gathered: Gatherer, slices: Slices, counts: DefectCounts) -> int:
    """Set the durations of slices and drop those without an end; the number of ends in the file."""
    time, track, sequence, entry = (
        np.frombuffer(column, np.int64) if len(column) else np.zeros(0, np.int64)
        for column in (slices.time, slices.track, slices.sequence, slices.entry)
    )
    is_begin = entry >= 0
    partner = match(time, track, sequence, is_begin)
    closed = np.flatnonzero(partner >= 0)
    counts.add(d.UNMATCHED_BEGIN, int(is_begin.sum()) - len(closed))
    ends = int((~is_begin).sum())
    counts.add(d.UNMATCHED_END, ends - len(closed))
    if "spans" not in gathered.groups:
        return ends
    last = max(int(entry.max(initial=-1)), 0)
    dur_of = np.full(last + 2, -1, np.int64)
    dur_of[entry[is_begin]] = -2
    dur_of[entry[closed]] = time[partner[closed]] - time[closed]
    _set_durations(gathered, dur_of, counts)
    return ends


def _set_durations(gathered: Gatherer, dur_of: Ints, counts: DefectCounts) -> None:
    """``dur_of``: of each entry; −1 it has its own, −2 none."""
    spans = gathered.groups["spans"]
    for name in list(spans):
        spans[name] = [np.concatenate(spans[name])]
    ordinal = spans["ordinal"][0]
    known = dur_of[np.minimum(ordinal, len(dur_of) - 1)]
    too_long = known > LONGEST_NS
    counts.add(d.NO_DURATION, int(too_long.sum()))
    spans["dur"] = [np.where(known >= 0, np.where(too_long, 0, known), spans["dur"][0])]
    kept = known != -2
    if not kept.all():
        _keep(gathered, kept)


def _keep(gathered: Gatherer, kept: Mask) -> None:
    """Keep some of the spans, and the rows of the side tables that belong to them."""
    spans = gathered.groups["spans"]
    for name in list(spans):
        spans[name] = [spans[name][0][kept]]
    row = np.cumsum(kept) - 1
    for table in _SIDE_TABLES:
        columns = gathered.groups.get(table)
        if columns is None:
            continue
        joined: dict[str, Array] = {name: np.concatenate(columns[name]) for name in columns}
        good = kept[joined["span"]]
        joined["span"] = row[joined["span"]]
        columns.update({name: [column[good]] for name, column in joined.items()})
    gathered.spans = int(kept.sum())


def _order_flows(gathered: Gatherer) -> None:
    """Make the first end of each flow its begin, and the last one its end.

    ::

        id 7   t   t   t   ─▶   s   t   f
    """
    flows = gathered.groups.get("flows")
    if flows is None:
        return
    number, time, phase = (np.concatenate(flows[name]) for name in ("id", "time", "phase"))
    order = np.lexsort((np.arange(len(time)), time, number))
    ordered = number[order]
    new = np.ones(len(order) + 1, np.bool_)
    new[1:-1] = ordered[1:] != ordered[:-1]
    step = phase[order] == ord("t")
    phase[order[new[1:] & ~new[:-1] & step]] = ord("f")
    phase[order[new[:-1] & step]] = ord("s")
    flows["phase"] = [phase]
