"""A document as plain text for a terminal, at most 100 columns wide."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from torch_tb_profiler.cli.document import Block, Column, Document, Listing, Table
from torch_tb_profiler.units import NO_BREAK, and_more, fit_text, unbroken
from torch_tb_profiler.untrusted import printable

WIDTH = 100
LONGEST_BELOW = 240
LEAST_NAME = 24
"""Columns that a name keeps; text columns shrink first."""


def plain_text(document: Document) -> str:
    """The text; it ends in a line feed."""
    title = printable(document.title)
    head = [fit_text(title, WIDTH), "=" * min(WIDTH, max(20, len(title)))]
    head += [part for line in document.lines for part in _wrapped(line, other="  ")]
    return "\n\n".join(["\n".join(head), *(_block(block) for block in document.blocks)]) + "\n"


def _block(block: Block) -> str:
    body = _table(block) if isinstance(block, Table) else _listing(block)
    note = _wrapped(block.note, "  ") if block.note else []
    title = printable(block.title)
    return "\n".join([title, "-" * len(title), *body, *note])


def _listing(block: Listing) -> list[str]:
    lines = []
    for item in (*block.lead, *block.items):
        lines += _wrapped(item.text, f"  {item.mark}", " " * (2 + len(item.mark)))
        for detail in item.details:
            lines += _wrapped(detail, " " * (2 + len(item.mark)))
    return lines


def _wrapped(text: str, first: str = "", other: str | None = None) -> list[str]:
    lines = textwrap.wrap(
        unbroken(printable(text)),
        WIDTH,
        initial_indent=first,
        subsequent_indent=first if other is None else other,
    )
    return [line.replace(NO_BREAK, " ") for line in lines]


def _table(block: Table) -> list[str]:
    """Columns side by side, long texts below their row; names take the width that is left."""
    beside = [i for i, column in enumerate(block.columns) if column.kind != "below"]
    columns = [block.columns[i] for i in beside]
    rows = [tuple(printable(row[i]) for i in beside) for row in block.rows]
    widths = [
        max(len(row[i]) for row in (tuple(column.label for column in columns), *rows))
        for i in range(len(columns))
    ]
    _narrow(columns, widths)
    if len(beside) == len(block.columns):
        rows = _distinguish(rows, columns, widths)
    lines = [_row([column.label for column in columns], columns, widths)]
    for row, whole in zip(rows, block.rows, strict=True):
        lines.append(_row(row, columns, widths))
        # Names that their column cuts are repeated below: two operators may begin alike.
        cut = (
            fit_text(text, LONGEST_BELOW // 2)
            for text, column, width in zip(row, columns, widths, strict=True)
            if column.kind == "name" and len(text) > width
        )
        below = (
            text
            for text, column in zip(whole, block.columns, strict=True)
            if column.kind == "below" and text
        )
        long = "  ".join([*cut, *below] if len(columns) < len(block.columns) else [])
        lines += _wrapped(fit_text(long, LONGEST_BELOW), "      ")
    more = and_more(block.total - len(block.rows))
    return [*lines, f"  {more}"] if more else lines


def _distinguish(
    rows: Sequence[tuple[str, ...]], columns: Sequence[Column], widths: Sequence[int]
) -> list[tuple[str, ...]]:
    """Names that would be cut to the same text keep their ends, or else where they first differ, instead of their middles."""
    texts = [list(cells) for cells in zip(*rows, strict=True)]
    for number, (column, width) in enumerate(zip(columns, widths, strict=True)):
        if column.kind != "name" or not rows:
            continue
        long = sorted({text for text in texts[number] if len(text) > width})
        count = Counter(fit_text(text, width) for text in long)
        alike = [text for text in long if count[fit_text(text, width)] > 1]
        if not alike:
            continue
        told = _cut_apart(alike, width)
        if len({told.get(text, fit_text(text, width)) for text in long}) < len(long):
            told = _cut_apart(long, width)
        texts[number] = [told.get(text, text) for text in texts[number]]
    return list(zip(*texts, strict=True))


def _cut_apart(names: Sequence[str], width: int) -> dict[str, str]:
    """Each of some sorted names within ``width``: its begin and end, else from where it differs from its neighbours, else its
    begin and a number, whatever tells all of them apart.
    """
    half = (width - 1) // 2
    ends = [f"{name[: width - 1 - half]}…{name[-half:]}" for name in names]
    middles = []
    for name, before, after in zip(names, ["", *names], [*names[1:], ""], strict=False):
        # Sorted names differ from their neighbours the latest.
        at = max(_alike(name, before), _alike(name, after))
        at = max(0, min(at, len(name) - width + 2))
        middles.append(fit_text(f"{'…' if at else ''}{name[at:]}", width))
    numbers = [f"{name[: width - 1 - len(str(i))]}…{i}" for i, name in enumerate(names, 1)]
    cuts = next(cuts for cuts in (ends, middles, numbers) if len(set(cuts)) == len(names))
    return dict(zip(names, cuts, strict=True))


def _alike(one: str, other: str) -> int:
    """How many letters two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _row(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> str:
    return f"  {'  '.join(_cell(text, column, width) for text, column, width in zip(cells, columns, widths, strict=True))}".rstrip()


def _narrow(columns: Sequence[Column], widths: list[int]) -> None:
    """Shrink the widths to fit, the widest text column first, then the widest name."""
    over = sum(widths) + 2 * len(widths) - WIDTH
    for kind, least in (("text", 8), ("name", LEAST_NAME), ("name", 8)):
        places = [i for i, column in enumerate(columns) if column.kind == kind]
        while over > 0 and (wide := [i for i in places if widths[i] > least]):
            widest = max(wide, key=lambda i: widths[i])
            widths[widest] -= 1
            over -= 1


def _cell(text: str, column: Column, width: int) -> str:
    return f"{text:>{width}}" if column.kind == "number" else f"{fit_text(text, width):<{width}}"
