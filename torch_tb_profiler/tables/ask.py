"""The answer to a question about a trace, in its run and beside others: for the page, Python, the command line and assistants."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.critical_path.step_groups import StepGroups
from torch_tb_profiler.analysis.figures.selection import Selection, has_steps
from torch_tb_profiler.runs.fleet import Fleet
from torch_tb_profiler.runs.model import Opened, Run
from torch_tb_profiler.tables.ranks import findings_of, path_insight
from torch_tb_profiler.tables.source import TableSource
from torch_tb_profiler.views.ask.commands import Asked, Ranks, Recording, rank_rows, run_rows
from torch_tb_profiler.views.ask.names import Names, names_of
from torch_tb_profiler.views.ask.payload import Answer, EventNames, answer
from torch_tb_profiler.views.critical_path.steps import (
    StepDifferencePayload,
    Steps,
    StepsOfRun,
    StepsOfTrace,
    Worker,
    step_difference_payload,
)
from torch_tb_profiler.views.findings.about import step_name
from torch_tb_profiler.views.findings.wire import FindingsPayload

Keep = Callable[[Hashable, Callable[[], Any]], Any]


def ask(
    of: TableSource, question: str, runs: Iterable[Run] = (), *, reading: bool = False
) -> Answer:
    """What is under the words of a question. Times are of the step that the answer speaks of: the selected one, of several their
    median step. ``runs``: what it can be compared with, beside its own. ``reading``: other ranks are still being read, so nothing
    is said of causes.
    """
    opened = of.opened
    fleet = of.in_fleet[0] if of.in_fleet else None
    keep: Keep = opened.memoise if opened else lambda _, make: make()
    whose = (of.selection.steps.tobytes(), of.selection.whole, fleet.id if fleet else "")
    findings, names = keep(("ask", *whose, reading), partial(_names, of, reading))
    own, recordings = _recordings(opened, runs)
    # Of a thousand ranks these take longer than an answer may.
    ranks, places = keep(
        ("ask places", whose[-1], tuple(recordings)), partial(_places, fleet, own, recordings)
    )
    steps = partial(keep, ("ask steps", whose[-1]), partial(_steps, of, fleet))
    events = keep("ask events", lambda: EventNames(of.trace))

    def difference(step: int) -> StepDifferencePayload:
        made, groups = steps()
        told: StepDifferencePayload = keep(
            ("ask why", whose[-1], step), lambda: step_difference_payload(made, groups, step)
        )
        return told

    asked = Asked(of.facts, names, places, own, recordings, ranks, steps, difference)
    headline = "The ranks are still being read." if reading else findings.headline
    return answer(asked, events, question, findings.subject, headline, _over(of, findings))


def _names(of: TableSource, reading: bool) -> tuple[FindingsPayload, Names]:
    findings = findings_of(of)
    causes = [] if reading else findings.findings
    step = _spoken_of(of, findings)
    selection = of.selection if step is None else Selection(np.array([step], np.int64), False)
    return findings, Names([*names_of(of.trace, of.facts, path_insight(of), causes, selection)])


def _places(
    fleet: Fleet | None, own: Recording, recordings: Sequence[Recording]
) -> tuple[Ranks | None, Names]:
    ranks = Ranks.of(fleet.figures, fleet.verdict, fleet.names) if fleet else None
    return ranks, Names([*rank_rows(recordings, ranks), *run_rows(recordings, own)])


def _spoken_of(of: TableSource, findings: FindingsPayload) -> int | None:
    """The row of the step that times are of; None the selection, or the whole recording."""
    return findings.median if has_steps(of.facts) else None


def _over(of: TableSource, findings: FindingsPayload) -> str:
    step = _spoken_of(of, findings)
    if step is None:
        return "Times are of the whole recording."
    return f"Times are of step {step_name(of.facts, step)}."


def _recordings(opened: Opened | None, runs: Iterable[Run]) -> tuple[Recording, list[Recording]]:
    """The asked recording, and all that there are."""
    if opened is None:
        return Recording("", "", ""), []
    beside = {(worker.name, span.name) for worker, span in opened.beside}
    every = {run.name: run for run in runs} | {opened.run.name: opened.run}
    listed = [
        Recording(
            run.name,
            worker.name,
            span.name,
            worker.rank,
            run.name == opened.run.name and (worker.name, span.name) in beside,
        )
        for run in every.values()
        for worker in run.workers
        for span in worker.spans
    ]
    return next(one for one in listed if (one.run, one.worker, one.span) == opened.key), listed


def _steps(of: TableSource, fleet: Fleet | None) -> tuple[Steps, StepGroups]:
    """By the path through all ranks where they are known."""
    steps: Steps
    if (
        fleet is not None
        and fleet.path is not None
        and of.opened is not None
        and len(fleet.ranks) > 1
    ):
        workers = [Worker(m.worker.rank, m.worker.name, m.span.name) for m in fleet.ranks]
        asked = fleet.rank_of(of.opened)
        steps = StepsOfRun(
            fleet.figures, fleet.path, fleet.open_rank, workers, fleet.workers_total, asked
        )
    else:
        steps = StepsOfTrace(of.facts, path_insight(of))
    return steps, steps.groups()
