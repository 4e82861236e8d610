"""What a process has gathered of one chunk, and how that is put behind what was gathered before.

Both number texts by first appearance, so that the result is the same as of one process, number for
number::

    gathered   0 "mm"  1 "add"               part   0 "relu"  1 "mm"     its column   1 0 0
    merged     0 "mm"  1 "add"  2 "relu"            2 ◀─ 0    0 ◀─ 1     appended     0 2 2
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.importers.events import Event
from torch_tb_profiler.importers.gather import BLOBS_OF, Gatherer
from torch_tb_profiler.store.columns import Array
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.strings import NONE

NUMBERED = ("texts", "blobs", "categories", "tracks")
"""The numberings of a ``Gatherer``."""
_TEXTS = {("spans", "name"), ("instants", "name"), ("marks", "defect"), ("counter_args", "counter")}


class Part(msgspec.Struct, frozen=True, eq=False):
    """What a ``Gatherer`` holds of one chunk. ``entries``: with lost ones; ``numbered``: the values
    of each of ``NUMBERED`` in the order of their numbers. Rows and ordinals count from 0.
    """

    entries: int
    spans: int
    numbered: tuple[list[Any], ...]
    groups: dict[str, dict[str, Array]]
    metadata: list[Event]
    begin_end: list[tuple[int, Event]]
    counts: DefectCounts


def part_of(gathered: Gatherer, entries: int) -> Part:
    """All that was gathered of a chunk."""
    groups = {
        group: {name: _one(pieces) for name, pieces in columns.items()}
        for group, columns in gathered.groups.items()
    }
    return Part(
        entries,
        gathered.spans,
        tuple(list(getattr(gathered, name)) for name in NUMBERED),
        groups,
        gathered.metadata,
        gathered.begin_end,
        gathered.counts,
    )


def merge(gathered: Gatherer, part: Part, first: int) -> None:
    """Put a part behind what was gathered; ``first`` is the position of its first entry in
    traceEvents.
    """
    numbers = {
        name: getattr(gathered, name).column(values)
        for name, values in zip(NUMBERED, part.numbered, strict=True)
    }
    # Columns hold the number of a blob less one, which is NONE for the first, the absent one.
    numbers["blobs"] = np.roll(numbers["blobs"], NONE) + NONE
    for group, columns in part.groups.items():
        target = gathered.groups[group]
        for name, values in columns.items():
            numbering = _numbering(group, name)
            if numbering:
                values = numbers[numbering][values]
            elif name == "ordinal":
                values = values + first
            elif name == "span":
                values = values + gathered.spans
            else:
                values = values.copy()
            target[name].append(values)
    gathered.metadata += part.metadata
    gathered.begin_end += [(first + i, event) for i, event in part.begin_end]
    gathered.counts.absorb(part.counts)
    gathered.spans += part.spans


def _one(pieces: Sequence[Array]) -> Array:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _numbering(group: str, column: str) -> str:
    """What numbers the values of a column; empty if they are no numbers of texts."""
    if column == "category" and group != "memory":
        return "categories"
    if column == "track":
        return "tracks"
    if (group, column) in _TEXTS:
        return "texts"
    return "blobs" if column in BLOBS_OF.get(group, ()) else ""
