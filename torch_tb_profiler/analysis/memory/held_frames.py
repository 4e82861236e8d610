"""What holds the memory of a device at a moment, as the frames of a flame graph: by the calls that lead to each allocation.

::

    held 10   [ train:6 7               ][ before the history 3 ]
              [ forward:12 5 ][ step:4 2 ]

Of a call stack the frames are drawn that tell as much as the line to show: those of the program, else of packages. Without a
stack a block is drawn by its line, else by the modules and operators around it, else by what it is for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by
from torch_tb_profiler.analysis.arrays.nesting import ancestry
from torch_tb_profiler.analysis.figures.source_lines import shown_frames, telling_frames
from torch_tb_profiler.analysis.memory.holding import lacks_and_history
from torch_tb_profiler.analysis.memory.live_memory import (
    LiveMemory,
    alive_blocks,
    last_record,
    short_place,
    unrecorded_before,
)
from torch_tb_profiler.analysis.module.frame_table import FRAME_KINDS
from torch_tb_profiler.analysis.module.frames import LINE, MOST_FRAMES, REST, SMALLEST
from torch_tb_profiler.store.categories import BLOCK_CATEGORIES
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.python_frames import PythonFrame
from torch_tb_profiler.units import format_count

Name = tuple[str, str]
"""What a frame is called, and its kind."""
_KEYS = ("frames", "node", "path", "line", "category")


class HeldFrame(msgspec.Struct):
    """A frame with all beneath it. ``parent``: its place in the list, −1 outermost. ``blocks``: 0 where the file gives sums."""

    parent: int
    name: str
    kind: str
    bytes: int = 0
    blocks: int = 0


def held_frames(
    facts: Facts, insight: Insight, device: int, held: LiveMemory, smallest: int = SMALLEST
) -> list[HeldFrame]:
    """The frames, parents first. The outermost ones add up to what is allocated, unless the records contradict each other; of
    siblings those with less than 1 / ``smallest`` of it are one frame of kind ``rest``.
    """
    lacks, history = lacks_and_history(insight)
    nowhere: Name = (lacks, FRAME_KINDS[REST])
    # Nothing is older than a history that was not recorded.
    recorded = insight["memory_devices"]["records"][device]
    before: Name = (f"before the {history}", FRAME_KINDS[REST]) if recorded else nowhere
    frames: list[HeldFrame] = []
    places: dict[tuple[int, Name], int] = {}

    def put(chain: list[Name], size: int, blocks: int) -> None:
        above = -1
        for name in chain[:MOST_FRAMES]:
            place = places.setdefault((above, name), len(frames))
            if place == len(frames):
                frames.append(HeldFrame(above, *name))
            frames[place].bytes += size
            frames[place].blocks += blocks
            above = place

    for old, chain, size, blocks in _blocks(facts, insight, device, held):
        known = chain or [nowhere]
        put([before, *chain] if old and recorded else known, size, blocks)
    unrecorded = unrecorded_before(insight, device, held)
    for name, size in ((before, unrecorded), (nowhere, max(held.unknown, 0) - unrecorded)):
        if size:
            put([name], size, 0)
    whole = sum(frame.bytes for frame in frames if frame.parent < 0)
    return _drawn(frames, max(whole // smallest, 1))


def _blocks(
    facts: Facts, insight: Insight, device: int, held: LiveMemory
) -> Iterator[tuple[bool, list[Name], int, int]]:
    """Blocks of one origin: whether they are from before the first record, the calls that lead there, bytes, and how many."""
    row = alive_blocks(insight, device, last_record(insight, device, held.time))
    if not len(row):
        for category, size in zip(held.category.tolist(), held.bytes.tolist(), strict=True):
            yield False, [_category(category)], size, 0
        return
    table = insight["allocations"].take(row)
    keys = [*(table[key] for key in _KEYS), table["record"] < 0]
    first, group = group_rows(keys)
    size = sum_by(group, len(first), table["bytes"]).tolist()
    count = np.bincount(group, minlength=len(first)).tolist()
    chain_of = _chains(facts, insight)
    columns = [key[first].tolist() for key in keys]
    for *origin, old, bytes_, blocks in zip(*columns, size, count, strict=True):
        yield bool(old), chain_of(*origin), bytes_, blocks


def _chains(facts: Facts, insight: Insight) -> Callable[[int, int, int, int, int], list[Name]]:
    """The calls that lead to a block, the outermost first, by its columns ``_KEYS``; empty where nothing is known of it."""
    stacks, paths = facts["stacks"], insight["paths"]
    texts, of_node = insight.strings, np.append(insight["memory_nodes"]["stack"], -1)
    frame = shown_frames(facts, stacks["frame"]) if stacks.n else np.zeros(0, np.int64)

    def chain(frames: int, node: int, path: int, line: int, category: int) -> list[Name]:
        if line >= 0:
            if PythonFrame.of(texts[line]) is None and category >= 0:
                # A stack of C++ alone: what the block is for says more.
                return [_category(category), (short_place(texts[line]), FRAME_KINDS[REST])]
            written = texts[frames].split("\n") if frames >= 0 else []
            if not written:
                own = ancestry(stacks["parent"], int(of_node[node]), MOST_FRAMES)
                written = facts.strings.many(frame[own])
            shown = telling_frames(written) if texts[line] in written else [texts[line]]
            return [(text, FRAME_KINDS[LINE]) for text in shown[::-1]]
        around = ancestry(paths["parent"], path, MOST_FRAMES)[::-1]
        names = texts.many(paths["name"][around])
        kinds = [FRAME_KINDS[kind] for kind in paths["kind"][around].tolist()]
        return list(zip(names, kinds, strict=True)) or (
            [_category(category)] if category >= 0 else []
        )

    return chain


def _category(number: int) -> Name:
    return BLOCK_CATEGORIES[number].replace("_", " "), FRAME_KINDS[REST]


def _drawn(frames: list[HeldFrame], least: int) -> list[HeldFrame]:
    """The frames of at least so many bytes; the others of each parent as one."""
    drawn: list[HeldFrame] = []
    place = {-1: -1}
    rests: dict[int, tuple[int, int, int]] = {}
    for row, frame in enumerate(frames):
        if frame.bytes >= least:
            place[row] = len(drawn)
            frame.parent = place[frame.parent]
            drawn.append(frame)
        elif frame.parent in place:
            count, size, blocks = rests.get(frame.parent, (0, 0, 0))
            rests[frame.parent] = (count + 1, size + frame.bytes, blocks + frame.blocks)
    for parent, (count, size, blocks) in rests.items():
        name = f"{format_count(count)} smaller"
        drawn.append(HeldFrame(place[parent], name, FRAME_KINDS[REST], size, blocks))
    return drawn
