"""A document as Markdown, on request within a number of tokens."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from torch_tb_profiler.cli.document import Block, Column, Document, Table
from torch_tb_profiler.cli.hints import hint
from torch_tb_profiler.cli.recorded_names import RecordedNames
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.units import NARROW_SPACE, and_more, format_count
from torch_tb_profiler.views.words.escapes import markdown_name, markdown_table, markdown_text

NONE = RecordedNames()
_CODE = regex(r"\\.")
"""What is no sign of code within a line."""
_PIECE = regex(r"[A-Za-z]+|[0-9]+|\s+|[^\sA-Za-z0-9]")
LETTERS, DIGITS = 6, 3
"""Of a word and of a number per token. Of 172 outputs a tokenizer of 65,000 words made 0.70 to 1.00
times as many tokens.
"""
_LONGEST_NAME = 160
_SHORTEST_NAME = 3
"""Letters from which on a name is marked: a shorter one may as well be a word of the text."""
ALL = sys.maxsize
_ROWS = (200, 100, 50, 30, 20, 15, 10, 7)
_CORE_BLOCKS = 4
"""Blocks that matter more than many rows of each."""
_FEW_BLOCKS = 2
"""Of a document of so few the details of the first items matter more than the rest."""
_DETAILED = 3
"""Items of a list whose details matter more than further blocks."""
_DETAILS_FIRST = ((7, 2, 3), (5, 2, 3), (3, 2, 3), (3, 1, 3), (5, 2, 2), (3, 1, 2), (3, 1, 1))
_FEW = (
    *((7, 4, 3), (5, 4, 3), (5, 3, 3), (3, 3, 3), (5, 2, 2), (5, 1, 2), (5, 1, 1), (3, 4, 0)),
    *((2, 4, 0), (3, 3, 0), (2, 3, 0), (2, 2, 0), (2, 1, 0), (1, 1, 0)),
)
"""(rows, blocks, items with details) where that is still too long."""
_WHOLE = 0.85
"""Part of the budget that a document about a run may take before those about parts of it."""
LEAST = 250
"""Tokens that a document needs; of more documents than have room the last ones are left out."""


def within_tokens(documents: Sequence[Document], tokens: int, names: RecordedNames = NONE) -> str:
    """Several texts in about ``tokens``: short ones whole, the others with equal parts of the rest.
    As much is left out as it takes, and the text says so: rows (200 per table … 7), details, the last
    blocks down to four, more rows, lines about the recording; at last the text is cut.
    """
    sizes = [estimate(markdown(document, names)) for document in documents]
    if sum(sizes) + len(sizes) <= tokens:
        return "\n".join(markdown(document, names) for document in documents)
    whole = [document for document in documents if document.whole]
    first = min(
        sum(size for size, d in zip(sizes, documents, strict=True) if d.whole),
        round(_WHOLE * tokens),
    )
    room = max(1, len(whole) + (tokens - first) // LEAST)
    shown = documents[:room]
    away = (
        f" {format_count(len(documents) - len(shown))} of {format_count(len(documents))} parts left out."
        if len(shown) < len(documents)
        else ""
    )
    more = f" More: {_more(len(documents) > 1)}." if tokens >= LEAST // 2 else ""
    note = f"\n*Shortened to about {format_count(tokens)} tokens.{away}{more}*\n"
    left = max(tokens - estimate(note) - len(shown), 0)
    parts = [0] * len(shown)
    # A run first, as it is the answer; then the shortest: the others share what it does not need.
    order = sorted(range(len(shown)), key=lambda i: (not shown[i].whole, sizes[i]))
    for done, i in enumerate(order):
        behind = len(shown) - done
        own = left if behind == 1 else int(_WHOLE * left) if shown[i].whole else left // behind
        parts[i] = min(sizes[i], own)
        left -= parts[i]
    return (
        "\n".join(
            _fitting(document, part, names) for document, part in zip(shown, parts, strict=True)
        )
        + note
    )


def _more(several: bool) -> str:
    worker = ("`--worker`, ", "`worker`, ") if several else ("", "")
    return hint(f"`--tokens`, {worker[0]}or `--json`", f"{worker[1]}a larger `tokens`")


def _fitting(document: Document, room: int, names: RecordedNames) -> str:
    blocks = len(document.blocks)
    tries = [(rows, blocks, ALL, True) for rows in (ALL, *_ROWS)] + [
        (_ROWS[-1], left, _DETAILED, True) for left in range(blocks, _CORE_BLOCKS, -1)
    ]
    ladder = (*(_DETAILS_FIRST if blocks <= _FEW_BLOCKS else ()), *_FEW)
    few = [(*each, lines) for lines in (True, False) for each in ladder]
    for rows, left, details, lines in (*tries, *few):
        text = markdown(document.cut(rows, left, details, lines), names)
        if estimate(text) <= room:
            return text
    # Nothing fits: the beginning of the text.
    least, most = 0, len(text)
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if estimate(text[:middle]) + 2 <= room else (least, middle - 1)
    cut = text[:least].rstrip().rstrip("\\")
    code = _CODE.sub("", cut.rpartition("\n")[2]).count("`") % 2
    return f"{cut}…{'`' * code}\n"


def estimate(text: str) -> int:
    """Tokens of a text, rather too many: one per sign, word, number and line, more for long ones."""
    return sum(map(_tokens, _PIECE.findall(text)))


def _tokens(piece: str) -> int:
    sign = piece[0]
    if sign.isspace():
        return int("\n" in piece) + 2 * piece.count(NARROW_SPACE)
    if not sign.isalnum() or not sign.isascii():
        return 1 if sign.isascii() else 2
    return -(-len(piece) // (DIGITS if sign.isdigit() else LETTERS))


def markdown(document: Document, names: RecordedNames = NONE) -> str:
    """The whole text, with names of recordings as code; it ends in a line feed."""
    lines = [
        f"# {names.marked(document.title)}",
        *([""] if document.lines else []),
        *(f"{names.marked(line)}  " for line in document.lines),
    ]
    for block in document.blocks:
        lines += ["", f"## {names.marked(block.title)}", "", *_block(block, names)]
        if block.note:
            lines += ["", names.marked(block.note)]
    return "\n".join(lines).rstrip() + "\n"


def _block(block: Block, names: RecordedNames) -> list[str]:
    if isinstance(block, Table):
        return _table(block, names)
    lines = []
    for item in (*block.lead, *block.items):
        lines += [
            f"- {_named(item.text, item.names, names)}",
            *(f"  {_named(detail, item.names, names)}" for detail in item.details),
        ]
    return lines


def _named(text: str, names: Sequence[str], recorded: RecordedNames) -> str:
    """A text with the names of the trace in it as code: they are data."""
    known = sorted({name for name in names if len(name) >= _SHORTEST_NAME}, key=len, reverse=True)
    if not known:
        return recorded.marked(text)
    each = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in known)
    parts = re.split(f"({each})", text)
    return "".join(
        markdown_name(part) if number % 2 else recorded.marked(part, within=number > 0)
        for number, part in enumerate(parts)
    )


def _table(block: Table, names: RecordedNames) -> list[str]:
    shown = [i for i, column in enumerate(block.columns) if column.kind != "bar"]
    columns = [block.columns[i] for i in shown]
    lines = markdown_table(
        [markdown_text(column.label) for column in columns],
        [[_cell(row[i], block.columns[i], names) for i in shown] for row in block.rows],
        [place for place, column in enumerate(columns) if column.kind == "number"],
    )
    more = and_more(block.total - len(block.rows))
    return [*lines, "", more] if more else lines


def _cell(text: str, column: Column, names: RecordedNames) -> str:
    if column.kind in ("name", "below"):
        return markdown_name(text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…")
    return names.marked(text) if column.kind == "text" else markdown_text(text)
