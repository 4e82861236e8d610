"""The routes of the overview of a run."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from werkzeug.test import Client

from tests.analysis.figures import opened
from tests.builders.mesh_run import write_mesh
from tests.runs.written_run import WrittenRun, sample
from tests.web.served import body
from torch_tb_profiler.analysis.distributed.collectives import ProcessGroup
from torch_tb_profiler.analysis.distributed.run import run_figures
from torch_tb_profiler.runs.fleet import Fleets
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.distributed.payload import PlacedWorker
from torch_tb_profiler.views.overview.ranks import RunOfRanks, overview_ranks_payload
from torch_tb_profiler.views.overview.ranks_texts import ranks_text
from torch_tb_profiler.views.overview.ranks_wire import RunWorker
from torch_tb_profiler.views.wire import to_json
from torch_tb_profiler.web.application import Application

pytestmark = pytest.mark.slow


def asking(run: WrittenRun) -> Any:
    """A function that asks a route of one application about the run."""
    client = Client(Application(run, Settings()))  # type: ignore[arg-type]

    def ask(path: str, worker: str, more: str = "") -> dict[str, Any]:
        response = client.get(f"{path}?run=run&worker={worker}&span=1{more}")
        assert response.status_code == 200, body(response)
        found: dict[str, Any] = json.loads(body(response))
        return found

    return ask


@pytest.fixture(scope="module")
def mesh(tmp_path_factory: pytest.TempPathFactory) -> WrittenRun:
    """Sixteen ranks; rank 13 computes 40 % longer."""
    folder = tmp_path_factory.mktemp("mesh") / "run"
    write_mesh(folder, {"pp": 2, "dp": 2, "tp": 4}, {13: 1.4})
    return WrittenRun({f"rank{n}": opened(folder / f"rank{n}.pt.trace.json") for n in range(16)})


def test_the_slow_rank_is_named_with_its_coordinates(mesh: WrittenRun) -> None:
    found = asking(mesh)("/overview/ranks", "rank0")
    assert found["headline"][0].startswith("Rank 13 holds all others back: 24.")
    assert found["coverage"] == "16 of 16 workers are read."
    assert [(d["name"], d["size"], d["independent"]) for d in found["dimensions"]] == [
        ("TP", 4, True),
        ("DP", 2, True),
        ("PP", 2, True),
        ("node", 2, False),
    ]
    assert [d["place"][13] for d in found["dimensions"]] == [1, 1, 1, 1]
    assert {(o["worker"], o["figure"]) for o in found["outliers"]} == {
        (13, "computation"),
        (13, "exposed"),
    }
    assert [(g["ranks"], g["where"]) for g in found["groups"]] == [
        ("ranks 0–12, 14, 15", ""),
        ("rank 13", "PP 1, DP 1, TP 1"),
    ]
    step, computation = found["spreads"][:2]
    assert (step["figure"], step["outliers"]) == ("step", [])
    assert (computation["highest"], computation["outliers"]) == (13, [13])


def test_parts_of_a_run_are_named_by_their_coordinates(tmp_path: Path) -> None:
    """The second pipeline stage computes 20 % longer: no rank of it is an outlier, it is half of the run."""
    folder = write_mesh(tmp_path / "run", {"pp": 2, "tp": 4}, dict.fromkeys(range(4, 8), 1.2))
    run = WrittenRun({f"rank{n}": opened(folder / f"rank{n}.pt.trace.json") for n in range(8)})
    found = asking(run)("/overview/ranks", "rank0")
    assert found["outliers"] == []
    assert found["headline"][0] == (
        "The ranks fall into 2 groups, of 4 (PP 0) and 4 (PP 1): a step takes 92.8 ms."
    )


def test_known_ranks_are_told_without_making_any(mesh: WrittenRun) -> None:
    ask = asking(mesh)
    before = len(mesh.asked)
    assert ask("/overview/ranks/known", "rank3")["known"] is False
    assert len(mesh.asked) == before
    whole = ask("/overview/ranks", "rank0")
    assert ask("/overview/ranks/known", "rank3") == whole


def test_selected_steps_are_those_of_all_ranks(mesh: WrittenRun) -> None:
    ask = asking(mesh)
    one = ask("/overview/ranks", "rank0", "&steps=1")
    assert (one["steps"], ask("/overview/ranks", "rank0")["steps"]) == (1, 2)


def test_workers_that_are_not_there_are_counted_and_take_part_by_their_groups(
    mesh: WrittenRun,
) -> None:
    run = WrittenRun({name: (o.trace, o.facts) for name, o in mesh._opened.items()})
    run.waiting, run.failing = {"rank2", "rank3"}, {"rank9"}
    found = asking(run)("/overview/ranks", "rank0")
    assert found["coverage"] == (
        "13 of 16 workers are read, 2 are still being read, 1 could not be read."
    )
    assert 0.8 < found["progress"] < 1
    assert [found["workers"][n]["state"] for n in (0, 2, 9)] == ["ready", "waiting", "failed"]
    assert found["spreads"][0]["values"][9] is None
    assert [d["place"][9] for d in found["dimensions"][:3]] == [1, 0, 1]
    assert found["outliers"][0]["worker"] == 13


def test_two_causes_are_told_in_the_sample() -> None:
    found = asking(sample("samples/synthetic_ddp8"))("/overview/ranks", "rank0")
    assert found["headline"][0].startswith("Rank 5 holds all others back: 1.74 ms of each 9.86 ms")
    once = "Once, in step 7, rank 2 held all others back by 8.70 ms"
    assert any(text.startswith(once) for text in found["headline"])


def test_a_thousand_ranks_fit_a_reply_and_do_not_take_long() -> None:
    """1,024 ranks of the same trace, each with its groups of a mesh of 8 × 16 × 8."""
    run = sample("samples/synthetic_ddp8")
    fleet = Fleets(run).of(run.open("run", "rank0", "1"))
    ranks = [rank_in_mesh(fleet.figures.ranks[n % 8], n) for n in range(1024)]
    placed = [
        PlacedWorker(f"node{n // 8}_{n}", "1", n, "distributedInfo", "ready", "", n)
        for n in range(1024)
    ]
    figures = run_figures(ranks)
    begin = time.process_time()
    payload = overview_ranks_payload(RunOfRanks(placed, figures, None, 1.0, 1024))
    took = time.process_time() - begin
    assert [d.size for d in payload.dimensions] == [8, 16, 8, 128]
    assert sum(len(group.workers) for group in payload.groups) == 1024
    assert len(to_json(payload)) < 1 << 19
    assert took < 5


def rank_in_mesh(rank: Any, number: int) -> Any:
    """A rank as one of a mesh."""
    tp, dp, pp = number % 8, number // 8 % 16, number // 128
    lines = {
        "mesh_tp": range(number - tp, number - tp + 8),
        "mesh_dp": range(pp * 128 + tp, pp * 128 + 128, 8),
        "mesh_pp": range(dp * 8 + tp, 1024, 128),
        "default_pg": range(1024),
    }
    groups = tuple(
        ProcessGroup(name, tuple(line), name, "nccl", len(line)) for name, line in lines.items()
    )
    return replace(rank, groups=groups)


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([6], "rank 6"),
        ([0, 1], "ranks 0, 1"),
        ([5, 3, 4, 0], "ranks 0, 3–5"),
        (list(range(0, 40, 2)), "ranks 0, 2, 4, 6, 8, 10, 12, 14 and 12 more"),
        ([None, 3], "w and w"),
    ],
)
def test_ranks_are_named_by_runs(numbers: list[int | None], text: str) -> None:
    workers = [
        RunWorker(worker="w", span="1", rank=number, node="", state="ready", message="")
        for number in numbers
    ]
    assert ranks_text(workers) == text
