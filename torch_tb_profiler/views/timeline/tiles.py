"""Tiles as bytes, little endian, so that the page uses them without parsing: typed arrays over the
reply.

A reply is tiles one after the other, each of them::

    64 bytes   "TLOD" | u16 version | u16 columns | u32 bytes of the tile | u32 level | u64 k | i64 t0, ns | u32 shift | u32 slices | u32 lanes | 5 × u32 0
    columns ×  u8 id | u8 bytes of a value | u16 0                                 padded to 8
    u32 lanes[lanes] | u32 ptr[lanes + 1]                                          padded to 8
    the columns, each                                                              padded to 8

Slices of ``lanes[i]`` are ``ptr[i]`` to ``ptr[i + 1]``. Times are ``(t - t0) >> shift`` with
``shift = max(0, level + 9 - 31)``, so that they fit 32 bits: exact up to level 22, and never
coarser than 2^-31 of a tile. A slice from before the tile begins at 0 with flag 1.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.timeline.tiles import (
    TILE_BITS,
    TileSlices,
    highest_level,
    read_tiles,
)
from torch_tb_profiler.store.columns import Array
from torch_tb_profiler.store.timeline import Timeline

MAGIC = b"TLOD"
VERSION = 1
HEADER = struct.Struct("<4sHHIIQqIII20x")
LARGEST = (1 << 32) - 1
BEGAN_BEFORE = 1
START, DUR, NAME, EVENT, COUNT, FILL, LOOK, FLAGS, MODULE = range(1, 10)


def top_level(timeline: Timeline) -> int:
    """The coarsest level."""
    return highest_level(timeline.about["span_ns"])


def last_tile(timeline: Timeline, level: int) -> int:
    """The number of a level's last tile."""
    return int(timeline.about["span_ns"] >> (level + TILE_BITS))


def encode_tiles(
    timeline: Timeline, level: int, numbers: Sequence[int], lanes: Sequence[int]
) -> bytes:
    """The reply for tiles of one level, with the slices of some lanes (ascending)."""
    asked = np.array(lanes, np.uint32)
    return b"".join(
        _encode(timeline, level, asked, tile)
        for tile in read_tiles(timeline, level, numbers, lanes)
    )


def _encode(timeline: Timeline, level: int, lanes: Array, tile: TileSlices) -> bytes:
    columns = _columns(timeline, level, tile)
    table = b"".join(
        struct.pack("<BBH", number, values.dtype.itemsize, 0) for number, values in columns
    )
    pointers = np.searchsorted(tile.slices.lane, np.arange(len(lanes) + 1)).astype("<u4")
    lists = lanes.astype("<u4").tobytes() + pointers.tobytes()
    parts = [_padded(part) for part in (table, lists, *(values.tobytes() for _, values in columns))]
    size = HEADER.size + sum(map(len, parts))
    place = (level, tile.k, tile.t0, shift_of(level))
    counts = (len(tile.slices), len(lanes))
    return HEADER.pack(MAGIC, VERSION, len(columns), size, *place, *counts) + b"".join(parts)


def shift_of(level: int) -> int:
    """Bits by which times in a level's tiles are shifted."""
    return max(0, level + TILE_BITS - 31)


def _columns(timeline: Timeline, level: int, tile: TileSlices) -> list[tuple[int, Array]]:
    slices, shift, places = tile.slices, shift_of(level), timeline["places"]
    before = slices.start < tile.t0
    begin = np.maximum(slices.start, tile.t0)
    dur = np.minimum((slices.start + slices.dur - begin) >> shift, LARGEST)
    fill = np.where(slices.dur > 0, slices.busy * 255 // np.maximum(slices.dur, 1), 255)
    columns = [
        (START, ((begin - tile.t0) >> shift).astype("<u4")),
        (DUR, dur.astype("<u4")),
        (NAME, places["name"][slices.event].astype("<u4")),
        (EVENT, slices.event.astype("<u4")),
        (COUNT, slices.count.astype("<u4")),
        (FILL, np.minimum(fill, 255).astype("u1")),
        (LOOK, places["look"][slices.event]),
        (FLAGS, np.where(before, BEGAN_BEFORE, 0).astype("u1")),
    ]
    if timeline.about.get("has_modules"):
        columns.append((MODULE, (places["module"][slices.event] + 1).astype("<u4")))
    return columns


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 8)
