"""``torch-tb-profiler whatif``: what a step would take if something in it were different."""

from __future__ import annotations

import argparse

from torch_tb_profiler.cli.output import print_runs, print_traces, write
from torch_tb_profiler.errors import BadRequest


def run(options: argparse.Namespace) -> int:
    """Print the changes that there are, or predictions for the traces at ``options.path``.

    Raises:
        BadRequest: no path is given, or there is no such change.
    """
    if options.list:
        from torch_tb_profiler.analysis.what_if.changes import CHANGES

        for change in CHANGES.values():
            write(f"{change.name}  {change.words}\n")
            for key, about in change.about.items():
                default = change.defaults[key]
                write(f"    {key}  {about}{f' Default: {default}.' if default else ''}\n")
        return 0
    if options.path is None:
        raise BadRequest("whatif needs a trace.", "Give a PATH, or --list for the changes.")
    if any(text.partition(":")[0] == "no-stragglers" for text in options.change):
        return print_runs(options, "what_if_report:run_reports")
    return print_traces(options, "what_if_report:report")
