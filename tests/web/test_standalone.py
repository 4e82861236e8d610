"""The server without TensorBoard answers on the address that it was given, and says why when it
cannot have it.
"""

from __future__ import annotations

import gzip
import json
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.views import hand_made
from tests.web.served import WHERE, WrittenCatalogue
from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.web.application import Application
from torch_tb_profiler.web.standalone import HOST, server

pytestmark = pytest.mark.processes


@contextmanager
def running(application: Application) -> Iterator[str]:
    listening = server(application)
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    try:
        yield f"http://{HOST}:{listening.port}"
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()


@pytest.fixture
def address() -> Iterator[str]:
    with running(Application(WrittenCatalogue(), Settings())) as at:  # type: ignore[arg-type]
        yield at


def test_page_and_payloads(address: str) -> None:
    with urllib.request.urlopen(address + "/") as response:
        assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    with urllib.request.urlopen(f"{address}/overview?{WHERE}") as response:
        assert len(json.load(response)["steps"]["step"]) == 3


def test_a_download_of_unknown_length_arrives_whole(tmp_path: Path) -> None:
    path = tmp_path / "w0.json"
    events = [
        {"ph": "X", "name": f"event {i} {'x' * 200}", "pid": 1, "tid": 1, "ts": i, "dur": 1}
        for i in range(20_000)
    ]
    path.write_text(json.dumps({"traceEvents": events}))
    opened = hand_made.opened(location=str(path))
    catalogue = WrittenCatalogue(replace(opened, trace=replace(opened.trace, origin_ns=0)))
    application = Application(catalogue, Settings(chunk_bytes=1 << 18))  # type: ignore[arg-type]
    with (
        running(application) as at,
        urllib.request.urlopen(f"{at}/trace/file?{WHERE}&t0=0&t1=1000000000000") as response,
    ):
        assert response.headers["Content-Length"] is None
        assert json.loads(gzip.decompress(response.read()))["traceEvents"] == events


def test_a_taken_port_is_said(address: str) -> None:
    port = int(address.rpartition(":")[2])
    with pytest.raises(SourceError, match=f"{HOST}:{port} cannot be used"):
        server(Application(WrittenCatalogue(), Settings()), port=port)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "headers", "status"),
    [
        (b"GET /runs?" + b"x" * 66_000 + b" HTTP/1.1", b"", 414),
        (b"GET /runs HTTP/1.1", b"A: b\r\n" * 200, 431),
        (b"GET /runs HTTP/1.1", b"A: " + b"x" * 70_000 + b"\r\n", 431),
        (b"GET /overview?run=\xed\xa0\x80 HTTP/1.1", b"", 400),
        (b"GET /overview?run=\xff HTTP/1.1", b"", 400),
        (b"GET /overview?run=%ED%A0%80 HTTP/1.1", b"", 400),
        (b"GET /%ED%A0%80 HTTP/1.1", b"", 404),
        (b"GET http://[::1/runs HTTP/1.1", b"", 404),
        (b"GET", b"", 400),
        (b"GET /runs HTTP/9.9", b"", 505),
        (b"G\x1b[31mT /runs HTTP/1.1", b"", 405),
        (b"\x16\x03\x01 \x00 \x00 \x00", b"", 400),
    ],
    ids=range(12),
)
def test_what_is_no_request_gets_the_one_error_shape(
    address: str, line: bytes, headers: bytes, status: int, capfd: pytest.CaptureFixture[str]
) -> None:
    host, _, port = address.rpartition("/")[2].partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(
            line + b"\r\nHost: localhost\r\nConnection: close\r\n" + headers + b"\r\n"
        )
        with suppress(ConnectionResetError):  # of what was not read
            reply = b""
            while more := connection.recv(1 << 16):
                reply += more
    head, mark, content = reply.partition(b"\r\n\r\n")
    if mark:  # else it asked as before HTTP/1.0
        assert head.startswith(f"HTTP/1.1 {status} ".encode())
        assert b"Content-Type: application/json" in head
    assert json.loads(content or head)["error"]["code"] in (
        "bad_request",
        "not_found",
        "method_not_allowed",
    )
    assert capfd.readouterr().err == ""
