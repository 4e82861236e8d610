"""``docs/command_line.md``: a row per subcommand from the docstring of its module, and what ``export --what`` takes."""

from __future__ import annotations

import re

from tests.generate.tables import within
from torch_tb_profiler.cli.commands import COMMANDS, command_of
from torch_tb_profiler.tables.registry import TABLES

MARKS = "<!-- commands -->", "<!-- end of commands -->"


def page(held: str) -> str:
    """The page with both."""
    docs = dict.fromkeys(command_of(name).__doc__ or "" for name in COMMANDS)
    head = "\n| command | prints or writes |\n| --- | --- |\n"
    others = ", ".join(f"`{name}`" for name in TABLES if name != "operators")
    return within(
        within(held, f"{head}{''.join(map(_row, docs))}", MARKS), f"`operators` (default), {others}"
    )


def _row(doc: str) -> str:
    """Its usage, and behind the colon what it prints."""
    text = " ".join(doc.partition("\n\n")[0].split()).replace("``", "`")
    usage, about = re.fullmatch(r"((?:`[^`]+`(?:, )?)+): (.+)", text).groups()  # type: ignore[union-attr]
    return f"| {usage} | {about} |\n"
