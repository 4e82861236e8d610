"""The replies of the Distributed view stay below 4 MB whatever the run, and say what their cells are."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from msgspec.structs import replace

from tests.analysis.distributed.written_ranks import rank_of
from torch_tb_profiler.analysis.critical_path.blame import Blame, BlamedWork
from torch_tb_profiler.analysis.critical_path.verdict import UNKNOWN
from torch_tb_profiler.analysis.distributed.run import RunFigures, run_figures
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.views.distributed.payload import (
    PlacedWorker,
    distributed_map_payload,
    distributed_payload,
)
from torch_tb_profiler.views.wire import to_json

LIMIT = 4_000_000


def placed(ranks: int) -> list[PlacedWorker]:
    return [
        PlacedWorker(f"node{n // 8}_{n}", "1", n, "distributedInfo", "ready", "", n)
        for n in range(ranks)
    ]


@lru_cache(maxsize=2)
def figures_of(ranks: int, steps: int) -> RunFigures:
    """Ranks without collectives; their steps take nine digits of ns."""
    random = np.random.default_rng(0)
    written = [rank_of(n, [], steps=range(steps)) for n in range(ranks)]
    return run_figures(
        [replace(rank, shares=random.integers(10**8, 10**9, (4, steps))) for rank in written]
    )


@pytest.mark.parametrize(("ranks", "steps"), [(1024, 100), (1024, 1024), (1, 1 << 16)])
@pytest.mark.slow
def test_replies_are_bounded(ranks: int, steps: int) -> None:
    figures = figures_of(ranks, steps)
    parts = tuple(
        BlamedWork(PathCause.KERNEL, "é" * 300, 7, 1, 0, 9, "m" * 300, "l" * 300) for _ in range(3)
    )
    blames = [Blame(step % 32, 0, tuple(range(ranks)), 5, 9, parts) for step in range(4000)]
    assert (
        len(to_json(distributed_payload(placed(ranks), figures, blames, UNKNOWN, 1.0, ranks)))
        < LIMIT
    )
    assert len(to_json(distributed_map_payload(placed(ranks), figures, "step", 1.0))) < LIMIT


@pytest.mark.slow
def test_columns_of_several_steps_hold_sums_and_the_map_the_largest() -> None:
    figures = figures_of(1024, 1024)
    found = distributed_payload(placed(1024), figures, (), UNKNOWN, 1.0, 1024)
    assert (found.column_begin[:3], len(found.column_begin)) == ([0, 32, 64], 32)
    assert len(found.steps) == 1024
    assert found.overlap.other_ns[3][1] == int(figures.overlap["other"][3, 32:64].sum())
    assert found.counts[3] == [32] * 32
    shown = distributed_map_payload(placed(1024), figures, "other", 1.0)
    assert shown.column_begin[:3] == [0, 8, 16]
    assert shown.values_ns[3][1] == int(figures.overlap["other"][3, 8:16].max())
    assert shown.means_ns[3] == round(float(figures.overlap["other"][3].mean()))


def test_a_column_is_a_step_where_they_fit() -> None:
    found = distributed_payload(placed(8), run_figures([rank_of(0, [])] * 8), (), UNKNOWN, 1.0, 8)
    assert (found.column_begin, found.counts) == ([0], [])
