"""Jobs that record while they run, when somebody asks."""

from __future__ import annotations

import http.client
import importlib
import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest

from tests.live.ranks import begun, ended
from tests.runs.conftest import until
from torch_tb_profiler.api.opening import open_path
from torch_tb_profiler.cli.main import main
from torch_tb_profiler.errors import BadRequest, SourceError
from torch_tb_profiler.live import listener as listening
from torch_tb_profiler.live.client import record_live
from torch_tb_profiler.live.job_files import FOLDER, TOKEN
from torch_tb_profiler.live.listener import HEADER, Listener, listen


def _work(rank: int, folder: str) -> None:
    """Takes a step in 20 ms until a file says stop."""
    torch = importlib.import_module("torch")
    listening.LEAST_SECONDS = 0.2
    os.environ["RANK"] = str(rank)
    with listen(directory=folder, scalars=False) as live:
        while not os.path.exists(f"{folder}/stop"):
            torch.ones(64, 64) @ torch.ones(64, 64)
            time.sleep(0.02)
            live.step()


@contextmanager
def job(folder: Path, ranks: int = 2) -> Iterator[list[ForkServerProcess]]:
    """Ranks that work until the end."""
    running = begun(ranks, _work, str(folder))
    try:
        until(lambda: len(list((folder / FOLDER).glob("rank*.json"))) == ranks)
        yield running
        (folder / "stop").touch()
        assert set(ended(running)) <= {0, -9}
    finally:
        for process in running:
            process.kill()


