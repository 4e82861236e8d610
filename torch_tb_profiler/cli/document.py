"""What a command has to say, before it becomes text for a terminal or Markdown for a review or a
language model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from torch_tb_profiler.units import and_more

Kind = Literal["name", "text", "number", "bar", "below"]
"""``name``: from the trace, shown as code; ``text``: words; ``number``: right-aligned; ``bar``:
drawn on terminals only; ``below``: a name that may be
long, on a terminal in a line of its own below the row."""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    label: str
    kind: Kind = "number"


@dataclass(frozen=True)
class Table:
    """Rows of cells, the most important first. ``total``: rows that there are; ``note`` stands
    below.
    """

    title: str
    columns: tuple[Column, ...]
    rows: Sequence[tuple[str, ...]]
    total: int
    note: str = ""


@dataclass(frozen=True)
class Item:
    """A point of a list with what belongs to it. ``mark``: how it begins on a terminal; ``brief``:
    what is said in place of the details where they are cut.
    """

    text: str
    details: tuple[str, ...] = ()
    mark: str = "* "
    brief: str = ""


@dataclass(frozen=True)
class Listing:
    """A list of points."""

    title: str
    items: Sequence[Item]
    note: str = ""


Block = Table | Listing


@dataclass(frozen=True)
class Document:
    """``title`` and lines about the whole, then blocks, the most important first."""

    title: str
    lines: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = field(default=())

    def cut(self, rows: int, blocks: int, details: bool, lines: bool = True) -> Document:
        """The same with at most so many rows per block, only the first blocks, and what belongs to
        points, or lines about the whole, or not.
        """
        return Document(
            self.title,
            self.lines if lines else (),
            tuple(_cut(block, rows, details) for block in self.blocks[:blocks]),
        )


def _cut(block: Block, rows: int, details: bool) -> Block:
    if isinstance(block, Table):
        return Table(block.title, block.columns, block.rows[:rows], block.total, block.note)
    more = and_more(len(block.items) - rows)
    items = [
        item if details else Item(f"{item.text} {item.brief}".rstrip(), (), item.mark)
        for item in block.items[:rows]
    ]
    return Listing(block.title, items, ". ".join(filter(None, (more, block.note))))
