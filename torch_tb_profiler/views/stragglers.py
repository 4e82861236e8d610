"""Route ``/stragglers``: a run without its stragglers."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.what_if.changes import read_change
from torch_tb_profiler.analysis.what_if.stragglers import Stragglers, run_document
from torch_tb_profiler.views.ranks_path_wire import SlowOperation, SlowRank, StragglersPayload


def without_simulation(path: str, progress: float, refused: str = "") -> StragglersPayload:
    """The payload while the workers are read, or of a run that is not simulated."""
    return StragglersPayload(
        progress=progress,
        refused=refused,
        path=path,
        steps=0,
        measured_ns=None,
        replayed_ns=None,
        replay_error=None,
        predicted_ns=None,
        low_ns=None,
        high_ns=None,
        slowdown=None,
        by_worker=[],
        by_operation=[],
    )


def stragglers_payload(
    path: str, stragglers: Stragglers, workers: Sequence[tuple[int | None, str, str]]
) -> StragglersPayload:
    """The payload of a run; ``workers``: rank, worker and span of each rank."""
    found = run_document(stragglers, [rank for rank, _, _ in workers], [read_change("no-stragglers")])
    names = [worker for _, worker, _ in workers]
    return StragglersPayload(
        progress=1.0,
        refused="",
        path=path,
        steps=len(found["steps"]),
        measured_ns=found["measured_ns"],
        replayed_ns=found["replayed_ns"],
        replay_error=found["replay_error"],
        predicted_ns=found["predicted_ns"],
        low_ns=found["low_ns"],
        high_ns=found["high_ns"],
        slowdown=found["slowdown"],
        by_worker=[],
        by_operation=[SlowOperation(**row) for row in found["by_operation"]],
    )