@contextmanager
def stepping(listener: Listener, seconds: float = 0.01) -> Iterator[None]:
    """Steps of a job in this process."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(seconds):
            listener.step()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def asked(
    listener: Listener, method: str, path: str, body: object = None, token: str | None = None
) -> tuple[int, Any]:
    host, _, port = listener.address.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    headers = {HEADER: listener.token if token is None else token}
    text = None if body is None else body if isinstance(body, str) else json.dumps(body)
    connection.request(method, path, body=text, headers=headers)
    reply = connection.getresponse()
    told = json.loads(reply.read())
    connection.close()
    return reply.status, told


def test_two_ranks_record_the_same_steps(torch: Any, tmp_path: Path) -> None:
    with job(tmp_path):
        report = record_live(str(tmp_path), steps=3)
        assert [rank.problem for rank in report.ranks] == ["", ""]
        again = record_live(report.ranks[1].address, steps=2, ranks=[1], token=_token(tmp_path))
    steps = open_path(tmp_path, use_cache=False).steps
    first = [f"ProfilerStep#{report.at_step + i}" for i in range(3)]
    then = [f"ProfilerStep#{again.at_step + i}" for i in range(2)]
    assert steps["name"][steps["worker"] == "rank0"].tolist() == first
    assert steps["name"][steps["worker"] == "rank1"].tolist() == first + then


def _token(folder: Path) -> str:
    return (folder / FOLDER / TOKEN).read_text()


def test_a_dead_rank_is_said_and_the_other_one_records(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with job(tmp_path) as ranks:
        ranks[1].kill()
        ranks[1].join()
        assert main(["record", str(tmp_path), "--steps", "2", "--json"]) == 1
        told = capsys.readouterr()
        assert ranks[0].is_alive()
    report = json.loads(told.out)
    assert len(report["ranks"][0]["traces"]) == 1
    assert "does not answer" in report["ranks"][1]["problem"]
    assert "rank 1: " in told.err


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Listener]:
    with listen(directory=tmp_path, scalars=False) as live:
        yield live


def test_a_wrong_token_is_refused_and_many_lock_the_door(listener: Listener) -> None:
    answers = [asked(listener, "GET", "/status", token=f"wrong{i}")[0] for i in range(7)]
    assert answers == [403] * 5 + [429] * 2
    # Whoever guesses must not learn that a guess was right.
    assert asked(listener, "GET", "/status")[0] == 429


def test_the_client_says_that_the_token_is_wrong(listener: Listener) -> None:
    with pytest.raises(BadRequest, match="The token is wrong"):
        record_live(listener.address, token="guess")


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/record", {"at_step": -1, "steps": 3}, 400),
        ("POST", "/record", {"at_step": 5, "steps": 1 << 40}, 400),
        ("POST", "/record", {"at_step": True, "steps": "3"}, 400),
        ("POST", "/record", [1], 400),
        pytest.param("POST", "/record", "[" * 60_000, 400, id="nested"),
        pytest.param("POST", "/record", " " * 70_000, 413, id="long"),
        ("POST", "/elsewhere", {}, 404),
        ("GET", "/../etc/passwd", None, 404),
        ("POST", "/record", {"at_step": 1, "steps": 3}, 409),
    ],
)
def test_requests_that_make_no_sense(
    listener: Listener, method: str, path: str, body: object, status: int
) -> None:
    assert asked(listener, method, path, body)[0] == status


def test_one_recording_at_a_time_and_not_at_once_again(torch: Any, listener: Listener) -> None:
    far = {"at_step": 1000, "steps": 1}
    assert asked(listener, "POST", "/record", far)[0] == 200
    assert asked(listener, "POST", "/record", far)[0] == 429
    assert asked(listener, "GET", "/status")[1]["busy"] is True


def _close(*connections: http.client.HTTPConnection) -> None:
    for connection in connections:
        connection.close()


def test_a_flood_of_connections_does_not_stop_the_job(torch: Any, tmp_path: Path) -> None:
    with listen(directory=tmp_path, scalars=False) as live, stepping(live):
        host, _, port = live.address.rpartition(":")
        open_ones = [http.client.HTTPConnection(host, int(port), timeout=60) for _ in range(100)]
        for connection in open_ones:
            connection.connect()
        before = live.status()["step"]
        until(lambda: live.status()["step"] > before)
        # A client that is turned away asks again until the others are gone.
        gone = threading.Timer(1.0, _close, open_ones)
        gone.start()
        report = record_live(live.address, steps=2, token=live.token)
        gone.join()
        assert report.ranks[0].traces


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no unix sockets")
def test_a_unix_socket(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "s"
    with listen(f"unix:{path}", tmp_path, scalars=False, token="word") as live, stepping(live):
        assert path.stat().st_mode & 0o077 == 0
        report = record_live(f"unix:{path}", steps=1, token="word")
        assert report.ranks[0].traces
    assert not path.exists()


def test_the_file_of_a_rank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with listen(directory=tmp_path) as live:
        path = tmp_path / FOLDER / "rank0.json"
        assert (tmp_path / FOLDER / TOKEN).stat().st_mode & 0o077 == 0
        assert _token(tmp_path) == live.token
        assert live.address.startswith("127.0.0.1:")
    assert not path.exists()
    monkeypatch.setenv("TORCH_TB_PROFILER_TOKEN", "given")
    with listen(directory=tmp_path / "other") as live:
        assert live.token == "given"
        assert not (tmp_path / "other" / FOLDER / TOKEN).exists()


def test_addresses_that_make_no_sense(tmp_path: Path) -> None:
    for address in ("nowhere", "127.0.0.1:99999", "127.0.0.1:x"):
        with pytest.raises(BadRequest):
            listen(address, tmp_path)
    with pytest.raises(SourceError):
        listen("203.0.113.1:0", tmp_path)
    with pytest.raises(SourceError, match="does not answer"):
        record_live("127.0.0.1:9", token="x")
    with pytest.raises(BadRequest, match="Nothing listens"):
        record_live(str(tmp_path))


class _Served(BaseHTTPRequestHandler):
    """The routes of an inference server; ``server.counts``: as SGLang."""

    def do_GET(self) -> None:
        self._reply(200 if self.server.counts and self.path == "/get_server_info" else 404)  # type: ignore[attr-defined]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, json.loads(body)))  # type: ignore[attr-defined]
        self._reply(200)

    def log_message(self, *_: object) -> None:
        pass

    def _reply(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.mark.parametrize(
    ("counts", "asked_for"),
    [
        (True, [("/start_profile", {"num_steps": 4})]),
        (False, [("/start_profile", {}), ("/stop_profile", {})]),
    ],
)
def test_servers_record_by_their_own_routes(
    counts: bool, asked_for: list[tuple[str, dict[str, int]]]
) -> None:
    server: Any = HTTPServer(("127.0.0.1", 0), _Served)
    server.counts, server.asked = counts, []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}"
        record_live(url, steps=4, seconds=None if counts else 0.01)
    finally:
        server.shutdown()
        server.server_close()
    assert server.asked == asked_for
