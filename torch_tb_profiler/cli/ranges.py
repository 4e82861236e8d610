"""``torch-tb-profiler ranges``: what ran in annotated ranges."""

from __future__ import annotations

import argparse
import sys

from torch_tb_profiler.cli.output import (
    all_traces,
    print_csv,
    print_traces,
    settings_of,
    warn_unreadable,
)
from torch_tb_profiler.runs.loading import Unreadable


def run(options: argparse.Namespace) -> int:
    """Print the ranges of the traces at ``options.path``; the exit code.

    Raises:
        BadRequest: there are no such steps, or ``--sort`` names no numeric column.
        SourceError, NotATrace: nothing could be read.
    """
    if not options.csv:
        return print_traces(options, "tables:ranges")
    unreadable: list[Unreadable] = []
    settings = settings_of(options)
    traces = all_traces(options.path, settings, unreadable, options.worker)
    # The traces are opened before what makes tables of them is imported.
    from torch_tb_profiler.cli.tables import computed, plain_columns

    found = [plain_columns(computed("ranges", opened, settings, options)) for opened in traces]
    rows = [list(zip(*columns.values(), strict=True)) for columns in found]
    print_csv([(opened, list(found[0]), each) for opened, each in zip(traces, rows, strict=True)])
    warn_unreadable(unreadable)
    if not any(rows):
        print("torch-tb-profiler: there are no ranges to write.", file=sys.stderr)
    return 0
