"""``listen``: a job that records when it is asked to, at the same step on all ranks.

Between steps the job only looks at a number; requests are answered by a thread of their own.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import socket
import socketserver
import threading
import time
from collections import deque
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from torch_tb_profiler.errors import BadRequest, SourceError
from torch_tb_profiler.integrations.steps import StepRecorder
from torch_tb_profiler.live.job_files import FOLDER, integer, members_of, register, shared_token
from torch_tb_profiler.recording import rank_of_process
from torch_tb_profiler.untrusted import json_value

TOKEN_VARIABLE = "TORCH_TB_PROFILER_TOKEN"
MOST_BODY = 64 << 10
MOST_STEPS = 1000
MOST_CONNECTIONS = 8
SOCKET_SECONDS = 10.0
LEAST_SECONDS = 5.0
"""Between the begins of recordings."""
MOST_WRONG, WRONG_SECONDS = 5, 60.0
"""Wrong tokens within so many seconds, after which all are refused for as long."""
HEADER = "X-Torch-Tb-Profiler-Token"
KIND = "torch_tb_profiler"


class Listener:
    """A job that can be asked to record; see ``listen``.

    Attributes:
        address: ``host:port``, or ``unix:PATH``.
        token: what requests must carry.
    """

    def __init__(
        self,
        address: str,
        directory: str | os.PathLike[str],
        token: str | None,
        first_step: int,
        options: dict[str, Any],
    ) -> None:
        folder = Path(directory).expanduser() / FOLDER
        self.token = token or os.environ.get(TOKEN_VARIABLE) or shared_token(folder)
        self._recorder = StepRecorder(directory, skip=0, ranks="all", **options)
        self._recorder.begin(first_step)
        self._rank = rank_of_process() or 0
        self._began = time.monotonic()
        self._first = first_step
        self._allowed_at = 0.0
        self._wrong: deque[float] = deque(maxlen=MOST_WRONG)
        self._lock = threading.Lock()
        self._server = _serve(address, self)
        self.address = _name_of(self._server, address)
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="torch_tb_profiler listener", daemon=True
        )
        self._thread.start()
        try:
            self._file = register(folder, self.rank, self.address)
        except BaseException:
            self._server.shutdown()
            self._server.server_close()
            raise

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def step(self) -> None:
        """A step of the job has ended."""
        self._recorder.step()

    def close(self) -> None:
        """Listen no more; what is being recorded is written."""
        self._server.shutdown()
        self._server.server_close()
        self._recorder.end()
        with contextlib.suppress(OSError):
            self._file.unlink()
        if self.address.startswith("unix:"):
            with contextlib.suppress(OSError):
                os.unlink(self.address.removeprefix("unix:"))

    @property
    def rank(self) -> int:
        """Of this process; 0 if there is only one."""
        return self._rank

    def status(self) -> dict[str, Any]:
        """Where the job is."""
        steps = self._recorder.steps
        taken = steps - self._first
        return {
            "kind": KIND,
            "rank": self._rank,
            "step": steps,
            "seconds_per_step": (time.monotonic() - self._began) / taken if taken else None,
            "busy": self._recorder.busy,
            "directory": str(self._recorder.directory.absolute()),
            "traces": [path.name for path in self._recorder.paths],
        }

    def members(self) -> list[dict[str, Any]]:
        """The ranks that listen with this one, by their files."""
        return members_of(self._recorder.directory).ranks

    def record(self, asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Plan a recording; HTTP status and what to say."""
        at = integer(asked.get("at_step"), 0, 1 << 62)
        steps = integer(asked.get("steps"), 1, MOST_STEPS)
        if at is None or steps is None:
            return 400, {"error": f"at_step and steps (1 to {MOST_STEPS}) must be whole numbers."}
        with self._lock:
            wait = self._allowed_at - time.monotonic()
            if wait > 0:
                return 429, {
                    "error": f"Another recording began just now; try again in {wait:.0f} s."
                }
            if self._recorder.busy:
                return 409, {"error": "A recording is planned or runs already."}
            if not self._recorder.plan(at, steps):
                now = self._recorder.steps
                return 409, {
                    "error": f"Step {at} is too near: the job is in step {now}.",
                    "late": True,
                }
            self._allowed_at = time.monotonic() + LEAST_SECONDS
        return 200, {"rank": self._rank, "at_step": at, "steps": steps}

    def refuses(self, token: str) -> tuple[int, str] | None:
        """Why a request with this token is not answered; None if it is."""
        now = time.monotonic()
        with self._lock:
            if len(self._wrong) == MOST_WRONG and now - self._wrong[0] < WRONG_SECONDS:
                return 429, "Too many wrong tokens; try again in a minute."
            if hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode()):
                return None
            self._wrong.append(now)
        return 403, "The token is wrong."


