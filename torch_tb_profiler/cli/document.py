"""What a command prints, before it becomes plain text or Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.units import UNKNOWN, and_more

Kind = Literal["name", "text", "number", "bar", "below"]
"""``name``: from the trace, shown as code. ``number``: right-aligned. ``bar``: plain text only.
``below``: a long name; plain text shows it below the row.
"""


class Column(msgspec.Struct, frozen=True):
    """A column of a table."""

    label: str
    kind: Kind = "number"


class Table(msgspec.Struct, frozen=True):
    """Rows of cells, the most important first, of ``total``; ``note`` stands below."""

    title: str
    columns: tuple[Column, ...]
    rows: Sequence[tuple[str, ...]]
    total: int
    note: str = ""


class Item(msgspec.Struct, frozen=True):
    """A list item. ``mark``: its bullet in plain text; ``brief``: replaces the details where these
    are cut; ``names``: of the trace, those that occur in its texts.
    """

    text: str
    details: tuple[str, ...] = ()
    mark: str = "* "
    brief: str = ""
    names: tuple[str, ...] = ()


class Listing(msgspec.Struct, frozen=True):
    """A list. ``lead`` is its answer: it stands first and is never left out."""

    title: str
    items: Sequence[Item]
    note: str = ""
    lead: tuple[Item, ...] = ()


Block = Table | Listing


class Document(msgspec.Struct, frozen=True):
    """Title, lines about the whole, and blocks, the most important first. ``whole``: it is about a run, and the documents
    behind it about parts of it.
    """

    title: str
    lines: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = msgspec.field(default=())
    whole: bool = False

    def cut(self, rows: int, blocks: int, details: int, lines: bool = True) -> Document:
        """The document with at most ``rows`` per block, the first ``blocks``, ``details`` of so many items of a list, and with or
        without lines about the whole.
        """
        return replace(
            self,
            lines=self.lines if lines else (),
            blocks=tuple(_cut(block, rows, details) for block in self.blocks[:blocks]),
        )


def _cut(block: Block, rows: int, details: int) -> Block:
    if isinstance(block, Table):
        return Table(block.title, block.columns, block.rows[:rows], block.total, block.note)
    more = and_more(len(block.items) - rows)
    items = [
        item
        if number < details
        else replace(item, text=f"{item.text} {item.brief}".rstrip(), details=())
        for number, item in enumerate(block.items[:rows])
    ]
    note = ". ".join(filter(None, (more, block.note)))
    lead = block.lead if details else tuple(replace(item, details=()) for item in block.lead)
    return replace(block, items=items, note=note, lead=lead)


def event_id(event: int | None) -> str:
    """How a text names an event."""
    return UNKNOWN if event is None else f"#{event}"
