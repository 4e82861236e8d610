"""A timeline while it is made, when its worker dies, when its sidecar is damaged, and when its
trace changes.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.builders.drawn import events, text_of
from tests.web.live import json_of, live, logdir_of, patiently, places, until
from tests.web.served import error_of
from tests.web.timeline_asked import DRAWING, listed

pytestmark = pytest.mark.processes

WHEN_TOLD = "tests.web.live:build_when_told"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "source" / "w0.pt.trace.json"
    path.parent.mkdir()
    path.write_text(text_of(listed()))
    return path


def test_not_ready_until_it_is_made(tmp_path: Path, trace: Path) -> None:
    cache = tmp_path / "cache"
    with live(logdir_of(tmp_path / "logs", trace), cache, WHEN_TOLD) as (catalogue, client):
        (where,) = places(catalogue)

        def progress() -> float | None:
            response = client.get("/trace/timeline", query_string=where)
            assert response.status_code == 202
            assert response.headers["Retry-After"] == "1"
            assert error_of(response).error.code == "not_ready"
            return error_of(response).error.progress

        until(lambda: progress() == 0.25)
        assert client.get("/overview", query_string=where).status_code == 200, (
            "the other views do not wait for the timeline"
        )
        assert len(catalogue.store.queue.worker_pids()) == 1, (
            "however often it is asked for, it is made once"
        )
        (cache / "go").touch()
        answer = json_of(patiently(client, "/trace/timeline", where))
        assert answer["events"] == 11
        tiles = client.get(
            "/trace/tiles", query_string={**where, "id": answer["id"], "level": "9", "k": "0"}
        )
        assert (tiles.status_code, tiles.headers["Cache-Control"]) == (
            200,
            "private, max-age=31536000, immutable",
        )


def test_a_killed_worker_is_told_and_the_next_call_works(tmp_path: Path, trace: Path) -> None:
    cache = tmp_path / "cache"
    with live(logdir_of(tmp_path / "logs", trace), cache, WHEN_TOLD) as (catalogue, client):
        (where,) = places(catalogue)
        assert client.get("/trace/timeline", query_string=where).status_code == 202
        until(lambda: catalogue.store.queue.worker_pids())
        for pid in catalogue.store.queue.worker_pids().values():
            os.kill(pid, signal.SIGKILL)
        # Nobody asks while it dies: it is told when somebody asks again.
        until(lambda: not catalogue.store.queue.worker_pids())
        response = client.get("/trace/timeline", query_string=where)
        assert response.status_code == 409
        error = error_of(response).error
        assert error.code == "import_failed"
        assert "could not be made" in error.message
        assert str(tmp_path) not in error.message + error.hint
        assert client.get("/overview", query_string=where).status_code == 200
        (cache / "go").touch()
        assert json_of(patiently(client, "/trace/timeline", where))["events"] == 11


def test_a_worker_that_raises_is_told(tmp_path: Path, trace: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "go").write_text("no room for it")
    with live(logdir_of(tmp_path / "logs", trace), cache, WHEN_TOLD) as (catalogue, client):
        (where,) = places(catalogue)
        response = patiently(client, "/trace/timeline", where)
        assert response.status_code == 409
        assert "no room for it" in error_of(response).error.message
        (cache / "go").write_text("")
        assert json_of(patiently(client, "/trace/timeline", where))["events"] == 11


def test_a_sidecar_is_read_and_not_made_after_a_restart(tmp_path: Path, trace: Path) -> None:
    cache, logdir = tmp_path / "cache", logdir_of(tmp_path / "logs", trace)
    with live(logdir, cache) as (catalogue, client):
        (where,) = places(catalogue)
        before = json_of(patiently(client, "/trace/timeline", where))
    with live(logdir, cache) as (catalogue, client):
        assert json_of(client.get("/trace/timeline", query_string=where)) == before
        assert not catalogue.store.queue.started


def test_a_changed_trace_outdates_what_was_told_of_it(tmp_path: Path, trace: Path) -> None:
    cache, logdir = tmp_path / "cache", logdir_of(tmp_path / "logs", trace)
    with live(logdir, cache) as (catalogue, client):
        (where,) = places(catalogue)
        before = json_of(patiently(client, "/trace/timeline", where))
        tiles = {**where, "id": before["id"], "level": "0", "k": "0"}
        assert client.get("/trace/tiles", query_string=tiles).status_code == 200
        (logdir / "0" / trace.name).write_text(text_of(events(DRAWING)))
        until(lambda: patiently(client, "/trace/timeline", where).json["id"] != before["id"])  # type: ignore[index]
        response = client.get("/trace/tiles", query_string=tiles)
        assert (response.status_code, error_of(response).error.code) == (409, "outdated")
        after = json_of(patiently(client, "/trace/timeline", where))
        assert after["events"] == 10
        assert (
            client.get("/trace/tiles", query_string={**tiles, "id": after["id"]}).status_code == 200
        )