def listen(
    address: str = "127.0.0.1:0",
    directory: str | os.PathLike[str] = "./log",
    *,
    token: str | None = None,
    first_step: int = 0,
    **options: Any,
) -> Listener:
    """Let a job be recorded while it runs; call ``step()`` after each of its steps.

    >>> with torch_tb_profiler.listen(directory="runs/profiler") as live:      # doctest: +SKIP
    ...     for batch in loader:
    ...         train_step(batch)
    ...         live.step()

    ``torch-tb-profiler record HOST:PORT --steps 5`` then records five steps, the same ones on all ranks.

    Args:
        address: ``host:port``, ``:port`` or ``unix:PATH``; port 0: any. Only this machine reaches it unless another
            host is given.
        directory: where traces go. A file there tells the others where this rank listens; all ranks share the folder.
        token: what requests must carry; None: ``TORCH_TB_PROFILER_TOKEN``, else one is made and kept there, where
            only the same user can read it.
        first_step: steps that the job took before.
        options: those of ``integrations.steps.StepRecorder`` and of ``torch.profiler.profile``.

    Raises:
        BadRequest: the address makes no sense.
        SourceError: it cannot be listened at, or the folder cannot be written to.
    """
    return Listener(address, directory, token, first_step, options)


class _Handler(BaseHTTPRequestHandler):
    timeout = SOCKET_SECONDS
    server: Any
    server_version = "torch_tb_profiler"
    sys_version = ""

    def do_GET(self) -> None:
        """``/status`` and ``/members``."""
        if self._refused():
            return
        listener: Listener = self.server.listener
        if self.path == "/status":
            self._answer(200, listener.status())
        elif self.path == "/members":
            self._answer(200, {"kind": KIND, "members": listener.members()})
        else:
            self._answer(404, {"error": "There is nothing here."})

    def do_POST(self) -> None:
        """``/record``."""
        if self._refused():
            return
        length = self.headers.get("Content-Length", "")
        if self.path != "/record" or not length.isascii() or not length.isdigit():
            self._answer(404, {"error": "There is nothing here."})
            return
        if int(length) > MOST_BODY:
            self._answer(413, {"error": "The request is too long."})
            return
        asked = json_value(self.rfile.read(int(length)))
        if not isinstance(asked, dict):
            self._answer(400, {"error": "The request is no JSON object."})
            return
        self._answer(*self.server.listener.record(asked))

    def log_message(self, *_: object) -> None:
        """Nothing is printed into the job's own output."""

    def _refused(self) -> bool:
        refusal = self.server.listener.refuses(self.headers.get(HEADER, ""))
        if refusal is not None:
            self._answer(refusal[0], {"error": refusal[1]})
        return refusal is not None

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        with contextlib.suppress(OSError):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(text)
        self.close_connection = True


class _Threads(socketserver.ThreadingMixIn):
    """A thread per connection, few at a time; further ones are closed at once."""

    daemon_threads = True
    block_on_close = False
    listener: Listener

    def __init__(self, *arguments: Any) -> None:
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)  # type: ignore[attr-defined]
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error of the job."""


class _TcpServer(_Threads, socketserver.TCPServer):
    allow_reuse_address = True


def _serve(address: str, listener: Listener) -> Any:
    try:
        if address.startswith("unix:"):
            server = _unix_server(address.removeprefix("unix:"))
        else:
            host, _, port = address.rpartition(":")
            if not port.isascii() or not port.isdigit() or int(port) > 65535:
                raise BadRequest(f"{address} is no address.", "Use HOST:PORT or unix:PATH.")
            server = _TcpServer((host.strip("[]") or "127.0.0.1", int(port)), _Handler)
    except OSError as error:
        raise SourceError(
            f"{address} cannot be listened at: {error}.", "Take another port."
        ) from error
    server.listener = listener
    return server


def _unix_server(path: str) -> Any:
    if not hasattr(socketserver, "UnixStreamServer"):
        raise BadRequest("This system has no unix sockets.", "Use HOST:PORT.")

    class UnixServer(_Threads, socketserver.UnixStreamServer):
        pass

    class UnixHandler(_Handler):
        def address_string(self) -> str:
            return "unix"

    before = os.umask(0o177)
    try:
        return UnixServer(path, UnixHandler)
    finally:
        os.umask(before)


def _name_of(server: Any, address: str) -> str:
    if address.startswith("unix:"):
        return "unix:" + os.path.abspath(address.removeprefix("unix:"))
    host, port = server.server_address[:2]
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
    return f"{host}:{port}"
