"""``kernels PATH``: kernels by name, or ``--by operator``, or ``--by properties``: operator, grid, block"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.output import Report, print_traces
from torch_tb_profiler.tables.registry import TABLES

if TYPE_CHECKING:
    from torch_tb_profiler.api.trace_context import TraceContext

HELP = "list kernels"


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    arguments.table(parser, TABLES["kernels"].groups)


def run(options: argparse.Namespace) -> int:
    """Print the kernels of the traces at ``options.path``."""
    return print_traces(options, _report)


def _report(context: TraceContext, options: argparse.Namespace) -> Report:
    from torch_tb_profiler.analysis.figures.longest_events import longest_kernels
    from torch_tb_profiler.cli.tables import table_report

    rows = TABLES["kernels"].computed(context.source(), by=options.by)
    names = "short_name operator grid block time_share calls total_ns mean_ns median_ns max_ns"
    return table_report(context, options, "kernels", rows, "total_ns", names, longest_kernels)
