"""Begins and ends of slices as columns: what most packets of a trace are, decoded many at a time.

Attributes of messages cost a tenth of a microsecond each, and a slice has thirty; this decodes the
fields of all packets in step::

    packets   ●━━━━━●━━━━━●━━     the first field of every packet, then the second one of those that
              ▲     ▲     ▲       have one, and so on

A packet with any field that is not expected here is left to the decoder of messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import numpy as np

from torch_tb_profiler.importers.perfetto.packets import frames
from torch_tb_profiler.importers.perfetto.schema import BEGIN, END
from torch_tb_profiler.store.columns import Array, Ints, Mask

_VARINT, _BYTES = 0, 2
_NEEDS_STATE = 2
_PAD = bytes(32)
_SHORTEST_RUN = 8
_LONGEST = 9
"""Bytes of a number that fits into int64."""
_NAME_IID, _NAME = 0x08, 0x52
_INTS = (0x20, 0x18)
_PACKET = {(8, _VARINT), (10, _VARINT), (11, _BYTES), (13, _VARINT)}
_GPU_CORRELATION = 3000
"""PyTorch's launches: ids of GPU work, which has their correlation anyway."""
_EVENT = {
    (3, _VARINT),
    (4, _BYTES),
    (9, _VARINT),
    (10, _VARINT),
    (11, _VARINT),
    (_GPU_CORRELATION, _BYTES),
}
_LARGEST_TAG = 1 << 15


class _Fields(NamedTuple):
    """Fields of messages, ordered by message and place. ``value``: of a number, else where its bytes
    begin; ``size``: bytes.
    """

    row: Ints
    number: Ints
    kind: Ints
    value: Ints
    size: Ints


class Plain(msgspec.Struct, frozen=True):
    """Packets of a text, one row each; where ``good`` is False the other columns say nothing.

    ``first``: row in the annotations of each packet's first one, with one more at the end. Of the
    annotations: where they begin and end, where their value begins (0: not a number after a
    name), and that number.
    """

    good: Mask
    time: Ints
    sequence: Ints
    is_begin: Mask
    track: Ints
    name: Ints
    category: Ints
    first: Ints
    begin: Ints
    end: Ints
    value_at: Ints
    value: Ints


class Run(msgspec.Struct, frozen=True):
    """Plain packets of one sequence that follow each other, rows ``start`` to ``stop`` of the text.

    ``name`` and ``category`` are those of the ``begins``, of which the rows are counted from
    ``start``; so are those of ``time``, ``track`` and ``first``.
    """

    start: int
    stop: int
    sequence: int
    time: Ints
    track: list[int]
    begins: list[int]
    name: list[int]
    category: list[int]
    first: list[int]
    annotations: tuple[bytes, list[int], list[int], list[int], list[int]]
    """The text, and of each annotation begin, end, begin of its value, value."""


def plain_runs(text: bytes) -> Iterator[Run]:
    """The runs of a text that consists of whole packets."""
    plain = plain_packets(text)
    n = len(plain.good)
    new = np.ones(n, np.bool_)
    new[1:] = (plain.good[1:] != plain.good[:-1]) | (plain.sequence[1:] != plain.sequence[:-1])
    starts = np.flatnonzero(new)
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), n], strict=True):
        if not plain.good[start] or stop - start < _SHORTEST_RUN:
            continue
        begins = np.flatnonzero(plain.is_begin[start:stop])
        first = plain.first[start : stop + 1]
        low, high = int(first[0]), int(first[-1])
        annotations = (plain.begin, plain.end, plain.value_at, plain.value)
        yield Run(
            start,
            stop,
            int(plain.sequence[start]),
            plain.time[start:stop],
            plain.track[start:stop].tolist(),
            begins.tolist(),
            plain.name[start:stop][begins].tolist(),
            plain.category[start:stop][begins].tolist(),
            (first - low).tolist(),
            (text, *(column[low:high].tolist() for column in annotations)),
        )


