"""Which steps are cold in a job: one decision for all of its ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.store.columns import Mask
from torch_tb_profiler.store.model import Facts


def agreed_cold(ranks: Sequence[Facts]) -> list[Mask]:
    """Which steps of each rank are cold, bool of shape (steps,): those that most of the ranks that recorded them call
    cold, weighed by their time. Steps are tied by number, else by place.
    """
    numbered = all((facts["steps"]["number"] >= 0).all() for facts in ranks)
    votes: dict[int, float] = {}
    keys = []
    for facts in ranks:
        table = facts["steps"]
        key = table["number"].tolist() if numbered else list(range(table.n))
        keys.append(key)
        is_cold = (table["flags"] & StepFlag.COLD) != 0
        wall = table["end"] - table["start"]
        for step, cold, time in zip(key, is_cold.tolist(), wall.tolist(), strict=True):
            votes[step] = votes.get(step, 0.0) + (time if cold else -time)
    return [np.array([votes[step] > 0 for step in key], np.bool_) for key in keys]
