"""The tables of a fragmentation map: pools, segments and blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from torch_tb_profiler.analysis.figures.source_lines import line_of_frames
from torch_tb_profiler.analysis.memory.allocator_state import AllocatorState
from torch_tb_profiler.analysis.memory.fragmentation import Fill, fill_of, pooled
from torch_tb_profiler.analysis.memory.table import category_texts
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable, display_spec
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.schema import BlockState

_C = DisplayColumn
DEFAULT_POOL = "default"
STATES = {
    BlockState.FREE: "free",
    BlockState.ALLOCATED: "allocated",
    BlockState.PENDING: "released, still in use",
}
_FILL = (
    _C("reserved_bytes", "bytes", "Reserved", "Held by the allocator.", "memory_curve_reserved"),
    _C("allocated_bytes", "bytes", "In use", "Blocks in use, as rounded.", "memory_map", bar=True),
    _C("rounding_bytes", "bytes", "Rounding", "Of that not asked for.", "memory_rounding"),
    _C("free_bytes", "bytes", "Free", "Cached, not in use.", "memory_free"),
    _C("largest_free_bytes", "bytes", "Largest free", "In one piece.", "memory_largest_free"),
    _C("split_bytes", "bytes", "Inactive split", "Free beside blocks.", "memory_inactive_split"),
    _C("fragmentation", "share", "Fragmentation", "", "memory_fragmentation", True),
    _C("blocks", "count", "Blocks", "In use.", "memory_block", unit="blocks"),
)
_PLACE = (
    _C("stream", "id", "Stream", "The stream it belongs to.", "memory_pool", True),
    _C("pool", "text", "Pool", "`default`, or the id of a private one.", "memory_pool"),
)
MEMORY_POOLS = DisplaySpec(
    "memory_pools",
    "One row per pool and stream of the caching allocator: blocks of one are never given to another.",
    (*_PLACE, _C("segments", "count", "Segments", "How many.", "memory_segment"), *_FILL),
)
MEMORY_SEGMENTS = DisplaySpec(
    "memory_segments",
    "One row per segment of a memory snapshot: what it holds and how it is divided, when the snapshot"
    " was written or at an instant.",
    (
        _C("device", "text", "", "The device.", page=False),
        _C("address", "id", "Address", "Its address.", "memory_segment"),
        *_PLACE,
        _C("kind", "text", "Kind", "`large` or `small`.", "memory_segment", True),
        *_FILL[:-2],
        _C("fragmentation", "share", "", "1 − largest free ÷ free.", optional=True),
        _FILL[-1],
    ),
)
MEMORY_MAP_BLOCKS = display_spec("""
memory_map_blocks: One row per block in use of the part of a map that is shown.
    offset_bytes     bytes  -         -                                    Where it begins in all segments laid end to end.
    bytes            bytes  Size      term=memory_block_bytes              As rounded.
    requested_bytes  bytes  -         optional                             As asked for.
    state            text   State     term=memory_map
    category         text   Category  term=memory_block_category optional
    line             code   Line      term=memory_block_line optional
    stack            id     -         optional                             Position in the list of stacks.
""")


def pool_names(trace: Trace, numbers: Array) -> list[str]:
    """The names of pools by their numbers of strings."""
    return [trace.strings[n] if n >= 0 else DEFAULT_POOL for n in numbers.tolist()]


def pools_table(trace: Trace, held: AllocatorState) -> tuple[DisplayTable, Fill]:
    """Per pool and stream, the largest first; and the sums of all, arrays of one."""
    fill = fill_of(held)
    first, sums = pooled(fill, [held.pool, held.stream])
    order = np.argsort(-sums.reserved, kind="stable")
    table = MEMORY_POOLS.build(
        trace.strings,
        stream=held.stream[first],
        pool=pool_names(trace, held.pool[first]),
        segments=sums.segments,
        **_filled(sums),
    )
    return table.take(order), pooled(fill, [])[1]


def segments_table(trace: Trace, held: AllocatorState, device: str) -> DisplayTable:
    """All segments of a device."""
    return MEMORY_SEGMENTS.build(
        trace.strings,
        device=[device] * len(held.bytes),
        address=held.address,
        stream=held.stream,
        pool=pool_names(trace, held.pool),
        kind=held.kind,
        **_filled(fill_of(held)),
    )


def fragmentation(fill: Fill) -> Array:
    """1 − largest free ÷ free; NaN where nothing is free."""
    share = 1 - fill.largest / np.maximum(fill.free, 1)
    return np.where(fill.free > 0, share, np.nan)


def _filled(fill: Fill) -> dict[str, Any]:
    return {
        "reserved_bytes": fill.reserved,
        "allocated_bytes": fill.allocated,
        "rounding_bytes": fill.rounding,
        "free_bytes": fill.free,
        "largest_free_bytes": fill.largest,
        "split_bytes": fill.split,
        "fragmentation": fragmentation(fill),
        "blocks": fill.blocks,
    }


def map_blocks(
    trace: Trace, insight: Insight, held: AllocatorState, rows: Ints, frames: int, characters: int
) -> tuple[DisplayTable, list[str]]:
    """Some blocks, and their distinct stacks: at most ``frames`` innermost ones of each, and so many
    characters of all.
    """
    table = insight["allocations"]
    row = held.row[rows]
    category = np.append(table["category"], -1)[row]
    written = np.append(table["frames"], -1)[row]
    stacks: list[str] = []
    number: dict[str, int] = {}
    lines, places = [], []
    for own, final in zip(written.tolist(), held.frames[rows].tolist(), strict=True):
        text = insight.strings[own] if own >= 0 else trace.strings[final]
        lines.append(line_of_frames(text) or None)
        short = "\n".join(text.split("\n", frames)[:frames])
        if short and short not in number and len(short) <= characters:
            number[short] = len(stacks)
            stacks.append(short)
            characters -= len(short)
        places.append(number.get(short, -1))
    known = MEMORY_MAP_BLOCKS.build(
        insight.strings,
        offset_bytes=held.offset[rows],
        bytes=held.size[rows],
        requested_bytes=held.requested[rows],
        state=[STATES[BlockState(state)] for state in held.state[rows].tolist()],
        category=category_texts(category),
        line=lines,
        stack=places,
    )
    return known, stacks
