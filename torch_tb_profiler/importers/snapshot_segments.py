"""Segments of a memory snapshot, and the blocks they are divided into: the state when it was written."""

from __future__ import annotations

from typing import Any, TypeGuard

import msgspec
import numpy as np

from torch_tb_profiler.importers.memory_records import MOST_BYTES, UNUSABLE
from torch_tb_profiler.importers.snapshot_stacks import Stacks
from torch_tb_profiler.store import schema
from torch_tb_profiler.store.categories import RECORDED_CATEGORIES
from torch_tb_profiler.store.columns import Table, TableSpec
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.schema import BlockState
from torch_tb_profiler.store.strings import NONE, StringBuilder

_MOST_ADDRESS = 1 << 62
_DEFAULT_POOL = (0, 0)


class FinalState(msgspec.Struct):
    """A device's allocator when it wrote the snapshot: bytes reserved, and the blocks in use."""

    reserved: int = 0
    address: list[Any] = msgspec.field(default_factory=list)
    size: list[Any] = msgspec.field(default_factory=list)
    stream: list[Any] = msgspec.field(default_factory=list)
    frames: list[int] = msgspec.field(default_factory=list)
    category: list[int] = msgspec.field(default_factory=list)


def is_within(value: Any, high: int) -> TypeGuard[int]:
    """Whether a value is an integer in [0, high)."""
    return type(value) is int and 0 <= value < high


def category_of(metadata: Any) -> int:
    """The category that a program named by ``torch.cuda.memory._set_memory_metadata``; −1 none."""
    if type(metadata) is not str or len(metadata) > 32:
        return -1
    word = metadata.strip().lower().replace(" ", "_").replace("-", "_").removesuffix("s")
    return RECORDED_CATEGORIES.index(word) if word in RECORDED_CATEGORIES else -1


class FinalSegments:
    """Collects the tables ``segments`` and ``segment_blocks``."""

    def __init__(self, stacks: Stacks, strings: StringBuilder, counts: DefectCounts) -> None:
        self.counts = counts
        self._stacks, self._strings = stacks, strings
        self._segments: list[tuple[int, ...]] = []
        self._blocks: list[tuple[int, ...]] = []

    def add(self, segment: dict[str, Any], blocks: list[Any], end: FinalState) -> None:
        """A segment with a device and a size within bounds; its blocks in use go to ``end``."""
        address, stream = segment.get("address"), segment.get("stream", 0)
        own = self._segment(segment, address, stream)
        for block in blocks:
            size = block.get("size") if type(block) is dict else None
            if not is_within(size, MOST_BYTES):
                self.counts.add(UNUSABLE)
                continue
            # PyTorch 2.0 put the requested size and the stack into a history and wrote no
            # addresses: blocks are contiguous.
            history = block.get("history")
            past = history[0] if type(history) is list and history else None
            past = past if type(past) is dict else {}
            state, requested, frames = str(block.get("state")), -1, NONE
            place = block.get("address", address)
            if state.startswith("active"):
                asked = block.get("requested_size", past.get("real_size", size))
                frames = self._stacks.number(block.get("frames", past.get("frames")))
                requested = asked if is_within(asked, MOST_BYTES) else -1
                end.address.append(place)
                end.size.append(asked)
                end.stream.append(stream)
                end.frames.append(frames)
                end.category.append(category_of(block.get("user_metadata")))
            if own >= 0 and is_within(place, _MOST_ADDRESS):
                self._blocks.append((own, place, size, requested, _state(state), frames))
            address = address + size if type(address) is int else address

    def _segment(self, segment: dict[str, Any], address: Any, stream: Any) -> int:
        if not is_within(address, _MOST_ADDRESS):
            return -1
        pool, kind = segment.get("segment_pool_id"), segment.get("segment_type")
        numbers = tuple(pool) if isinstance(pool, (list, tuple)) else ()
        private = len(numbers) == 2 and all(type(n) is int for n in numbers)
        self._segments.append(
            (
                segment.get("device", 0),
                address,
                segment["total_size"],
                stream if is_within(stream, _MOST_ADDRESS) else -1,
                self._strings.intern(", ".join(map(str, numbers)))
                if private and numbers != _DEFAULT_POOL
                else NONE,
                self._strings.intern(kind) if kind in ("large", "small") else NONE,
                int(segment.get("is_expandable") is True),
            )
        )
        return len(self._segments) - 1

    def tables(self) -> dict[str, Table]:
        """Both tables, by name and in their order."""
        segments = schema.SEGMENTS.build(**_columns(schema.SEGMENTS, self._segments))
        order = np.lexsort((segments["address"], segments["device"]))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        columns = _columns(schema.SEGMENT_BLOCKS, self._blocks)
        blocks = schema.SEGMENT_BLOCKS.build(
            **{**columns, "segment": place[np.array(columns["segment"], np.int64)]}
        )
        blocks = blocks.take(np.lexsort((blocks["address"], blocks["segment"])))
        return {"segments": segments.take(order), "segment_blocks": blocks}


def _state(text: str) -> BlockState:
    if not text.startswith("active"):
        return BlockState.FREE
    return BlockState.ALLOCATED if text == "active_allocated" else BlockState.PENDING


def _columns(spec: TableSpec, rows: list[tuple[int, ...]]) -> dict[str, list[int]]:
    return {column.name: [row[i] for row in rows] for i, column in enumerate(spec.columns)}
