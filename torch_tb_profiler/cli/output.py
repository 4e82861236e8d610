"""What the commands that describe traces share: every trace of a path, as text, Markdown or JSON,
and what could not be read.

What describes a trace takes longer to import than a small trace to read. It is named (see
``commands.function_of``) or imported in a function here, once the first trace is open.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.cli.commands import function_of
from torch_tb_profiler.cli.document import Document
from torch_tb_profiler.cli.markdown import markdown, shared
from torch_tb_profiler.cli.plain import plain, printable
from torch_tb_profiler.cli.progress import Progress
from torch_tb_profiler.errors import BadRequest, NotATrace
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.runs.single import Unreadable, load_all
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.units import and_more, format_names

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.figures.selection import Selection
    from torch_tb_profiler.web.parameters import StepRange

REASONS_SHOWN = 5


@dataclass(frozen=True)
class Report:
    """What a command says about one trace, or with ``data`` None about a run as a whole, which JSON
    leaves out; only the form that was asked for is made.

    ``data``: plain values; times in integer ns, None is unknown.
    """

    document: Callable[[], Document]
    data: Callable[[], dict[str, Any]] | None


class Printer:
    """Prints in the form that was asked for, each thing as it comes; under a number of tokens,
    which all share, at the end.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self._json: bool = options.json
        self._tokens: int | None = options.tokens
        self._markdown: bool = options.markdown or options.tokens is not None
        self._printed = 0
        self._kept: list[Document] = []

    def add(self, report: Report) -> None:
        """Print it, or keep it until all are known."""
        if self._json:
            import msgspec

            if report.data is not None:
                write(
                    ("," if self._printed else "[")
                    + "\n"
                    + msgspec.json.encode(report.data()).decode()
                )
                self._printed += 1
            return
        document = report.document()
        if self._tokens is not None:
            self._kept.append(document)
        else:
            write(
                ("\n" if self._printed else "")
                + (markdown(document) if self._markdown else plain(document))
            )
            self._printed += 1

    def end(self) -> None:
        """What is still to be printed."""
        if self._json:
            write("\n]\n" if self._printed else "[]\n")
        elif self._tokens is not None:
            write(shared(self._kept, self._tokens))


def settings_of(options: argparse.Namespace) -> Settings:
    """The settings of the environment, with ``--no-cache``."""
    return Settings.from_environment(use_cache=False if options.no_cache else None)


def print_traces(options: argparse.Namespace, about: str) -> int:
    """Print the ``Report`` that ``about(opened, settings, options)`` makes of every trace at
    ``options.path``; the exit code. Raises as ``print_runs`` does.
    """
    return _print(
        options,
        lambda run, settings: (function_of(about)(opened, settings, options) for opened in run),
    )


def print_runs(options: argparse.Namespace, about: str, alone: str = "") -> int:
    """Print the ``Report``s that ``about(traces, settings, options)`` makes of every run at
    ``options.path`` to standard output, what could not be read to standard error; the exit code.

    It gets all traces of the run one after the other, also those that ``--worker`` does not choose:
    only those that it keeps stay in memory. ``alone``: as ``about`` of ``print_traces``, for JSON.

    Raises:
        SourceError: there is nothing at the path.
        NotFound: there is no such worker.
        NotATrace: none of its files could be read.
        BadRequest: a trace has no such steps.
    """
    if alone and options.json:
        return print_traces(options, alone)
    return _print(
        options, lambda run, settings: function_of(about)(run, settings, options), together=True
    )


def _print(
    options: argparse.Namespace,
    make_reports: Callable[[Iterator[Opened], Settings], Iterable[Report]],
    together: bool = False,
) -> int:
    settings = settings_of(options)
    unreadable: list[Unreadable] = []
    printer, printed = Printer(options), False
    traces = readable(options.path, settings, unreadable, options.worker, together)
    runs = groupby(traces, lambda opened: opened.run.name)
    for report in (report for _, run in runs for report in make_reports(run, settings)):
        printer.add(report)
        printed = True
    if not printed:
        raise NotATrace(no_trace_message(options.path, unreadable))
    printer.end()
    warn_unreadable(unreadable)
    return 0


def run_on_trace(options: argparse.Namespace, about: str) -> int:
    """Call ``about(opened, settings, options)`` with the one trace at ``options.path``; the exit
    code. Raises as ``single_trace`` does.
    """
    settings = settings_of(options)
    opened = single_trace(options.path, settings, options.worker)
    code: int = function_of(about)(opened, settings, options)
    return code


def run_on_both(options: argparse.Namespace, about: str) -> int:
    """Call ``about((a, b), settings, options)`` with the traces at ``options.a`` and those at
    ``options.b``; the exit code. Raises as ``all_traces`` does.
    """
    settings = settings_of(options)
    unreadable: list[Unreadable] = []
    sides = [
        all_traces(path, settings, unreadable, options.worker) for path in (options.a, options.b)
    ]
    code: int = function_of(about)(sides, settings, options)
    warn_unreadable(unreadable)
    return code


