"""A timeline while it is made, when its worker dies, when its sidecar is damaged, and when its
trace changes.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.builders.drawn import events, text_of
from tests.store.damage import damage_large_columns
from tests.web.live import json_of, live, logdir_of, patiently, places, until
from tests.web.served import error_of
from tests.web.timeline_asked import DRAWING, listed
from torch_tb_profiler.store import sidecar

pytestmark = pytest.mark.processes

WHEN_TOLD = "tests.web.live:build_when_told"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "source" / "w0.pt.trace.json"
    path.parent.mkdir()
    path.write_text(text_of(listed()))
    return path


def sidecars(cache: Path) -> list[Path]:
    """The timelines that are kept."""
    return sorted(cache.rglob("*.timeline.safetensors"))


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


@pytest.mark.parametrize(
    "harm", ["empty", "cut", "header", "length", "noise", "other layout", "gone"]
)
def test_a_damaged_sidecar_is_made_again(tmp_path: Path, trace: Path, harm: str) -> None:
    cache, logdir = tmp_path / "cache", logdir_of(tmp_path / "logs", trace)
    with live(logdir, cache) as (catalogue, client):
        (where,) = places(catalogue)
        before = json_of(patiently(client, "/trace/timeline", where))
    (path,) = sidecars(cache)
    whole = path.read_bytes()
    path.unlink()
    if harm != "gone":
        path.write_bytes(
            {
                "empty": b"",
                "cut": whole[: len(whole) // 2],
                "header": whole[:8] + b"}" + whole[9:],
                "length": b"\xff" * 8 + whole[8:],
                "noise": os.urandom(4096),
                "other layout": whole.replace(b"layout", b"layuot"),
            }[harm]
        )
    with live(logdir, cache) as (_, client):
        after = json_of(patiently(client, "/trace/timeline", where))
        assert after == before
        tiles = client.get(
            "/trace/tiles", query_string={**where, "id": after["id"], "level": "9", "k": "0"}
        )
        assert tiles.status_code == 200
    assert sidecars(cache)[0].stat().st_size == len(whole)


@pytest.mark.parametrize("kept", ["", "timeline", "insight"])
def test_damage_that_shows_when_a_view_reads_it_is_mended(
    tmp_path: Path, trace: Path, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above 32 MB nobody noticed: views answered 500, or wrong figures."""
    record = {"Addr": 1, "Bytes": 512, "Total Allocated": 512, "Device Type": 0, "Device Id": -1}
    about = {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "args": record}
    trace.write_text(text_of([*listed(), {**about, "ts": listed()[0]["ts"]}]))
    logdir, cache = logdir_of(tmp_path / "logs", trace), tmp_path / "cache"
    routes = ("/overview", "/trace/timeline", "/trace/event", "/memory")
    with live(logdir, cache) as (catalogue, client):
        (where,) = places(catalogue)
        where["event"] = "0"
        where["id"] = json_of(patiently(client, "/trace/timeline", where))["id"]
        before = {route: json_of(patiently(client, route, where)) for route in routes}
    ending = f".{kept}.safetensors" if kept else ".safetensors"
    (path,) = (p for p in cache.iterdir() if p.name.partition(".")[2] == ending[1:])
    data = damage_large_columns(path)
    monkeypatch.setattr(sidecar, "CHECK_WHOLE_BYTES", 0)
    with live(logdir, cache) as (_, client):
        for route in routes:
            assert json_of(patiently(client, route, where)) == before[route]
    assert path.read_bytes() != data


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
