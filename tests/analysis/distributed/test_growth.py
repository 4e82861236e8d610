"""What the figures of a run cost: as much as there are collectives, whatever the number of ranks or operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import asdict

from tests.analysis.distributed.written_ranks import UNIX, Call, rank_of
from torch_tb_profiler.analysis.distributed.rank import Rank
from torch_tb_profiler.analysis.distributed.run import run_figures

PAIRS = 40


def of_a_pair(rank: int) -> Rank:
    """A rank that meets only its neighbour, in 10 collectives of their group."""
    pair = rank // 2
    calls = [
        Call(
            "all_reduce",
            100 * n + 5 * (rank % 2),
            20,
            group=f"pair {pair}",
            group_size=2,
            members=(2 * pair, 2 * pair + 1),
            sequence=n,
        )
        for n in range(10)
    ]
    return rank_of(rank, calls, UNIX)


def test_groups_among_many_ranks_cost_what_they_are() -> None:
    figures = run_figures([of_a_pair(rank) for rank in range(2 * PAIRS)])
    matches, waits = figures.matched.matches, figures.waits
    assert len(matches) == 10 * PAIRS
    entries = 2 * len(matches)
    for held in (matches, waits):
        values = asdict(held) | getattr(held, "__dict__", {})
        arrays = {key: value for key, value in values.items() if isinstance(value, np.ndarray)}
        assert arrays
        assert all(array.size <= entries + 1 for array in arrays.values()), held
    assert (waits.last % 2 == 1).all()
    first, second = waits.wait.reshape(-1, 2).T
    assert (first > 0).all()
    assert not second.any()


@pytest.mark.parametrize("sorts", [3, 300])
def test_any_number_of_operations_is_split_at_once(
    monkeypatch: pytest.MonkeyPatch, sorts: int
) -> None:
    """However far apart they lie: a century here."""
    far = 100 * 365 * 86_400 * 10**9
    calls = [Call("all_reduce", n * (far // sorts), 7, bytes=n, sequence=n) for n in range(sorts)]
    sorted_times = 0
    lexsort = np.lexsort

    def counted(keys: Any) -> Any:
        nonlocal sorted_times
        sorted_times += 1
        return lexsort(keys)

    monkeypatch.setattr(np, "lexsort", counted)
    figures = run_figures([rank_of(0, calls)])
    assert [row.total for row in figures.operations if row.rank == 0] == [7] * sorts
    assert sorted_times <= 16
