"""Arguments of the commands that serve, record, check, import everything or install, and those that most commands take."""

from __future__ import annotations

import argparse

from torch_tb_profiler.cli.values import (
    STANDARD_INPUT,
    numbers,
    path_or_input,
    path_or_url,
    percent,
    port,
    positive,
    words,
)

PATH = "trace file, run folder or logdir: a path or a URL"
_PYPROF_COLUMNS = """comma-separated columns, or all (default: %(default)s): idx row number; seq autograd sequence number; altseq others around it;
tid thread; layer range layer:NAME or nn.Module; trace source lines; dir fprop or bprop; sub position in the kernels of its call; mod and op the call;
kernel; params its arguments; sil device time in ns; tc matrix cores 1, 0, or - where nothing is multiplied; device; stream; grid; block; flops; bytes"""


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


def pyprof(parser: argparse.ArgumentParser) -> None:
    """Of ``pyprof``."""
    parser.add_argument(
        "path",
        metavar="PATH",
        type=path_or_input,
        nargs="?",
        default=STANDARD_INPUT,
        help="trace file, folder with one trace, or a file that --dict or PyProf's parser wrote: a path or a URL;"
        " - or nothing is standard input",
    )
    workers(parser)
    cache(parser)
    steps(parser)
    default = "idx,dir,sub,mod,op,kernel,params,sil"
    parser.add_argument(
        "-c", dest="columns", metavar="COLUMNS", default=default, help=_PYPROF_COLUMNS
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="print CSV; unknown numbers are empty")
    form.add_argument(
        "-w",
        dest="width",
        metavar="WIDTH",
        type=positive,
        help="print aligned columns, at most WIDTH characters a line",
    )
    form.add_argument(
        "--json",
        action="store_true",
        help="print a JSON array with one object per kernel; unknown is null",
    )
    form.add_argument(
        "--dict",
        action="store_true",
        help="print every column as a dictionary per line, with the keys of PyProf's parser; each line is Python and JSON",
    )


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


def record(parser: argparse.ArgumentParser) -> None:
    """Of ``record``."""
    parser.add_argument(
        "job",
        metavar="JOB",
        type=path_or_url,
        help="HOST:PORT or unix:PATH of a job that calls torch_tb_profiler.listen, the folder of its traces, or the URL of"
        " a server",
    )
    parser.add_argument(
        "--steps", metavar="N", type=positive, default=5, help="(default: %(default)s)"
    )
    parser.add_argument(
        "--seconds", metavar="S", type=float, help="how long a server without steps records"
    )
    parser.add_argument(
        "--ranks", metavar="RANKS", type=numbers, help="like 0,7 (default: all that listen)"
    )
    parser.add_argument("--token", help="what the job asks for (default: TORCH_TB_PROFILER_TOKEN)")
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the traces")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def baseline(parser: argparse.ArgumentParser) -> None:
    """Of ``baseline``."""
    parser.add_argument("action", choices=("save", "compare"))
    parser.add_argument("name", metavar="NAME", help="of the baseline")
    trace(parser)
    parser.add_argument(
        "--dir", metavar="FOLDER", default=".profiler-baselines", help="(default: %(default)s)"
    )
    parser.add_argument(
        "--fail-on",
        metavar="PERCENT",
        type=percent,
        help="exit with 1 if the step changed, and is longer by more than this",
    )
    strict(parser)
    _checks(parser)


def strict(parser: argparse.ArgumentParser) -> None:
    """Of ``baseline`` and ``diff``."""
    parser.add_argument(
        "--strict",
        action="store_true",
        help="exit with 1 also if it cannot be told whether the step changed",
    )


def budgets(parser: argparse.ArgumentParser) -> None:
    """Of ``budgets``."""
    trace(parser)
    parser.add_argument(
        "--budgets", metavar="FILE", default="profiler-budgets.toml", help="(default: %(default)s)"
    )
    _checks(parser)


def _checks(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--junit", metavar="FILE", help="also write the checks as JUnit XML")
    parser.add_argument("--json", action="store_true", help="print JSON")


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
