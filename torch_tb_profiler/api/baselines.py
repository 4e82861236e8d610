"""Baselines: the figures of a recording in a small file that can be committed, and budgets.

::

    record ─▶ baseline save main LOGS      .profiler-baselines/main.json
    change
    record ─▶ baseline compare main LOGS   steps are 11.8 % shorter (9.3 to 13.9 %)
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler._version import __version__
from torch_tb_profiler.analysis.diff.rank_test import Sample, compare_samples
from torch_tb_profiler.analysis.diff.repeats import LEAST_TIMES, Names, Repeated, Repeats
from torch_tb_profiler.analysis.diff.side import Side, compared_side, with_repeats
from torch_tb_profiler.analysis.figures.operators import operator_rows
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.errors import BadRequest, MissingPackage, SourceError, install
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.tables.figures import scalars
from torch_tb_profiler.tables.ranks import findings_of
from torch_tb_profiler.units import format_names, format_number
from torch_tb_profiler.untrusted import decoded, prepared, read_file, said
from torch_tb_profiler.views.diff.verdict import judged
from torch_tb_profiler.views.diff.wire import Verdict
from torch_tb_profiler.views.display_wire import wire_columns

MOST_BYTES = 16 << 20
MOST_BUDGET_BYTES = 64 << 10
MOST_OPERATORS = 200
MOST_SHAPES = 100
MOST_BEGINS = 4000
"""Calls whose begins are kept of a recording without steps, on the host and on the device."""
LONGEST_SHAPES = 4096
"""Characters of the shapes of one call; a compiled graph has thousands of inputs."""
FIGURES = {
    "device_share": ("Device active", "share"),
    "exposed_ns": ("Exposed communication", "ns"),
    "mfu": ("MFU", "share"),
    "memory_bytes": ("Peak memory", "bytes"),
}
"""Figure besides the step time → label, unit."""
_LONGEST_NAME = 200
"""Characters of the name of a file, of which systems allow 255."""
BUDGETS: dict[str, tuple[str, str, float, bool]] = {
    "step_ms": ("wall_ns", "mean step, ms", 1e-6, True),
    "exposed_ms": ("exposed_ns", "mean exposed communication of a step, ms", 1e-6, True),
    "memory_gib": ("memory_bytes", "peak memory, GiB", 2.0**-30, True),
    "mfu": ("mfu", "MFU", 1.0, False),
    "device_active": ("device_share", "share of the step with a kernel on the device", 1.0, False),
}
"""Key of a budget → column of ``scalars``, what it is, factor, whether it is a most or a least."""
NONE_OF = "findings_none_of"


@dataclass(frozen=True)
class Check:
    """One thing that was checked. ``ok``: None where it cannot be told."""

    worker: str
    name: str
    ok: bool | None
    said: str


@dataclass(frozen=True)
class WorkerComparison:
    """A worker beside its baseline. ``figures``, ``operators``: name → (before, now), per step."""

    worker: str
    verdict: Verdict
    figures: dict[str, tuple[float | None, float | None]]
    operators: list[tuple[str, float, float]]


_Number = Annotated[float, msgspec.Meta(gt=-1e18, lt=1e18)]


class _Repeats(msgspec.Struct, frozen=True):
    """What a recording without steps repeats, as ``repeats.Repeats``: of each name, ``host`` and ``device``, the time of
    its calls, the first begin, and from one begin to the next, ns; those that take most time.
    """

    length: _Number
    host: list[list[Any]]
    device: list[list[Any]]

    def __post_init__(self) -> None:
        for name, *numbers in (*self.host, *self.device):
            if not isinstance(name, str) or len(numbers) <= LEAST_TIMES:
                raise ValueError("it repeats nothing")
            msgspec.convert(numbers, prepared(list[_Number]))


class _Worker(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a worker. ``shapes``: operator, shapes, ns per step; ``operators``: ns per step."""

    worker: str
    step_ns: Sequence[_Number]
    odd: Sequence[int] = ()
    cold_ns: Sequence[_Number] = ()
    repeats: _Repeats | None = None
    shapes: Sequence[tuple[str, str, _Number]] = ()
    device_share: _Number | None
    exposed_ns: _Number | None
    mfu: _Number | None
    memory_bytes: _Number | None
    operators: Mapping[str, _Number]


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """What a baseline's file holds; anybody can edit it."""

    format: Literal[1] = 1
    name: str
    program: str
    made: str
    workers: Annotated[list[_Worker], msgspec.Meta(min_length=1)]


