"""``api-calls PATH``: calls of the accelerator's runtime and driver by name; with ``--what`` the longest ones and why, launch delays and
short kernels, copies
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.output import Report, print_traces
from torch_tb_profiler.tables.registry import TABLES

if TYPE_CHECKING:
    from torch_tb_profiler.api.trace_context import TraceContext

HELP = "list calls of the runtime and driver, launches and copies"
_TABLES = {
    "calls": ("api_calls", "total_ns", "name calls total_ns thread_share mean_ns median_ns max_ns"),
    "long": ("long_calls", "dur_ns", "name operator dur_ns reason"),
    "launches": ("launches", "short_ns", "name calls total_ns short short_ns below_launch launch_ns median_delay_ns max_delay_ns"),
    "copies": ("copies", "total_ns", "kind memory size calls total_ns median_ns max_ns bytes rate link_share"),
}  # fmt: skip
"""Of each ``--what`` the table, what it is sorted by, and the columns of its text."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    arguments.trace(parser)
    arguments.form(parser)
    parser.add_argument(
        "--what",
        choices=tuple(_TABLES),
        default="calls",
        help="runtime calls by name, the longest ones, launch delays and short kernels, copies",
    )
    arguments.steps(parser)
    arguments.order(parser, "time")


def run(options: argparse.Namespace) -> int:
    """Print the table of the traces at ``options.path``."""
    return print_traces(options, _report)


def _report(context: TraceContext, options: argparse.Namespace) -> Report:
    from torch_tb_profiler.cli.tables import table_report

    name, order, names = _TABLES[options.what]
    rows = TABLES[name].computed(context.source())
    return table_report(context, options, "calls", rows, order, names)
