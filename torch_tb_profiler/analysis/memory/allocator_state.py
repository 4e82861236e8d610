"""The segments and blocks of a device's allocator, when its snapshot was written or at an instant before.

The snapshot has the final state. An instant's segments are that, less what was mapped after it, plus
what was unmapped; its blocks are those of ``allocations`` that were alive::

    final    [a a a . .] [b b]               segments of now; # mapped later, - unmapped later
    instant  [a a a] [d d d]                 a shrank back, b was not yet, d still was
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import places_in, positions_of
from torch_tb_profiler.analysis.memory.live_memory import alive_blocks, last_record
from torch_tb_profiler.analysis.memory.window import of_device
from torch_tb_profiler.store.columns import Array, Ints, Mask, unique_values
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.schema import BlockState

ROUNDED = 512
"""``kMinBlockSize`` of ``c10/cuda/CUDACachingAllocator.h``: no block is smaller or a fraction of it."""
_OF_SEGMENTS = ("address", "bytes", "stream", "pool", "kind")
_OF_BLOCKS = ("size", "requested", "state", "row", "frames")


class AllocatorState(msgspec.Struct, frozen=True):
    """Segments by (pool, stream, address) and blocks in their order; int64.

    address, bytes: of segments. stream: −1 unknown. pool, kind: strings of the trace, −1 unknown.
    offset: of blocks in use, among all segments laid end to end. size: as the allocator rounds it,
        at an instant at least that. requested: −1 unknown. state: ``BlockState``.
    row: of ``allocations``, −1 unknown. frames: string of the trace, −1 none.
    """

    address: Ints
    bytes: Ints
    stream: Ints
    pool: Ints
    kind: Ints
    segment: Ints
    offset: Ints
    size: Ints
    requested: Ints
    state: Ints
    row: Ints
    frames: Ints

    @property
    def begin(self) -> Ints:
        """Where each segment begins among all of them, and their sum; int64 of shape (segments + 1,)."""
        return np.append(0, np.cumsum(self.bytes))

    def only(self, stream: int | None, pool: str | None, names: Array) -> AllocatorState:
        """The segments of a stream and of a pool; ``names``: the names of their pools."""
        keep = np.ones(len(self.bytes), np.bool_)
        if stream is not None:
            keep &= self.stream == stream
        if pool is not None:
            keep &= names == pool
        return self._taken(np.flatnonzero(keep))

    def _taken(self, order: Ints) -> AllocatorState:
        """The segments in an order, and their blocks."""
        place = places_in(len(self.bytes) + 1, order)
        within = self.offset - self.begin[self.segment]
        begin = np.append(0, np.cumsum(self.bytes[order]))
        segment = place[self.segment]
        blocks = np.flatnonzero(segment >= 0)
        offset = begin[segment[blocks]] + within[blocks]
        blocks, offset = blocks[(by := np.argsort(offset, kind="stable"))], offset[by]
        of_segments = {name: getattr(self, name)[order] for name in _OF_SEGMENTS}
        of_blocks = {name: getattr(self, name)[blocks] for name in _OF_BLOCKS}
        return AllocatorState(**of_segments, **of_blocks, segment=segment[blocks], offset=offset)


def has_segments(trace: Trace, insight: Insight, device: int) -> bool:
    """Whether the file tells the segments of a device."""
    return bool((trace["segments"]["device"] == _id(insight, device)).any())


def allocator_state_at(
    trace: Trace, insight: Insight, device: int, time: int | None
) -> AllocatorState | None:
    """The state at a time, ns; None: when the snapshot was written. None where the file does not
    tell it.
    """
    if not has_segments(trace, insight, device):
        return None
    found = _final(trace, insight, device) if time is None else _at(trace, insight, device, time)
    if found is None:
        return None
    return found._taken(np.lexsort((found.address, found.stream, found.pool)))


def _id(insight: Insight, device: int) -> int:
    return int(insight["memory_devices"]["id"][device])


def _final(trace: Trace, insight: Insight, device: int) -> AllocatorState:
    segments, blocks = trace["segments"], trace["segment_blocks"]
    own = np.flatnonzero(segments["device"] == _id(insight, device))
    first = int(own[0])
    begin = segments["address"][own].astype(np.int64)
    size = segments["bytes"][own]
    used = np.flatnonzero(
        (blocks["segment"] >= first)
        & (blocks["segment"] < first + len(own))
        & (blocks["state"] != BlockState.FREE)
    )
    used = used[np.argsort(blocks["address"][used], kind="stable")]
    address = blocks["address"][used].astype(np.int64)
    segment, offset, bytes_, fits = _placed(begin, size, address, blocks["bytes"][used])
    used = used[fits]
    table = insight["allocations"]
    rows = of_device(table, device)
    alive = rows.start + np.flatnonzero(table["release"][rows] < 0)
    by_address = alive[np.argsort(table["address"][alive], kind="stable")]
    found = positions_of(table["address"][by_address].astype(np.int64), address[fits])
    return AllocatorState(
        begin,
        size,
        segments["stream"][own],
        segments["pool"][own].astype(np.int64),
        segments["kind"][own].astype(np.int64),
        segment,
        offset,
        bytes_,
        blocks["requested"][used],
        blocks["state"][used].astype(np.int64),
        np.append(by_address, -1)[found],
        blocks["frames"][used].astype(np.int64),
    )


def _placed(begin: Ints, size: Ints, address: Ints, wanted: Ints) -> tuple[Ints, Ints, Ints, Mask]:
    """``(segment, offset, bytes, fits)`` of blocks by ascending address: cut where the next block, or
    the segment, ends them; those outside all segments do not fit.
    """
    order = np.argsort(begin, kind="stable")
    place = np.searchsorted(begin[order], address, side="right") - 1
    segment = order[np.maximum(place, 0)] if len(order) else place
    end = np.minimum(begin[segment] + size[segment], address + wanted)
    fits = (place >= 0) & (address < begin[segment] + size[segment])
    following = np.append(address[1:], np.iinfo(np.int64).max)
    bytes_ = np.maximum(np.minimum(end, following) - address, 0)
    offset = np.append(0, np.cumsum(size))[segment] + address - begin[segment]
    return segment[fits], offset[fits], bytes_[fits], fits


def _at(trace: Trace, insight: Insight, device: int, time: int) -> AllocatorState | None:
    pieces = _pieces(trace, insight, device, time)
    if pieces is None:
        return None
    begin, size, stream, pool, kind = pieces
    table, final = insight["allocations"], trace["segment_blocks"]
    row = alive_blocks(insight, device, last_record(insight, device, time))
    row = row[np.argsort(table["address"][row], kind="stable")]
    address, requested = table["address"][row].astype(np.int64), table["bytes"][row]
    rounded = -(-np.maximum(requested, 1) // ROUNDED) * ROUNDED
    # What is still there at the end has the size that the snapshot says.
    place = np.argsort(final["address"], kind="stable")
    known = positions_of(final["address"][place].astype(np.int64), address)
    same = (known >= 0) & (table["release"][row] < 0)
    rounded[same] = final["bytes"][place][known[same]]
    segment, offset, bytes_, fits = _placed(begin, size, address, rounded)
    row = row[fits]
    return AllocatorState(
        begin,
        size,
        stream,
        pool,
        kind,
        segment,
        offset,
        bytes_,
        requested[fits],
        np.full(len(row), int(BlockState.ALLOCATED)),
        row,
        np.full(len(row), -1),
    )


def _pieces(
    trace: Trace, insight: Insight, device: int, time: int
) -> tuple[Ints, Ints, Ints, Ints, Ints] | None:
    """``(address, bytes, stream, pool, kind)`` of what was mapped at a time; None if the records do
    not tell.
    """
    segments, memory = trace["segments"], trace["memory"]
    own = np.flatnonzero(segments["device"] == _id(insight, device))
    base, size = segments["address"][own].astype(np.int64), segments["bytes"][own]
    rows = np.flatnonzero(memory["device"] == _id(insight, device))
    reserved = memory["reserved"][rows]
    change = np.diff(reserved, prepend=reserved[:1])
    later = np.flatnonzero((memory["bytes"][rows] == 0) & (memory["time"][rows] > time))
    address = memory["address"][rows[later]].astype(np.int64)
    if (reserved[later] < 0).any() or (address == 0).any():
        return None
    change = change[later]
    edges = unique_values(np.concatenate((base, base + size, address, address + np.abs(change))))
    cover = np.zeros(len(edges) + 1, np.int64)
    for start, length, sign in (
        (base, size, np.ones(len(base), np.int64)),
        (address, np.abs(change), -np.sign(change)),
    ):
        np.add.at(cover, np.searchsorted(edges, start), sign)
        np.add.at(cover, np.searchsorted(edges, start + length), -sign)
    mapped = np.cumsum(cover[:-1])[:-1] > 0
    # A piece begins where one was not mapped before it, or where a segment of its own begins.
    shrunk = change < 0
    starts = np.isin(edges[:-1], np.concatenate((base, address[shrunk])))
    begins = mapped & (starts | ~np.append(False, mapped[:-1]))
    number = np.cumsum(begins) - 1
    piece = edges[:-1][begins]
    length = np.bincount(
        number[mapped], weights=np.diff(edges)[mapped], minlength=len(piece)
    ).astype(np.int64)
    order = np.argsort(base, kind="stable")
    inside = order[np.maximum(np.searchsorted(base[order], piece, side="right") - 1, 0)]
    final = (piece >= base[inside]) & (piece < base[inside] + size[inside])
    stream, pool, kind = (
        np.where(final, segments[name][own][inside], -1).astype(np.int64)
        for name in ("stream", "pool", "kind")
    )
    gone = np.flatnonzero(shrunk)[::-1]
    by = gone[np.argsort(address[gone], kind="stable")]
    if len(by):
        near = by[np.maximum(np.searchsorted(address[by], piece, side="right") - 1, 0)]
        covers = (piece >= address[near]) & (piece < address[near] - change[near])
        texts = _streams(trace, memory["track"][rows[later]][near])
        stream = np.where(~final & covers, texts, stream)
    return piece, length, stream, pool, kind


def _streams(trace: Trace, tracks: Array) -> Ints:
    """Streams by their tracks; −1 unknown."""
    used, place = np.unique(tracks, return_inverse=True)
    names = [trace.strings[int(trace["tracks"]["tid"][track])] for track in used.tolist()]
    return np.array([int(name) if name.isdecimal() else -1 for name in names], np.int64)[place]
