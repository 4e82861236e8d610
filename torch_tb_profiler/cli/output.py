"""What the commands share: the traces at a path, reports on them as text, Markdown or JSON, and the
files that could not be read.

Imports inside functions: ``--help`` imports this, and a trace is opened before what describes it is imported.
"""

from __future__ import annotations

import argparse
import gc
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

import msgspec

from torch_tb_profiler.cli.document import Document
from torch_tb_profiler.cli.markdown import markdown, within_tokens
from torch_tb_profiler.cli.plain_text import plain_text
from torch_tb_profiler.cli.progress import Progress
from torch_tb_profiler.cli.recorded_names import RecordedNames
from torch_tb_profiler.errors import BadRequest, NotATrace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.units import and_more, format_names
from torch_tb_profiler.untrusted import printable, printable_json

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.figures.selection import Selection
    from torch_tb_profiler.api.trace_context import TraceContext
    from torch_tb_profiler.runs.loading import Unreadable
    from torch_tb_profiler.runs.model import Opened

REASONS_SHOWN = 5


class Report(msgspec.Struct, frozen=True):
    """What a command prints about one trace, made only in the form that is asked for.

    ``data``: plain values, times in integer ns, None is unknown. Without ``data`` the report is on
    a run as a whole, which JSON leaves out.
    """

    document: Callable[[], Document]
    data: Callable[[], dict[str, Any]] | None


class Printer:
    """Prints reports in the form that the options ask for: each as it comes, or with ``--tokens``,
    which all share, at the end.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self._json: bool = options.json
        self._tokens: int | None = options.tokens
        self._markdown: bool = options.markdown or options.tokens is not None
        self._printed = 0
        self._kept: list[Document] = []
        self._names = RecordedNames()

    def about(self, opened: Opened) -> Opened:
        """The trace, whose names Markdown marks from now on."""
        if self._markdown:
            self._names.add(opened)
        return opened

    def add(self, report: Report) -> None:
        """Print a report, or keep it until ``end``."""
        if self._json:
            if report.data is not None:
                text = msgspec.json.encode(report.data()).decode()
                write(f"{',' if self._printed else '['}\n{text}", json=True)
                self._printed += 1
            return
        document = report.document()
        if self._tokens is not None:
            self._kept.append(document)
        else:
            write(
                ("\n" if self._printed else "")
                + (markdown(document, self._names) if self._markdown else plain_text(document))
            )
            self._printed += 1

    def end(self) -> None:
        """Print the rest."""
        if self._json:
            write("\n]\n" if self._printed else "[]\n")
        elif self._tokens is not None:
            write(within_tokens(self._kept, self._tokens, self._names))


def settings_of(options: argparse.Namespace) -> Settings:
    """The settings of the environment and ``--no-cache``."""
    return Settings.from_environment(use_cache=False if options.no_cache else None)


def print_traces(
    options: argparse.Namespace,
    make_report: Callable[[TraceContext, argparse.Namespace], Report],
) -> int:
    """Print ``make_report(trace, options)`` for every trace at ``options.path``, with the steps that the options choose; the
    exit code. Raises as ``print_runs`` does.
    """
    return print_runs(
        options,
        lambda run, settings, options: (
            make_report(context_of(opened, settings, options), options) for opened in run
        ),
        whole=False,
    )


def print_runs(
    options: argparse.Namespace,
    make_reports: Callable[[Iterator[Opened], Settings, argparse.Namespace], Iterable[Report]],
    *,
    whole: bool = True,
    last: Callable[[Sequence[Unreadable]], Document | None] = lambda unreadable: None,
) -> int:
    """Print ``make_reports(traces, settings, options)`` for every run at ``options.path``; the exit code. What could not be
    read goes into ``options.unreadable``.

    ``traces``: those of the run, one in memory at a time unless kept; with ``whole`` all,
    whatever ``--worker`` selects; ``last``: what is said of the rest.

    Raises:
        SourceError: there is nothing at the path.
        NotFound: there is no such worker.
        NotATrace: none of its files could be read.
        BadRequest: a trace has no such steps.
    """
    settings = settings_of(options)
    unreadable: list[Unreadable] = []
    printer, printed = Printer(options), False
    traces = map(printer.about, readable(options.path, settings, unreadable, options.worker, whole))
    runs = groupby(traces, lambda opened: opened.run.name)
    with _garbage_left():
        for report in (one for _, run in runs for one in make_reports(run, settings, options)):
            printer.add(report)
            printed = True
    if not printed:
        raise NotATrace(no_trace_message(options.path, unreadable))
    if (rest := last(unreadable)) is not None:
        printer.add(Report(lambda: rest, None))
    printer.end()
    options.unreadable += unreadable
    return 0


@contextmanager
def _garbage_left() -> Iterator[None]:
    """Modules and one trace leave next to no garbage, and to look for it takes a tenth of the time of a small trace."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            # The next search leaves out what is there, as a process that prints is about to end.
            gc.freeze()
            gc.enable()


def readable(
    path: str,
    settings: Settings,
    unreadable: list[Unreadable],
    workers: Collection[str] = (),
    beside: bool = False,
) -> Iterator[Opened]:
    """The traces at a path, one in memory at a time: those of ``workers``, with ``beside`` the
    others of their runs too. Files that are no traces go into ``unreadable``.
    """
    from torch_tb_profiler.runs.loading import Unreadable, load_all
    from torch_tb_profiler.store.memory import keep_freed_memory

    keep_freed_memory()
    with Progress("reading") as progress:
        for number, item in enumerate(load_all(path, settings, progress.update, workers, beside)):
            if number == 1:
                gc.enable()
            if isinstance(item, Unreadable):
                unreadable.append(item)
            else:
                progress.hide()
                yield item


