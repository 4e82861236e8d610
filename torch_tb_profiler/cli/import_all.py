"""``import LOGDIR``: one line: every trace imported and analysed, by processes of this machine (``--workers N``) or by a cluster
(``--scheduler tcp://…``, [guide/cluster.md](guide/cluster.md))
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.argument_types import path_or_url, positive
from torch_tb_profiler.cli.output import write
from torch_tb_profiler.cli.progress import Progress, say
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.units import format_count, format_counted

if TYPE_CHECKING:
    from torch_tb_profiler.runs import whole_logdir

HELP = "import and analyse every trace of a logdir, here or in a cluster"
LINE_SECONDS = 10.0
"""Between two lines of progress where no bar can be shown."""
SOME_FAILED = 1


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("path", metavar="LOGDIR", type=path_or_url, help=arguments.PATH)
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


def run(options: argparse.Namespace) -> int:
    """Import and analyse; the exit code is 1 if some traces failed."""
    import logging

    from torch_tb_profiler.runs.whole_logdir import make_all

    # What Dask logs of a lost scheduler is said in our words.
    logging.disable(logging.ERROR)
    settings = Settings.from_environment(scheduler=options.scheduler, workers=options.workers)
    if options.workers is not None:
        settings = replace(settings, scheduler="")
    begun = time.monotonic()
    with Progress("importing", "traces") as bar:
        told = _Told(bar)
        traces = make_all(options.path, settings, told, alone=bool(options.scheduler))
    seconds = time.monotonic() - begun
    failed = [trace for trace in traces if trace.state == "failed"]
    for trace in failed:
        say(f"{trace.path}: {trace.message}")
    if options.json:
        import msgspec

        counts = {"ready": len(traces) - len(failed), "failed": len(failed)}
        done = {"seconds": round(seconds, 3), "scheduler": told.scheduler, **counts}
        rows = [asdict(trace) for trace in traces]
        write(msgspec.json.encode({**done, "traces": rows}).decode() + "\n", json=True)
    else:
        write(_summary(traces, seconds, told.by) + "\n")
    return SOME_FAILED if failed else 0


class _Told:
    """Shows how far it is: a bar on terminals, a line now and then elsewhere."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._last = time.monotonic()
        self._note = ""
        self.by = ""
        self.scheduler: str | None = None

    def __call__(self, now: whole_logdir.Progress) -> None:
        self.scheduler = now.scheduler
        workers, threads = (
            format_counted(now.workers, "worker"),
            format_counted(now.threads, "thread"),
        )
        self.by = f"{workers} of the cluster, {threads}" if now.workers >= 0 else "this machine"
        if now.note != self._note:
            self._note = now.note
            self._bar.hide()
            say(now.note or "The cluster is there again.")
        self._bar.update(now.ready + now.failed, now.total)
        if not sys.stderr.isatty() and time.monotonic() - self._last > LINE_SECONDS:
            self._last = time.monotonic()
            failed = f", {format_count(now.failed)} failed" if now.failed else ""
            say(
                f"{format_count(now.ready)} of {format_count(now.total)} traces ready{failed} ({self.by})"
            )


def _summary(traces: list[whole_logdir.MadeTrace], seconds: float, by: str) -> str:
    failed = sum(trace.state == "failed" for trace in traces)
    known = sum(not trace.made for trace in traces)
    parts = [
        f"{format_count(len(traces) - failed)} of {format_count(len(traces))} traces are ready"
    ]
    if known:
        parts.append(f"{format_count(known)} of them were before")
    if failed:
        parts.append(f"{format_count(failed)} failed")
    return f"{', '.join(parts)}: {seconds:.1f} s, by {by}"
