"""A run of many ranks: few descriptors, and work that grows as the ranks do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tests.builders.drawn import text_of
from tests.runs.conftest import until, write
from tests.runs.test_fleet import UNIX_US, reached
from tests.runs.written_run import WrittenRun
from torch_tb_profiler.analysis.distributed.rank import Rank
from torch_tb_profiler.analysis.distributed.run import RunFigures, run_figures
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.entries import Arrangement, Entry, arrange
from torch_tb_profiler.runs.fleet import Fleets
from torch_tb_profiler.runs.import_job import run_import
from torch_tb_profiler.runs.model import OpenedRank
from torch_tb_profiler.runs.products import INSIGHT, make_insight, ranks_path
from torch_tb_profiler.runs.sidecar_store import SidecarStore
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.listing import list_files
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.watch import Watch

RANKS = 40
FEW = 24
"""Descriptors beyond those that are open when the server begins."""
_SERVER = """
import json, os, resource, sys, time
from werkzeug.test import Client
from torch_tb_profiler.runs.catalogue import catalogue_of
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.web.application import Application

logdir, settings, few = sys.argv[1], Settings(**json.loads(sys.argv[2])), int(sys.argv[3])
catalogue = catalogue_of(logdir, settings)
client = Client(Application(catalogue, settings))
limit = max(map(int, os.listdir("/proc/self/fd"))) + few
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
catalogue.start()
while catalogue.snapshot().scanning:
    time.sleep(0.01)
run = catalogue.snapshot().runs[0]
where = {"run": run.name, "worker": run.workers[0].name, "span": run.workers[0].spans[0].name}
found = {}
for path in ("/distributed", "/critical_path/ranks", "/critical_path/ranks/rows", "/findings"):
    end = time.monotonic() + 60
    while True:
        answer = client.get(path, query_string=where)
        done = answer.status_code == 200 and answer.json.get("progress", 1.0) >= 1.0
        if done or answer.status_code >= 500 or time.monotonic() > end:
            break
        time.sleep(0.02)
    found[path] = [answer.status_code, answer.json]
