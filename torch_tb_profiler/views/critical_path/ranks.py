"""Routes ``/critical_path/ranks`` and ``/critical_path/ranks/rows``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.critical_path.lanes import Source, lane_work
from torch_tb_profiler.analysis.critical_path.ranks import RanksPath, RankTrace
from torch_tb_profiler.analysis.critical_path.ranks_figures import (
    RanksGroup,
    RanksSegments,
    ranks_kinds,
    ranks_rows,
    ranks_segments,
    ranks_step,
)
from torch_tb_profiler.analysis.critical_path.table import Window
from torch_tb_profiler.analysis.critical_path.verdict import Verdict
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.analysis.figures.median_step import middle
from torch_tb_profiler.store.columns import Ints, unique_values
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.units import format_count, format_ns, format_share
from torch_tb_profiler.views.critical_path.glyph import MOST_LANES, glyph_of
from torch_tb_profiler.views.critical_path.payload import (
    MOST_STRIPS,
    OF_DEVICE_WORK,
    PathStrip,
)
from torch_tb_profiler.views.critical_path.ranks_wire import (
    RanksPathPayload,
    RanksRowsPayload,
    RanksWorker,
)
from torch_tb_profiler.views.display_wire import wire_columns
from torch_tb_profiler.views.distributed.texts import (
    all_called,
    clock_text,
    verdict_lines,
    world_size,
)
from torch_tb_profiler.views.steps import Selection, subject_of_job
from torch_tb_profiler.views.words.texts import capitalised

__all__ = ["RanksGroup", "RanksOfRun", "common_chosen", "ranks_path_payload", "ranks_rows_payload"]


class RanksOfRun(msgspec.Struct, frozen=True):
    """A complete run with the path of some of its steps. ``total``: workers of the run; ``chosen``: the common steps; ``strips``:
    those of them that are drawn.
    """

    figures: RunFigures
    path: RanksPath
    verdict: Verdict
    workers: Sequence[RanksWorker]
    total: int
    chosen: Ints
    segments: RanksSegments
    strips: Sequence[PathStrip]

    @classmethod
    def of(
        cls,
        figures: RunFigures,
        path: RanksPath,
        verdict: Verdict,
        names: Sequence[tuple[int | None, str, str]],
        total: int,
        chosen: Ints,
        open_rank: Callable[[int], RankTrace | None],
    ) -> RanksOfRun:
        """Reads what is on the path from the traces that it comes through. ``names``: rank, worker and span of each rank."""
        segments = ranks_segments(path, open_rank, np.isin(np.arange(len(path.begin)), chosen))
        workers = [
            RanksWorker(
                worker=worker, span=span, rank=rank, shift_ns=segments.origin - clock.offset
            )
            for (rank, worker, span), clock in zip(names, figures.aligned, strict=True)
        ]
        known = (path.stop > path.begin)[chosen]
        strips = _strips(figures, path, chosen[known], segments, open_rank)
        return cls(figures, path, verdict, workers, total, chosen, segments, strips)

    @property
    def known(self) -> Ints:
        """The chosen steps of which the path is known."""
        return self.chosen[(self.path.stop > self.path.begin)[self.chosen]]


def common_chosen(figures: RunFigures, rank: int, selection: Selection, facts: Facts) -> Ints:
    """The steps of the run that a selection of a rank's own steps stands for; all where the rank is not among them (−1)
    or all of its steps are selected.
    """
    everything = np.arange(len(figures.steps.names))
    if rank < 0 or selection.whole or len(selection.steps) == facts["steps"].n:
        return everything
    place = figures.steps.place[rank]
    common = place[selection.steps[selection.steps < len(place)]]
    return unique_values(common[common >= 0])


def ranks_path_payload(run: RanksOfRun | None, progress: float) -> RanksPathPayload:
    """The payload of a run; ``run`` None: its workers are still being read."""
    if run is None:
        empty: dict[str, list[Any]] = {"kind": [], "path_ns": [], "share": [], "segments": []}
        return RanksPathPayload(progress=progress, parts=empty)
    parts = ranks_kinds(run.segments, steps=np.array([strip.step for strip in run.strips]))
    return RanksPathPayload(
        progress=progress,
        subject=subject_of_job((one.worker for one in run.workers), run.known),
        steps=len(run.known),
        headline=_headline(run, parts),
        notes=_notes(run),
        clock=clock_text(run.figures),
        workers=list(run.workers),
        parts=wire_columns(parts),
        strips=list(run.strips),
    )


def ranks_rows_payload(
    run: RanksOfRun, by: RanksGroup, window: Window | None, limit: int
) -> RanksRowsPayload:
    """The path, or what of it lies in a window, as a table; rows beyond ``limit`` are pooled."""
    rows = ranks_rows(run.segments, by, window)
    return RanksRowsPayload(
        parts=wire_columns(ranks_kinds(run.segments, window)),
        rows=wire_columns(rows.head(limit)),
        pooled=max(rows.n - limit, 0),
    )


def _strips(
    figures: RunFigures,
    path: RanksPath,
    drawn: Ints,
    segments: RanksSegments,
    open_rank: Callable[[int], RankTrace | None],
) -> list[PathStrip]:
    """Of some common steps."""
    if len(drawn) > MOST_STRIPS:
        drawn = drawn[[middle((path.stop - path.begin)[drawn])]]
    paths = {step: ranks_step(segments, step) for step in drawn.tolist()}
    time = np.zeros(len(figures.ranks), np.int64)
    for own in paths.values():
        np.add.at(time, own.source, own.end - own.start)
    sources = {}
    for rank in np.argsort(-time, kind="stable")[:MOST_LANES].tolist():
        if time[rank] and (opened := open_rank(rank)) is not None:
            work = lane_work(opened.trace, opened.facts, opened.insight)
            sources[rank] = Source(work, figures.aligned[rank].offset - segments.origin)
    return [
        PathStrip(
            step=step,
            name=figures.steps.names[step],
            start_ns=own.bounds[0],
            end_ns=own.bounds[1],
            glyph=glyph_of(own, sources, several=True),
        )
        for step, own in paths.items()
    ]


def _headline(run: RanksOfRun, parts: DisplayTable) -> list[str]:
    """Who holds the others back, in all steps of the run; where the path runs in those selected, and its largest part."""
    if not parts.n:
        return []
    steps = len(run.known)
    step = "the step" if steps == 1 else "a step"
    by_rank = ranks_rows(run.segments, "rank")
    most = all_called(run.workers, [int(by_rank["worker"][0])])
    time = format_ns(int(by_rank["path_ns"][0]) / steps)
    share = format_share(float(by_rank["share"][0]))
    sentences = [
        f"{capitalised(most) if most.startswith('rank') else most} has {share} of the critical path through all ranks, {time} of {step}."
    ]
    events = ranks_rows(run.segments, "event")
    [name] = events.take(np.array([0])).texts("name")
    where = all_called(run.workers, [int(events["worker"][0])])
    if name:
        name = short_name(name) if events["kind"][0] in OF_DEVICE_WORK else name
        largest = format_share(float(events["share"][0]))
        sentences.append(f"The largest single part, {largest}, is {name} on {where}.")
    return [*verdict_lines(run.verdict, run.figures, run.workers, run.total), *sentences]


def _notes(run: RanksOfRun) -> list[str]:
    """What the path rests on."""
    read = len(run.figures.ranks)
    total = max(world_size(run.figures) or 0, run.total)
    notes = []
    if read < total:
        notes.append(
            f"The path rests on {format_count(read)} of {format_count(total)} ranks: waiting for one of the others cannot be"
            " told from transferring."
        )
    else:
        notes.append(f"The path rests on all {format_count(total)} ranks.")
    lacking = len(np.setdiff1d(run.chosen, run.figures.recorded_by_all))
    if lacking:
        steps = f"{format_count(lacking)} of {format_count(len(run.chosen))} steps"
        notes.append(f"Not all ranks recorded {steps}: there is no path through all of them there.")
    unknown = len(run.chosen) - len(run.known) - lacking
    if unknown > 0:
        notes.append(
            f"Of {format_count(unknown)} of {format_count(len(run.chosen))} steps the path is not looked for here: it"
            " would take too long. `critical-path PATH --ranks all` has them all."
        )
    return notes
