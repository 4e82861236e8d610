"""``budgets PATH``: whether a recording keeps the limits in ``profiler-budgets.toml``, or in ``--budgets FILE``; ``--junit FILE`` for CI
([guide](guide/ci.md))
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.output import contexts, write

HELP = "check a recording against budgets"


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    arguments.trace(parser)
    parser.add_argument(
        "--budgets", metavar="FILE", default="profiler-budgets.toml", help="(default: %(default)s)"
    )
    arguments.checks(parser)


def run(options: argparse.Namespace) -> int:
    """Check budgets."""
    from torch_tb_profiler.api.baselines import check_budgets, read_budgets
    from torch_tb_profiler.cli.checks import exit_code, write_junit
    from torch_tb_profiler.views.words.escapes import markdown_name, markdown_table, markdown_text

    limits = read_budgets(Path(options.budgets))
    checks = check_budgets(limits, contexts(options))
    if options.junit:
        write_junit(options.junit, "torch-tb-profiler budgets", checks)
    if options.json:
        write(json.dumps([dataclasses.asdict(check) for check in checks]) + "\n")
    else:
        words = {True: "held", False: "**missed**", None: "unknown"}
        rows = [
            (markdown_name(c.worker), c.name, words[c.ok], markdown_text(c.said)) for c in checks
        ]
        write("\n".join(markdown_table(("worker", "budget", "", ""), rows)) + "\n")
    return exit_code(checks)
