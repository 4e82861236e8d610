"""The subcommands: what each is for, its arguments, and the functions that carry it out. These are
named and not imported: ``--help`` needs none of them, and a trace is opened before what describes
it is imported.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

_PATH = "a trace file, a run folder or a logdir; a path or a URL"

_PYPROF_COLUMNS = """columns by their words, with commas between, or all (default: %(default)s): idx number; seq sequence number of autograd;
altseq others around it; tid thread; layer range layer:NAME or nn.Module; trace lines of your program; dir fprop or bprop; sub which kernel of its call;
mod and op the call; kernel; params what the call was given; sil ns on the device; tc matrix cores 1, 0 or - (multiplies nothing); device; stream; grid; block;
flops; bytes"""

_WHAT = """of csv, parquet and arrow a table: steps, operators, kernels, modules, memory, memory_blocks, memory_alive, collectives, counters,
counter_samples, efficiency, pyprof, key_averages, findings, events (default: operators); of folded and speedscope modules or lines (default: lines);
of trace events"""

_Number = TypeVar("_Number", int, float)
Arguments = Callable[[argparse.ArgumentParser], None]


@dataclass(frozen=True)
class Command:
    """``target``: a function (see ``function_of``) that takes the parsed options and returns the
    exit code; names behind it are further arguments of it.
    """

    name: str
    help: str
    arguments: Arguments
    target: tuple[str, ...]


def function_of(name: str) -> Callable[..., Any]:
    """The function ``module:function`` below ``cli``; the module is imported now."""
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(f"torch_tb_profiler.cli.{module}"), function)
    return found


def _trace(parser: argparse.ArgumentParser, needed: bool = True) -> None:
    parser.add_argument(
        "path", metavar="PATH", type=_path, nargs=None if needed else "?", help=_PATH
    )
    _workers(parser)
    _cache(parser)


def _workers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--worker",
        metavar="NAMES",
        type=_words,
        default=(),
        help="workers of a run by names or ranks, with commas between (default: all)",
    )


def _cache(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-cache", action="store_true", help="neither use nor keep the result of an import"
    )


def _told(parser: argparse.ArgumentParser) -> None:
    """Of the commands that describe traces: ``output.print_traces``."""
    _trace(parser)
    _form(parser)


def _doctor(parser: argparse.ArgumentParser) -> None:
    _trace(parser, needed=False)
    _form(parser)


def _form(parser: argparse.ArgumentParser) -> None:
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json",
        action="store_true",
        help="print a JSON array, one object per trace; times in integer nanoseconds",
    )
    form.add_argument("--markdown", action="store_true", help="print Markdown")
    # Not in the group: --markdown --tokens 600 asks for one thing.
    parser.add_argument(
        "--tokens",
        metavar="N",
        type=_positive,
        help="print Markdown of at most about N tokens, whatever matters least left out",
    )


def _event(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path",
        metavar="PATH",
        type=_path,
        help="a trace file, or a folder that holds one; a path or a URL",
    )
    parser.add_argument(
        "ids",
        metavar="ID",
        nargs="+",
        type=_id,
        help="ids of events, like 1234 (or '#1234' as other commands print it)",
    )
    _workers(parser)
    _cache(parser)
    _form(parser)
    parser.add_argument(
        "--raw", action="store_true", help="also all arguments as they stand in the file"
    )


def _steps(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--steps", metavar="STEPS", help="steps by their index, like 3 or 3-7 (default: all)"
    )
    parser.add_argument("--skip-cold", action="store_true", help="leave cold steps out")


def _table(parser: argparse.ArgumentParser, groups: tuple[str, ...]) -> None:
    _told(parser)
    _steps(parser)
    parser.add_argument(
        "--by", choices=groups, default=groups[0], help="what makes a row (default: %(default)s)"
    )
    parser.add_argument(
        "--sort",
        metavar="COLUMN",
        help=(
            "a numeric column of --json, largest first (default: device self time, without a device"
            " host)"
        ),
    )
    parser.add_argument(
        "--limit",
        metavar="N",
        type=_positive,
        default=20,
        help="rows to print, also of --json (default: %(default)s)",
    )


def _operators(parser: argparse.ArgumentParser) -> None:
    _table(parser, ("name", "shape", "stack"))


def _kernels(parser: argparse.ArgumentParser) -> None:
    _table(parser, ("name", "properties"))


def _pyprof(parser: argparse.ArgumentParser) -> None:
    _trace(parser)
    _steps(parser)
    default = "idx,dir,sub,mod,op,kernel,params,sil"
    parser.add_argument(
        "-c", dest="columns", metavar="COLUMNS", default=default, help=_PYPROF_COLUMNS
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="print CSV; an unknown number is empty")
    form.add_argument(
        "-w",
        dest="width",
        metavar="WIDTH",
        type=_positive,
        help="print columns in lines of at most WIDTH characters",
    )
    form.add_argument(
        "--json",
        action="store_true",
        help="print a JSON array, one object per kernel; null is unknown",
    )


def _serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("logdir", metavar="LOGDIR", type=_path, help="a path or a URL")
    parser.add_argument(
        "--port", type=_port, default=6007, help="0 takes a free one (default: %(default)s)"
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on (default: %(default)s, this machine only)",
    )


def _compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "a", metavar="A", type=_path, help="the baseline: a trace file, or the folder of a run"
    )
    parser.add_argument(
        "b",
        metavar="B",
        type=_path,
        help="what is compared with it; the workers of two runs by their names, else their ranks",
    )
    _workers(parser)
    parser.add_argument(
        "--steps-a", metavar="STEPS", help="steps of A by their index, like 3 or 3-7 (default: all)"
    )
    parser.add_argument("--steps-b", metavar="STEPS", help="steps of B")
    parser.add_argument(
        "--fail-on",
        metavar="PERCENT",
        type=_percent,
        help="exit with 1 when the step of B is slower by more, and by more than noise",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--format",
        choices=("markdown", "csv", "json"),
        default="markdown",
        help="(default: %(default)s)",
    )
    form.add_argument(
        "--json",
        dest="format",
        action="store_const",
        const="json",
        help="the same as --format json",
    )
    parser.add_argument(
        "--tokens",
        metavar="N",
        type=_positive,
        help="make the Markdown about N tokens long at most, if its verdict allows it",
    )
    _cache(parser)


def _report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", type=_path, help=_PATH)
    _cache(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="report.html", help="(default: %(default)s)"
    )
    parser.add_argument(
        "--most",
        metavar="N",
        type=_positive,
        default=8,
        help="traces that are kept at most (default: %(default)s)",
    )
    parser.add_argument("--force", action="store_true", help="write over a file that is there")


def _export(parser: argparse.ArgumentParser) -> None:
    _trace(parser)
    _steps(parser)
    parser.add_argument("--what", metavar="WHAT", help=_WHAT)
    parser.add_argument(
        "--to",
        metavar="FORM",
        help=(
            "csv, parquet, arrow, folded, speedscope or trace (default: by the ending of FILE, else"
            " csv)"
        ),
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="- is standard output (default: WHAT with the ending of the form, in this folder)",
    )
    parser.add_argument(
        "--by",
        metavar="GROUP",
        help=(
            "what makes a row: operators name, shape, stack; kernels name, properties; efficiency"
            " operator, kernel"
        ),
    )
    parser.add_argument(
        "--metric",
        choices=("device", "host"),
        help="time of folded and speedscope (default: device time, without a device host)",
    )
    parser.add_argument(
        "--start",
        metavar="NS",
        type=int,
        help=(
            "begin of a trace, in ns after the first event (default: that of the steps, or of all)"
        ),
    )
    parser.add_argument("--end", metavar="NS", type=int, help="end of it")
    parser.add_argument(
        "--kinds",
        metavar="KINDS",
        help=(
            "kinds of events of a trace, with commas between:"
            " operator,runtime,kernel,memcpy,memory …"
        ),
    )
    parser.add_argument("--force", action="store_true", help="write over a file that is there")


def contradiction(options: argparse.Namespace) -> str:
    """Why options cannot be obeyed together, in a line; empty where they can. What excludes each
    other by a group of argparse is not here.
    """
    given = vars(options)
    if given.get("tokens") and (given.get("json") or given.get("format", "markdown") != "markdown"):
        return "--tokens makes Markdown shorter and neither JSON nor CSV: leave out one of the two"
    if given.get("worker") and given.get("path", "") is None:
        return "--worker chooses among the traces at a PATH, and none is given"
    return ""


def _number(text: str, kind: Callable[[str], _Number]) -> _Number:
    try:
        return kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None


def _path(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("an empty path names nothing; . is the current folder")
    if text == "-":
        raise argparse.ArgumentTypeError(
            "standard input is not read: give a file (./- if it is called so)"
        )
    return text


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for part in text.split(",") if (word := part.strip()))


def _positive(text: str) -> int:
    number = _number(text, int)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return number


def _id(text: str) -> int:
    number = _number(text.removeprefix("#"), int)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is no id")
    return number


def _percent(text: str) -> float:
    number = _number(text.removesuffix("%"), float)
    if not 0 <= number < 1e6:
        raise argparse.ArgumentTypeError(f"{text} is no percentage of at least 0")
    return number


def _port(text: str) -> int:
    number = _number(text, int)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{number} is no port, expected 0 to 65535")
    return number


_COMPARISON = ("output:run_on_both", "compare:print_comparison")

COMMANDS: tuple[Command, ...] = (
    Command(
        "summary",
        "print the facts of the traces at a path",
        _told,
        ("output:print_runs", "summary:reports", "summary:trace_report"),
    ),
    Command(
        "operators",
        "print the operators of the traces at a path",
        _operators,
        ("output:print_traces", "tables:operators"),
    ),
    Command(
        "kernels",
        "print the kernels of the traces at a path",
        _kernels,
        ("output:print_traces", "tables:kernels"),
    ),
    Command(
        "findings",
        "print what costs time that could be had back",
        _told,
        ("output:print_runs", "findings:reports"),
    ),
    Command(
        "event",
        "print everything about events that the other commands name by their ids",
        _event,
        ("output:run_on_trace", "event:print_events"),
    ),
    Command(
        "pyprof",
        "print a line per launch of a kernel, with the columns of NVIDIA's PyProf",
        _pyprof,
        ("pyprof:run",),
    ),
    Command(
        "export",
        "write tables, flame graphs or a part of a trace as a file",
        _export,
        ("export:run",),
    ),
    Command("serve", "show the page without TensorBoard", _serve, ("serve:run",)),
    Command(
        "doctor",
        "say what was found at a path, what is used, and why not",
        _doctor,
        ("doctor:run",),
    ),
    Command(
        "report",
        "write the page with its figures as one HTML file that needs no server",
        _report,
        ("report:run",),
    ),
    Command(
        "diff",
        "compare a trace or a run with a baseline",
        _compare,
        _COMPARISON,
    ),
    Command("compare", "the same as diff", _compare, _COMPARISON),
)
