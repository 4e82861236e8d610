"""``torch-tb-profiler ranges``: what ran in annotated ranges."""

from __future__ import annotations

import argparse

from torch_tb_profiler.cli.output import print_traces


def run(options: argparse.Namespace) -> int:
    """Print the ranges of the traces at ``options.path``; the exit code.

    Raises:
        BadRequest: there are no such steps, or ``--sort`` names no numeric column.
        SourceError, NotATrace: nothing could be read.
    """
    if not options.csv:
        return print_traces(options, "tables:ranges")
    from torch_tb_profiler.cli.export import ONLY
    from torch_tb_profiler.cli.export import run as export

    fixed = {"what": "ranges", "to": "csv", "output": "-", "force": False}
    others = dict.fromkeys(ONLY)
    return export(argparse.Namespace(**vars(options) | fixed | others))
