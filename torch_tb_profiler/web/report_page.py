"""The page as one file without a server: the bundle, and the answers of the routes it asks.

::

    routes ─▶ answers {key: payload} ─▶ gzip, base64 ─▶ <script id="report"> ┐
    static/report.js ────────────────────────────────▶ <script type="module"> ┴─▶ one HTML file

What was not kept (the timeline, single steps of long runs, other windows of memory) answers with an
error that says where to find it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import itertools
import json
import time
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Request

from torch_tb_profiler.errors import NotReady, ProfilerError
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.web.downloads import base_name
from torch_tb_profiler.web.replies import Handler
from torch_tb_profiler.web.route import Report, Route
from torch_tb_profiler.web.route_table import ROUTES, handlers
from torch_tb_profiler.web.static_files import StaticFiles

BUNDLE = "report.js"
ROWS = 2000
"""Rows kept per table; the rest is pooled in one row."""
MOST_STEPS = 12
"""Most steps of a trace for which a report keeps each step."""
MOST_STACKS = 30
"""Operators whose call stacks are kept."""
_PAUSE_SECONDS = 0.1

_WITH_FOLDERS = ("/runs", "/diagnosis")

Query = dict[str, str]
Answers = dict[str, msgspec.Raw]
"""JSON answers by their route and query."""


def keep(
    catalogue: Catalogue,
    settings: Settings,
    traces: list[Query],
    report: Callable[[int, int], None],
    steps: Query | None = None,
) -> Answers:
    """The answers that the page needs about traces (``run``, ``worker``, ``span`` of each). ``steps``: kept besides all
    and single ones.
    """
    store = _SidecarStore(handlers(catalogue, replace(settings, max_table_rows=ROWS)))
    store.all("logdir", {})
    for done, trace in enumerate(traces):
        store.trace(trace)
        if steps:
            store.all("steps", {**trace, **steps}, whole=False)
        report(done + 1, len(traces))
    return store.answers


def page(answers: Answers, title: str, about: str, shown: Query | None = None) -> str:
    """The document. ``shown``: what it opens with, as in the page's address: ``{"view": "kernel"}``.

    Raises:
        FrontendMissing: the page was not built.
    """
    script = StaticFiles().text(BUNDLE).replace("</script", "<\\/script").replace("<!--", "<\\!--")
    held = {"about": about, "page": urlencode(shown or {}, quote_via=quote), "answers": answers}
    packed = base64.b64encode(gzip.compress(msgspec.json.encode(held), 9, mtime=0)).decode()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src"
        " data:; base-uri 'none'; form-action 'none'"
    )
    return _DOCUMENT.format(policy=policy, title=_escaped(title), packed=packed, script=script)


_DOCUMENT = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
</head>
<body><noscript>This page needs JavaScript.</noscript>
<script type="text/plain" id="report">{packed}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def _without_folders(body: bytes) -> bytes:
    """Logdirs without their folders, and no jobs that run there: a report is sent to others."""
    payload = msgspec.json.decode(body)
    if "live" in payload:
        payload["live"] = []
    payload["logdirs"] = [base_name(logdir.rstrip("/\\")) for logdir in payload["logdirs"]]
    return msgspec.json.encode(payload)


class _SidecarStore:
    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self._handlers = handlers
        self.answers: Answers = {}

    def all(self, report: Report, query: Query, *, whole: bool = True) -> None:
        """Ask every route of a part of the report. ``whole``: all steps are selected."""
        for route in ROUTES.values():
            if route.report == report:
                for more in _choices(route, whole=whole):
                    self._until_complete(route.path, {**query, **more})

    def ask(self, route: str, query: Query) -> Any:
        """The decoded payload, kept; None where the route has none for this trace."""
        body = self._body(route, query)
        if body is None:
            return None
        if route in _WITH_FOLDERS:
            body = _without_folders(body)
        name = route.removeprefix("/")
        self.answers[
            json.dumps([name, *sorted(query.items())], separators=(",", ":"), ensure_ascii=False)
        ] = msgspec.Raw(body)
        return msgspec.json.decode(body)

    def _body(self, route: str, query: Query) -> bytes | None:
        request = Request(EnvironBuilder(query_string=query).get_environ())
        while True:
            try:
                return bytes(self._handlers[route](request).get_data())
            except NotReady:
                time.sleep(_PAUSE_SECONDS)
            except ProfilerError:
                return None

    def _until_complete(self, route: str, query: Query) -> None:
        """Ask again until ``progress``, if there is one, says that all workers were read."""
        while (payload := self.ask(route, query)) is not None and payload.get("progress", 1) < 1:
            time.sleep(_PAUSE_SECONDS)

    def trace(self, where: Query) -> None:
        """Everything about one trace."""
        self.all("trace", where)
        self.all("steps", where)
        self.all("steps", {**where, "skip_cold": "1"}, whole=False)
        steps = self.ask("/steps", where)
        numbers = steps["steps"]["step"] if steps is not None else []
        kinds = [kind["name"] for kind in (self.ask("/overview", where) or {}).get("kinds", ())]
        for kind in kinds:
            self.all("steps", {**where, "step_kind": kind}, whole=False)
        if len(numbers) > MOST_STEPS:
            # What the answers draw of many steps.
            ways = ({}, {"skip_cold": "1"}, *({"step_kind": kind} for kind in kinds))
            told = [self.ask("/findings", {**where, **more}) for more in ways]
            subjects = [one["told"]["subject"] or {"steps": ""} for one in told if one]
            spoken = {int(one["steps"]) for one in subjects if one["steps"].isdigit()}
            numbers = sorted(spoken | {one["median"] for one in told if one} - {None})
        for number in numbers:
            self.all("steps", {**where, "steps": str(number)}, whole=False)
        memory = self.ask("/memory", where)
        for device in memory["devices"] if memory else ():
            self.all("device", {**where, "device": str(device["key"])})
        self._callers(where)

    def _callers(self, where: Query) -> None:
        operators = self.ask("/operator", {**where, "group": "name"})
        if operators is None:
            return
        rows = zip(operators["rows"]["name"], operators["rows"]["has_stack"], strict=True)
        for name, has_stack in list(rows)[:MOST_STACKS]:
            if has_stack:
                self.ask("/callers", {**where, "of": "operator", "name": name})
        kernels = self.ask("/kernel", {**where, "group": "name"})
        for name in kernels["rows"]["name"][:MOST_STACKS] if kernels else ():
            self.ask("/callers", {**where, "of": "kernel", "name": name})


def _choices(route: Route, *, whole: bool) -> list[Query]:
    """The queries of the page besides trace and steps: all combinations of what it asks for."""
    parts = [
        [{name: value} for value in asked]
        for name, parameter in route.parameters.items()
        if (asked := parameter.kind.asked(whole=whole))
    ]
    return [dict(ChainMap(*chosen)) for chosen in itertools.product(*parts)]


def ready_traces(catalogue: Catalogue) -> Iterator[Query]:
    """Run, worker and span of every readable trace."""
    for run in catalogue.snapshot().runs:
        for worker in run.workers:
            for span in worker.spans:
                if span.state.value == "ready":
                    yield {"run": run.name, "worker": worker.name, "span": span.name}
