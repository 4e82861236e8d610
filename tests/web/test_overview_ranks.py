"""The routes of the overview of a run."""

from __future__ import annotations

import json
import time
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
from torch_tb_profiler.views.overview.ranks import overview_ranks_payload
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


def test_ranks_have_their_hosts_and_coordinates(mesh: WrittenRun) -> None:
    found = asking(mesh)("/overview/ranks", "rank0")
    assert [d["name"] for d in found["dimensions"]] == ["TP", "DP", "PP", "node"]
    assert [d["place"][13] for d in found["dimensions"]] == [1, 1, 1, 1]
    assert found["dimensions"][-1]["values"][1] == found["workers"][13]["node"]


def test_known_ranks_are_told_without_making_any(mesh: WrittenRun) -> None:
    ask = asking(mesh)
    before = len(mesh.asked)
    assert ask("/overview/ranks/known", "rank3")["known"] is False
    assert len(mesh.asked) == before
    whole = ask("/overview/ranks", "rank0")
    assert ask("/overview/ranks/known", "rank3") == whole


def test_workers_that_are_not_there_take_part_by_their_groups(mesh: WrittenRun) -> None:
    run = WrittenRun({name: (o.trace, o.facts) for name, o in mesh._opened.items()})
    run.waiting, run.failing = {"rank2", "rank3"}, {"rank9"}
    found = asking(run)("/overview/ranks", "rank0")
    assert 0.8 < found["progress"] < 1
    assert [found["workers"][n]["rank"] for n in (0, 2, 9)] == [0, 2, 9]
    assert [d["place"][9] for d in found["dimensions"][:3]] == [1, 0, 1]


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
    payload = overview_ranks_payload(placed, figures, 1.0)
    took = time.process_time() - begin
    assert [max(d.place) + 1 for d in payload.dimensions] == [8, 16, 8, 128]
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
