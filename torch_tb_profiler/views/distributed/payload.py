"""Route ``/distributed``: the workers of a run beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import block_begins
from torch_tb_profiler.analysis.critical_path.blame import Blame
from torch_tb_profiler.analysis.critical_path.table import KINDS
from torch_tb_profiler.analysis.critical_path.verdict import Verdict
from torch_tb_profiler.analysis.critical_path.verdict_texts import in_how_many, once_in
from torch_tb_profiler.analysis.distributed.measures import (
    Measure,
    largest,
    means,
    measured,
    summed,
)
from torch_tb_profiler.analysis.distributed.operations import operation_table
from torch_tb_profiler.analysis.distributed.rank import Device, Rank
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.distributed.spread import outliers
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.views.display_wire import wire_columns
from torch_tb_profiler.views.distributed.texts import (
    clock_text,
    headline_of,
    missing_of,
    notes_of,
    outlier_text,
    parts_text,
    unmatched_of,
    verdict_lines,
    world_size,
)
from torch_tb_profiler.views.distributed.wire import (
    BlamedPart,
    BlameItem,
    DistributedMapPayload,
    DistributedPayload,
    DistributedWorker,
    MapOutlier,
    OverlapColumns,
    RankCost,
    WaitingColumns,
    WorkerState,
)
from torch_tb_profiler.views.steps import subject_of_job
from torch_tb_profiler.views.wire import RankSource, Subject
from torch_tb_profiler.views.words.texts import cut
from torch_tb_profiler.views.words.vocabulary import device_details, device_title, vendor_words

WHOLE_SPAN = "whole span"
LONGEST_NAME = 240
MOST_BLAMED = 2000
"""Most steps for which it is listed who holds them back …"""
MOST_BLAMED_BYTES = 400_000
"""… and most bytes of that."""
MOST_CELLS = 1 << 15
"""Workers × columns of the tables: eight of them are some 2.5 MB."""
MOST_MAP_CELLS = 1 << 17
"""Workers × columns of the map: some 1.3 MB."""
MOST_OUTLIERS = 50
_HOST_AND_PROCESS = regex(r"(?!.*[A-Z][a-z]{2}_\d\d_\d\d_\d\d_\d\d$)(.*)_(\d+)$")
"""As ``tensorboard_trace_handler`` names workers; names that end in a time of day do not count."""


class PlacedWorker(msgspec.Struct, frozen=True):
    """A worker of the run. ``place``: its index among the ranks of the figures, -1 until ready. ``told``: (dimension, place) in
    the job, as its name tells.
    """

    worker: str
    span: str
    rank: int | None
    rank_source: RankSource
    state: WorkerState
    message: str
    place: int
    told: tuple[tuple[str, int], ...] = ()


def distributed_payload(
    placed: Sequence[PlacedWorker],
    figures: RunFigures,
    blames: Sequence[Blame],
    verdict: Verdict,
    progress: float,
    workers_total: int,
    asked: int = -1,
) -> DistributedPayload:
    """The payload of the workers that are ready. ``blames``: in the order of the steps. ``asked``: the rank of
    the figures whose steps are selected, −1 none.
    """
    sources = {rank.step_source for rank in figures.ranks}
    workers = [_worker(worker, figures) for worker in placed]
    member = {worker.place: number for number, worker in enumerate(placed) if worker.place >= 0}
    begins = _begins(placed, figures, MOST_CELLS)
    payload = DistributedPayload(
        subject=_subject(placed, figures),
        workers=workers,
        steps=_step_names(figures),
        own_steps=_own_steps(figures, asked),
        column_begin=begins.tolist(),
        counts=_counts(placed, figures, begins),
        step_source=sources.pop() if len(sources) == 1 else "",
        overlap=OverlapColumns(**_sums(placed, figures.overlap, begins)),
        waiting=WaitingColumns(**_sums(placed, figures.waiting, begins)),
        blame=_fitting([_blame(blame, member) for blame in blames[:MOST_BLAMED]]),
        costs=_costs(verdict, blames, figures.steps.names, member),
        unjudged=_unjudged(verdict, len(figures.steps.names)),
        operations=wire_columns(operation_table(figures.operations, member)),
        matched=len(figures.matched.matches),
        unmatched=unmatched_of(figures.matched.unmatched, [worker.place for worker in placed]),
        clock=clock_text(figures),
        skew_ns=figures.skew,
        left_out=figures.left_out,
        ready=len(figures.ranks),
        progress=progress,
        workers_total=workers_total,
        world_size=world_size(figures),
        headline=[],
        notes=notes_of(figures, workers, workers_total),
        missing=missing_of(figures, len(placed)),
    )

    ranks = [workers[member[rank]] for rank in range(len(figures.ranks))]
    told = verdict_lines(verdict, figures, ranks, workers_total)
    headline = headline_of(payload, verdict.kind != "unknown", told)
    return msgspec.structs.replace(payload, headline=headline)


def _subject(placed: Sequence[PlacedWorker], figures: RunFigures) -> Subject:
    """All that is read; each figure stands beside its worker and its step."""
    read = (worker.worker for worker in placed if worker.place >= 0)
    return subject_of_job(read, len(figures.steps.names))


def _sums(
    placed: Sequence[PlacedWorker], parts: Mapping[str, Ints], begins: Ints
) -> dict[str, list[list[int | None]]]:
    """Each of some parts by worker and column."""
    return {
        f"{name}_ns": _by_worker(placed, summed(values, begins)[0])
        for name, values in parts.items()
    }


def distributed_map_payload(
    placed: Sequence[PlacedWorker], figures: RunFigures, measure: Measure, progress: float
) -> DistributedMapPayload:
    """One measure of every worker and step, the largest of consecutive steps where there are too many."""
    begins = _begins(placed, figures, MOST_MAP_CELLS)
    values = measured(figures, measure)
    mean = np.rint(np.nan_to_num(means(values), nan=-1)).astype(np.int64)
    member = {worker.place: number for number, worker in enumerate(placed) if worker.place >= 0}
    return DistributedMapPayload(
        subject=_subject(placed, figures),
        measure=measure,
        steps=_step_names(figures),
        column_begin=begins.tolist(),
        values_ns=_by_worker(placed, largest(values, begins)),
        means_ns=[row[0] for row in _by_worker(placed, mean[:, None])],
        outliers=[
            MapOutlier(
                worker=member[found.rank],
                text=outlier_text(placed[member[found.rank]], found),
            )
            for found in outliers(figures, values)[:MOST_OUTLIERS]
        ],
        progress=progress,
    )


def _begins(placed: Sequence[PlacedWorker], figures: RunFigures, most: int) -> Ints:
    """The first step of each column, of which there are as many as the limit of cells allows."""
    return block_begins(len(figures.steps.names), most // max(1, len(placed)))


def _step_names(figures: RunFigures) -> list[str]:
    return [name or WHOLE_SPAN for name in figures.steps.names]


def _own_steps(figures: RunFigures, rank: int) -> list[int]:
    own = np.full(len(figures.steps.names), -1, np.int64)
    if rank >= 0:
        place = figures.steps.place[rank]
        own[place[place >= 0]] = np.flatnonzero(place >= 0)
    found: list[int] = own.tolist()
    return found


def _counts(placed: Sequence[PlacedWorker], figures: RunFigures, begins: Ints) -> list[list[int]]:
    """How many steps of each column a worker has; empty where each column is a step."""
    if len(begins) == len(figures.steps.names):
        return []
    counts = summed(figures.overlap["other"], begins)[1]
    return [[value or 0 for value in row] for row in _by_worker(placed, counts)]


def _fitting(items: Sequence[BlameItem]) -> list[BlameItem]:
    """The first items that together take no more than ``MOST_BLAMED_BYTES``."""
    sizes = np.cumsum([len(msgspec.json.encode(item)) for item in items])
    return list(items[: int(np.searchsorted(sizes, MOST_BLAMED_BYTES, "right"))])


def _worker(worker: PlacedWorker, figures: RunFigures) -> DistributedWorker:
    rank: Rank | None = figures.ranks[worker.place] if worker.place >= 0 else None
    aligned = figures.aligned[worker.place] if worker.place >= 0 else None
    named = _HOST_AND_PROCESS.match(worker.worker)
    tied = aligned is not None and aligned.method != "none"
    return DistributedWorker(
        worker=worker.worker,
        span=worker.span,
        rank=worker.rank,
        rank_source=worker.rank_source,
        state=worker.state,
        message=worker.message,
        node=node_of(worker.worker, rank),
        process=named[2] if named else rank.process if rank is not None else "",
        backend=rank.backend if rank is not None else None,
        devices=[_device(device) for device in rank.devices] if rank is not None else [],
        offset_ns=aligned.offset if aligned is not None and tied else None,
        error_ns=aligned.error if aligned is not None and tied else None,
        collectives=len(rank) if rank is not None else 0,
    )


def node_of(worker: str, rank: Rank | None) -> str:
    """The host of a worker, by its name or its trace; empty if unknown."""
    named = _HOST_AND_PROCESS.match(worker)
    return named[1] if named else rank.host_name if rank is not None else ""


def _device(device: Device) -> str:
    words = vendor_words(device.vendor)
    memory = device.memory if device.memory >= 0 else None
    details = device_details(words, device.name, memory, device.capability)
    return f"{device_title(words, device.id)} · {details}"


def _costs(
    verdict: Verdict, blames: Sequence[Blame], names: Sequence[str], member: Mapping[int, int]
) -> list[RankCost]:
    """What the verdict says of each rank. Where the input decides who is last, of each rank the steps that it holds back."""
    hold = verdict.hold
    costs = []
    if hold is not None and hold.varies:
        for rank in hold.ranks:
            own = [b.step for b in blames if b.rank == rank and b.step in hold.steps]
            held = float(hold.held[own].mean())
            costs.append((rank, held, in_how_many(len(own), len(verdict.judged))))
    elif hold is not None:
        text = in_how_many(len(hold.steps), len(verdict.judged))
        costs += [(rank, verdict.per_step, text) for rank in hold.ranks]
    for once in verdict.once:
        text = once_in(once, names)
        costs += [(rank, once.each, text[:1].lower() + text[1:]) for rank in once.ranks]
    return [
        RankCost(worker=member[rank], held_ns=round(held), text=text) for rank, held, text in costs
    ]


def _unjudged(verdict: Verdict, steps: int) -> list[int]:
    if verdict.kind == "unknown":
        return []
    left: list[int] = np.setdiff1d(np.arange(steps), verdict.judged).tolist()
    return left


def _by_worker(placed: Sequence[PlacedWorker], values: Ints) -> list[list[int | None]]:
    """Rows by worker; null where it has no such step or is not ready."""
    nothing = np.full(values.shape[1], -1, np.int64)
    return [
        [
            value if value >= 0 else None
            for value in (values[worker.place] if worker.place >= 0 else nothing).tolist()
        ]
        for worker in placed
    ]


def _blame(blame: Blame, member: Mapping[int, int]) -> BlameItem:
    parts = [
        BlamedPart(
            kind=list(KINDS.values())[part.cause],
            name=cut(part.name, LONGEST_NAME),
            held_ns=part.held,
            event=part.event,
            module=part.module or None,
            line=cut(part.line, LONGEST_NAME) or None,
        )
        for part in blame.parts
    ]
    return BlameItem(
        step=blame.step,
        worker=member[blame.rank],
        also=[member[rank] for rank in blame.also],
        held_ns=blame.held,
        path_ns=blame.on_path,
        parts=parts,
        text=parts_text(parts),
    )
