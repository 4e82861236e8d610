"""Texts from a trace in CSV and Markdown: nothing in them runs, ends a cell or is markup."""

from __future__ import annotations

import re

from torch_tb_profiler.units import NARROW_SPACE

_FORMULA = re.compile("^[=+\\-@\t\r\uff1d\uff0b\uff0d\uff20]")
"""Signs at which spreadsheets take a text for a formula, as in ``fe/src/base/csv.ts``."""
_QUOTED = re.compile('[",\r\n]')
_MARKUP = re.compile(r"([\\`*_\[\]<>#|~&$@]|:(?=//)|(?<=www)\.)")


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
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def markdown_text(text: str) -> str:
    """A text that shows as it is: no markup, no line break, nothing that ends a cell or makes a
    link.
    """
    return _MARKUP.sub(r"\\\1", one_line(text))


def markdown_name(text: str) -> str:
    """A name as code, in which nothing is markup, a link or a mention."""
    shown = one_line(text).replace("`", "'").replace("|", r"\|")
    return f"`{shown}`" if text.strip() else ""


def one_line(text: str) -> str:
    """A text without line breaks and control characters."""
    return "".join(c if c.isprintable() or c == NARROW_SPACE else " " for c in text)
