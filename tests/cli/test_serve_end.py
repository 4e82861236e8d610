"""``serve`` ends soon after SIGTERM or Ctrl-C, whatever it is doing, and so does what it started. SIGUSR1 tells what that is."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any

import pytest

from torch_tb_profiler.cli import serve

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="the signals of POSIX"),
]
PATIENCE = 60.0
TRACE = "w0.pt.trace.json"


class _Silent(BaseHTTPRequestHandler):
    """A store that accepts requests and never answers."""

    listed = False

    def do_GET(self) -> None:
        if not (self.listed and self.path == "/"):
            with suppress(OSError):
                self.connection.recv(1)
            return
        body = f'<a href="{TRACE}">{TRACE}</a>'.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


class _Dripping(_Silent):
    """Lists a trace, of which a byte comes now and then."""

    listed = True

    def do_GET(self) -> None:
        if self.path == "/":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Length", str(1 << 20))
        self.end_headers()
        with suppress(OSError):
            for byte in b'{"traceEvents": [' + b" " * 10_000:
                self.wfile.write(bytes([byte]))
                time.sleep(0.2)

    def do_HEAD(self) -> None:
        if self.path == "/":
            super().do_HEAD()
            return
        self.send_response(200)
        self.send_header("Content-Length", str(1 << 20))
        self.end_headers()


@contextmanager
def store(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


class Serving:
    """``serve`` in a process of its own."""

    def __init__(self, logdir: str, cache: Path) -> None:
        environment = {**os.environ, "TORCH_TB_PROFILER_CACHE_DIR": str(cache)}
        self.log = (cache.parent / "log").open("wb+")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "torch_tb_profiler.cli.main", "serve", logdir, "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=environment,
            # What a job in the background of a shell inherits would not end by it.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.default_int_handler),
        )
        stdout: IO[bytes] | None = self.process.stdout
        assert stdout is not None
        line = stdout.readline().decode()
        assert "http://" in line, self.said()
        self.port = int(line.split(":")[2].split("/")[0])

    def said(self) -> str:
        self.log.seek(0)
        return self.log.read().decode()

    def children(self) -> list[int]:
        found: list[int] = []
        with suppress(OSError):
            for task in Path(f"/proc/{self.process.pid}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
        return found

    def get(self, path: str) -> Any:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("GET", path)
        return connection.getresponse()

    def until(self, condition: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, self.said()
            time.sleep(0.05)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.log.close()


@contextmanager
def serving(logdir: str, folder: Path) -> Iterator[Serving]:
    made = Serving(logdir, folder / "cache")
    try:
        yield made
    finally:
        made.close()


def ends(server: Serving, number: signal.Signals) -> None:
    """A signal ends it and all that it started."""
    children = server.children()
    server.process.send_signal(number)
    assert server.process.wait(PATIENCE) == 0, server.said()
    server.until(lambda: not any(_runs(child) for child in children))
    assert "Traceback" not in server.said()


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_while_a_folder_does_not_answer(number: signal.Signals, tmp_path: Path) -> None:
    with store(_Silent) as url, serving(url, tmp_path) as server:
        assert json.load(server.get("/runs"))["scanning"]
        ends(server, number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("killed", [False, True])
def test_while_it_imports(number: signal.Signals, killed: bool, tmp_path: Path) -> None:
    with store(_Dripping) as url, serving(url, tmp_path) as server:
        server.until(server.children)
        if killed:
            for child in server.children():
                os.kill(child, signal.SIGKILL)
        ends(server, number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_with_open_connections_and_downloads(number: signal.Signals, tmp_path: Path) -> None:
    run = tmp_path / "logdir" / "run"
    run.mkdir(parents=True)
    event = {"ph": "X", "name": "a", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 2}
    large = {**event, "args": {"text": "x" * (24 << 20)}}
    (run / TRACE).write_text(json.dumps({"traceEvents": [event, large]}))
    with serving(str(tmp_path / "logdir"), tmp_path) as server:
        idle = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        idle.request("GET", "/runs")
        idle.getresponse().read()
        begun = socket.create_connection(("127.0.0.1", server.port))
        begun.sendall(b"GET /runs HTTP/1.1\r\nHost: ")

        def there() -> bool:
            runs = json.load(server.get("/runs"))["runs"]
            return bool(runs) and runs[0]["workers"][0]["spans"][0]["state"] == "ready"

        server.until(there)
        worker = json.load(server.get("/runs"))["runs"][0]["workers"][0]
        place = f"run=run&worker={worker['name']}&span={worker['spans'][0]['name']}"
        download = server.get(f"/trace/file?{place}")
        assert download.status == 200
        assert download.read(10)
        ends(server, number)
        for connection in (idle, begun, download):
            connection.close()


def test_the_stacks_are_told_on_demand(tmp_path: Path) -> None:
    with serving(str(tmp_path), tmp_path) as server:

        def told() -> bool:
            # One that is sent while the server begins shows what it does then.
            server.process.send_signal(signal.SIGUSR1)
            return "serve_forever" in server.said() and "scan" in server.said()

        server.until(told)
        ends(server, signal.SIGTERM)


def test_what_ending_may_take() -> None:
    assert serve.END_SECONDS < 5
