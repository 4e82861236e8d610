"""Arguments of the commands that serve, import everything or install."""

from __future__ import annotations

import argparse

from torch_tb_profiler.cli.values import path_or_url, port, positive

PATH = "trace file, run folder or logdir: a path or a URL"


def serve(parser: argparse.ArgumentParser) -> None:
    """Of ``serve``."""
    parser.add_argument("logdir", metavar="LOGDIR", type=path_or_url, help="a path or a URL")
    parser.add_argument(
        "--port", type=port, default=6007, help="0 picks a free one (default: %(default)s)"
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on (default: %(default)s, this machine only)",
    )
    parser.add_argument(
        "--allowed-hosts",
        metavar="NAMES",
        default="",
        help="names that it is reached by beside this machine's own, such as one of a proxy:"
        " a.example.com,*.b.example.com",
    )


def mcp(parser: argparse.ArgumentParser) -> None:
    """Of ``mcp``."""
    parser.add_argument(
        "logdir", metavar="LOGDIR", nargs="?", default=".", type=path_or_url, help="default: ."
    )
    parser.add_argument(
        "--http",
        action="store_true",
        help="streamable HTTP on 127.0.0.1 instead of standard input and output",
    )
    parser.add_argument("--port", type=port, default=6008, help="(default: %(default)s)")


def skill(parser: argparse.ArgumentParser) -> None:
    """Of ``skill``."""
    parser.add_argument("action", choices=("install",))
    parser.add_argument(
        "--to",
        metavar="DIR",
        default=".agents/skills",
        help="folder of an assistant's skills (default: %(default)s)",
    )
    force(parser)


def import_all(parser: argparse.ArgumentParser) -> None:
    """Of ``import``."""
    parser.add_argument("path", metavar="LOGDIR", type=path_or_url, help=PATH)
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="Dask scheduler whose workers do it, like tcp://host:8786",
    )
    where.add_argument(
        "--workers",
        metavar="N",
        type=positive,
        help="processes of this machine that do it (default: one per core)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print a JSON object with every trace and its state"
    )


def force(parser: argparse.ArgumentParser) -> None:
    """``--force``, for those that write files."""
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")
