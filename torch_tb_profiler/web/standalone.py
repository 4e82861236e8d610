"""The page without TensorBoard: ``torch-tb-profiler serve LOGDIR``."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterable
from http import HTTPStatus

from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from torch_tb_profiler.errors import BadRequest, SourceError
from torch_tb_profiler.web import replies
from torch_tb_profiler.web.application import Application, Environ
from torch_tb_profiler.web.hosts import HostCheck

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
        """See werkzeug; an address that cannot be taken apart is that of nothing here."""
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
