"""The runs of a logdir side by side, as the Diff page shows them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from torch_tb_profiler.analysis.diff.experiments import (
    Experiment,
    ExperimentRow,
    experiment_table,
)
from torch_tb_profiler.api.opening import Path
from torch_tb_profiler.api.table_frame import table_frame
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.errors import NotATrace, NotFound
from torch_tb_profiler.runs.loading import Unreadable, load_all
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.units import format_names
from torch_tb_profiler.views.diff.experiments import experiment, row_of_workers

if TYPE_CHECKING:
    from pandas import DataFrame

_Told = tuple[Opened, Experiment]


def experiments(
    path: Path,
    base: str | None = None,
    *,
    workers: Collection[str] = (),
    use_cache: bool = True,
) -> DataFrame:
    """One row per run of a logdir, of a single run one per recording.

    ``base``: name of the run (of a single run the recording's path) that the others are compared with, by default each with
    the last recording of the same work before it.
    ``workers``: only these, by name or rank. Traces are read one at a time.

    Raises:
        SourceError: there is nothing at the path.
        NotATrace: nothing there could be read.
        NotFound: there is no such base or worker.
    """
    settings = Settings.from_environment(use_cache=None if use_cache else False)
    items = load_all(os.fsdecode(path), settings, None, workers)
    rows = experiment_rows((item for item in items if not isinstance(item, Unreadable)), settings)
    if not rows:
        raise NotATrace(f"{os.fsdecode(path)} holds no readable trace.")
    return table_frame(experiment_table(rows, base_row(rows, base)))


def experiment_rows(traces: Iterable[Opened], settings: Settings) -> list[ExperimentRow]:
    """A row per run, or per recording where there is one run. Of a worker with several recordings the last one counts."""
    every = [(_without_columns(opened), experiment_in(opened, settings)) for opened in traces]
    # Snapshots and stacks are left out beside traces.
    told = [one for one in every if not one[0].worker.extra] or every
    runs: dict[str, dict[str, _Told]] = {}
    for opened, found in told:
        runs.setdefault(opened.run.name, {})[opened.worker.name] = (opened, found)
    if len(runs) == 1:
        return [_row(opened.span.path, [(opened, found)]) for opened, found in told]
    return [_row(run, list(members.values())) for run, members in runs.items()]


def experiment_in(opened: Opened, settings: Settings) -> Experiment:
    """The figures of one opened trace."""
    context = TraceContext(opened, settings)
    return experiment(opened.trace, opened.facts, context.insight, settings.peaks)


def base_row(rows: list[ExperimentRow], base: str | None) -> int | None:
    """The row that a name means; None without one.

    Raises:
        NotFound: there is none.
    """
    names = [row.run for row in rows]
    if base is None:
        return None
    if base not in names:
        raise NotFound(f"There is no run {base!r}.", f"Expected one of: {format_names(names, 9)}.")
    return names.index(base)


def _row(name: str, members: list[_Told]) -> ExperimentRow:
    places = [(opened.worker.name, opened.worker.rank) for opened, _ in members]
    return row_of_workers(name, members[0][0].span.name, places, [(e, "") for _, e in members])


def _without_columns(opened: Opened) -> Opened:
    """Its place alone: the trace need not stay in memory."""
    return replace(opened, trace=None, facts=None)
