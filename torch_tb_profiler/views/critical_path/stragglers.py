"""Route ``/stragglers``: a run without its stragglers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from torch_tb_profiler.analysis.critical_path.ranks import RankTrace
from torch_tb_profiler.analysis.critical_path.verdict_texts import unknown_text
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.what_if.changes import read_change
from torch_tb_profiler.analysis.what_if.stragglers import (
    LEAST_RANKS,
    MOST_NAMES,
    Stragglers,
    not_replayed_text,
    run_document,
)
from torch_tb_profiler.units import format_count
from torch_tb_profiler.views.critical_path.ranks_wire import (
    SlowOperation,
    SlowRank,
    StragglersPayload,
)
from torch_tb_profiler.views.distributed.texts import world_size
from torch_tb_profiler.views.steps import subject_of_job

MOST_SIMULATED = 1 << 26
"""Events, times simulations: one for each rank and operation. 0.7 µs each (measured), so three quarters of a minute."""


def stragglers_payload(
    path: str,
    figures: RunFigures,
    open_rank: Callable[[int], RankTrace | None],
    workers: Sequence[tuple[int | None, str, str]],
    most_spans: int,
) -> StragglersPayload:
    """The payload of a run; ``workers``: rank, worker and span of each rank. Runs of more spans are refused."""
    answer = partial(StragglersPayload, progress=1.0, path=path)
    if len(workers) < LEAST_RANKS:
        return answer(refused="There is only one rank to look at.")
    if not figures.tied.any():
        return answer(refused="No collective of two ranks could be matched.")
    if not figures.whole:
        read = len(figures.ranks)
        return answer(refused=unknown_text(read, world_size(figures) or read))
    spans = sum(rank.spans for rank in figures.ranks)
    if spans > most_spans or spans * (len(workers) + MOST_NAMES) > MOST_SIMULATED:
        return answer(
            refused=f"The traces of {format_count(len(workers))} ranks hold {format_count(spans)} events: that would take too long here."
            " The command line simulates any number.",
        )
    traces = [open_rank(number) for number in range(len(workers))]
    if sum(trace is not None for trace in traces) < LEAST_RANKS:
        return answer(refused="Fewer than two ranks can be read.")
    stragglers = Stragglers(figures, traces)
    # Ranks by their place, as not all need have a number.
    found = run_document(stragglers, range(len(workers)), [read_change("no-stragglers")])
    slowest = sorted(found["by_worker"], key=lambda row: -row["slowdown"])
    return answer(
        subject=subject_of_job((worker for _, worker, _ in workers), stragglers.common),
        steps=len(found["steps"]),
        measured_ns=found["measured_ns"],
        replayed_ns=found["replayed_ns"],
        replay_error=found["replay_error"],
        note=not_replayed_text(found["not_replayed"], len(found["steps"])),
        predicted_ns=found["predicted_ns"],
        low_ns=found["low_ns"],
        high_ns=found["high_ns"],
        slowdown=found["slowdown"],
        by_worker=[
            SlowRank(
                worker=workers[row["rank"]][1],
                rank=workers[row["rank"]][0],
                slowdown=row["slowdown"],
            )
            for row in slowest
        ],
        by_operation=[SlowOperation(**row) for row in found["by_operation"]],
    )