catalogue.close()
print(json.dumps(found))
"""


def rank_text(rank: int) -> str:
    """A rank that is late to the collective of its own number and in time for the others, which end together."""
    op = {"ph": "X", "pid": 1, "tid": 1, "args": {}}
    listed = []
    for number in range(RANKS):
        begin, late = UNIX_US + 200 * number, 100 if number == rank else 10
        kernel = {**op, "cat": "kernel", "pid": 0, "tid": 7}
        name = "ncclDevKernel_AllReduce_Sum_f32"
        listed += [
            {**kernel, "name": "gemm", "ts": begin, "dur": late},
            {
                **kernel,
                "name": name,
                "ts": begin + late,
                "dur": 180 - late,
                "args": {"Collective name": "allreduce"},
            },
        ]
    return text_of(listed, distributedInfo={"rank": rank, "world_size": RANKS})


def imported(logdir: Path, settings: Settings, texts: list[str]) -> None:
    """A run with the sidecars of its imports and insights, as worker processes write them."""
    for rank, text in enumerate(texts):
        write(logdir / "run" / f"rank{rank}.1.pt.trace.json", text)
    store = SidecarStore(settings)
    for found in list_files(Place(str(logdir))).files:
        sidecar = store.path(found)
        run_import(found.location.text, sidecar, settings, lambda done, total: None)
        make_insight(sidecar, INSIGHT.path(sidecar, settings), settings, lambda done, total: None)
    store.close()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_many_ranks_under_few_descriptors(tmp_path: Path, settings: Settings) -> None:
    """The path goes through every rank, and more ranks than descriptors are there."""
    imported(tmp_path / "logs", settings, [rank_text(rank) for rank in range(RANKS)])
    server = subprocess.run(
        [
            sys.executable,
            "-c",
            _SERVER,
            str(tmp_path / "logs"),
            json.dumps(asdict(settings)),
            str(FEW),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert server.returncode == 0, server.stderr[-2000:]
    found = json.loads(server.stdout.splitlines()[-1])
    for path, (status, payload) in found.items():
        assert status == 200, (path, payload)
    assert len(found["/distributed"][1]["workers"]) == found["/distributed"][1]["ready"] == RANKS
    rows = found["/critical_path/ranks/rows"][1]
    assert len(set(rows["rows"]["worker"])) > FEW, "the path came through more ranks than that"


def settled(catalogue: Catalogue) -> None:
    until(lambda: not catalogue.snapshot().scanning)


def test_an_index_is_read_without_its_trace(tmp_path: Path, settings: Settings) -> None:
    imported(tmp_path / "logs", settings, [rank_text(0), rank_text(1)])
    catalogue = Catalogue({"": Place(str(tmp_path / "logs"))}, settings)
    catalogue.start()
    try:
        settled(catalogue)
        for path in (tmp_path / "cache").iterdir():
            if ".ranks." not in path.name:
                path.unlink()
        found = catalogue.ask_ranks("run", [("rank0", "1"), ("rank1", "1")])
        assert all(isinstance(one, OpenedRank) for one in found), found
    finally:
        catalogue.close()


def test_an_index_that_is_gone_is_made_of_the_insight(tmp_path: Path, settings: Settings) -> None:
    imported(tmp_path / "logs", settings, [rank_text(0)])
    [kept] = (tmp_path / "cache").glob("*.ranks.*")
    before = kept.read_bytes()
    kept.unlink()
    catalogue = Catalogue({"": Place(str(tmp_path / "logs"))}, settings)
    catalogue.start()
    try:
        settled(catalogue)
        [found] = catalogue.ask_ranks("run", [("rank0", "1")])
        assert isinstance(found, OpenedRank)
        assert (found.worker.rank, catalogue.store.queue.started.total()) == (0, 0)
        assert kept.read_bytes() == before
    finally:
        catalogue.close()


def test_the_run_is_arranged_once_for_all_its_ranks(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though each of them is looked at for the first time."""
    names = [(f"rank{rank}", "1") for rank in range(8)]
    imported(tmp_path / "logs", settings, [rank_text(rank) for rank in range(len(names))])
    catalogue = Catalogue({"": Place(str(tmp_path / "logs"))}, replace(settings, workers=1))
    with monkeypatch.context() as patched:
        patched.setattr(Catalogue, "_accept", lambda *_: None)
        catalogue._scan(
            "", Watch(0.0)
        )  # what a look at the logdir lists and nobody has come to yet
    arranged = 0

    def counted(entries: Iterable[Entry]) -> Arrangement:
        nonlocal arranged
        arranged += 1
        return arrange(entries)

    monkeypatch.setattr("torch_tb_profiler.runs.catalogue.arrange", counted)
    try:
        found = catalogue.ask_ranks("run", names)
        assert [one.worker.rank for one in found if isinstance(one, OpenedRank)] == [*range(8)]
        assert arranged == 2
    finally:
        catalogue.close()


def test_figures_are_not_computed_for_each_rank_that_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = WrittenRun({f"rank{rank}": reached(100, 200) for rank in range(RANKS)})
    run.waiting = {f"rank{rank}" for rank in range(1, RANKS)}
    computed: list[int] = []

    def counted(ranks: Sequence[Rank]) -> RunFigures:
        computed.append(len(ranks))
        return run_figures(ranks)

    monkeypatch.setattr("torch_tb_profiler.runs.fleet.run_figures", counted)
    fleets, asked = Fleets(run), run.open("run", "rank0", "1")
    for rank in range(1, RANKS):
        found = fleets.of(asked)
        assert len(found.members) == RANKS
        assert sum(member.state == "ready" for member in found.members) == rank
        run.waiting.discard(f"rank{rank}")
    assert len(fleets.of(asked).place) == RANKS
    assert computed[-1] == RANKS
    assert sum(computed) <= 6 * RANKS, computed


def test_the_index_lies_beside_the_insight() -> None:
    path = INSIGHT.path("/cache/0d4f.safetensors", Settings())
    assert ranks_path(path) == path.replace(".insight.", ".ranks.")
