"""What an index holds of a trace, and that the figures of a run need nothing else."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.figures import insight, opened
from tests.builders.drawn import Event, trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.distributed.rank import Rank, rank_of
from torch_tb_profiler.analysis.distributed.rank_index import (
    build_index,
    peak_memory,
    progressions,
)
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import MEMORY_CURVE, MEMORY_DEVICES
from torch_tb_profiler.store.model import Facts, RankIndex, Trace
from torch_tb_profiler.store.strings import NO_STRINGS

SAMPLE = Path(__file__).parents[3] / "samples" / "synthetic_ddp8"


@lru_cache(maxsize=1)
def sample() -> list[tuple[Trace, Facts, Insight, RankIndex]]:
    found = []
    for number in range(3):
        path = SAMPLE / f"rank{number}.pt.trace.json.gz"
        trace, facts = opened(path)
        found.append((trace, facts, insight(path), build_index(trace, facts, insight(path))))
    return found


def test_it_holds_what_the_insight_says() -> None:
    trace, facts, insight, index = sample()[1]
    rank, table, steps = rank_of(index, 1), insight["collectives"], facts["steps"]
    for key in ("sequence", "event", "start", "end", "step", "exposed"):
        assert getattr(rank, key).tolist() == table[key].tolist(), key
    assert [rank.sorts[i].kind for i in rank.sort.tolist()] == insight.strings.many(table["kind"])
    assert [rank.sorts[i].bytes for i in rank.sort.tolist()] == table["bytes"].tolist()
    assert list(rank.step_name) == facts.strings.many(steps["name"])
    assert rank.step_end.tolist() == steps["end"].tolist()
    assert (rank.shares.sum(axis=0) == steps["end"] - steps["start"]).all()
    names = facts.strings.many(insight["step_work"]["name"])
    assert [rank.work.names[i] if i >= 0 else "" for i in rank.work.name.tolist()] == names
    assert (rank.world_size, rank.spans, rank.backend) == (8, trace["spans"].n, "nccl")
    (group,) = rank.groups
    assert (group.name, group.ranks, group.description, group.size) == (
        "0",
        tuple(range(8)),
        "default_pg",
        8,
    )


def test_a_rank_and_step_need_three_kilobytes_at_most() -> None:
    *_, index = sample()[0]
    held = sum(
        column.nbytes
        for name, table in index.tables.items()
        if name in ("rank_collectives", "rank_steps", "rank_work")
        for column in table.values()
    )
    assert held <= 3072 * index["rank_steps"].n


def of_header(groups: object) -> Rank:
    event: Event = {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}
    trace = trace_of([event], distributedInfo={"rank": 0, "pg_config": groups})
    facts = derive(trace)
    return rank_of(build_index(trace, facts, build_insight(trace, facts)), 0)


def test_groups_as_the_header_lists_them() -> None:
    listed = [
        {
            "pg_name": "3",
            "pg_desc": "tp",
            "backend_config": "cuda:nccl",
            "pg_size": 4,
            "ranks": [9, 1, 5, 6],
        },
        {"pg_name": "4", "pg_size": "2", "ranks": "all"},
        {"pg_name": "5", "ranks": [1 << 70]},
        17,
    ]
    groups = of_header(listed).groups
    assert [(g.name, g.ranks, g.description, g.backend, g.size) for g in groups] == [
        ("3", (1, 5, 6, 9), "tp", "cuda:nccl", 4),
        ("4", (), "", "", 2),
        ("5", (), "", "", -1),
    ]
    assert of_header(json.dumps(listed)).groups == ()


@examples(100)
@given(st.lists(st.integers(-(1 << 62), 1 << 62), max_size=12))
def test_progressions_are_the_numbers(ranks: list[int]) -> None:
    ordered = tuple(sorted(ranks))
    found = progressions(ordered)
    assert [f + i * s for f, s, n in found for i in range(n)] == list(ordered)


@pytest.mark.parametrize(
    ("begin", "end", "peak"),
    [
        (0, 5, 100),  # before the first record: what was allocated then
        (0, 10, 300),  # a record at the very end counts
        (12, 18, 300),  # held over from before
        (21, 29, 50),
        (15, 35, 300),
        (90, 99, 70),
    ],
)
def test_peak_memory_of_a_step(begin: int, end: int, peak: int) -> None:
    """Allocated on the accelerator: 100, from 10 on 300, from 20 on 50, from 30 on 70."""
    devices = {column.name: [0, 0] for column in MEMORY_DEVICES.columns}
    devices |= {"type": [1, 0], "begin": [100, 10**6]}
    curve = {column.name: [0] * 5 for column in MEMORY_CURVE.columns}
    curve |= {
        "device": [0, 0, 0, 1, 1],
        "time": [10, 20, 30, 0, 5],
        "allocated": [300, 50, 70, 10**6, 10**6],
    }
    tables = {
        "memory_devices": MEMORY_DEVICES.build(**devices),
        "memory_curve": MEMORY_CURVE.build(**curve),
    }
    found = peak_memory(Insight(NO_STRINGS, tables), np.array([begin]), np.array([end]))
    assert found.tolist() == [peak]
