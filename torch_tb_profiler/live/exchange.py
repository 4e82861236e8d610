"""One request to a job or a server, whoever answers: bounded in time as a whole, in bytes, and in levels of JSON.

A timeout of a socket is none of a reply: one byte every few seconds keeps each read within it. So a timer ends the
connection.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.units import format_bytes
from torch_tb_profiler.untrusted import said

MOST_REPLY = 1 << 20
MOST_PORT = 65535
FAILURES = (OSError, http.client.HTTPException, ValueError)
"""What an exchange raises, whatever is at the other end."""


def exchange(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    *,
    body: str | None,
    headers: dict[str, str],
    seconds: float,
    content: bool = True,
) -> tuple[int, bytes]:
    """Status and body of a request, without ``content`` the status alone; the connection is closed.

    Raises:
        OSError, HTTPException, ValueError: nobody answers within ``seconds``, or not so.
    """
    with contextlib.closing(connection), _ended_after(connection, seconds):
        connection.request(method, path, body=body, headers=headers)
        with connection.getresponse() as reply:
            return reply.status, _content(reply) if content else b""


def connection_to(address: str, seconds: float) -> http.client.HTTPConnection:
    """A connection, yet to be made, to ``HOST:PORT`` or ``unix:PATH``.

    Raises:
        BadRequest: it is no such address.
    """
    path = address.removeprefix("unix:")
    if path != address and path.isprintable():
        return _UnixConnection(path, seconds)
    host, _, port = address.rpartition(":")
    number = int(port) if port.isascii() and port.isdigit() and len(port) <= 5 else 0
    if path != address or not _is_plain(host) or not 0 < number <= MOST_PORT:
        raise BadRequest(
            f"{said(address)!r} is no address.",
            "Use HOST:PORT, unix:PATH, a folder, or the URL of a server.",
        )
    return http.client.HTTPConnection(host.strip("[]") or "127.0.0.1", number, timeout=seconds)


def connection_by(url: str, seconds: float) -> tuple[http.client.HTTPConnection, str]:
    """A connection, yet to be made, to the server of a URL, and the path in it without a slash at the end.

    Raises:
        BadRequest: it is no such URL.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        if not host or not _is_plain(url) or port == 0:
            raise ValueError("its host, port or path is none")
    except ValueError as error:
        raise BadRequest(
            f"{said(url)!r} is no address of a server: {said(error)}.", "Use http://HOST:PORT."
        ) from None
    kind = _TlsConnection if parts.scheme == "https" else http.client.HTTPConnection
    return kind(host, port, timeout=seconds), parts.path.rstrip("/")


def _is_plain(text: str) -> bool:
    """Whether it holds no space and no character that is not seen, which no host has."""
    return text.isprintable() and " " not in text


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, seconds: float) -> None:
        super().__init__("localhost", timeout=seconds)
        self._path = path

    def connect(self) -> None:
        """To the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class _TlsConnection(http.client.HTTPConnection):
    default_port = http.client.HTTPS_PORT

    def connect(self) -> None:
        """To the server; the timer can end the handshake, too."""
        super().connect()
        context = ssl.create_default_context()
        self.sock = context.wrap_socket(
            self.sock, server_hostname=self.host, do_handshake_on_connect=False
        )
        self.sock.do_handshake()


@contextlib.contextmanager
def _ended_after(connection: http.client.HTTPConnection, seconds: float) -> Iterator[None]:
    over = threading.Event()
    held: list[socket.socket] = []
    connect = connection.connect

    def connected() -> None:
        connect()
        # Once a reply says that it is the last one, the connection names its socket no more.
        held.append(connection.sock)

    def end() -> None:
        over.set()
        for sock in (connection.sock, *held):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                sock.shutdown(socket.SHUT_RDWR)

    connection.connect = connected  # type: ignore[method-assign]
    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except FAILURES as error:
        if over.is_set():
            raise TimeoutError(f"its reply did not end within {seconds:g} s") from error
        raise
    finally:
        timer.cancel()
        for sock in held:
            sock.close()
    if over.is_set():
        raise TimeoutError(f"its reply did not end within {seconds:g} s")


def _content(reply: http.client.HTTPResponse) -> bytes:
    # Not `read`: a chunk of size −1 would have it read without an end.
    space = memoryview(bytearray(MOST_REPLY + 1))
    filled = 0
    while filled < len(space) and (count := reply.readinto(space[filled:])):
        filled += count
    if filled > MOST_REPLY:
        raise ValueError(f"its reply has more than {format_bytes(MOST_REPLY)}")
    return bytes(space[:filled])
