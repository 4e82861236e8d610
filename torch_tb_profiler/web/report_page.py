"""The page as one file that needs no server: the bundle, and the answers of the routes that it
would ask.

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
import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Request

from torch_tb_profiler.errors import NotReady, ProfilerError
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.web.routes import Catalogue, Routes
from torch_tb_profiler.web.static_files import StaticFiles

BUNDLE = "report.js"
MOST_STEPS = 12
"""Steps that can be chosen one by one in a report; a trace of more is kept as a whole."""
MOST_STACKS = 30
"""Operators whose call stacks are kept."""
CURVE_POINTS = "1024"
"""As the page asks: ``fe/src/views/memory/view.tsx``."""
_PAUSE_SECONDS = 0.1

_OF_THE_LOGDIR = ("runs", "diagnosis")

Query = dict[str, str]


@dataclass(frozen=True)
class Kept:
    """The answers, as JSON by their keys, and the traces that they are of."""

    answers: dict[str, msgspec.Raw]
    traces: int


def keep(
    catalogue: Catalogue,
    settings: Settings,
    traces: list[Query],
    report: Callable[[int, int], None] | None = None,
) -> Kept:
    """Ask what the page asks about traces (``run``, ``worker``, ``span`` of each)."""
    keeper = _Keeper(Routes(catalogue, settings))
    for route in ("runs", "diagnosis", "definitions"):
        keeper.ask(route, {})
    for done, trace in enumerate(traces):
        keeper.trace(trace)
        if report:
            report(done + 1, len(traces))
    return Kept(keeper.answers, len(traces))


def page(kept: Kept, title: str, about: str) -> str:
    """The document.

    Raises:
        FrontendMissing: the page was not built.
    """
    script = StaticFiles().text(BUNDLE).replace("</script", "<\\/script").replace("<!--", "<\\!--")
    packed = base64.b64encode(
        gzip.compress(msgspec.json.encode({"about": about, "answers": kept.answers}), 9, mtime=0)
    ).decode()
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
    """The logdirs by their last parts: a report is sent to others, who need not know where its
    traces lie on the disk of who made it.
    """
    payload = msgspec.json.decode(body)
    payload["logdirs"] = [
        re.split(r"[/\\]", logdir.rstrip("/\\"))[-1] for logdir in payload["logdirs"]
    ]
    return msgspec.json.encode(payload)


class _Keeper:
    def __init__(self, routes: Routes) -> None:
        self._handlers = routes.handlers
        self.answers: dict[str, msgspec.Raw] = {}

    def ask(self, route: str, query: Query) -> Any:
        """The decoded payload, kept; None where the route has none for this trace."""
        body = self._body(route, query)
        if body is None:
            return None
        if route in _OF_THE_LOGDIR:
            body = _without_folders(body)
        self.answers[
            json.dumps([route, *sorted(query.items())], separators=(",", ":"), ensure_ascii=False)
        ] = msgspec.Raw(body)
        return msgspec.json.decode(body)

    def _body(self, route: str, query: Query) -> bytes | None:
        request = Request(EnvironBuilder(query_string=query).get_environ())
        while True:
            try:
                response = self._handlers[f"/{route}"](request)
            except NotReady:
                time.sleep(_PAUSE_SECONDS)
                continue
            except ProfilerError:
                return None
            if response.status_code == NotReady.status:
                time.sleep(_PAUSE_SECONDS)
                continue
            return bytes(response.get_data()) if response.status_code == 200 else None

    def trace(self, where: Query) -> None:
        """Everything about one trace."""
        steps = self.ask("steps", where)
        self.ask("findings", where)
        self._until_complete("distributed", where)
        self._tables(where, whole=True)
        self._tables({**where, "skip_cold": "1"}, whole=False)
        if steps is not None and len(steps["steps"]) <= MOST_STEPS:
            for step in steps["steps"]:
                self._tables({**where, "steps": str(step["index"])}, whole=False)
        self._memory(where)

    def _tables(self, query: Query, *, whole: bool) -> None:
        self.ask("overview", query)
        rows = self.ask("operator", {**query, "group": "name"})
        for group in ("shape", "stack") if whole else ():
            self.ask("operator", {**query, "group": group})
        for group in ("name", "properties"):
            self.ask("kernel", {**query, "group": group})
        self.ask("module", query)
        for tree in ("module", "line"):
            self.ask("module/flame", {**query, "tree": tree})
        for group in ("operator", "kernel"):
            self.ask("efficiency", {**query, "group": group})
        self.ask("counters", query)
        if whole and rows is not None:
            for name, has_stack in list(
                zip(rows["rows"]["name"], rows["rows"]["has_stack"], strict=True)
            )[:MOST_STACKS]:
                if has_stack:
                    self.ask("operator/stacks", {**query, "name": name})

    def _until_complete(self, route: str, query: Query) -> None:
        """Ask until all workers of the run have been read."""
        while (payload := self.ask(route, query)) is not None and payload["progress"] < 1:
            time.sleep(_PAUSE_SECONDS)

    def _memory(self, where: Query) -> None:
        payload = self.ask("memory", where)
        for device in payload["devices"] if payload else ():
            query = {**where, "device": str(device["key"])}
            self.ask("memory/alive", query)
            self.ask("memory/curve", {**query, "n": CURVE_POINTS})
            self.ask("memory/blocks", query)
            for group in ("operator", "module"):
                self.ask("memory/statistics", {**query, "group": group})


def ready_traces(catalogue: Catalogue, wait: Callable[[], None]) -> Iterator[Query]:
    """Run, worker and span of every trace that could be read, when all have been tried."""
    wait()
    for run in catalogue.snapshot().runs:
        for worker in run.workers:
            for span in worker.spans:
                if span.state.value == "ready":
                    yield {"run": run.name, "worker": worker.name, "span": span.name}
