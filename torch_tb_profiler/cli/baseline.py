"""``torch-tb-profiler baseline`` and ``budgets``: a recording beside what it should be."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from torch_tb_profiler.api.baselines import (
    FIGURES,
    Check,
    WorkerComparison,
    baseline_of,
    check_budgets,
    compare_with,
    path_of,
    read_baseline,
    read_budgets,
)
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.cli.junit import check_of, write_junit
from torch_tb_profiler.cli.output import all_traces, settings_of, warn_unreadable, write
from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.runs.loading import Unreadable
from torch_tb_profiler.units import format_bytes, format_ns, format_share
from torch_tb_profiler.untrusted import printable

OPERATORS = 10
MISSED = 1


def run(options: argparse.Namespace) -> int:
    """Save a baseline, or compare with one; the exit code.

    Raises:
        BadRequest, SourceError, NotATrace: the traces or the baseline cannot be read, or do not fit.
    """
    path = path_of(options.name, options.dir)
    if options.action == "save":
        return _save(path, options)
    baseline = read_baseline(path)
    compared = compare_with(baseline, _traces(options))
    checks = [
        check_of(w.worker, "step time", w.verdict, options.fail_on, strict=options.strict)
        for w in compared
    ]
    if options.junit:
        write_junit(options.junit, "torch-tb-profiler baseline", checks)
    if options.json:
        told = {"baseline": baseline["name"], "made": baseline["made"]}
        workers = [_object(worker) for worker in compared]
        write(json.dumps({**told, "workers": workers}) + "\n")
    else:
        write("\n".join(_markdown(baseline["name"], compared)) + "\n")
    return _told(checks)


def budgets(options: argparse.Namespace) -> int:
    """Check budgets; the exit code.

    Raises:
        BadRequest, SourceError, NotATrace: the traces or the budgets cannot be read.
    """
    limits = read_budgets(Path(options.budgets))
    checks = check_budgets(limits, _traces(options))
    if options.junit:
        write_junit(options.junit, "torch-tb-profiler budgets", checks)
    if options.json:
        write(json.dumps([dataclasses.asdict(check) for check in checks]) + "\n")
    else:
        words = {True: "held", False: "**missed**", None: "unknown"}
        lines = ["| worker | budget | | |", "| --- | --- | --- | --- |"]
        lines += [_row(_cell(c.worker), c.name, words[c.ok], _cell(c.said)) for c in checks]
        write("\n".join(lines) + "\n")
    return _told(checks)


def _save(path: Path, options: argparse.Namespace) -> int:
    told = baseline_of(_traces(options), options.name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    except OSError as error:
        raise SourceError(f"{path} cannot be written: {error}.", "Pass another --dir.") from error
    print(printable(f"{path}: {format_bytes(path.stat().st_size)}"), file=sys.stderr)
    return 0


def _traces(options: argparse.Namespace) -> list[TraceContext]:
    settings = settings_of(options)
    unreadable: list[Unreadable] = []
    traces = [
        TraceContext(opened, settings)
        for opened in all_traces(options.path, settings, unreadable, options.worker)
    ]
    warn_unreadable(unreadable)
    return traces


def _told(checks: Sequence[Check]) -> int:
    missed = [check for check in checks if check.ok is False]
    for check in missed:
        text = f"torch-tb-profiler: {check.worker}: {check.name}: {check.said}"
        print(printable(text), file=sys.stderr)
    return MISSED if missed else 0


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
    for worker in compared:
        yield f"## {_cell(worker.worker)} beside the baseline {_cell(name)}"
        yield ""
        yield worker.verdict.sentence
        yield ""
        yield "| per step | baseline | now |"
        yield "| --- | ---: | ---: |"
        for key, (label, unit) in FIGURES.items():
            yield _row(label, *(_value(value, unit) for value in worker.figures[key]))
        for operator, a, b in worker.operators[:OPERATORS]:
            if a != b:
                yield _row(f"`{_cell(operator)}`", format_ns(a), format_ns(b))
        yield ""


def _value(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    if unit == "share":
        return format_share(value)
    return format_ns(value) if unit == "ns" else format_bytes(round(value))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return printable(text).replace("|", "\\|").replace("`", "'")
