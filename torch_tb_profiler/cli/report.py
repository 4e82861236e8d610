"""``report PATH``: the page with its figures as one HTML file that opens without a server or a network"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, BinaryIO

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.argument_types import path_or_url, positive
from torch_tb_profiler.cli.output import settings_of
from torch_tb_profiler.cli.progress import Progress, say
from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.units import format_bytes
from torch_tb_profiler.untrusted import printable

if TYPE_CHECKING:
    from torch_tb_profiler.runs.catalogue import Catalogue
    from torch_tb_profiler.runs.model import Snapshot

HELP = "write the page and its data as one HTML file without a server"
ABOUT = (
    "A report holds tables and charts, but neither the timeline nor every selection. For those, open"
    " the trace: torch-tb-profiler serve LOGDIR."
)
DEFAULT = "report.html"
PAUSE_SECONDS = 0.1


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("path", metavar="PATH", type=path_or_url, help=arguments.PATH)
    arguments.cache(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", default=DEFAULT, help="(default: %(default)s)"
    )
    parser.add_argument(
        "--most",
        metavar="N",
        type=positive,
        default=8,
        help="keep at most N traces (default: %(default)s)",
    )
    arguments.force(parser)


def run(options: argparse.Namespace) -> int:
    """Write the file."""
    from torch_tb_profiler.atomic_files import STDOUT, saving

    with saving(options.output, force=options.force, ours=options.output == DEFAULT) as file:
        summary, size = _write(options, file)
    if options.output != STDOUT:
        print(printable(f"{options.output}: {summary}, {format_bytes(size)}"), file=sys.stderr)
    return 0


def _write(options: argparse.Namespace, file: BinaryIO) -> tuple[str, int]:
    """What the report holds, in words, and its size in bytes."""
    from torch_tb_profiler.runs.catalogue import catalogue_of

    settings = settings_of(options)
    catalogue = catalogue_of(options.path, settings)
    try:
        catalogue.start()
        while catalogue.snapshot().scanning:
            time.sleep(PAUSE_SECONDS)
        # Worker processes read the traces meanwhile.
        from torch_tb_profiler.web.report_page import keep, page, ready_traces

        with Progress("reading", "files") as reading:
            _wait(catalogue, reading)
        traces = list(ready_traces(catalogue))
        if not traces:
            raise NotATrace(_reason(options.path, catalogue.snapshot()))
        chosen = traces[: options.most]
        with Progress("collecting", "traces") as progress:
            collected = keep(catalogue, settings, chosen, progress.update)
        for note in catalogue.snapshot().notes:
            say(note)
        text = page(collected, f"{chosen[0]['run'] or 'Trace'} · PyTorch Profiler", ABOUT)
    finally:
        catalogue.close()
    left = (
        f", {len(traces) - len(chosen)} more left out (--most)" if len(traces) > len(chosen) else ""
    )
    return f"{len(chosen)} trace{'s' if len(chosen) > 1 else ''}{left}", file.write(text.encode())


def _wait(catalogue: Catalogue, progress: Progress) -> None:
    """Wait until it is known of every file whether it is a trace."""
    from torch_tb_profiler.runs.model import State

    undecided = (State.WAITING, State.GROWING, State.IMPORTING)
    while True:
        snapshot = catalogue.snapshot()
        # All files: one whose name says nothing joins a run only after its content was read.
        left = sum(file.state in undecided for file in snapshot.files)
        progress.update(len(snapshot.files) - left, len(snapshot.files))
        if not snapshot.scanning and not left:
            return
        time.sleep(PAUSE_SECONDS)


def _reason(path: str, snapshot: Snapshot) -> str:
    from torch_tb_profiler.runs.loading import once

    if not snapshot.files and snapshot.notes:
        return once(snapshot.notes[0])
    files = "; ".join(f"{file.path}: {file.reason}" for file in snapshot.files[:5])
    return f"{path} holds no readable trace: {files or 'no file looks like one.'}"
