"""The routes of more than one trace: findings, all workers of a run, two traces beside each other."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Annotated, Literal, cast

from torch_tb_profiler.errors import NotReady
from torch_tb_profiler.runs.experiments import Experiments, Recorded
from torch_tb_profiler.runs.fleet import MOST_SPANS, Fleet, Fleets
from torch_tb_profiler.runs.model import Opened, OpenedInsight
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views import wire
from torch_tb_profiler.views.critical_path import ranks_wire as ranks_path_wire
from torch_tb_profiler.views.critical_path.ranks import (
    RanksGroup,
    RanksOfRun,
    common_chosen,
    ranks_path_payload,
    ranks_rows_payload,
)
from torch_tb_profiler.views.critical_path.steps import (
    StepCausesPayload,
    StepDifferencePayload,
    StepGroups,
    StepsOfRun,
    StepsOfTrace,
    Worker,
    reading_payload,
    step_causes_payload,
    step_difference_payload,
)
from torch_tb_profiler.views.critical_path.stragglers import stragglers_payload
from torch_tb_profiler.views.diff.experiments import (
    Experiment,
    ExperimentRow,
    ExperimentsPayload,
    experiment,
    experiments_payload,
    row_of_workers,
)
from torch_tb_profiler.views.distributed import wire as distributed_wire
from torch_tb_profiler.views.distributed.payload import (
    PlacedWorker,
    distributed_map_payload,
    distributed_payload,
)
from torch_tb_profiler.views.distributed.process_groups import (
    ProcessGroupsPayload,
    process_groups_payload,
)
from torch_tb_profiler.views.findings import wire as findings_wire
from torch_tb_profiler.views.findings.payload import Source, findings_in_run, findings_payload
from torch_tb_profiler.views.overview.ranks import (
    UNKNOWN_RANKS,
    OverviewRanksPayload,
    overview_ranks_payload,
)
from torch_tb_profiler.views.steps import counted
from torch_tb_profiler.web.figure_routes import lanes_of
from torch_tb_profiler.web.parameters import OneOf, StepRange, Steps, Switch, Whole, Window
from torch_tb_profiler.web.route import Backend, chosen, route


def _fleet(fleets: Fleets, opened: Opened) -> tuple[Fleet | None, float]:
    """The fleet of a trace if complete, and the progress towards it."""
    if len(opened.beside) < 2:
        return None, 1.0
    fleet = fleets.of(opened)
    if fleet.complete:
        return fleet, 1.0
    return None, min(round(fleet.progress, 2), 0.99)


def _others(backend: Backend, insight: OpenedInsight) -> Hashable:
    fleet, progress = _fleet(backend.fleets, insight.opened)
    return fleet and fleet.id, progress


@route("/findings", also=_others, report="steps")
def findings(
    insight: OpenedInsight,
    fleets: Fleets,
    steps: Steps,
    alone: Annotated[bool, Switch("Of this rank alone, whatever is known of the others.")] = False,
) -> findings_wire.FindingsPayload:
    """What costs step time: rule, sentence, ``recoverable_ns`` per step (simulated), how certain that is,
    the most expensive events, the source line if known, what to try and when that does not help.
    """
    opened = insight.opened
    fleet, progress = (None, 1.0) if alone else _fleet(fleets, opened)
    selection = chosen(opened, steps)
    source = Source(
        opened.trace,
        opened.facts,
        insight.insight,
        opened.worker.name,
        opened.span.name,
        selection.steps,
        opened.run.name,
    )
    if fleet is None:
        return findings_payload(source, progress)
    return findings_in_run(source, fleet.figures, fleet.verdict, fleet.names)


def _complete(backend: Backend, opened: Opened) -> Hashable:
    """The content of a complete fleet; an incomplete one still grows."""
    fleet = backend.fleets.of(opened)
    return fleet.id if fleet.complete else None


@route("/distributed", also=_complete, report="trace")
def distributed(opened: Opened, fleets: Fleets) -> distributed_wire.DistributedPayload:
    """The workers of a run side by side, each with the span recorded at the same time as the requested
    one; missing insights are made from now on. Lists of lists are ``[worker][step]``. ``blame``: for
    every step the worker whose work on the critical path through all ranks takes longest beside that of the
    others, and which work that is. At most 2,048 workers; where workers × steps exceed 32,768 a column holds several consecutive
    steps.
    """
    fleet = fleets.of(opened)
    return distributed_payload(
        _placed(fleet),
        fleet.figures,
        fleet.blames,
        fleet.verdict,
        fleet.progress,
        fleet.workers_total,
        fleet.rank_of(opened),
    )


@route("/distributed/map", also=_complete, report="trace")
def distributed_map(
    opened: Opened,
    fleets: Fleets,
    measure: Annotated[
        distributed_wire.Measure, OneOf("What of each worker and step; `step` is how long it took.")
    ] = "late",
) -> distributed_wire.DistributedMapPayload:
    """One measure of all workers and steps of that view, for its heat map. Where workers × steps exceed 131,072 a cell holds the
    largest of several consecutive steps.
    """
    fleet = fleets.of(opened)
    return distributed_map_payload(_placed(fleet), fleet.figures, measure, fleet.progress)


@route("/distributed/groups", also=_complete, report="trace")
def process_groups(opened: Opened, fleets: Fleets) -> ProcessGroupsPayload:
    """The process groups of those workers: members, nodes, collectives, bytes, time, bus bandwidth beside the peak of the link, and a
    matrix of who sends how many bytes to whom, by node where there are more than 64 ranks.
    """
    fleet = fleets.of(opened)
    return process_groups_payload(_placed(fleet), fleet.figures, fleet.progress)


def _placed(fleet: Fleet) -> list[PlacedWorker]:
    """The workers of a fleet, each with its place among the ranks of the figures."""
    ranks = {member: number for number, member in enumerate(fleet.place)}
    return [
        PlacedWorker(
            m.worker.name,
            m.span.name,
            m.worker.rank,
            cast("wire.RankSource", m.worker.rank_source),
            m.state,
            m.message,
            ranks.get(number, -1),
            m.worker.places,
        )
        for number, m in enumerate(fleet.members)
    ]


@route("/overview/ranks", also=_complete, report="trace")
def overview_ranks(opened: Opened, fleets: Fleets) -> OverviewRanksPayload:
    """The workers of the run, by rank, with their hosts and the coordinates of each rank in its job. Missing insights are made
    from now on. At most 2,048 workers.
    """
    fleet = fleets.of(opened)
    return overview_ranks_payload(_placed(fleet), fleet.figures, fleet.progress)


def _known(backend: Backend, opened: Opened) -> Hashable:
    fleet = backend.fleets.known_beside(opened)
    return fleet and fleet.id


@route("/overview/ranks/known", also=_known)
def overview_ranks_known(opened: Opened, fleets: Fleets) -> OverviewRanksPayload:
    """What ``/overview/ranks`` says if all of it is known already, else empty; nothing is made."""
    fleet = fleets.known_beside(opened)
    if fleet is None:
        return UNKNOWN_RANKS
    return overview_ranks_payload(_placed(fleet), fleet.figures, fleet.progress)


def _ranks_of(fleet: Fleet, opened: Opened, steps: StepRange) -> RanksOfRun | None:
    """The path through all ranks in the selected steps; None while ranks are still being read."""
    path = fleet.path
    if path is None:
        return None
    rank = fleet.rank_of(opened)
    selected = common_chosen(
        fleet.figures, rank, counted(opened.facts, chosen(opened, steps)), opened.facts
    )
    return opened.memoise(
        ("ranks path", fleet.id, tuple(selected.tolist())),
        lambda: RanksOfRun.of(
            fleet.figures,
            path,
            fleet.verdict,
            _workers(fleet),
            fleet.workers_total,
            selected,
            fleet.open_rank,
        ),
    )


def _workers(fleet: Fleet) -> list[tuple[int | None, str, str]]:
    """Rank, worker and span of each rank of a fleet."""
    return [(member.worker.rank, member.worker.name, member.span.name) for member in fleet.ranks]


@route("/critical_path/ranks", also=_complete, report="trace")
def critical_path_ranks(
    opened: Opened, fleets: Fleets, steps: Steps
) -> ranks_path_wire.RanksPathPayload:
    """The critical path through all ranks of the run, in the steps of the run that the selected ones are.
    ``strips`` draw up to three steps, else the longest. Missing insights are made from now on.
    """
    fleet = fleets.of(opened)
    run = _ranks_of(fleet, opened, steps)
    return ranks_path_payload(run, fleet.progress)


@route("/critical_path/ranks/rows", also=_complete, report="trace")
def critical_path_ranks_rows(
    opened: Opened,
    fleets: Fleets,
    settings: Settings,
    steps: Steps,
    by: Annotated[RanksGroup, OneOf("What a row is one of, each on one rank.")] = "rank",
    window: Window | None = None,
) -> ranks_path_wire.RanksRowsPayload:
    """That path, or what of it lies in a window of its times, as a table, the most first.

    Raises:
        NotReady: ranks are still being read.
    """
    fleet = fleets.of(opened)
    run = _ranks_of(fleet, opened, steps)
    if run is None:
        raise NotReady("The workers of the run are still being read.")
    return ranks_rows_payload(run, by, window, settings.max_table_rows)


_OF_RANKS = OneOf(
    "`all`: of a run of several ranks the path through all of them; `own`: that of this trace."
)


def _steps_by_cause(
    insight: OpenedInsight, fleets: Fleets, ranks: Literal["all", "own"]
) -> tuple[StepsOfTrace | StepsOfRun, StepGroups] | Fleet:
    """Whose steps are asked for, and their groups; the fleet while its ranks are still being read."""
    opened = insight.opened
    steps: StepsOfTrace | StepsOfRun
    if ranks == "all" and len(opened.beside) > 1:
        fleet = fleets.of(opened)
        if fleet.path is None:
            return fleet
        workers = [Worker(*one) for one in _workers(fleet)]
        rank, total, of = fleet.rank_of(opened), fleet.workers_total, fleet.id
        steps = StepsOfRun(fleet.figures, fleet.path, fleet.open_rank, workers, total, rank)
    else:
        told = fleets.with_waiting(insight)
        steps = StepsOfTrace(told.opened.facts, told.insight, lambda: lanes_of(insight))
        known = fleets.already_read(opened)
        of = known.id if known else ""
    return steps, opened.memoise((insight.id, "step groups", ranks, of), steps.groups)


@route("/critical_path/steps", also=_others, report="trace")
def critical_path_steps(
    insight: OpenedInsight,
    fleets: Fleets,
    ranks: Annotated[Literal["all", "own"], _OF_RANKS] = "all",
) -> StepCausesPayload:
    """Every step by what its end waited for, in seven groups that add up to its length: of this trace, or by the path
    through all ranks of its run. Missing insights are made from now on.
    """
    found = _steps_by_cause(insight, fleets, ranks)
    if isinstance(found, Fleet):
        return reading_payload(found.progress)
    return step_causes_payload(*found)


@route("/critical_path/step", also=_others)
def critical_path_step(
    insight: OpenedInsight,
    fleets: Fleets,
    step: Annotated[int, Whole("Number of the step in `/critical_path/steps`.")],
    ranks: Annotated[Literal["all", "own"], _OF_RANKS] = "all",
) -> StepDifferencePayload:
    """Why one of those steps takes longer, or shorter, than the median step: by group, and which rank, operator or line
    makes it; the differences add up exactly.

    Raises:
        NotReady: ranks are still being read.
    """
    found = _steps_by_cause(insight, fleets, ranks)
    if isinstance(found, Fleet):
        raise NotReady("The workers of the run are still being read.")
    return step_difference_payload(*found, step)


@route("/stragglers", also=_complete)
def stragglers(opened: Opened, fleets: Fleets) -> ranks_path_wire.StragglersPayload:
    """What a step of the run would take if no rank computed or transferred longer than is usual there, and how
    much of the difference is due to each rank and operation. It opens all ranks and simulates the run once for each of
    them, so it is refused for large runs; the command line does it for any.
    """
    fleet, path = fleets.of(opened), opened.span.path.rpartition("/")[0] or "."
    if not fleet.complete:
        return ranks_path_wire.StragglersPayload(progress=fleet.progress, path=path)
    return stragglers_payload(path, fleet.figures, fleet.open_rank, _workers(fleet), MOST_SPANS)


@route("/experiments", kept=False)
def experiments(
    opened: Opened,
    experiments: Experiments,
    settings: Settings,
    ranks: Annotated[
        Literal["own", "all"],
        OneOf("`own`: the worker that goes with the asked one; `all`: medians over the workers."),
    ] = "own",
) -> ExperimentsPayload:
    """The runs beside each other: step time, use of the device, memory, findings, and how the step differs from
    that of the asked recording. One row per run; of a single run one per recording. Missing insights are made from now
    on, a few at a time. ``suggestion``: what to compare with, and why.
    """

    def make(insight: OpenedInsight) -> Experiment:
        trace = insight.opened
        return experiment(trace.trace, trace.facts, insight.insight, settings.peaks)

    found, total = experiments.beside(opened, make, ranks == "all")
    rows = [_experiment_row(row) for row in found]
    own = (opened.worker.name, opened.span.name)
    base = next(
        i
        for i, row in enumerate(found)
        if row[0].run == opened.run.name and own in [(r.worker.name, r.span.name) for r in row]
    )
    ready = sum(row.state != "waiting" for row in rows) / max(len(rows), 1)
    return experiments_payload(rows, base, total, round(ready, 3))


def _experiment_row(row: Sequence[Recorded[Experiment]]) -> ExperimentRow:
    names = [(r.worker.name, r.worker.rank) for r in row]
    return row_of_workers(row[0].run, row[0].span.name, names, [(r.told, r.message) for r in row])
