"""The subcommands by name.

Each is a module with three names: ``HELP``, one line; ``declare(parser)``, which adds its arguments; and ``run(options)``,
which returns the exit code and raises ``ProfilerError``. Its docstring is its row in ``docs/command_line.md``. ``--help``
imports them, and a trace is opened before what describes it is imported, which takes longer than to read a small one: what
takes time they import in functions.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Protocol, cast

COMMANDS = {
    "summary": "summary",
    "ask": "ask",
    "operators": "operators",
    "kernels": "kernels",
    "api-calls": "api_calls",
    "ranges": "ranges",
    "compiled": "compiled",
    "iterations": "iterations",
    "findings": "findings",
    "critical-path": "critical_path",
    "whatif": "what_if",
    "event": "event",
    "pyprof": "pyprof",
    "export": "export",
    "import": "import_all",
    "sql": "sql",
    "baseline": "baseline",
    "budgets": "budgets",
    "record": "record",
    "serve": "serve",
    "skill": "agents.skill",
    "mcp": "agents.mcp",
    "doctor": "doctor",
    "report": "report",
    "experiments": "experiments",
    "diff": "diff",
    "compare": "diff",
}
"""Name → module of this package, in the order of ``--help``."""


class Command(Protocol):
    """What the module of a subcommand holds."""

    HELP: str

    @staticmethod
    def declare(parser: argparse.ArgumentParser) -> None: ...

    @staticmethod
    def run(options: argparse.Namespace) -> int: ...


def command_of(name: str) -> Command:
    """The module of a subcommand, imported now."""
    return cast(Command, import_module(f"torch_tb_profiler.cli.{COMMANDS[name]}"))
