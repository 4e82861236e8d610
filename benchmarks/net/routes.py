"""Every route about every trace of a folder, with the values that its parameters declare, one changed at a time. The server's
catalogue answers in this process.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from werkzeug.test import Client

from torch_tb_profiler.errors import ProfilerError
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.loading import insight_of, load_all, timeline_of
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.tables.registry import TABLES
from torch_tb_profiler.web.application import Application
from torch_tb_profiler.web.parameters import REQUIRED, OneOf, StepsOf, Switch, WindowOf
from torch_tb_profiler.web.route import Route
from torch_tb_profiler.web.route_table import ROUTES

from .kept import Reply

ROWS = 100
"""Of a table; the rest is pooled in one row."""
MOST_TRACES = 3
"""Of a folder."""
PATIENCE_SECONDS = 120.0
Query = dict[str, str]
PLACE = ("run", "worker", "span")
STATEMENT = "SELECT name, count(*) AS n FROM operators GROUP BY name ORDER BY n DESC, name LIMIT 20"
WHOLE_ONLY = frozenset({"/experiments", "/diff/aligned"})
"""Not asked of large traces: they take seconds, and ``diff`` shows the same."""


def replies(logs: Path, few: bool) -> Iterator[Reply]:
    """Those about the runs of a folder. ``few``: only what each route answers without options."""
    settings = Settings.from_environment(max_table_rows=ROWS, settle_seconds=0.0)
    ready(str(logs), settings)
    with closing(Catalogue({"": Place(str(logs))}, settings)) as catalogue:
        catalogue.start()
        server = _Server(Client(Application(catalogue, settings)))
        traces = _settled(catalogue)
        for path in ("/runs", "/diagnosis", "/tour"):
            yield server.ask(path, {})
        for path, route in ROUTES.items():
            if route.opens is None and not {"run"} & set(route.parameters):
                continue
            for trace in traces[:MOST_TRACES]:
                other = traces[(traces.index(trace) + 1) % len(traces)]
                if "run2" in route.places and trace == other:
                    continue
                if few and path in WHOLE_ONLY:
                    continue
                known = server.known(trace)
                for query in questions(route, trace, other, known, few):
                    yield server.ask(path, query)


def alone(logs: Path) -> Iterator[Reply]:
    """Those that are about no recording."""
    settings = Settings.from_environment()
    with closing(Catalogue({"": Place(str(logs))}, settings)) as catalogue:
        server = _Server(Client(Application(catalogue, settings)))
        for path in ("/definitions", "/sql/tables", "/nothing"):
            yield server.ask(path, {})


def ready(logs: str, settings: Settings) -> None:
    """Have everything made of the traces of a folder in this process, so that the server finds it."""
    try:
        for trace in load_all(logs, settings):
            if isinstance(trace, Opened):
                insight_of(trace, settings)
                timeline_of(trace, settings)
    except ProfilerError:
        return


def _settled(catalogue: Catalogue) -> list[Query]:
    """The readable traces, once each file is read or refused."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        found = catalogue.snapshot()
        spans = [
            (dict(zip(PLACE, (run.name, worker.name, span.name), strict=True)), span.state.value)
            for run in found.runs
            for worker in run.workers
            for span in worker.spans
        ]
        if not found.scanning and all(s in ("ready", "failed", "rejected") for _, s in spans):
            return [query for query, state in spans if state == "ready"]
        time.sleep(0.01)
    raise TimeoutError("the files were not read in time")


class _Server:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: dict[tuple[str, ...], Known] = {}

    def known(self, trace: Query) -> Known:
        """What the values of parameters follow from."""
        key = tuple(trace.values())
        if key not in self._known:
            self._known[key] = Known(self, trace)
        return self._known[key]

    def payload(self, path: str, query: Query) -> Any:
        """The payload of a route, {} where there is none."""
        code, body, _ = self._whole(path, query)
        return json.loads(body) if code == 200 else {}

    def ask(self, path: str, query: Query) -> Reply:
        """The reply, once it is complete."""
        code, body, kind = self._whole(path, query)
        shown = urlencode(query, safe="/:, ()*=<>")
        ask = f"{path}?{shown}" if shown else path
        try:
            body.decode()
        except UnicodeDecodeError:
            kind = "bytes"
        if kind.startswith("application/json"):
            return Reply(ask, code, body.decode(), True)
        if kind.startswith("text/"):
            return Reply(ask, code, body.decode(errors="backslashreplace"), False)
        digest = hashlib.sha256(body).hexdigest()[:16]
        return Reply(ask, code, f'{{"bytes": {len(body)}, "digest": "{digest}"}}', True)

    def _whole(self, path: str, query: Query) -> tuple[int, bytes, str]:
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            response = self._client.get(path, query_string=query)
            body, kind = response.data, response.content_type or ""
            if response.headers.get("Content-Encoding") == "gzip" or body[:2] == b"\x1f\x8b":
                body = gzip.decompress(body)
            waits = response.status_code == 202 or (
                b'"progress":0' in body
                and path != "/waiting"
                and json.loads(body).get("progress", 1) < 1
            )
            if not waits or time.monotonic() > end:
                return response.status_code, body, kind
            time.sleep(0.005)


