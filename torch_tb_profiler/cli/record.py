"""``record JOB``: the folder of the traces that a running job, or a vLLM or SGLang server, records now: ``--steps N``, ``--ranks 0,7``
([guide](guide/live.md))
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys

from torch_tb_profiler.cli.argument_types import numbers, path_or_url, positive, seconds
from torch_tb_profiler.cli.progress import say
from torch_tb_profiler.untrusted import printable

HELP = "have a running job, or a vLLM or SGLang server, record now"


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument(
        "job",
        metavar="JOB",
        type=path_or_url,
        help="HOST:PORT or unix:PATH of a job that calls torch_tb_profiler.listen, the folder of its traces, or the URL of"
        " a server",
    )
    parser.add_argument(
        "--steps", metavar="N", type=positive, default=5, help="(default: %(default)s)"
    )
    parser.add_argument(
        "--seconds", metavar="S", type=seconds, help="how long a server without steps records"
    )
    parser.add_argument(
        "--ranks", metavar="RANKS", type=numbers, help="like 0,7 (default: all that listen)"
    )
    parser.add_argument("--token", help="what the job asks for (default: TORCH_TB_PROFILER_TOKEN)")
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the traces")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(options: argparse.Namespace) -> int:
    """Ask, wait and tell; the exit code is 1 where a rank recorded nothing."""
    from torch_tb_profiler.live.client import record_live

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
            say(f"rank {rank.rank}: {rank.problem}")
    return 1 if any(rank.problem for rank in report.ranks) else 0
