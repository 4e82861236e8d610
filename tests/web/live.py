"""A live catalogue over a logdir on disk, asked through the application; and workers for its
timelines that wait for a word.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from werkzeug.test import Client, TestResponse

from tests.web.served import body
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.products import make_timeline
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.web.application import Application

PATIENCE_SECONDS = 60.0
Report = Callable[[int, "int | None"], None]


def build_when_told(
    location: str, sidecar_path: str, settings: Settings, report: Report
) -> dict[str, Any]:
    """Make a timeline once a file "go" lies in the cache folder; raise when it holds a word."""
    go = Path(settings.cache_dir) / "go"
    while not go.exists():
        report(1, 4)
        time.sleep(0.02)
    if go.read_text():
        raise ValueError(go.read_text())
    return make_timeline(location, sidecar_path, settings, report)


def logdir_of(folder: Path, *traces: Path) -> Path:
    """A logdir in which each trace is a run of its own, named "0", "1" ..."""
    for number, trace in enumerate(traces):
        (folder / str(number)).mkdir(parents=True)
        shutil.copyfile(trace, folder / str(number) / trace.name)
    return folder


@contextmanager
def live(logdir: Path, cache: Path, build: str = "") -> Iterator[tuple[Catalogue, Client]]:
    """A started catalogue whose traces are imported, and a client; ``build``: what makes the
    timelines.
    """
    cache.mkdir(exist_ok=True)
    settings = Settings(cache_dir=str(cache), settle_seconds=0.0, scan_seconds=0.2)
    makers = {"timeline": build} if build else None
    catalogue = Catalogue({"": Place(str(logdir))}, settings, makers=makers)
    catalogue.start()
    client = Client(Application(catalogue, settings))
    try:
        until(
            lambda: (
                (f := catalogue.snapshot()).runs
                and not f.scanning
                and all(s.state.value == "ready" for s in spans(catalogue))
            )
        )
        yield catalogue, client
    finally:
        catalogue.close()


def spans(catalogue: Catalogue) -> list[Any]:
    """Every span of the catalogue."""
    return [
        span for run in catalogue.snapshot().runs for worker in run.workers for span in worker.spans
    ]


def places(catalogue: Catalogue) -> list[dict[str, str]]:
    """Query of every trace."""
    return [
        {"run": run.name, "worker": worker.name, "span": span.name}
        for run in catalogue.snapshot().runs
        for worker in run.workers
        for span in worker.spans
    ]


def until(condition: Callable[[], object]) -> None:
    """Wait for something that another thread or process does."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.01)


def patiently(client: Client, route: str, query: dict[str, str]) -> TestResponse:
    """Ask until the answer is not 202 any more."""
    end = time.monotonic() + PATIENCE_SECONDS
    while (response := client.get(route, query_string=query)).status_code == 202:
        assert time.monotonic() < end, "the timeline did not become ready"
    return response


def json_of(response: TestResponse) -> Any:
    """The JSON of a good answer."""
    assert response.status_code == 200, body(response)[:300]
    return json.loads(body(response))
