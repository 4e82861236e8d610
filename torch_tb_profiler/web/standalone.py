"""The page without TensorBoard: ``torch-tb-profiler serve LOGDIR``."""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from torch_tb_profiler.errors import BadRequest, ProfilerError, SourceError
from torch_tb_profiler.web import replies
from torch_tb_profiler.web.application import Application, Environ, Wsgi
from torch_tb_profiler.web.deadline import Deadline

LONGEST_SHOWN = 100
ANY = "*"


class HostNotAllowed(ProfilerError, code="host_not_allowed", status=403):
    """The server was addressed by a name that is not its own."""


class HostCheck:
    """An application that answers only under the machine's own names and those allowed. A page of another
    site can have its own name resolve to this machine (DNS rebinding) and would then read the traces; the
    name in the Host header gives it away.

    Addresses are always answered: a browser sends one only if no name was resolved. What a proxy
    adds (``X-Forwarded-Host``) is not read: any client can send it.
    """

    def __init__(self, application: Wsgi, host: str, allowed: Iterable[str] = ()) -> None:
        """``host``: the address or name that is listened on; ``allowed``: names, ``*.example.com``
        for all below one, ``*`` for any.
        """
        self._application = application
        self._names = {"localhost", _plain(host), *map(_plain, allowed)}
        self._own: set[str] = set()
        self._looking_up = Deadline[set[str]]()

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        # Without a Host header it is no browser's request.
        named = environ.get("HTTP_HOST", "")
        try:
            if not named or self.answers(named):
                return self._application(environ, start_response)
            refusal: ProfilerError = _refused(named)
        except ProfilerError as late:
            refusal = late
        return replies.error(refusal)(environ, start_response)

    def answers(self, host: str) -> bool:
        """Whether requests with this Host header are answered."""
        name = _plain(host)
        return (
            _is_address(name)
            or name.endswith(".localhost")
            or self._is_among(self._names, name)
            or self._is_own(name)
        )

    @staticmethod
    def _is_among(names: set[str], name: str) -> bool:
        return ANY in names or any(
            name.endswith(known[1:]) if known.startswith("*.") else name == known for known in names
        )

    def _is_own(self, name: str) -> bool:
        # Looked up late: a resolver without an answer takes seconds.
        self._own = self._own or self._looking_up.answer("own", _own_names)
        return name in self._own


def _own_names() -> set[str]:
    own = _plain(socket.gethostname())
    return {own, f"{own}.local", _plain(socket.getfqdn())}


def _refused(host: str) -> HostNotAllowed:
    shown = ascii(host[:LONGEST_SHOWN])
    return HostNotAllowed(
        f"The Host header is {shown}, which is no name of this server.",
        "Use the address that it printed, or start it with --allowed-hosts and this name.",
    )


def _plain(host: str) -> str:
    """Without port, brackets, the root's dot and capitals."""
    name = host.strip()
    if name.startswith("["):
        return name[1:].partition("]")[0].lower()
    if name.count(":") == 1:
        name = name.partition(":")[0]
    return name.rstrip(".").lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True


HOST = "127.0.0.1"
_REFUSALS = {
    HTTPStatus.REQUEST_URI_TOO_LONG: "The address of the request is too long.",
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: "The headers of the request are too many or too long.",
}


class QuietHandler(WSGIRequestHandler):
    """Logs no requests, as the page polls, and answers what is no request at all in the one error shape, too."""

    protocol_version = "HTTP/1.1"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing."""

    def log_error(self, format: str, *args: object) -> None:
        """Nothing: who sends what is no request is told so."""

    def make_environ(self) -> Environ:
        """The environment of a request; an address that cannot be taken apart is that of nothing here."""
        try:
            return super().make_environ()
        except ValueError:
            self.path = "/?"
            return super().make_environ() | {"PATH_INFO": "/no address"}

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """The reply to what cannot be read as a request."""
        said = _REFUSALS.get(
            HTTPStatus(code), f"The request is not understood: {HTTPStatus(code).phrase}."
        )
        body = replies.error(BadRequest(said, "docs/http_api.md lists the routes."))
        self.close_connection = True
        self.send_response(code, HTTPStatus(code).phrase)
        for name, value in (*body.headers, ("Connection", "close")):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.get_data())


def server(
    application: Application, host: str = HOST, port: int = 0, allowed: Iterable[str] = ()
) -> BaseWSGIServer:
    """A threaded server; ``port`` 0 picks a free one (``server.port``). ``allowed``: names that it
    answers to beside its own (``HostCheck``).

    Raises:
        SourceError: the address cannot be bound.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
        # Binding here allows an error message; werkzeug would exit.
        return make_server(
            host,
            listener.getsockname()[1],
            HostCheck(application, host, allowed),
            threaded=True,
            request_handler=QuietHandler,
            fd=listener.fileno(),
        )
    except OSError as error:
        other = "--port" if error.errno in (errno.EADDRINUSE, errno.EACCES) else "--host"
        raise SourceError(
            f"{host}:{port} cannot be used: {error.strerror}.", f"Choose another {other}."
        ) from error
    finally:
        listener.close()
