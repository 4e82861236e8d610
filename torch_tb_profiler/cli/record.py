"""``torch-tb-profiler record``: have a running job record."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys

from torch_tb_profiler.live.client import record_live
from torch_tb_profiler.untrusted import printable


def run(options: argparse.Namespace) -> int:
    """Ask, wait and tell; the exit code, 1 where a rank recorded nothing.

    Raises:
        BadRequest, SourceError: see ``live.client.record_live``.
    """
    report = record_live(
        options.job,
        steps=options.steps,
        seconds=options.seconds,
        ranks=options.ranks,
        token=options.token,
        wait=not options.no_wait,
        progress=lambda text: print(printable(text), file=sys.stderr),
    )
    if options.json:
        print(json.dumps(dataclasses.asdict(report)))
    elif report.directory:
        print(printable(report.directory))
    for rank in report.ranks:
        if rank.problem:
            print(
                printable(f"torch-tb-profiler: rank {rank.rank}: {rank.problem}"), file=sys.stderr
            )
    return 1 if any(rank.problem for rank in report.ranks) else 0
