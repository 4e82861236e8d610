"""The page without TensorBoard: ``torch-tb-profiler serve LOGDIR``."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterable

from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.web.application import Application
from torch_tb_profiler.web.hosts import HostCheck

HOST = "127.0.0.1"


class QuietHandler(WSGIRequestHandler):
    """Logs no requests: the page polls."""

    protocol_version = "HTTP/1.1"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing."""


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
