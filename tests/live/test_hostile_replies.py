"""What may answer in the place of a job: each ends in one clear sentence, in time."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.cli.main import main
from torch_tb_profiler.errors import ProfilerError
from torch_tb_profiler.live import client, exchange
from torch_tb_profiler.live.client import record_live
from torch_tb_profiler.live.job_files import FOLDER

SECONDS = 0.5
ENDLESS = 60.0
"""More than any answer takes on a busy machine; what does not end goes on for ever."""
Answer = Callable[[socket.socket], None]
STATUS = {"kind": "torch_tb_profiler", "rank": 0, "step": 3, "busy": False, "traces": ["a.json"]}


def _reply(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def _with(**changed: Any) -> bytes:
    return json.dumps({**STATUS, **changed}).encode()


def _sends(data: bytes) -> Answer:
    return lambda peer: peer.sendall(data)


def _says(body: bytes, status: str = "200 OK", *headers: str) -> Answer:
    return _sends(_reply(body, status, *headers))


def _forever(start: bytes, piece: bytes, pause: float = 0.0) -> Answer:
    def answer(peer: socket.socket) -> None:
        peer.sendall(start)
        while True:
            peer.sendall(piece)
            time.sleep(pause)

    return answer


def _nothing(peer: socket.socket) -> None:
    peer.recv(1)


OK = b"HTTP/1.1 200 OK\r\n"
KINDS: dict[str, Answer] = {
    "silence": _nothing,
    "closes": lambda peer: None,
    "endless_line": _forever(b"", b"x" * 65536),
    "drips_status": _forever(b"", b"H", 0.02),
    "drips_headers": _forever(OK, b"a", 0.02),
    "drips_body": _forever(OK + b"Content-Length: 1000000\r\n\r\n", b" ", 0.02),
    "endless_headers": _forever(OK, b"a: b\r\n"),
    "endless_body": _forever(OK + b"\r\n", b" " * 65536),
    "endless_continue": _forever(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "endless_chunks": _forever(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "endless_trailer": _forever(OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n"),
    "chunk_of_minus_one": _forever(OK + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n", b" " * 65536),
    "chunk_of_no_size": _sends(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
    "huge_chunk": _sends(OK + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}"),
    "huge_length": _sends(OK + b"Content-Length: 99999999999999999999\r\n\r\n{}"),
    "wrong_length": _sends(OK + b"Content-Length: -7\r\n\r\n{}"),
    "cut_off": _sends(OK + b"Content-Length: 1000\r\n\r\n{"),
    "not_http": _sends(b"SSH-2.0-OpenSSH_9\x1b[31m\r\n"),
    "status_of_letters": _sends(b"HTTP/1.1 abc OK\r\n\r\n"),
    "redirect": _says(b"", "302 Found", "Location: http://127.0.0.1:1/"),
    "redirect_to_itself": _says(b"{}", "307 Again", "Location: /status"),
    "deep": _says(b"[" * 500_000),
    "deep_and_closed": _says(b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "large": _says(b'"' + b"x" * (2 << 20) + b'"'),
    "no_json": _says(b"<html>"),
    "no_utf8": _says(b"\xff\xfe\x00"),
    "null": _says(b"null"),
    "a_list": _says(b"[1]"),
    "empty_object": _says(b"{}"),
    "step_is_text": _says(_with(step="3")),
    "step_is_null": _says(_with(step=None)),
    "step_is_negative": _says(_with(step=-4)),
    "step_is_huge": _says(_with(step=10**400)),
    "pace_is_text": _says(_with(seconds_per_step="fast")),
    "pace_is_infinite": _says(_with(seconds_per_step=float("inf"))),
    "pace_is_huge": _says(_with(seconds_per_step=1e300, busy=True)),
    "pace_is_tiny": _says(_with(seconds_per_step=5e-324)),
    "busy_for_ever": _says(_with(busy=True, at_step=1)),
    "traces_are_numbers": _says(_with(traces=[1, 2])),
    "members_are_numbers": _says(b'{"members": [1, 2]}'),
    "members_without_address": _says(b'{"members": [{"rank": 0}]}'),
    "members_elsewhere": _says(
        b'{"members": [{"rank": 0, "address": "x:99999999999"}, {"rank": 1, "address": "nowhere"}]}'
    ),
    "many_members": _says(
        json.dumps({"members": [{"rank": 0, "address": "127.0.0.1:9"}] * 20_000}).encode()
    ),
    "error_is_a_list": _says(b'{"error": [1]}', "400 No"),
    "error_steers": _says(json.dumps({"error": "\x1b[2J\u202e" * 9000}).encode(), "400 No"),
    "a_surrogate": _says(b'{"error": "\\ud800"}', "400 No"),
    "unauthorized": _says(b"", "401 No"),
}


@contextmanager
def served(answer: Answer) -> Iterator[str]:
    """An address at which each request gets this answer."""
    server = socket.create_server(("127.0.0.1", 0))

    def one(peer: socket.socket) -> None:
        with peer, suppress(OSError):
            peer.recv(1 << 16)
            answer(peer)

    def serve() -> None:
        while True:
            try:
                peer, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=one, args=(peer,), daemon=True).start()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.getsockname()[1]}"
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join(5)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SECONDS", "ALL_SECONDS", "FINISH_SECONDS", "MOST_STEP_SECONDS"):
        monkeypatch.setattr(client, name, SECONDS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by", ["address", "folder", "url"])
def test_whatever_answers_ends_in_one_sentence(
    kind: str, by: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(KINDS[kind]) as address:
        target = {"address": address, "folder": str(tmp_path), "url": f"http://{address}/"}[by]
        if by == "folder":
            (tmp_path / FOLDER).mkdir()
            job = tmp_path / FOLDER / "rank0.json"
            job.write_text(json.dumps({"rank": 0, "address": address}))
            job.chmod(0o600)
        begun = time.monotonic()
        code = main(["record", target, "--token", "secret", "--seconds", "0.01"])
    told = capsys.readouterr()
    assert time.monotonic() - begun < ENDLESS
    assert "Traceback" not in told.err
    assert all(c.isprintable() or c == "\n" for c in told.err + told.out)
    assert max(map(len, told.err.split("\n"))) < 1200
    # A server of another kind is asked for the status alone.
    if by != "url":
        assert code in (1, 2)
        assert told.err.strip()


def _bodies() -> st.SearchStrategy[Any]:
    leaf = (
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("127.0.0.1:9")
    )
    names = st.sampled_from([*STATUS, "members", "error", "late", "address", "at_step"])
    return st.recursive(
        leaf,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=6),
        max_leaves=12,
    )


@given(status=st.sampled_from([200, 200, 200, 302, 400, 403, 409, 500]), body=_bodies())
def test_any_json_is_an_answer_or_one_sentence(status: int, body: Any) -> None:
    def told(*_: object, **__: object) -> tuple[int, bytes]:
        return status, json.dumps(body).encode()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "exchange", told)
        patch.setattr(time, "sleep", lambda _: None)
        patch.setattr(client, "FINISH_SECONDS", 0.01)
        patch.setattr(client, "MOST_STEP_SECONDS", 0.01)
        with suppress(ProfilerError):
            record_live("127.0.0.1:1", token="x")


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1:99999/",
        "http://[::1/",
        "http://127.0.0.1:x/",
        "https://:1/",
        "127.0.0.1:65536",
        "127.0.0.1:²",
        "[::1]:1",
        "http://\x1b[31m:1/",
        f"http://{'a' * 100}.invalid:80/",
        "unix:" + "x" * 300,
    ],
)
def test_targets_that_make_no_sense(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", target, "--token", "x", "--seconds", "0.1"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.strip().isprintable()


def test_a_handshake_that_drips_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    # A record of TLS that is never whole.
    with served(_forever(b"\x16\x03\x03\x40\x00", b"x", 0.02)) as address:
        connection, _ = exchange.connection_by(f"https://{address}", SECONDS)
        begun = time.monotonic()
        with pytest.raises(OSError, match=r"did not end|EOF|timed out|SSL"):
            exchange.exchange(
                connection, "GET", "/", body=None, headers={}, seconds=SECONDS, content=False
            )
    assert time.monotonic() - begun < ENDLESS
