"""A document as Markdown, within a number of tokens on request: for a review, a chat, or a language model."""

from __future__ import annotations

from torch_tb_profiler.cli.document import Block, Column, Document, Table
from torch_tb_profiler.views.diff_file import markdown_name, markdown_text

BYTES_PER_TOKEN = 3
"""Of figures and symbol names; prose has more. An estimate on the safe side, because every model counts in its own way."""
_LONGEST_NAME = 160
_ROWS = (200, 100, 50, 30, 20, 15, 10, 7, 5, 3, 2, 1)
_ALL = 1 << 30


def markdown(document: Document, tokens: int | None = None) -> str:
    """The text; it ends in a line feed. With ``tokens`` rows are left out first, then the last blocks, and the text says so.

    ::

        all rows ─▶ too long? ─▶ 200 rows a table ─▶ … ─▶ 1 row a table ─▶ without the last block ─▶ … ─▶ cut at a line
    """
    text = _render(document)
    if tokens is None or estimate(text) <= tokens:
        return text
    note = f"\n*Shortened to about {tokens:,} tokens. More: `--tokens`, or `--json`.*\n"
    room = tokens - estimate(note)
    blocks = len(document.blocks)
    tries = [(rows, blocks) for rows in _ROWS] + [(1, left) for left in range(blocks - 1, -1, -1)]
    for rows, left in tries:
        text = _render(document.cut(rows, left))
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
    if column.kind == "name":
        return markdown_name(text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…")
    return markdown_text(text)