def baseline_of(traces: Sequence[TraceContext], name: str) -> Baseline:
    """The figures of traces, to be saved."""
    return Baseline(
        name=name,
        program=f"torch_tb_profiler {__version__}",
        made=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        workers=[_worker(trace) for trace in traces],
    )


def path_of(name: str, folder: str | os.PathLike[str]) -> Path:
    """The file of a baseline, which may be named like any branch: ``feature/x`` is kept in ``feature%2Fx.json``.

    Raises:
        BadRequest: the name is empty.
    """
    if not name.strip():
        raise BadRequest("The baseline has no name.", "Give it one, such as that of the branch.")
    file = quote(name, safe="", errors="surrogateescape")
    if len(file) > _LONGEST_NAME:
        digest = hashlib.sha256(file.encode()).hexdigest()[:16]
        file = f"{file[:_LONGEST_NAME]}.{digest}"
    return Path(folder) / f"{file}.json"


def read_baseline(path: Path) -> Baseline:
    """A baseline that was saved.

    Raises:
        SourceError: it is not there, or is no baseline of this format.
    """
    try:
        told = decoded(read_file(path, MOST_BYTES))
    except FileNotFoundError as error:
        raise SourceError(
            f"There is no baseline {path}.", "Save one with: torch-tb-profiler baseline save."
        ) from error
    except (OSError, ValueError) as error:
        raise SourceError(
            f"{path} cannot be read: {_why(error)}.", "Save the baseline again."
        ) from error
    try:
        return msgspec.convert(told, prepared(Baseline))
    except (ValueError, OverflowError) as error:
        raise SourceError(
            f"{path} is no baseline of format 1: {said(error)}.", "Save the baseline again."
        ) from error


def compare_with(baseline: Baseline, traces: Sequence[TraceContext]) -> list[WorkerComparison]:
    """Each worker beside its baseline, by name; a single one of each side in any case.

    Raises:
        BadRequest: no worker is in both.
    """
    before = {worker.worker: worker for worker in baseline.workers}
    now = [_worker(trace) for trace in traces]
    if len(before) == len(now) == 1:
        (only,) = before.values()
        return [_compared(only, now[0])]
    pairs = [_compared(before[w.worker], w) for w in now if w.worker in before]
    if not pairs:
        raise BadRequest(
            "No worker is in both.",
            f"The baseline has {format_names(list(before))}, the traces {format_names([w.worker for w in now])}.",
        )
    return pairs


def read_budgets(path: Path) -> dict[str, Any]:
    """The budgets of a TOML file.

    Raises:
        SourceError: it cannot be read.
        BadRequest: it has other keys or values than ``BUDGETS``.
        MissingPackage: Python 3.10 needs tomli.
    """
    toml = _toml()
    try:
        told: dict[str, Any] = toml.loads(read_file(path, MOST_BUDGET_BYTES).decode())
    except (OSError, ValueError, RecursionError) as error:
        raise SourceError(f"{path} cannot be read: {_why(error)}.", "Correct the file.") from error
    for key, value in told.items():
        listed = isinstance(value, list) and all(isinstance(word, str) for word in value)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (listed if key == NONE_OF else number and key in BUDGETS):
            raise BadRequest(
                f"{path}: {key} = {value!r} is no budget.",
                f"Budgets: {', '.join(BUDGETS)} with a number, {NONE_OF} with a list of findings.",
            )
    return told


def _why(error: Exception) -> str:
    return said(error.strerror if isinstance(error, OSError) else error)


def _toml() -> Any:
    """The reader of TOML that Python has since 3.11, and its twin before."""
    for name in ("tomllib", "tomli"):
        with contextlib.suppress(ImportError):
            return import_module(name)
    raise MissingPackage("Python 3.10 cannot read TOML.", install("tomli"))


def check_budgets(budgets: Mapping[str, Any], traces: Sequence[TraceContext]) -> list[Check]:
    """Each budget of each worker; cold and cut steps are left out where there are others."""
    checks: list[Check] = []
    for trace in traces:
        table = scalars_of(trace)
        name = trace.opened.worker_title
        for key, limit in budgets.items():
            if key == NONE_OF:
                checks += _no_findings(trace, name, limit)
            else:
                checks.append(_within(table, name, key, float(limit)))
    return checks


def scalars_of(trace: TraceContext) -> DisplayTable:
    """The steps that count: all but cold and cut ones, if there are others."""
    chosen = trace.selection()
    warm = select(trace.facts, skip_cold=True)
    if chosen.whole and len(warm.steps):
        chosen = warm
    return scalars(replace(trace.source(), selection=chosen))


