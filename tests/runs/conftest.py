"""A logdir, a cache folder, and catalogues that are closed at the end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.builders.drawn import events, trace_of
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.model import Span
from torch_tb_profiler.runs.work_queue import WorkQueue
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store import sidecar

OBEY = "tests.runs.targets:obey"
LONG_AGO_NS = 1_600_000_000_000_000_000
DRAWING = """
    main   [aten::mm    ]
    main     <launch #1>
    gpu 7          {gemm #1 }
"""


def until(condition: Callable[[], object], what: str = "", seconds: float = 60.0) -> None:
    """Wait for something that another thread or process does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"did not happen within {seconds} s: {what or condition}"
        time.sleep(0.01)


def nothing_may_begin(queue: WorkQueue) -> bool:
    """Whether a queue finds now no job to begin: what waits, waits for an event."""
    with queue._changed:
        return queue._first() is None


def alive(pid: int) -> bool:
    """Whether a process runs; one that waits to be collected by its parent does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    try:
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def write(path: Path, text: str, *, old: bool = True) -> Path:
    """A file that was written long ago, so that nothing waits for it to settle."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if old:
        os.utime(path, ns=(LONG_AGO_NS, LONG_AGO_NS))
    return path


def spans(catalogue: Catalogue) -> dict[str, Span]:
    """Every span by its path."""
    return {s.path: s for r in catalogue.snapshot().runs for w in r.workers for s in w.spans}


def states(catalogue: Catalogue) -> dict[str, str]:
    """Path of every file that was seen → state."""
    return {f.path: f.state.value for f in catalogue.snapshot().files}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Short waits, two workers, a cache of the test's own."""
    (tmp_path / "cache").mkdir()
    return Settings(
        workers=2, scan_seconds=0.05, settle_seconds=0.3, cache_dir=str(tmp_path / "cache")
    )


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    """An empty folder."""
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


Start = Callable[..., Catalogue]


@pytest.fixture
def start(settings: Settings) -> Iterator[Start]:
    """Make and start a catalogue over folders or URLs; all are closed at the end."""
    made: list[Catalogue] = []

    def begin(where: object, changed: Settings | None = None, maker: str = OBEY) -> Catalogue:
        named = where if isinstance(where, dict) else {"": where}
        logdirs = {name: Place(str(logdir)) for name, logdir in named.items()}
        catalogue = Catalogue(logdirs, changed or settings, makers={"import": maker})
        made.append(catalogue)
        catalogue.start()
        return catalogue

    yield begin
    for catalogue in made:
        catalogue.close()


@pytest.fixture
def trace_sidecar(tmp_path: Path) -> str:
    """The sidecar of a drawn trace."""
    trace = trace_of(events(DRAWING))
    path = tmp_path / "cache" / "a.safetensors"
    sidecar.write(path, trace, derive(trace))
    return str(path)
