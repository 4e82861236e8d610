"""What a command prints, before it becomes plain text or Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from torch_tb_profiler.units import UNKNOWN, and_more

Kind = Literal["name", "text", "number", "bar", "below"]
"""``name``: from the trace, shown as code. ``number``: right-aligned. ``bar``: plain text only.
``below``: a long name; plain text shows it below the row.
"""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    label: str
    kind: Kind = "number"


@dataclass(frozen=True)
class Table:
    """Rows of cells, the most important first, of ``total``; ``note`` stands below."""

    title: str
    columns: tuple[Column, ...]
    rows: Sequence[tuple[str, ...]]
    total: int
    note: str = ""


@dataclass(frozen=True)
class Item:
    """A list item. ``mark``: its bullet in plain text; ``brief``: replaces the details where these
    are cut.
    """

    text: str
    details: tuple[str, ...] = ()
    mark: str = "* "
    brief: str = ""


@dataclass(frozen=True)
class Listing:
    """A list."""

    title: str
    items: Sequence[Item]
    note: str = ""


Block = Table | Listing


@dataclass(frozen=True)
class Document:
    """Title, lines about the whole, and blocks, the most important first."""

    title: str
    lines: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = field(default=())

    def cut(self, rows: int, blocks: int, details: bool, lines: bool = True) -> Document:
        """The same with at most ``rows`` per block, the first ``blocks``, with or without details of
        items and lines about the whole.
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


def event_id(event: int | None) -> str:
    """How a text names an event."""
    return UNKNOWN if event is None else f"#{event}"
