"""The subcommands: help, arguments, and the functions that carry them out, named and not imported:
``--help`` needs none of them, and a trace is opened before what describes it is imported.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

from torch_tb_profiler.cli import programs
from torch_tb_profiler.cli.programs import PATH
from torch_tb_profiler.cli.values import event_number, path_or_url, percent, positive
from torch_tb_profiler.tables.registry import TABLES

_WHAT = f"""with csv, parquet and arrow a table: {", ".join(TABLES)} (default:
operators); with folded and speedscope modules or lines (default: lines); with trace events; with tensorboard scalars"""
_BY = "; ".join(
    f"{name} by {', '.join(table.groups)}" for name, table in TABLES.items() if table.groups
)

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
    imported: Any = import_module(f"torch_tb_profiler.cli.{module}")
    return cast("Callable[..., Any]", getattr(imported, function))


def _reports(parser: argparse.ArgumentParser) -> None:
    """For the commands that print a ``Report`` of each trace."""
    programs.trace(parser)
    _form(parser)


def _doctor(parser: argparse.ArgumentParser) -> None:
    programs.trace(parser, "?")
    _form(parser)


def _form(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json",
        action="store_true",
        help="print a JSON array with one object per trace; times in integer nanoseconds",
    )
    form.add_argument("--markdown", action="store_true", help="print Markdown")
    # Not in the group: --markdown --tokens 600 asks for one thing.
    _tokens(parser, "print Markdown of at most about N tokens, the least important parts left out")
    return form


def _tokens(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--tokens", metavar="N", type=positive, help=text)


def _event(parser: argparse.ArgumentParser) -> None:
    text = "trace file, or folder with one trace: a path or a URL"
    parser.add_argument("path", metavar="PATH", type=path_or_url, help=text)
    parser.add_argument(
        "ids", metavar="ID", nargs="+", type=event_number, help="event ids, like 1234 or '#1234'"
    )
    programs.workers(parser)
    programs.cache(parser)
    _form(parser)
    parser.add_argument(
        "--raw", action="store_true", help="also print all arguments as written in the file"
    )


def _table(parser: argparse.ArgumentParser, groups: tuple[str, ...]) -> None:
    _reports(parser)
    programs.steps(parser)
    parser.add_argument(
        "--by", choices=groups, default=groups[0], help="group rows by this (default: %(default)s)"
    )
    _order(parser, "self time on the device, else on the host")


def _order(parser: argparse.ArgumentParser, default: str) -> None:
    text = f"numeric column of --json, largest first (default: {default})"
    parser.add_argument("--sort", metavar="COLUMN", help=text)
    _limit(parser)


def _limit(parser: argparse.ArgumentParser, what: str = "rows to print, with --json too") -> None:
    text = f"{what} (default: %(default)s)"
    parser.add_argument("--limit", metavar="N", type=positive, default=20, help=text)


def _operators(parser: argparse.ArgumentParser) -> None:
    _table(parser, ("name", "shape", "stack"))


def _ranges(parser: argparse.ArgumentParser) -> None:
    programs.trace(parser)
    form = _form(parser)
    form.add_argument("--csv", action="store_true", help="print CSV; unknown numbers are empty")
    programs.steps(parser)
    _order(parser, "busy time on the device, else on the host")


def _api_calls(parser: argparse.ArgumentParser) -> None:
    programs.trace(parser)
    _form(parser)
    parser.add_argument(
        "--what",
        choices=("calls", "long", "launches", "queues", "copies", "sequences"),
        default="calls",
        help="runtime calls by name, the longest ones, launch delays and short kernels, queues of streams, copies, kernel sequences",
    )
    parser.add_argument(
        "--operator",
        default="",
        metavar="TEXT",
        help="sequences: what operators with this in their name launch, instead of runs on a stream",
    )
    programs.steps(parser)
    _order(parser, "time")


def _experiments(parser: argparse.ArgumentParser) -> None:
    programs.trace(parser)
    form = _form(parser)
    form.add_argument("--csv", action="store_true", help="print CSV; unknown values are empty")
    parser.add_argument(
        "--base", metavar="RUN", help="run that the others are compared with (default: the first)"
    )


def _critical_path(parser: argparse.ArgumentParser) -> None:
    _reports(parser)
    programs.steps(parser)
    parser.add_argument(
        "--limit",
        metavar="N",
        type=positive,
        help="rows of the text (default: 20); of JSON the longest N segments of each step (default: all)",
    )
    parser.add_argument(
        "--ranks",
        choices=("all",),
        help="one path per step through all ranks of a run folder, with steps as the run counts them",
    )


def _iterations(parser: argparse.ArgumentParser) -> None:
    _reports(parser)
    programs.steps(parser)
    parser.add_argument(
        "--limit",
        metavar="N",
        type=positive,
        default=40,
        help="rows of the text; JSON has all (default: %(default)s)",
    )


def _what_if(parser: argparse.ArgumentParser) -> None:
    programs.trace(parser, "?")
    _form(parser)
    programs.steps(parser)
    parser.add_argument(
        "--change",
        metavar="NAME[:KEY=VALUE,...]",
        action="append",
        default=[],
        help="a change; several are simulated together (default: each usual one)",
    )
    parser.add_argument("--list", action="store_true", help="list the changes and their parameters")


def _kernels(parser: argparse.ArgumentParser) -> None:
    _table(parser, ("name", "operator", "properties"))


def _compiled(parser: argparse.ArgumentParser) -> None:
    _reports(parser)
    programs.steps(parser)
    parser.add_argument(
        "--provenance",
        metavar="FOLDER",
        type=path_or_url,
        help="logs of torch.compile, as TORCH_TRACE or tlparse writes them (default: those beside the"
        " trace)",
    )
    _limit(parser)


def _sql(parser: argparse.ArgumentParser) -> None:
    programs.trace(parser, "?")
    parser.add_argument(
        "statement", metavar="STATEMENT", nargs="?", help="one SELECT; times are integer ns"
    )
    form = _form(parser)
    form.add_argument("--csv", action="store_true", help="print CSV; unknown values are empty")
    parser.add_argument(
        "--limit",
        metavar="N",
        type=positive,
        help="rows to print (default: 100 of the text, 1,000,000 of --csv and --json)",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=positive,
        default=60,
        help="end the statement after so long (default: %(default)s)",
    )
    parser.add_argument("--list", action="store_true", help="list the tables and their columns")


def _compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "a", metavar="A", type=path_or_url, help="baseline: trace file or run folder"
    )
    parser.add_argument(
        "b",
        metavar="B",
        type=path_or_url,
        help="what to compare with it; workers of runs are matched by name, else by rank",
    )
    programs.workers(parser)
    parser.add_argument(
        "--steps-a", metavar="STEPS", help="steps of A by index, like 3 or 3-7 (default: all)"
    )
    parser.add_argument("--steps-b", metavar="STEPS", help="steps of B")
    parser.add_argument(
        "--fail-on",
        metavar="PERCENT",
        type=percent,
        help="exit with 1 if the step of B changed, and is longer by more than this",
    )
    programs.strict(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--format",
        choices=("markdown", "csv", "json"),
        default="markdown",
        help="(default: %(default)s)",
    )
    form.add_argument(
        "--json", dest="format", action="store_const", const="json", help="same as --format json"
    )
    parser.add_argument("--junit", metavar="FILE", help="also write the verdict as JUnit XML")
    _tokens(parser, "shorten the Markdown to about N tokens, as far as the verdict allows")
    programs.cache(parser)


def _report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", type=path_or_url, help=PATH)
    programs.cache(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="report.html", help="(default: %(default)s)"
    )
    parser.add_argument(
        "--most",
        metavar="N",
        type=positive,
        default=8,
        help="keep at most N traces (default: %(default)s)",
    )
    programs.force(parser)


def _export(parser: argparse.ArgumentParser) -> None:
    programs.trace(parser)
    programs.steps(parser)
    parser.add_argument("--what", metavar="WHAT", help=_WHAT)
    parser.add_argument(
        "--to",
        metavar="FORM",
        help="csv, parquet, arrow, folded, speedscope, trace or tensorboard (default: by the ending of FILE, else csv; of scalars"
        " tensorboard: event files with a curve per figure, in the folder FILE or in scalars beside the traces)",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="- is standard output (default: WHAT with the ending of FORM, in this folder)",
    )
    parser.add_argument(
        "--by",
        metavar="GROUP",
        help=f"group rows: {_BY}",
    )
    parser.add_argument(
        "--metric",
        choices=("device", "host"),
        help="time shown by folded and speedscope (default: device, else host)",
    )
    parser.add_argument(
        "--start",
        metavar="NS",
        type=int,
        help="where the trace starts, ns after the first event (default: at the selected steps)",
    )
    parser.add_argument("--end", metavar="NS", type=int, help="where it ends")
    parser.add_argument(
        "--kinds",
        metavar="KINDS",
        help="kinds of events in the trace, comma-separated: operator,runtime,kernel,memcpy,memory …",
    )
    parser.add_argument(
        "--first-step",
        metavar="N",
        type=int,
        help="with tensorboard: number of the step that counts as 0",
    )
    programs.force(parser)


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


_COMPARISON = ("output:run_on_both", "compare:print_comparison")

COMMANDS: tuple[Command, ...] = (
    Command(
        "summary",
        "summarize each trace: findings, step time, operators, kernels, devices",
        _reports,
        ("output:print_runs", "summary_document:reports", "summary:report"),
    ),
    Command("operators", "list operators", _operators, ("output:print_traces", "tables:operators")),
    Command("kernels", "list kernels", _kernels, ("output:print_traces", "tables:kernels")),
    Command(
        "api-calls",
        "list calls of the runtime and driver, launches, queues and copies",
        _api_calls,
        ("output:print_traces", "tables:api_calls"),
    ),
    Command("ranges", "list annotated ranges", _ranges, ("ranges:run",)),
    Command(
        "compiled",
        "list what torch.compile made, what it fuses, and its source lines",
        _compiled,
        ("output:print_traces", "compiled:compiled"),
    ),
    Command(
        "iterations",
        "list the iterations of an inference server",
        _iterations,
        ("output:print_traces", "iterations:iterations"),
    ),
    Command(
        "findings",
        "list what costs recoverable time",
        _reports,
        ("output:print_runs", "findings:reports"),
    ),
    Command(
        "critical-path",
        "show what the end of each step waited for, back to its begin",
        _critical_path,
        ("output:print_runs", "critical_path:reports"),
    ),
    Command(
        "whatif",
        "predict the step if something in it were different",
        _what_if,
        ("what_if:run",),
    ),
    Command(
        "event",
        "show everything about single events",
        _event,
        ("output:run_on_trace", "event:print_events"),
    ),
    Command(
        "pyprof",
        "print PyProf's kernel table, one line per kernel launch",
        programs.pyprof,
        ("pyprof:run",),
    ),
    Command(
        "export",
        "write tables, flame graphs or part of a trace to a file",
        _export,
        ("export:run",),
    ),
    Command(
        "import",
        "import and analyse every trace of a logdir, here or in a cluster",
        programs.import_all,
        ("import_all:run",),
    ),
    Command("sql", "answer one SELECT over the tables of a trace", _sql, ("sql:run",)),
    Command(
        "baseline",
        "save the figures of a recording in a small file, or compare with one",
        programs.baseline,
        ("baseline:run",),
    ),
    Command(
        "budgets", "check a recording against budgets", programs.budgets, ("baseline:budgets",)
    ),
    Command(
        "record",
        "have a running job, or a vLLM or SGLang server, record now",
        programs.record,
        ("live:run",),
    ),
    Command("serve", "serve the page without TensorBoard", programs.serve, ("serve:run",)),
    Command(
        "skill",
        "install the skill for assistants",
        programs.skill,
        ("agents.skill:run",),
    ),
    Command(
        "mcp",
        "serve tools for assistants (Model Context Protocol)",
        programs.mcp,
        ("agents.mcp:run",),
    ),
    Command(
        "doctor",
        "check the installation, and which files are used and why",
        _doctor,
        ("doctor:run",),
    ),
    Command(
        "report",
        "write the page and its data as one HTML file without a server",
        _report,
        ("report:run",),
    ),
    Command(
        "experiments",
        "list the runs of a logdir side by side: step, MFU, memory, findings, change",
        _experiments,
        ("experiments:run",),
    ),
    Command("diff", "compare a trace or a run with a baseline", _compare, _COMPARISON),
    Command("compare", "same as diff", _compare, _COMPARISON),
)
