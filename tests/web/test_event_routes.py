"""The routes of single events, over a real catalogue."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from werkzeug.test import Client, TestResponse

from tests.runs.conftest import until
from tests.web.served import TIMELINE_ID, WrittenCatalogue, body, client, error_of
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.model import State
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store.timeline_schema import Look
from torch_tb_profiler.views.timeline import wire
from torch_tb_profiler.web.application import Application

pytestmark = pytest.mark.processes


class Server:
    """A client of an application over a live catalogue, and the ids of the timelines it was told."""

    def __init__(self, logdir: Path, cache: Path) -> None:
        settings = Settings(workers=2, scan_seconds=0.05, settle_seconds=0.0, cache_dir=str(cache))
        self.catalogue = Catalogue({"": Place(str(logdir))}, settings)
        self.catalogue.start()
        until(
            lambda: self.states() and set(self.states()) == {State.READY}, "all traces are imported"
        )
        self._client = Client(Application(self.catalogue, settings))

    def states(self) -> list[State]:
        return [s.state for r in self.catalogue.snapshot().runs for w in r.workers for s in w.spans]

    def where(self, worker: int = 0) -> dict[str, str]:
        run = self.catalogue.snapshot().runs[0]
        return {
            "run": run.name,
            "worker": run.workers[worker].name,
            "span": run.workers[worker].spans[0].name,
        }

    def ask(self, route: str, worker: int = 0, **more: object) -> TestResponse:
        return self._client.get(f"{route}?{urlencode({**self.where(worker), **more})}")

    def get(self, route: str, worker: int = 0, **more: object) -> Any:
        response = self.ask(route, worker, **more)
        assert response.status_code == 200, body(response)
        return json.loads(body(response))

    def timeline(self, worker: int = 0) -> Any:
        until(
            lambda: self.ask("/trace/timeline", worker).status_code == 200, "the timeline is made"
        )
        return self.get("/trace/timeline", worker)


@pytest.fixture(scope="module")
def ddp(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Three ranks of the synthetic run."""
    folder = tmp_path_factory.mktemp("logs") / "ddp"
    folder.mkdir()
    for rank in range(3):
        shutil.copy(samples / "synthetic_ddp8" / f"rank{rank}.pt.trace.json.gz", folder)
    server = Server(folder.parent, tmp_path_factory.mktemp("cache"))
    yield server
    server.catalogue.close()


def collective_kernel(server: Server, worker: int) -> int:
    opened = server.catalogue.open(**server.where(worker))
    trace = opened.trace
    names = trace.strings.many(trace["spans"]["name"])
    return next(row for row, name in enumerate(names) if name.startswith("ncclDevKernel"))


def test_an_event_and_its_text(ddp: Server) -> None:
    identity = ddp.timeline()["id"]
    number = collective_kernel(ddp, 0)
    response = ddp.ask("/trace/event", id=identity, event=number)
    payload = msgspec.json.decode(body(response), type=wire.EventPayload, strict=True)
    assert "immutable" in response.headers["Cache-Control"]
    assert payload.ref.look == Look.COMMUNICATION
    assert [link.kind for link in payload.chain][-2:] == ["launch", "device"]
    assert payload.chain[-1].ref == payload.ref
    assert payload.operator_name == "record_param_comms"
    assert payload.kernel_name == payload.ref.name
    assert payload.siblings.calls == 28
    assert payload.launch_delay_ns is not None
    kept = {a.name: a.value for a in payload.arguments}
    assert (kept["Collective"], kept["Ranks in the group"], kept["Device"]) == (
        "allreduce",
        "8",
        "0",
    )
    text = msgspec.json.decode(
        body(ddp.ask("/trace/event/args", id=identity, event=number)),
        type=wire.EventArgsPayload,
        strict=True,
    )
    assert json.loads(text.text)["name"] == payload.ref.name
    assert {a.name: a.value for a in text.arguments}["Collective name"] == "allreduce"
    assert len(text.arguments) == len(json.loads(text.text)["args"])


