"""Every command of the command line about a folder, in every form that its parser declares."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from torch_tb_profiler.cli.commands import COMMANDS, command_of
from torch_tb_profiler.cli.main import main

from . import forks
from .kept import Reply

SECONDS = 120.0
"""For one command."""
NOT_RUN = frozenset({"serve", "mcp", "record", "report", "skill", "compare"})
"""They serve, write files or ask a running job; ``compare`` is ``diff``."""
FLAGS = ("--json", "--csv", "--dict", "--raw")
SOME = {
    "summary": (("--markdown",), ("--worker", "0"), ("--tokens", "600")),
    "findings": (("--markdown",), ("--worker", "0")),
    "critical-path": (("--ranks", "all"), ("--steps", "1")),
    "operators": (("--steps", "1"), ("--skip-cold",)),
}
"""Options that other commands have, too, and that the same code serves. All that tools ask has ``--tokens``."""
STATEMENT = "select name, count(*) as n, sum(dur) as ns from spans group by name order by ns desc, name limit 8"
EXPORTS = (
    ("--to", "folded", "--what", "lines"),
    ("--to", "speedscope", "--what", "modules"),
    ("--what", "operators"),
    ("--what", "scalars"),
)
BUDGETS = "step_ms = 1\nmemory_gib = 1\nmfu = 0.5\ndevice_active = 0.9\n"


def replies(name: str, pair: tuple[str, str] | None, few: bool) -> Iterator[Reply]:
    """Those about a folder of the working folder, and about two of its parts. ``few``: text and JSON alone."""
    yield from said([*lines(name, pair, few)])


def alone() -> Iterator[Reply]:
    """Those that are about no recording."""
    helps = [[name, "--help"] for name in COMMANDS]
    others = [["sql", "--list"], ["whatif", "--list"], ["summary", "nothing"]]
    yield from said([["--help"], *helps, *others])


def said(asked: Sequence[list[str]]) -> Iterator[Reply]:
    """What commands print."""
    works = [partial(main, arguments) for arguments in asked]
    for arguments, told in zip(asked, forks.each(works, SECONDS), strict=True):
        out, err = (part.decode(errors="backslashreplace") for part in (told.out, told.err))
        yield Reply(" ".join(arguments), told.code, *together(out, err))


def together(out: str, err: str) -> tuple[str, bool]:
    """What was printed on both, as JSON where the first is, and whether it is."""
    if out[:1] in "{[" and out.strip():
        return f'{{"out": {out.strip()}, "err": {json.dumps(err)}}}', True
    return out + (f"\n[on standard error]\n{err}" if err else ""), False


def lines(name: str, pair: tuple[str, str] | None, few: bool) -> Iterator[list[str]]:
    """The arguments of each command."""
    for command in COMMANDS:
        if command in NOT_RUN:
            continue
        for form in forms(command, few):
            yield from ([command, *own, *form] for own in _arguments(command, name, pair))


def forms(command: str, few: bool) -> Iterator[list[str]]:
    """No option, and each that changes what is printed alone."""
    parser = argparse.ArgumentParser()
    command_of(command).declare(parser)
    yield []
    for action in parser._actions:
        option = action.option_strings[-1] if action.option_strings else ""
        if option in FLAGS and (option == "--json" or not few):
            yield [option]
        elif option and action.choices and option != "--ranks" and command != "export" and not few:
            yield from ([option, str(value)] for value in action.choices if value != action.default)
    if not few:
        yield from (list(form) for form in SOME.get(command, ()))


def _arguments(command: str, name: str, pair: tuple[str, str] | None) -> Iterator[list[str]]:
    """What stands before the options."""
    if command == "diff":
        if pair:
            yield list(pair)
    elif command == "event":
        yield [name, "0", "5"]
    elif command == "sql":
        yield [name, STATEMENT]
    elif command == "baseline":
        yield ["save", "kept", name, "--dir", "baselines", "--force"]
        yield ["compare", "kept", name, "--dir", "baselines"]
    elif command == "budgets":
        Path("budgets.toml").write_text(BUDGETS, encoding="utf-8")
        yield [name, "--budgets", "budgets.toml"]
    elif command == "export":
        yield from ([name, *form, "-o", "-"] for form in EXPORTS)
    else:
        yield [name]
