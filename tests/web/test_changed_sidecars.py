"""Sidecars that somebody damages while a server has them mapped: each request ends with what is true or asks for patience."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from werkzeug.test import Client

from tests.builders.drawn import events, text_of
from tests.runs.conftest import DRAWING
from tests.store.tampering import EVERY, Damage
from tests.web.live import live, patiently, places, until
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.views.diff import aligned

pytestmark = pytest.mark.processes
ROUTES = ("/overview", "/kernel", "/trace/timeline", "/findings", "/critical_path", "/diff/aligned")
Served = tuple[Catalogue, Client, Path]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    for number, drawing in enumerate((DRAWING, DRAWING.replace("gemm", "mmge"))):
        path = folder / "logdir" / str(number) / "w0.pt.trace.json"
        path.parent.mkdir(parents=True)
        path.write_text(text_of(events(drawing)))
    with live(folder / "logdir", folder / "cache") as (catalogue, client):
        yield catalogue, client, folder / "cache"


def _asked(served: Served) -> dict[str, bytes]:
    """What each route answers at last."""
    one, two = places(served[0])
    both = {**one, **{f"{name}2": value for name, value in two.items()}}
    queries = {path: both if path.startswith("/diff") else one for path in ROUTES}
    return {path: _settled(served[1], path, query) for path, query in queries.items()}


def _settled(client: Client, path: str, query: dict[str, str]) -> bytes:
    reply = patiently(client, path, query)
    assert reply.status_code == 200, (path, reply.get_data()[:300])
    return reply.get_data()


@pytest.mark.parametrize("damage", EVERY)
def test_every_route_answers_what_it_answered_before(damage: Damage, served: Served) -> None:
    before, chance = _asked(served), random.Random(damage.__name__)
    for _ in range(3):
        kept = sorted(served[2].glob("*.safetensors"))
        for path in chance.sample(kept, min(3, len(kept))):
            with suppress(FileNotFoundError):
                damage(chance, path, chance.choice([other for other in kept if other != path]))
        assert _asked(served) == before


def test_an_index_out_of_a_table_that_changed_meanwhile_is_no_error_of_ours(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, lists = _asked(served), [[1]]

    def changed(*_: object) -> object:
        monkeypatch.undo()
        for path in served[2].glob("*.safetensors"):
            path.write_bytes(path.read_bytes()[::-1])
        return lists[7]

    for opened in _opened(served):
        opened.memo._results.clear()
    monkeypatch.setattr("torch_tb_profiler.web.diff_routes.aligned_payload", changed)
    assert aligned.aligned_payload is not changed
    assert _asked(served) == before


def _opened(served: Served) -> list[Opened]:
    until(lambda: places(served[0]))
    return [served[0].open(**place) for place in places(served[0])]
