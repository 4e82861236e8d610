"""A document as Markdown, within a number of tokens on request: for a review, a chat, or a language model."""

from __future__ import annotations

from torch_tb_profiler.cli.document import Block, Column, Document, Table
from torch_tb_profiler.views.diff_file import markdown_name, markdown_text

BYTES_PER_TOKEN = 3
"""Of figures and symbol names; prose has more. An estimate on the safe side, because every model counts in its own way."""
_LONGEST_NAME = 160
_ROWS = (200, 100, 50, 30, 20, 15, 10, 7)
_MOST_TOLD = 4
"""Blocks that are worth more than many rows of each."""
_FEW = ((7, 4), (5, 4), (3, 4), (2, 4), (3, 3), (2, 3), (2, 2), (2, 1), (1, 1))
"""(rows, blocks) when that is still too long."""


def markdown(document: Document, tokens: int | None = None) -> str:
    """The text; it ends in a line feed. With ``tokens`` rows are left out first, then the last blocks, and the text says so.

    ::

        all rows ─▶ too long? ─▶ 200 rows a table … 7 ─▶ without details ─▶ without the last block … 4 left ─▶ 5 rows … 1 ─▶ cut at a line
    """
    text = _render(document)
    if tokens is None or estimate(text) <= tokens:
        return text
    note = f"\n*Shortened to about {tokens:,} tokens. More: `--tokens`, or `--json`.*\n"
    room = tokens - estimate(note)
    blocks = len(document.blocks)
    tries = [(rows, blocks, True) for rows in _ROWS] + [(_ROWS[-1], left, False) for left in range(blocks, _MOST_TOLD, -1)]
    for rows, left, details in (*tries, *((rows, left, False) for rows, left in _FEW)):
        text = _render(document.cut(rows, left, details))
        if estimate(text) <= room:
            return text + note
    kept = text.encode()[: max(room, 0) * BYTES_PER_TOKEN].decode("utf-8", "ignore").rpartition("\n")[0]
    return f"{kept}\n{note}"


def estimate(text: str) -> int:
    """Tokens of a text, roughly and rather too many."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def _render(document: Document) -> str:
    lines = [f"# {markdown_text(document.title)}", "", *(f"{markdown_text(line)}  " for line in document.lines)]
    for block in document.blocks:
        lines += ["", f"## {markdown_text(block.title)}", "", *_block(block)]
        if block.note:
            lines += ["", markdown_text(block.note)]
    return "\n".join(lines).rstrip() + "\n"


def _block(block: Block) -> list[str]:
    if isinstance(block, Table):
        return _table(block)
    lines = []
    for item in block.items:
        lines += [f"- {markdown_text(item.text)}", *(f"  {markdown_text(detail)}" for detail in item.details)]
    return lines


def _table(block: Table) -> list[str]:
    shown = [i for i, column in enumerate(block.columns) if column.kind != "bar"]
    lines = [
        f"| {' | '.join(markdown_text(block.columns[i].label) for i in shown)} |",
        f"| {' | '.join('---:' if block.columns[i].kind == 'number' else '---' for i in shown)} |",
        *(f"| {' | '.join(_cell(row[i], block.columns[i]) for i in shown)} |" for row in block.rows),
    ]
    left = block.total - len(block.rows)
    return [*lines, "", f"and {left:,} more"] if left > 0 else lines


def _cell(text: str, column: Column) -> str:
    if column.kind in ("name", "below"):
        return markdown_name(text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…")
    return markdown_text(text)
