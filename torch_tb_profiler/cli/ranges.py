"""``ranges PATH``: annotated ranges (``record_function``, NVTX, ``gpu_user_annotation``) by name: calls, host time, projected device
time, busy time, shares of the device and of the critical path; ``--csv`` for a table
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.output import (
    Report,
    all_traces,
    context_of,
    print_csv,
    print_traces,
    settings_of,
)
from torch_tb_profiler.cli.progress import say
from torch_tb_profiler.tables.registry import TABLES

if TYPE_CHECKING:
    from torch_tb_profiler.api.trace_context import TraceContext

HELP = "list annotated ranges"


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    arguments.trace(parser)
    form = arguments.form(parser)
    form.add_argument("--csv", action="store_true", help="print CSV; unknown numbers are empty")
    arguments.steps(parser)
    arguments.order(parser, "busy time on the device, else on the host")


def run(options: argparse.Namespace) -> int:
    """Print the ranges of the traces at ``options.path``."""
    if not options.csv:
        return print_traces(options, _report)
    settings, traces = settings_of(options), all_traces(options)
    from torch_tb_profiler.cli.tables import plain_columns

    sources = (context_of(opened, settings, options).source() for opened in traces)
    found = [plain_columns(TABLES["ranges"].computed(source)) for source in sources]
    rows = [list(zip(*columns.values(), strict=True)) for columns in found]
    print_csv([(opened, list(found[0]), each) for opened, each in zip(traces, rows, strict=True)])
    if not any(rows):
        say("there are no ranges to write.")
    return 0


def _report(context: TraceContext, options: argparse.Namespace) -> Report:
    from torch_tb_profiler.cli.tables import any_known, table_report

    rows = TABLES["ranges"].computed(context.source())
    device = any_known(rows, "device_ns")
    times = "device_ns busy_ns device_share launched" if device else ""
    names = f"name calls host_ns {times} path_ns path_share"
    return table_report(context, options, "ranges", rows, "busy_ns" if device else "host_ns", names)
