"""The WSGI application: one app per route for TensorBoard, all in one for the stand-alone server."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.errors import NotFound
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.web.parameters import shown
from torch_tb_profiler.web.replies import guarded
from torch_tb_profiler.web.route_table import handlers
from torch_tb_profiler.web.static_files import ENTRY, StaticFiles, page

Environ = dict[str, Any]
Wsgi = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

STATIC = "/static/"
ENTRY_ROUTE = STATIC + ENTRY


class Application:
    """Serves all routes at the root; ``plugin_apps`` returns them one by one."""

    def __init__(
        self, catalogue: Catalogue, settings: Settings, static: StaticFiles | None = None
    ) -> None:
        self._routes = handlers(catalogue, settings)
        self._static = static or StaticFiles()
        self._read = _wsgi(self._dispatch)

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        return self._read(environ, start_response)

    def plugin_apps(self) -> dict[str, Wsgi]:
        """Route → app, as ``TBPlugin.get_plugin_apps`` wants it; the last one answers 404."""
        apps: dict[str, Wsgi] = {path: _wsgi(handler) for path, handler in self._routes.items()}
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


def _wsgi(handle: Callable[[Request], Response]) -> Wsgi:
    answer = guarded(handle)

    def app(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        return answer(Request(environ))(environ, start_response)

    return app