class Known:
    """What is known of a trace: values of parameters by their names, the first the usual one."""

    def __init__(self, server: _Server, trace: Query) -> None:
        about = server.payload("/trace/timeline", trace)
        operators = server.payload("/operator", trace).get("rows", {}).get("name", [])
        kernels = server.payload("/kernel", trace).get("rows", {}).get("name", [])
        steps = server.payload("/steps", trace).get("steps", {}).get("step", [])
        devices = server.payload("/memory", trace).get("devices", [])
        self.id = about.get("id", "")
        self.kernel = kernels[0] if kernels else ""
        self.steps = [str(steps[min(1, len(steps) - 1)])] if steps else []
        span, events = max(1, about.get("span_ns", 1)), about.get("events", 0)
        third = max(1, span // 3)
        self.windows = [{"t0": "0", "t1": str(span + 1)}, {"t0": str(third), "t1": str(2 * third)}]
        level = about.get("level_max", 0)
        ids = sorted({events * k // 4 for k in range(4)} if events else ())
        self.values: dict[str, list[str]] = {
            "event": [str(event) for event in ids],
            "n": ["64"],
            "level": [str(level), str(level // 2)],
            "k": ["0"],
            "q": [operators[0][:12] if operators else "aten", "nothing like this"],
            "name": operators[:2],
            "series": ["0"] if about.get("counters") else [],
            "device": [str(device["key"]) for device in devices][:2],
            "t": [str(span // 2)],
            "step": self.steps,
            "change": ["no-sync"],
            "kinds": [kind["kind"] for kind in about.get("arrow_kinds", [])][:1],
            "ranks": ["0"],
            "first": ["0"],
        }


def questions(route: Route, trace: Query, other: Query, known: Known, few: bool) -> Iterator[Query]:
    """Queries of a route: the usual one for each value that it requires, then each other value of one parameter."""
    base = {key: trace[key] for key in PLACE}
    if "run2" in route.places:
        base |= {f"{key}2": other[key] for key in PLACE}
    if "id" in route.places:
        base["id"] = known.id
    needed = {
        name
        for name, parameter in route.parameters.items()
        if parameter.default is REQUIRED and not isinstance(parameter.kind, StepsOf)
    }
    usual = [base]
    for name in route.parameters:
        if name in needed - base.keys():
            usual = [{**query, **value} for query in usual for value in _values(route, name, known)]
    if not usual:
        return
    yield from usual
    if few:
        return
    for name in sorted(route.parameters.keys() - base.keys() - needed):
        for value in _values(route, name, known):
            if not value.items() <= usual[0].items():
                yield {**usual[0], **value}


def _values(route: Route, name: str, known: Known) -> list[Query]:
    """What a parameter may be, of each kind."""
    kind = route.parameters[name].kind
    if isinstance(kind, StepsOf):
        if name != "steps":
            return []
        return [*({"steps": step} for step in known.steps), {"skip_cold": "1"}]
    if isinstance(kind, Switch):
        return [] if name == "rescan" else [{name: "1"}]
    if isinstance(kind, OneOf):
        if route.path == "/table":
            return [
                {"name": word, **({"by": group} if group else {})}
                for word in kind.words
                for group in ("", *TABLES[word].groups[1:])
            ]
        if name == "of":
            return [{"of": "kernel", "name": known.kernel}] if known.kernel else []
        return [{name: word} for word in kind.words if word != route.parameters[name].default]
    if isinstance(kind, WindowOf):
        return known.windows
    if route.path == "/sql":
        return [{"q": STATEMENT}] if name == "q" else []
    return [{name: value} for value in known.values.get(name, [])]