def test_each_link_can_be_gone_to(ddp: Server) -> None:
    identity = ddp.timeline()["id"]
    start = ddp.get("/trace/event", id=identity, event=collective_kernel(ddp, 0))
    for link in start["chain"]:
        other = ddp.get("/trace/event", id=identity, event=link["ref"]["event"])
        assert other["ref"] == link["ref"]
        assert link["ref"] in [each["ref"] for each in other["chain"]]


def test_alignment(ddp: Server) -> None:
    response = ddp.ask("/trace/alignment", 1)
    payload = msgspec.json.decode(body(response), type=wire.AlignmentPayload, strict=True)
    assert response.headers["Cache-Control"] == "no-cache"
    assert [(w.rank, w.ready, w.method, w.matched) for w in payload.workers] == [
        (r, True, "collectives", 28) for r in range(3)
    ]
    assert min(w.offset_ns for w in payload.workers) == 0
    assert (payload.workers_chosen, payload.workers_total) == (3, 3)


def test_of_chosen_ranks_only_those_are_aligned(ddp: Server) -> None:
    payload = ddp.get("/trace/alignment", 1, ranks="2,700")
    assert [worker["rank"] for worker in payload["workers"]] == [1, 2]
    assert (payload["workers_chosen"], payload["workers_total"]) == (2, 3)
    identity, number = ddp.timeline()["id"], collective_kernel(ddp, 0)
    found = ddp.get("/trace/collective", id=identity, event=number, ranks="2")
    assert [peer["worker"] for peer in found["peers"]] == ["rank0", "rank2"]


def test_a_collective_on_all_workers(ddp: Server) -> None:
    identity = ddp.timeline()["id"]
    number = collective_kernel(ddp, 0)
    lanes = [group["lane"] for group in ddp.timeline()["groups"]]
    payload = ddp.get("/trace/collective", id=identity, event=number)
    assert [peer["worker"] for peer in payload["peers"]] == ["rank0", "rank1", "rank2"]
    assert payload["peers"][0]["ref"] == ddp.get("/trace/event", id=identity, event=number)["ref"]
    assert payload["peers"][0]["ref"]["lane"] >= min(lanes)
    assert payload["peers"][2]["ref"]["lane"] == -1, "asking must not make other timelines"
    ends = [peer["ref"]["start_ns"] + peer["ref"]["dur_ns"] for peer in payload["peers"]]
    offsets = [w["offset_ns"] for w in ddp.get("/trace/alignment")["workers"]]
    together = [end + offset for end, offset in zip(ends, offsets, strict=True)]
    assert max(together) - min(together) < 1_000
    ddp.timeline(1)
    assert ddp.get("/trace/collective", id=identity, event=number)["peers"][1]["ref"]["lane"] >= 0


def test_what_is_no_collective(ddp: Server) -> None:
    assert ddp.get("/trace/collective", id=ddp.timeline()["id"], event=0) == {"peers": []}


def test_the_call_of_a_collective_leads_to_its_kernel(ddp: Server) -> None:
    identity = ddp.timeline()["id"]
    payload = ddp.get("/trace/event", id=identity, event=collective_kernel(ddp, 0))
    launch = payload["chain"][-2]["ref"]["event"]
    assert ddp.get("/trace/collective", id=identity, event=launch) == ddp.get(
        "/trace/collective", id=identity, event=payload["ref"]["event"]
    )


def test_a_file_that_changed_or_went_away(samples: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs" / "run"
    folder.mkdir(parents=True)
    file = Path(
        shutil.copy(samples / "ddp_gloo" / next((samples / "ddp_gloo").glob("rank0*")).name, folder)
    )
    server = Server(tmp_path / "logs", tmp_path / "cache")
    try:
        opened = server.catalogue.open(**server.where())
    finally:
        server.catalogue.close()
    catalogue = WrittenCatalogue(opened)
    asked = f"/trace/event/args?run=run&worker=w0&span=1&id={TIMELINE_ID}&event=5"
    assert client(catalogue).get(asked).status_code == 200
    file.write_bytes(file.read_bytes() + b"\0")
    response = client(catalogue).get(asked)
    assert (response.status_code, error_of(response).error.code) == (409, "outdated")
    file.unlink()
    response = client(catalogue).get(asked)
    assert (response.status_code, error_of(response).error.code) == (502, "source_error")
    assert str(tmp_path) not in error_of(response).error.message
