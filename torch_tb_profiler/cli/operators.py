"""``operators PATH``: operators by name, ``--by shape`` or ``--by stack``, with FLOPs and bytes per call where known"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.output import Report, print_traces
from torch_tb_profiler.tables.registry import TABLES

if TYPE_CHECKING:
    from torch_tb_profiler.api.trace_context import TraceContext

HELP = "list operators"


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    arguments.table(parser, TABLES["operators"].groups)


def run(options: argparse.Namespace) -> int:
    """Print the operators of the traces at ``options.path``."""
    return print_traces(options, _report)


def _report(context: TraceContext, options: argparse.Namespace) -> Report:
    from torch_tb_profiler.analysis.figures.longest_events import longest_calls
    from torch_tb_profiler.cli.tables import any_known, table_report

    rows = TABLES["operators"].computed(context.source(), by=options.by)
    device = any_known(rows, "device_self_ns")
    times = "device_self_ns device_total_ns host_self_ns" if device else "host_self_ns"
    names = (
        f"name {'' if options.by == 'name' else 'input_shapes'} stack time_share calls {times}"
        " host_total_ns host_median_ns host_max_ns flops bytes"
    )
    order = "device_self_ns" if device else "host_self_ns"
    return table_report(context, options, "operators", rows, order, names, longest_calls)
