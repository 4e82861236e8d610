"""The WSGI application: one app per route for TensorBoard, all in one for the stand-alone server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.errors import BadRequest, Busy, NotFound
from torch_tb_profiler.live.client import record_live
from torch_tb_profiler.live.jobs import jobs_below
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.units import format_bytes
from torch_tb_profiler.untrusted import decoded, readable
from torch_tb_profiler.views.record_wire import RecordedRank, RecordPayload, RecordRequest
from torch_tb_profiler.web import replies
from torch_tb_profiler.web.parameters import shown
from torch_tb_profiler.web.replies import READING, guarded
from torch_tb_profiler.web.route_table import handlers
from torch_tb_profiler.web.static_files import ENTRY, StaticFiles, page

Environ = dict[str, Any]
Wsgi = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

STATIC = "/static/"
ENTRY_ROUTE = STATIC + ENTRY
RECORD_ROUTE = "/record"
MOST_BYTES = 64 << 10
"""Of the body of a request to record."""


class Application:
    """Serves all routes at the root; ``plugin_apps`` returns them one by one."""

    def __init__(
        self, catalogue: Catalogue, settings: Settings, static: StaticFiles | None = None
    ) -> None:
        self._routes = handlers(catalogue, settings)
        self._static = static or StaticFiles()
        self._record = _wsgi(record_handler(catalogue), ("POST",))
        self._read = _wsgi(self._dispatch)

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        app = self._record if environ.get("PATH_INFO") == RECORD_ROUTE else self._read
        return app(environ, start_response)

    def plugin_apps(self) -> dict[str, Wsgi]:
        """Route → app, as ``TBPlugin.get_plugin_apps`` wants it; the last one answers 404."""
        apps: dict[str, Wsgi] = {path: _wsgi(handler) for path, handler in self._routes.items()}
        apps[RECORD_ROUTE] = self._record
        apps[ENTRY_ROUTE] = _wsgi(self._static_file)
        apps[STATIC + "*"] = _wsgi(self._static_file)
        apps["/*"] = _wsgi(_unknown)
        return apps

    def _dispatch(self, request: Request) -> Response:
        path = request.path
        if path == "/":
            return page(request)
        if path.startswith(STATIC):
            return self._static_file(request)
        return self._routes.get(path.rstrip("/"), _unknown)(request)

    def _static_file(self, request: Request) -> Response:
        # TensorBoard puts a prefix of its own before the path.
        return self._static.respond(request, request.path.partition(STATIC)[2])


def _unknown(request: Request) -> Response:
    raise NotFound(
        f"There is no route {shown(request.path)}.", "docs/http_api.md lists the routes."
    )


def _wsgi(handle: Callable[[Request], Response], methods: tuple[str, ...] = READING) -> Wsgi:
    answer = guarded(handle, methods)

    def app(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        return answer(Request(environ))(environ, start_response)

    return app


def record_handler(catalogue: Catalogue) -> replies.Handler:
    """What answers ``POST /record``, one request at a time: a job that listens is asked to record, with its
    token. It is the only route that is no reading one, so it is not in the table of ``route.py``. Another
    site's page cannot ask: a browser sends JSON elsewhere only after a preflight, which nobody answers.
    """
    asking = threading.Lock()

    def answer(request: Request) -> Response:
        asked = _read(request)
        folders = {readable(str(folder)): folder for folder, _ in jobs_below(catalogue.folders)}
        if asked.folder not in folders:
            raise NotFound(
                "No job listens for this folder.", "Files, behind More, lists those that do."
            )
        if not asking.acquire(blocking=False):
            raise Busy("Another recording is being planned.", "Try again in a moment.")
        try:
            report = record_live(
                str(folders[asked.folder]),
                steps=asked.steps,
                ranks=asked.ranks,
                token=asked.token,
                wait=False,
            )
        finally:
            asking.release()
        ranks = [RecordedRank(rank=found.rank, problem=found.problem) for found in report.ranks]
        planned = RecordPayload(at_step=report.at_step, steps=report.steps, ranks=ranks)
        return replies.send(request, replies.encode(planned), cache="no-store")

    return answer


def _read(request: Request) -> RecordRequest:
    if request.mimetype != "application/json":
        raise BadRequest("The body is not JSON.", "Send it with Content-Type: application/json.")
    if (request.content_length or 0) > MOST_BYTES:
        raise BadRequest(f"The body is larger than {format_bytes(MOST_BYTES)}.")
    try:
        return decoded(request.stream.read(MOST_BYTES), RecordRequest)  # type: ignore[no-any-return]
    except ValueError as error:
        raise BadRequest(f"The body is not what is expected: {error}.") from error
