"""``baseline save NAME PATH``, ``baseline compare NAME PATH``: saves the figures of a recording in a small file; or what changed since,
``--junit FILE`` for CI ([guide](guide/ci.md))
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from torch_tb_profiler.atomic_files import make_folder, save
from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.output import contexts, write
from torch_tb_profiler.units import format_bytes, format_ns, format_share
from torch_tb_profiler.untrusted import printable

if TYPE_CHECKING:
    from pathlib import Path

    from torch_tb_profiler.api.baselines import WorkerComparison

HELP = "save the figures of a recording in a small file, or compare with one"
OPERATORS = 10


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("action", choices=("save", "compare"))
    parser.add_argument("name", metavar="NAME", help="of the baseline")
    arguments.trace(parser)
    parser.add_argument(
        "--dir", metavar="FOLDER", default=".profiler-baselines", help="(default: %(default)s)"
    )
    arguments.fail_on(parser, "the step")
    arguments.checks(parser)


def run(options: argparse.Namespace) -> int:
    """Save a baseline, or compare with one."""
    from torch_tb_profiler.api.baselines import compare_with, path_of, read_baseline
    from torch_tb_profiler.cli.checks import check_of, exit_code, write_junit

    path = path_of(options.name, options.dir)
    if options.action == "save":
        return _save(path, options)
    baseline = read_baseline(path)
    compared = compare_with(baseline, contexts(options))
    checks = [
        check_of(w.worker, "step time", w.verdict, options.fail_on, strict=options.strict)
        for w in compared
    ]
    if options.junit:
        write_junit(options.junit, "torch-tb-profiler baseline", checks)
    if options.json:
        told = {"baseline": baseline.name, "made": baseline.made}
        workers = [_object(worker) for worker in compared]
        write(json.dumps({**told, "workers": workers}) + "\n")
    else:
        write("\n".join(_markdown(baseline.name, compared)) + "\n")
    return exit_code(checks)


def _save(path: Path, options: argparse.Namespace) -> int:
    import msgspec

    from torch_tb_profiler.api.baselines import baseline_of

    told = msgspec.to_builtins(baseline_of(contexts(options), options.name))
    make_folder(path.parent)
    save([f"{json.dumps(told, indent=1)}\n".encode()], path, force=True, ours=True)
    print(printable(f"{path}: {format_bytes(path.stat().st_size)}"), file=sys.stderr)
    return 0


def _object(worker: WorkerComparison) -> dict[str, object]:
    verdict = worker.verdict
    return {
        "worker": worker.worker,
        "sentence": verdict.sentence,
        "delta_ns": verdict.delta_ns,
        "share": verdict.share,
        "changed": verdict.changed,
        "low": verdict.low,
        "high": verdict.high,
        "needed": verdict.needed,
        "figures": {key: {"a": a, "b": b} for key, (a, b) in worker.figures.items()},
        "operators": [{"name": n, "a_ns": a, "b_ns": b} for n, a, b in worker.operators],
    }


def _markdown(name: str, compared: Sequence[WorkerComparison]) -> Iterator[str]:
    from torch_tb_profiler.api.baselines import FIGURES
    from torch_tb_profiler.views.words.escapes import markdown_name, markdown_table, markdown_text

    for worker in compared:
        yield f"## {markdown_name(worker.worker)} beside the baseline {markdown_name(name)}"
        yield ""
        yield markdown_text(worker.verdict.sentence)
        yield ""
        figures = [
            (label, *(_value(value, unit) for value in worker.figures[key]))
            for key, (label, unit) in FIGURES.items()
        ]
        operators = [
            (markdown_name(operator), format_ns(a), format_ns(b))
            for operator, a, b in worker.operators[:OPERATORS]
            if a != b
        ]
        yield from markdown_table(("per step", "baseline", "now"), [*figures, *operators], (1, 2))
        yield ""


def _value(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    if unit == "share":
        return format_share(value)
    return format_ns(value) if unit == "ns" else format_bytes(round(value))
