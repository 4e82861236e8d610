"""Texts from a trace in CSV and Markdown: nothing in them runs, ends a cell or is markup."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from torch_tb_profiler.patterns import regex
from torch_tb_profiler.untrusted import printable

_SIGNS, _PARTS = "[=+\\-@\uff1d\uff0b\uff0d\uff20]", "[;\t\r\n]"
_FORMULA = regex(rf'[ "]*{_SIGNS}|{_PARTS}')
"""Begins of a text at which spreadsheets take it for a formula, or part it, as in ``fe/src/base/csv.ts``."""
_NUMBER = r"[+\-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+\-]?\d+)?"
_FORMULA_WITHIN = regex(rf'({_PARTS})(?=[ "]*{_SIGNS})(?![ "]*(?:{_NUMBER})[ "]*(?:{_PARTS}|$))')
"""Where one may begin within a text: the semicolon parts cells in many countries. Numbers do nothing there."""
_QUOTED = regex('[",\r\n]')
_MARKUP = regex(r"([\\`*_\[\]<>#|~&$@]|:(?=//)|(?<=www)\.)")
_BLOCK = regex(r"\s*(?:(?=[-+]\s|[-+=]+\s*$)|\d{1,9}(?=[.)](?:\s|$)))")
"""Begin of a text that would be a list, a line or the underline of a heading where it begins a line."""
_PIPE = regex(r"(?<!\\)(?:\\\\)*(?=\|)")
"""Before a pipe that an even number of backslashes leaves unescaped."""


def csv_field(value: str | float | bool | None) -> str:
    """One field. A text that a spreadsheet would run gets an apostrophe in front; numbers stay as
    they are; unknown is empty.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    text = no_formula(value)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def no_formula(text: str) -> str:
    """A text that no spreadsheet takes for a formula, nor a part of it."""
    inner = _FORMULA_WITHIN.sub(r"\1'", text)
    return f"'{inner}" if _FORMULA.match(inner) else inner


def markdown_text(text: str, *, within: bool = False) -> str:
    """A text that shows as it is: no markup, no line break, nothing that ends a cell or makes a
    link. ``within``: it begins no line.
    """
    shown = _MARKUP.sub(r"\\\1", one_line(text))
    block = None if within else _BLOCK.match(shown)
    return f"{block[0].lstrip()}\\{shown[block.end() :]}" if block else shown


def markdown_name(text: str) -> str:
    """A name as code, in which nothing is markup, a link or a mention."""
    shown = _PIPE.sub(r"\g<0>\\", one_line(text).replace("`", "'"))
    return f"`{shown}`" if text.strip() else ""


def one_line(text: str) -> str:
    """A text without line breaks and control characters."""
    return printable(text, " ")


def markdown_table(
    labels: Sequence[str], rows: Iterable[Sequence[str]], numbers: Container[int] = ()
) -> list[str]:
    """The lines of a table of cells that are Markdown already. ``numbers``: places of the columns that are aligned to the right."""
    below = ["---:" if place in numbers else "---" for place in range(len(labels))]
    return [f"| {' | '.join(cells)} |" for cells in (labels, below, *rows)]