def readable(
    path: str,
    settings: Settings,
    unreadable: list[Unreadable],
    workers: Collection[str] = (),
    beside: bool = False,
) -> Iterator[Opened]:
    """The traces of a path, one in memory at a time, or those of some ``workers`` (with ``beside``
    the others too); what is none goes into ``unreadable``.
    """
    with Progress("reading") as progress:
        for item in load_all(path, settings, progress.update, workers, beside):
            if isinstance(item, Unreadable):
                unreadable.append(item)
            else:
                progress.hide()
                yield item


def all_traces(
    path: str, settings: Settings, unreadable: list[Unreadable], workers: Collection[str] = ()
) -> list[Opened]:
    """All of them together; what could not be read goes into ``unreadable``, for ``warn_unreadable``
    when nothing else failed.

    Raises:
        SourceError: there is nothing at the path.
        NotATrace: none of its files could be read.
        NotFound: there is none of these workers.
    """
    traces = list(readable(path, settings, unreadable, workers))
    if not traces:
        raise NotATrace(no_trace_message(path, unreadable))
    return traces


def single_trace(path: str, settings: Settings, workers: Collection[str] = ()) -> Opened:
    """The one trace at a path.

    Raises:
        SourceError, NotATrace, NotFound: as ``all_traces``.
        BadRequest: there are several.
    """
    unreadable: list[Unreadable] = []
    traces = list(islice(readable(path, settings, unreadable, workers), 2))
    if not traces:
        raise NotATrace(no_trace_message(path, unreadable))
    if len(traces) > 1:
        names = list(dict.fromkeys(worker.name for worker in traces[0].run.workers))
        raise BadRequest(
            f"{path} holds more than one readable trace: {format_names(names)}.",
            "Give one of its files, or --worker NAME.",
        )
    return traces[0]


def is_chosen(opened: Opened, options: argparse.Namespace) -> bool:
    """Whether ``--worker`` chooses it."""
    return (
        not options.worker
        or opened.worker.name in options.worker
        or str(opened.worker.rank) in options.worker
    )


def warn_unreadable(unreadable: list[Unreadable]) -> None:
    """The files that claim to be traces and are none, on standard error."""
    for item in unreadable:
        if not item.rejected:
            print(printable(f"torch-tb-profiler: {item.text}"), file=sys.stderr)


def no_trace_message(path: str, unreadable: list[Unreadable]) -> str:
    """One line that says why there is nothing to print."""
    if not unreadable:
        return printable(f"{path} holds no trace: no file has the name or the content of one.")
    shown = "; ".join(item.text for item in unreadable[:REASONS_SHOWN])
    return printable(
        f"{path} holds no readable trace: {shown} {and_more(len(unreadable) - REASONS_SHOWN)}".rstrip()
    )


def selected_steps(opened: Opened, options: argparse.Namespace, name: str = "steps") -> Selection:
    """The steps of ``--steps`` and ``--skip-cold``.

    Raises:
        BadRequest: the trace has no such steps.
    """
    from torch_tb_profiler.views.steps import choose

    asked = steps_option(options, name)
    try:
        return choose(opened.facts, asked.first, asked.last, asked.skip_cold, name)
    except BadRequest as error:
        raise _of_option(error, name) from None


def steps_option(options: argparse.Namespace, name: str = "steps") -> StepRange:
    """The same before a trace is there.

    Raises:
        BadRequest: they are no steps.
    """
    from torch_tb_profiler.web.parameters import STEPS

    try:
        given = _Given(
            {
                "steps": getattr(options, name) or "all",
                "skip_cold": "1" if getattr(options, "skip_cold", False) else "0",
            }
        )
        return STEPS.read(given, "steps")
    except BadRequest as error:
        raise _of_option(error, name) from None


def _of_option(error: BadRequest, name: str) -> BadRequest:
    """The error in the words of the command line, where neither parameters nor routes are."""
    message = re.sub(rf"^Parameter (steps|{name})\b", f"--{name.replace('_', '-')}", error.message)
    return BadRequest(
        message, error.hint.replace("Take the indices from /steps.", "`summary PATH` lists them.")
    )


class _Given(dict[str, str]):
    """Options in the shape of a request's parameters."""

    def getlist(self, key: str) -> list[str]:
        return [self[key]] if key in self else []


def identity(opened: Opened) -> dict[str, str]:
    """Which trace it is, for JSON."""
    return {
        "run": opened.run.name,
        "worker": opened.worker.name,
        "span": opened.span.name,
        "path": opened.span.path,
    }


def title(opened: Opened) -> str:
    """Which trace it is, for people."""
    return " · ".join(
        part for part in (opened.run.name, opened.worker.name, opened.span.name) if part
    )


def write(text: str) -> None:
    """To standard output. A terminal that cannot show µ or ×, such as one under LANG=C, shall get a
    report all the same.
    """
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