def plain_packets(text: bytes) -> Plain:
    """The packets of a text that consists of whole ones."""
    begins, ends = frames(text, len(text))
    data = np.frombuffer(text + _PAD, np.uint8)
    n = len(begins)
    packets, good = _scan(data, np.array(begins, np.int64), np.array(ends, np.int64), _PACKET)
    flags = _once(packets, 13, n, good, optional=True)
    time, sequence = _once(packets, 8, n, good), _once(packets, 10, n, good, optional=True)
    event = _once(packets, 11, n, good)
    size = np.zeros(n, np.int64)
    is_event = packets.number == 11
    size[packets.row[is_event]] = packets.size[is_event]
    good &= (flags == 0) | (flags == _NEEDS_STATE)
    rows = np.flatnonzero(good)
    events, fits = _scan(data, event[rows], event[rows] + size[rows], _EVENT)
    m = len(rows)
    kind, track = _once(events, 9, m, fits), _once(events, 11, m, fits)
    name = _once(events, 10, m, fits, optional=True)
    category = _once(events, 3, m, fits, optional=True)
    fits &= (kind == END) | ((kind == BEGIN) & (name > 0) & (category > 0))
    fits &= track > 0
    good[rows] = fits
    annotations = np.flatnonzero((events.number == 4) & fits[events.row])
    begin = events.value[annotations]
    end = begin + events.size[annotations]
    first = np.zeros(n + 1, np.int64)
    np.add.at(first, rows[events.row[annotations]] + 1, 1)
    return Plain(
        good,
        time,
        sequence,
        _spread(kind == BEGIN, rows, n).astype(np.bool_),
        _spread(track, rows, n),
        _spread(name, rows, n),
        _spread(category, rows, n),
        np.cumsum(first),
        begin,
        end,
        *_numbers(data, begin, end),
    )


def _spread(values: Array, rows: Ints, n: int) -> Ints:
    out = np.zeros(n, np.int64)
    out[rows] = values
    return out


def _numbers(data: Array, begin: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Where the values of annotations begin that are a name and a number, else 0; and the numbers."""
    head, length = data[begin], data[begin + 1].astype(np.int64)
    at = begin + 2 + np.where(head == _NAME, length, 0)
    known = ((head == _NAME) | (head == _NAME_IID)) & (length < 0x80) & (at < end)
    known &= np.isin(data[np.where(known, at, 0)], _INTS)
    value, after = _varints(data, np.where(known, at + 1, 0))
    known &= (after == end) & (after > 0)
    return np.where(known, at, 0), value


def _once(fields: _Fields, number: int, n: int, good: Mask, optional: bool = False) -> Ints:
    """Values of a field, 0 where it is absent; in place, rows where it is repeated or missing are not
    good.
    """
    chosen = fields.number == number
    rows = fields.row[chosen]
    count = np.bincount(rows, minlength=n)
    good &= (count <= 1) if optional else (count == 1)
    values = np.zeros(n, np.int64)
    values[rows] = fields.value[chosen]
    return values


def _scan(
    data: Array, begin: Ints, end: Ints, expected: set[tuple[int, int]]
) -> tuple[_Fields, Mask]:
    """All fields of messages, and which messages have only expected ones."""
    good = np.ones(len(begin), np.bool_)
    allowed = np.zeros(_LARGEST_TAG, np.bool_)
    allowed[[number << 3 | kind for number, kind in expected]] = True
    row, at, last = np.arange(len(begin)), begin, end
    found: list[tuple[Ints, ...]] = []
    while len(row):
        tag, after = _varints(data, at)
        kind = tag & 7
        value, behind = _varints(data, after)
        is_bytes = kind == _BYTES
        place = np.where(is_bytes, behind, value)
        size = np.where(is_bytes, value, 0)
        following = behind + np.where(is_bytes & (value < len(data)), value, 0)
        fits = (after > 0) & (behind > 0) & (following <= last) & (tag < len(allowed))
        fits &= (size <= last - at) & allowed[np.where(fits, tag, 0)]
        good[row[~fits]] = False
        kept = np.flatnonzero(fits)
        found.append((row[kept], tag[kept] >> 3, kind[kept], place[kept], size[kept]))
        more = np.flatnonzero(fits & (following < last))
        row, at, last = row[more], following[more], last[more]
    if not found:
        none = np.zeros(0, np.int64)
        return _Fields(none, none, none, none, none), good
    columns = [np.concatenate(column) for column in zip(*found, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return _Fields(*(column[order] for column in columns)), good


def _varints(data: Array, at: Ints) -> tuple[Ints, Ints]:
    """Numbers at places, and where they end; −1 for one that needs more than 63 bits."""
    byte = data[at].astype(np.int64)
    value, after = byte & 0x7F, at + 1
    rows = np.flatnonzero(byte > 0x7F)
    for number in range(1, _LONGEST):
        if not len(rows):
            return value, after
        byte = data[np.minimum(at[rows] + number, len(data) - 1)].astype(np.int64)
        value[rows] |= (byte & 0x7F) << 7 * number
        after[rows] += 1
        rows = rows[byte > 0x7F]
    after[rows] = -1
    return value, after
