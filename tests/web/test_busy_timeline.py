"""Two hundred requests at once, and patterns that run away, over a real server: none fails, and
TensorBoard's other tabs still answer.
"""

from __future__ import annotations

import http.client
import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from werkzeug.serving import make_server

from tests.builders.drawn import text_of
from tests.web.live import json_of, live, logdir_of, patiently, places
from tests.web.test_hostile_timeline import EVIL, long_named
from tests.web.timeline_asked import listed
from torch_tb_profiler.runs.products import TIMELINE
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.web.application import Application
from torch_tb_profiler.web.standalone import QuietHandler

pytestmark = pytest.mark.processes

AT_ONCE = 200
TAB_SECONDS = 20.0
"""A tab that answers within this is not blocked; one that is waits for all of the requests."""


def other_tab(_: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Another plugin's route."""
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "2")])
    return [b"ok"]


@contextmanager
def serving(application: Application) -> Iterator[int]:
    """The port of a threaded server that has the other tab beside the application."""

    def both(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        app = other_tab if environ["PATH_INFO"] == "/other" else application
        return app(environ, start_response)

    server = make_server("127.0.0.1", 0, both, threaded=True, request_handler=QuietHandler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ask(port: int, path: str) -> tuple[int, bytes]:
    """Status and body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


@dataclass
class Tab:
    """Keeps asking for the other tab and notes how long each answer took."""

    port: int
    seconds: list[float] = field(default_factory=list)

    def __enter__(self) -> Tab:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.is_set():
            begin = time.monotonic()
            assert ask(self.port, "/other") == (200, b"ok")
            self.seconds.append(time.monotonic() - begin)
            self._stop.wait(0.02)


def mixed(where: dict[str, str], about: dict[str, Any]) -> list[str]:
    """Requests of every route for one trace."""
    of, top = {**where, "id": about["id"]}, about["level_max"]
    window = {"t0": "0", "t1": str(about["span_ns"])}
    lanes = f"0-{max(g['lane'] + g['lanes'] - 1 for g in about['groups'])}"
    series = {"series": "0"} if about["counters"] else None
    kinds = ",".join(kind["kind"] for kind in about["arrow_kinds"])
    asked: list[tuple[str, dict[str, str]]] = [
        ("timeline", where),
        ("names", of),
        ("alignment", where),
        ("area", {**of, **window, "lanes": lanes}),
        ("event", {**of, "event": "0"}),
        ("event/args", {**of, "event": "0"}),
        ("search", {**of, "q": "aten", "args": "1"}),
        ("search", {**of, "q": "a.*(mm|conv)", "re": "1"}),
        ("search/heat", {**of, **window, "q": "a", "n": "400"}),
        ("search/next", {**of, "q": "a", "after": "0"}),
        ("collective", {**of, "event": "0"}),
        *(("tiles", {**of, "level": str(level), "k": "0"}) for level in range(0, top + 1, 3)),
        ("tiles", {**of, "level": str(top - 3), "k": "0,1,2", "lanes": lanes}),
    ]
    if kinds:
        asked.append(("arrows", {**of, **window, "kinds": kinds}))
    if series:
        asked.append(("counters", {**of, **window, **series, "n": "800"}))
    return [f"/trace/{route}?{urlencode(parameters)}" for route, parameters in asked]


def answers(port: int, paths: list[str]) -> list[tuple[str, int, bytes]]:
    """(path, status, body) of every request, all begun at one moment."""
    gate = threading.Barrier(len(paths))

    def one(path: str) -> tuple[str, int, bytes]:
        gate.wait(60)
        return path, *ask(port, path)

    with ThreadPoolExecutor(len(paths)) as pool:
        return list(pool.map(one, paths))


def test_two_hundred_at_once(tmp_path: Path, samples: Path) -> None:
    traces = [
        next((samples / name).glob("*.gz"))
        for name in ("cnn_workers_0", "transformer", "inference")
    ]
    with live(logdir_of(tmp_path / "logs", *traces), tmp_path / "cache") as (catalogue, client):
        application = Application(catalogue, Settings())
        with serving(application) as port:
            # None of the timelines is made yet.
            first = [f"/trace/timeline?{urlencode(where)}" for where in places(catalogue)]
            replies = answers(port, list(itertools.islice(itertools.cycle(first), AT_ONCE)))
            assert {status for _, status, _ in replies} <= {200, 202}
            abouts = {
                urlencode(where): json_of(patiently(client, "/trace/timeline", where))
                for where in places(catalogue)
            }
            assert catalogue.store.queue.started[TIMELINE.maker] == len(traces), (
                "each is made once, however many asked"
            )
            paths = [
                path
                for where in places(catalogue)
                for path in mixed(where, abouts[urlencode(where)])
            ]
            asked = list(itertools.islice(itertools.cycle(paths), AT_ONCE))
            with Tab(port) as tab:
                replies = answers(port, asked)
            wrong = [(path, status, data[:200]) for path, status, data in replies if status != 200]
            assert wrong == []
            assert len(replies) == AT_ONCE
            assert max(tab.seconds) < TAB_SECONDS
            # The same question has the same answer, whoever else asks.
            same = Counter((path, data) for path, _, data in replies)
            assert len(same) == len(set(asked))


@pytest.mark.parametrize("args", ["0", "1"])
def test_patterns_that_run_away_hold_nobody_up(tmp_path: Path, args: str) -> None:
    source = tmp_path / "w0.pt.trace.json"
    source.write_text(text_of([*listed(), *long_named()]))
    with live(logdir_of(tmp_path / "logs", source), tmp_path / "cache") as (catalogue, client):
        (where,) = places(catalogue)
        about = json_of(patiently(client, "/trace/timeline", where))
        with serving(Application(catalogue, Settings())) as port, Tab(port) as tab:
            asked = [
                f"/trace/search?{urlencode({**where, 'id': about['id'], 'q': q, 're': '1', 'args': args})}"
                for q in EVIL
            ]
            begin = time.monotonic()
            found = answers(port, asked)
            took = time.monotonic() - begin
        assert {status for _, status, _ in found} <= {200, 400}
        assert took < 5.0 * len(asked)
        assert max(tab.seconds) < TAB_SECONDS
