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
    print_csv,
    print_traces,
    settings_of,
    warn_unreadable,
)
from torch_tb_profiler.cli.progress import say

if TYPE_CHECKING:
    from torch_tb_profiler.runs.loading import Unreadable
    from torch_tb_profiler.runs.model import Opened
    from torch_tb_profiler.settings import Settings

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
    unreadable: list[Unreadable] = []
    settings = settings_of(options)
    traces = all_traces(options.path, settings, unreadable, options.worker)
    from torch_tb_profiler.cli.tables import computed, plain_columns

    found = [plain_columns(computed("ranges", opened, settings, options)) for opened in traces]
    rows = [list(zip(*columns.values(), strict=True)) for columns in found]
    print_csv([(opened, list(found[0]), each) for opened, each in zip(traces, rows, strict=True)])
    warn_unreadable(unreadable)
    if not any(rows):
        say("there are no ranges to write.")
    return 0


def _report(opened: Opened, settings: Settings, options: argparse.Namespace) -> Report:
    from torch_tb_profiler.cli.tables import any_known, computed, table_report

    rows = computed("ranges", opened, settings, options)
    device = any_known(rows, "device_ns")
    times = "device_ns busy_ns device_share launched" if device else ""
    names = f"name calls host_ns {times} path_ns path_share"
    return table_report(opened, options, "ranges", rows, "busy_ns" if device else "host_ns", names)
