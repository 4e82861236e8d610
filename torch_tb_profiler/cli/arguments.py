"""Arguments that several commands take."""

from __future__ import annotations

import argparse

from torch_tb_profiler.cli.argument_types import path_or_url, percent, positive, words

PATH = "trace file, run folder or logdir: a path or a URL"


def trace(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """A path of traces, and which of them."""
    parser.add_argument("path", metavar="PATH", type=path_or_url, nargs=nargs, help=PATH)
    workers(parser)
    cache(parser)


def workers(parser: argparse.ArgumentParser) -> None:
    """Which workers."""
    parser.add_argument(
        "--worker",
        metavar="NAMES",
        type=words,
        default=(),
        help="workers by name or rank, comma-separated (default: all)",
    )


def cache(parser: argparse.ArgumentParser) -> None:
    """Whether what was imported is kept."""
    parser.add_argument("--no-cache", action="store_true", help="do not use the import cache")


def steps(parser: argparse.ArgumentParser) -> None:
    """Which steps."""
    parser.add_argument(
        "--steps", metavar="STEPS", help="steps by index, like 3 or 3-7 (default: all)"
    )
    parser.add_argument("--skip-cold", action="store_true", help="leave out cold steps")


def form(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    """How a ``Report`` is printed; further forms join the group."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--json",
        action="store_true",
        help="print a JSON array with one object per trace; times in integer nanoseconds",
    )
    group.add_argument("--markdown", action="store_true", help="print Markdown")
    # Not in the group: --markdown --tokens 600 asks for one thing.
    tokens(parser, "print Markdown of at most about N tokens, the least important parts left out")
    return group


def tokens(parser: argparse.ArgumentParser, text: str) -> None:
    """How long the Markdown may be."""
    parser.add_argument("--tokens", metavar="N", type=positive, help=text)


def table(parser: argparse.ArgumentParser, groups: tuple[str, ...]) -> None:
    """All of a command that prints a table whose rows are grouped."""
    trace(parser)
    form(parser)
    steps(parser)
    parser.add_argument(
        "--by", choices=groups, default=groups[0], help="group rows by this (default: %(default)s)"
    )
    order(parser, "self time on the device, else on the host")


def order(parser: argparse.ArgumentParser, default: str) -> None:
    """Which rows come first, and how many."""
    text = f"numeric column of --json, largest first (default: {default})"
    parser.add_argument("--sort", metavar="COLUMN", help=text)
    limit(parser)


def limit(parser: argparse.ArgumentParser) -> None:
    """How many rows."""
    text = "rows to print, with --json too (default: %(default)s)"
    parser.add_argument("--limit", metavar="N", type=positive, default=20, help=text)


def fail_on(parser: argparse.ArgumentParser, step: str) -> None:
    """When a comparison fails. ``step``: what it is of."""
    text = f"exit with 1 if {step} changed, and is longer by more than this"
    parser.add_argument("--fail-on", metavar="PERCENT", type=percent, help=text)
    parser.add_argument(
        "--strict",
        action="store_true",
        help="exit with 1 also if it cannot be told whether the step changed",
    )


def checks(parser: argparse.ArgumentParser) -> None:
    """How checks are told."""
    parser.add_argument("--junit", metavar="FILE", help="also write the checks as JUnit XML")
    parser.add_argument("--json", action="store_true", help="print JSON")


def force(parser: argparse.ArgumentParser) -> None:
    """``--force``, for those that write files."""
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")


def contradiction(options: argparse.Namespace) -> str:
    """Why options exclude each other, beyond argparse's groups; empty where they do not."""
    given = vars(options)
    if given.get("tokens") and (given.get("json") or given.get("format", "markdown") != "markdown"):
        return "--tokens shortens Markdown, not JSON or CSV: leave out one of the two"
    for option in ("worker", "skip_cold"):
        if given.get("ranks") and given.get(option):
            return f"--ranks all takes every rank and step: leave out --{option.replace('_', '-')}"
    if given.get("worker") and given.get("path", "") is None:
        return "--worker selects traces at a PATH, and none is given"
    return ""
