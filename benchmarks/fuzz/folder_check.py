"""What has to hold for a folder, whatever lies in it: every question is answered in time and without a fault of ours,
and nothing outside of it is read.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

from werkzeug.test import Client, TestResponse

from benchmarks.fuzz.check import Broken
from benchmarks.fuzz.folders import SECRET, Folder, draw
from torch_tb_profiler.cli.main import main
from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.executor import Death
from torch_tb_profiler.runs.model import State
from torch_tb_profiler.runs.worker import do_task
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.watch import Watch
from torch_tb_profiler.web.application import Application

MOST_SECONDS = 60
"""Of one folder, others on the machine included."""
_VIEWS = (
    *("overview", "operators", "kernels", "steps", "findings", "critical_path", "memory", "module"),
    *(
        "trace/timeline",
        "trace/file",
        "api_calls",
        "iterations",
        "efficiency",
        "distributed",
        "callers?operator=0",
    ),
)
_COMMANDS = (["summary"], ["doctor"], ["findings", "--json"], ["import"], ["operators", "--json"])
_read_outside: list[str] = []
_watched: list[str] = []


class InThisProcess:
    """A worker, and what starts it, without a process: starting one takes longer than a folder."""

    pid, tasks = 0, 0

    def start(self) -> InThisProcess:
        """Itself."""
        return self

    def run(self, task: dict[str, Any]) -> Iterator[dict[str, Any]]:
        told: list[dict[str, Any]] = []
        do_task(task, lambda **message: told.append(message))
        yield from told

    def death(self, size: int) -> Death:
        raise Broken("a task ends without an answer")

    def slots(self, wanted: int) -> int:
        return 1

    def free_memory(self) -> float:
        return sys.maxsize

    def kill(self) -> None: ...

    def close(self) -> None: ...


def check_folder(home: Path, seed: int, number: int) -> Counter[str]:
    """Draw a folder in an empty one and ask everything about it; replies by status, and runs of commands.

    Raises:
        Broken: something does not hold; anything else that is raised is a fault, too.
    """
    drawn = draw(home, seed, number)
    cache = home / "cache"
    cache.mkdir(mode=0o700)
    settings = Settings(cache_dir=str(cache), settle_seconds=0.0)
    told: Counter[str] = Counter()
    with _in_time(), _nothing_outside(drawn):
        told += _asked(drawn, settings)
        if drawn.random.random() < 0.25:
            _damage(cache, drawn.random)
            told += _asked(drawn, settings)
        if drawn.random.random() < 0.06:
            told += _commanded(drawn, cache)
    if (drawn.outside / "made").exists():
        raise Broken("a pickle ran something")
    return told


def _asked(drawn: Folder, settings: Settings) -> Counter[str]:
    told: Counter[str] = Counter()
    before = set(threading.enumerate())
    with mock.patch("torch_tb_profiler.runs.sidecar_store._executor", return_value=InThisProcess()):
        catalogue = Catalogue({"logs": Place(str(drawn.root))}, settings)
        try:
            watch = Watch(0.0)
            for _ in range(2):
                catalogue._scan("logs", watch)
            settled(catalogue)
            client = Client(Application(catalogue, settings))
            cut = drawn.random.random() < 0.1
            for address in _addresses(catalogue, drawn.random):
                if cut:
                    _cut(Path(settings.cache_dir), drawn.random)
                try:
                    told[str(_checked(client.get(address), address))] += 1
                except SourceError:
                    # The file turned out to be damaged in the middle of its download, which ends there.
                    if not address.startswith("/trace/file"):
                        raise
                    told["ended"] += 1
        finally:
            catalogue.close()
    until = time.monotonic() + 10
    while left := [t for t in set(threading.enumerate()) - before if t.name.startswith("profiler")]:
        if time.monotonic() > until:
            raise Broken(f"threads are left: {left}")
        time.sleep(0.001)
    return told


def settled(catalogue: Catalogue) -> None:
    """Return when every file was imported or refused."""
    waiting = (State.WAITING, State.IMPORTING)
    while any(e.state in waiting and e.retry_at is None for e in list(catalogue._entries.values())):
        time.sleep(0.001)


def _addresses(catalogue: Catalogue, random: Random) -> Iterator[str]:
    yield from ("/runs", "/diagnosis", "/tour")
    spans = [
        (run.name, worker.name, span.name)
        for run in catalogue.snapshot().runs
        for worker in run.workers
        for span in worker.spans
    ]
    for place in random.sample(spans, min(len(spans), 1)):
        for view in random.sample(_VIEWS, 2):
            yield _address(view, *place)
    if spans:
        yield _address("overview", *random.choice(spans)[:2], "no such span")


def _address(view: str, run: str, worker: str, span: str) -> str:
    from urllib.parse import urlencode

    query = urlencode({"run": run, "worker": worker, "span": span})
    return f"/{view}{'&' if '?' in view else '?'}{query}"


def _checked(reply: TestResponse, address: str) -> int:
    data = reply.get_data()
    if reply.status_code == 500 or SECRET.encode() in data:
        raise Broken(f"{address}: {reply.status_code} {data[:400]!r}")
    if reply.status_code != 200 and set(json.loads(data)) != {"error"}:
        raise Broken(f"{address}: {reply.status_code} has another shape")
    return reply.status_code


def _commanded(drawn: Folder, cache: Path) -> Counter[str]:
    command = drawn.random.choice(_COMMANDS)
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with (
        mock.patch.dict(
            os.environ,
            {"TORCH_TB_PROFILER_CACHE_DIR": str(cache), "TORCH_TB_PROFILER_WORKERS": "1"},
        ),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch("torch_tb_profiler.runs.sidecar_store._executor", return_value=InThisProcess()),
    ):
        code = main([command[0], str(drawn.root), *command[1:]])
        out.flush()
    text = out.buffer.getvalue().decode() + err.getvalue()
    odd = [c for c in text.replace("\n", "").replace("\u202f", "") if not c.isprintable()]
    if odd or SECRET in text or "Traceback" in text:
        raise Broken(f"{command} prints {odd[:5]} {text[:400]!r}")
    return Counter({f"exit {code}": 1})


def _damage(cache: Path, random: Random) -> None:
    """What a full disk, a killed copy or a careless hand leaves of a kept file."""
    kept = sorted(cache.glob("*.safetensors"))
    for path in random.sample(kept, min(len(kept), 2)):
        data, way = bytearray(path.read_bytes()), random.randrange(5)
        at = random.randrange(len(data) or 1)
        if way == 0:
            os.truncate(path, at)
        elif way == 1:
            data[at : at + 1] = random.randbytes(1)
            path.write_bytes(data)
        elif way == 2:
            path.write_bytes(random.randbytes(200))
        elif way == 3:
            size = int.from_bytes(data[:8], "little")
            path.write_bytes(data[:8] + b"[" * size + data[8 + size :])
        else:
            path.unlink()
            path.mkdir()


def _cut(cache: Path, random: Random) -> None:
    """Behind the back of who has it mapped."""
    for path in sorted(cache.glob("*.safetensors")):
        if path.is_file():
            os.truncate(path, random.randrange(path.stat().st_size + 1))


@contextlib.contextmanager
def _in_time() -> Iterator[None]:
    def over(*_: object) -> None:
        raise Broken(f"it takes more than {MOST_SECONDS} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(MOST_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _nothing_outside(drawn: Folder) -> Iterator[None]:
    _install()
    _watched.append(os.path.realpath(drawn.outside))
    _read_outside.clear()
    try:
        yield
    finally:
        _watched.clear()
    if _read_outside:
        raise Broken(f"it opens {_read_outside[:3]}")


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open" or not _watched or not isinstance(arguments[0], (str, bytes)):
        return
    path, _, flags = arguments
    # Refused by the system where the last part is a link.
    if isinstance(flags, int) and flags & os.O_NOFOLLOW:
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    elif os.path.isabs(path):
        path = os.path.realpath(path)
    if os.fsdecode(path).startswith(_watched[0] + os.sep):
        _read_outside.append(os.fsdecode(path))


_hooked: list[bool] = []


def _install() -> None:
    # A hook cannot be taken away again.
    if not _hooked:
        _hooked.append(True)
        sys.addaudithook(_heard)
