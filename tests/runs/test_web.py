"""A logdir on a real web server, read by worker processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runs.conftest import Start, spans, states, until, write
from tests.runs.targets import content
from tests.web_server import serving


@pytest.fixture
def server(logdir: Path) -> Iterator[str]:
    pytest.importorskip("aiohttp")
    with serving(logdir) as address:
        yield address


def test_runs_on_a_web_server(server: str, logdir: Path, start: Start) -> None:
    path = write(logdir / "logs" / "run" / "rank0.pt.trace.json", content(rank=1, world=4))
    write(logdir / "logs" / "other" / "any.json", content())
    write(logdir / "logs" / "other" / "package.json", '{"name": 1}')
    catalogue = start(f"{server}/logs")
    until(lambda: sorted(states(catalogue).values()) == ["ready", "ready", "rejected"])
    opened = catalogue.open("run", "rank0", "trace")
    assert (opened.worker.rank, opened.span.path) == (1, f"{server}/logs/run/rank0.pt.trace.json")
    assert catalogue.snapshot().logdirs == (f"{server}/logs",)
    write(path, content(rank=3, world=44))
    until(lambda: catalogue.snapshot().runs[1].workers[0].rank == 3)
    path.unlink()
    until(lambda: len(spans(catalogue)) == 1)


def test_the_url_of_one_file_is_a_logdir(server: str, logdir: Path, start: Start) -> None:
    write(logdir / "run" / "rank0.pt.trace.json", content())
    catalogue = start(f"{server}/run/rank0.pt.trace.json")
    until(lambda: list(states(catalogue).values()) == ["ready"])
    assert [r.name for r in catalogue.snapshot().runs] == ["run"]