def _within(table: DisplayTable, worker: str, key: str, limit: float) -> Check:
    column, words, factor, most = BUDGETS[key]
    figure = _figure(table, column)
    if figure is None:
        return Check(worker, key, None, f"{words}: not recorded")
    value = figure * factor
    ok = value <= limit if most else value >= limit
    sign = "at most" if most else "at least"
    return Check(worker, key, ok, f"{words}: {format_number(value)}, {sign} {format_number(limit)}")


def _no_findings(trace: TraceContext, worker: str, keys: Sequence[str]) -> list[Check]:
    found = {finding.rule: finding.title for finding in findings_of(trace.source()).findings}
    return [
        Check(worker, f"no {key}", key not in found, found.get(key, "not found")) for key in keys
    ]


def _figure(table: DisplayTable, column: str) -> float | None:
    """What a column comes to over the steps that know it: the mean, of memory the most; None unknown."""
    values = np.asarray(table[column], np.float64)
    values = values[~np.isnan(values) & (values >= 0)]
    if not len(values):
        return None
    return float(values.max() if column == "memory_bytes" else values.mean())


def _worker(trace: TraceContext) -> _Worker:
    table = scalars_of(trace)
    side = compared_side(trace.facts, trace.insight, trace.selection())
    side = with_repeats(side, trace.opened.trace)
    rows = operator_rows(trace.facts, trace.selection(), "name")
    device = rows["device_self_ns"]
    time = device if (device > 0).any() else rows["host_self_ns"]
    largest = np.argsort(-time, kind="stable")[:MOST_OPERATORS]
    names = wire_columns(rows)["name"]
    selected = max(len(trace.selection().steps), 1)
    return _Worker(
        worker=trace.opened.worker.name,
        step_ns=[int(value) for value in side.sample.walls],
        odd=np.flatnonzero(side.sample.odd).tolist(),
        cold_ns=[int(value) for value in side.sample.cold],
        repeats=_repeats(side),
        shapes=_shapes(side),
        operators={
            str(names[row]): round(float(time[row]) / selected)
            for row in largest.tolist()
            if time[row] > 0
        },
        **{key: _figure(table, key) for key in FIGURES},
    )


def _shapes(side: Side) -> list[tuple[str, str, float]]:
    """The input shapes that take most time."""
    shapes = side.sample.shapes
    largest = sorted(shapes, key=lambda key: -shapes[key])[:MOST_SHAPES]
    return [(*key, round(shapes[key])) for key in largest if len(key[1]) <= LONGEST_SHAPES]


def _compared(before: _Worker, now: _Worker) -> WorkerComparison:
    whole = before.repeats is not None and now.repeats is not None
    verdict = judged(compare_samples([(_sample(before), _sample(now))]), whole)
    times = before.operators, now.operators
    names = dict.fromkeys([*times[0], *times[1]])
    rows = [(name, float(times[0].get(name, 0)), float(times[1].get(name, 0))) for name in names]
    rows.sort(key=lambda row: -abs(row[2] - row[1]))
    figures = {key: (getattr(before, key), getattr(now, key)) for key in FIGURES}
    return WorkerComparison(now.worker, verdict, figures, rows)


def _repeats(side: Side) -> _Repeats | None:
    if side.repeats is None:
        return None
    return _Repeats(side.repeats.length, _written(side.repeats.host), _written(side.repeats.device))


def _written(names: Names) -> list[list[Any]]:
    rows, left = [], MOST_BEGINS
    for name, one in names.items():
        left -= len(one.begins)
        if left >= 0:
            rows.append([name, one.time, *np.diff(one.begins, prepend=0).tolist()])
    return rows


def _read_repeats(told: _Repeats | None) -> Repeats | None:
    if told is None:
        return None
    return Repeats(
        round(told.length),
        *(
            {
                name: Repeated(np.cumsum(np.array(begins, np.int64)), time)
                for name, time, *begins in rows
            }
            for rows in (told.host, told.device)
        ),
    )


def _sample(side: _Worker) -> Sample:
    """A side as ``compared_sides`` chooses its steps."""
    return Sample(
        np.array(side.step_ns, np.float64),
        shapes={(name, dims): time for name, dims, time in side.shapes},
        odd=np.isin(np.arange(len(side.step_ns)), side.odd),
        cold=np.array(side.cold_ns, np.float64),
        repeats=_read_repeats(side.repeats),
    )