def all_traces(options: argparse.Namespace, path: str | None = None) -> list[Opened]:
    """The traces at a path, else at ``options.path``; what could not be read goes into ``options.unreadable``.

    Raises:
        SourceError: there is nothing at the path.
        NotATrace: none of its files could be read.
        NotFound: there is no such worker.
    """
    path = options.path if path is None else path
    unreadable: list[Unreadable] = []
    traces = list(readable(path, settings_of(options), unreadable, options.worker))
    if not traces:
        raise NotATrace(no_trace_message(path, unreadable))
    options.unreadable += unreadable
    return traces


def contexts(options: argparse.Namespace, path: str | None = None) -> list[TraceContext]:
    """All traces at a path, else at ``options.path``, ready for questions. Raises as ``all_traces`` does."""
    traces, settings = all_traces(options, path), settings_of(options)
    from torch_tb_profiler.api.trace_context import TraceContext

    return [TraceContext(opened, settings) for opened in traces]


def single_trace(path: str, settings: Settings, workers: Collection[str]) -> Opened:
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
            f"{path} holds several traces: {format_names(names)}.",
            "Give one of its files, or --worker NAME.",
        )
    return traces[0]


def is_chosen(opened: Opened, options: argparse.Namespace) -> bool:
    """Whether ``--worker`` selects it."""
    return (
        not options.worker
        or opened.worker.name in options.worker
        or str(opened.worker.rank) in options.worker
    )


def no_trace_message(path: str, unreadable: list[Unreadable]) -> str:
    """Why there is nothing to print, in one line."""
    if not unreadable:
        return printable(f"{path} holds no trace: no file looks like one.")
    shown = "; ".join(item.text for item in unreadable[:REASONS_SHOWN])
    return printable(
        f"{path} holds no readable trace: {shown} {and_more(len(unreadable) - REASONS_SHOWN)}".rstrip()
    )


def context_of(opened: Opened, settings: Settings, options: argparse.Namespace) -> TraceContext:
    """The trace with the steps that the options choose.

    Raises:
        BadRequest: there are no such steps.
    """
    from torch_tb_profiler.api.trace_context import TraceContext

    selected_steps(opened, options)
    skip_cold = getattr(options, "skip_cold", False)
    return TraceContext(opened, settings, steps_option(options), skip_cold)


def selected_steps(opened: Opened, options: argparse.Namespace, name: str = "steps") -> Selection:
    """The steps of ``--steps`` and ``--skip-cold``.

    Raises:
        BadRequest: the trace has no such steps.
    """
    from torch_tb_profiler.views.steps import choose

    first, last = steps_option(options, name) or (None, None)
    try:
        return choose(opened.facts, first, last, getattr(options, "skip_cold", False), name)
    except BadRequest as error:
        raise _of_option(error, name) from None


def steps_option(options: argparse.Namespace, name: str = "steps") -> tuple[int, int] | None:
    """The first and the last step of ``--steps``, both included; None: all. No trace need be open.

    Raises:
        BadRequest: ``--steps`` has another form.
    """
    given = getattr(options, name, None)
    if not given or given == "all":
        return None
    from torch_tb_profiler.web.parameters import STEPS

    try:
        return STEPS.parse("steps", given)
    except BadRequest as error:
        raise _of_option(error, name) from None


def _of_option(error: BadRequest, name: str) -> BadRequest:
    """The error in terms of the command line instead of a route's parameters."""
    message = re.sub(rf"^Parameter (steps|{name})\b", f"--{name.replace('_', '-')}", error.message)
    return BadRequest(
        message, error.hint.replace("Take the indices from /steps.", "`summary PATH` lists them.")
    )


def print_csv(parts: Sequence[tuple[Opened, Sequence[str], Iterable[Sequence[Any]]]]) -> None:
    """Print tables of traces, the names of their columns and their rows, as one table by RFC 4180; unknown is empty. With
    several the worker and the span come first, and the run if there are several.
    """
    import csv

    from torch_tb_profiler.api.export import PrintedText, csv_cell
    from torch_tb_profiler.views.words.escapes import no_formula

    several = len({opened.run.name for opened, _, _ in parts}) > 1
    place = (("run",) if several else ()) + (("worker", "span") if len(parts) > 1 else ())
    text = PrintedText(sys.stdout.buffer, encoding="utf-8", errors="replace", newline="")
    lines = csv.writer(text, lineterminator="\r\n")
    lines.writerow(map(no_formula, (*place, *parts[0][1])))
    for opened, _, rows in parts:
        names = {"run": opened.run.name, "worker": opened.worker.name, "span": opened.span.name}
        own = [csv_cell(names[name]) for name in place]
        lines.writerows(
            [*own, *("" if value is None or value != value else csv_cell(value) for value in row)]
            for row in rows
        )
    text.detach()
    sys.stdout.buffer.flush()


def identity(opened: Opened) -> dict[str, str]:
    """Which trace it is, for JSON; ``Opened.title`` is for people."""
    return {
        "run": opened.run.name,
        "worker": opened.worker.name,
        "span": opened.span.name,
        "path": opened.span.path,
    }


def write(text: str, *, json: bool = False) -> None:
    """Print to standard output. What steers a terminal becomes ``?``, in JSON an escape, and so does what the encoding
    lacks, such as µ under LANG=C.
    """
    text = printable_json(text) if json else printable(text, lines=True)
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
