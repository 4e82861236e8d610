"""Records the replies about many folders, in processes of their own."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from . import commands, forks, routes, tables, tools
from .kept import Reader, Reply, file_of, keep
from .subjects import Subject

NOT_IMPORTED = (
    "torch_tb_profiler.__main__",
    "torch_tb_profiler.integrations",
    "torch_tb_profiler.recording",
    "torch_tb_profiler.plugin",
)
ALONE = "alone"
"""Stands for the subject of what is said without a recording."""
SECONDS = 1200.0
"""For one subject."""


def record(
    out: Path, tree: Path, found: Sequence[Subject], jobs: int, anew: bool, kinds: Sequence[str]
) -> int:
    """Record each subject that is not recorded yet, the largest first; the number of subjects that failed."""
    begun = time.monotonic()
    import_all()
    todo: list[tuple[str, Subject | None]] = [(ALONE, None)]
    todo += [(each.name, each) for each in sorted(found, key=lambda each: -each.size)]
    missing = [
        (name, each, needed)
        for name, each in todo
        if (needed := [k for k in kinds if anew or not file_of(out, name, k).exists()])
    ]
    about = {"tree": commit_of(tree), "python": sys.version.split()[0], "subjects": len(todo)}
    running: dict[int, tuple[str, float]] = {}
    failed = done = 0
    for name, each, needed in [*missing, ("", None, [])]:
        while running and (len(running) >= jobs or not name):
            pid, code = _next(running)
            ended, since = running.pop(pid)
            done, failed = done + 1, failed + bool(code)
            words = "" if code == 0 else f", FAILED ({code})"
            print(
                f"[{done}/{len(missing)}] {ended}: {time.monotonic() - since:.1f} s{words}",
                flush=True,
            )
        if name:
            work = _work(out, tree, name, each, needed)
            running[forks.start(work, 1, 2)] = (name, time.monotonic())
    about["seconds"] = round(time.monotonic() - begun)
    (out / "about.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return failed


def import_all() -> None:
    """Import every module of the package now, so that no child has to. Those that need PyTorch are left out."""
    package = importlib.import_module("torch_tb_profiler")
    for found in pkgutil.walk_packages(package.__path__, "torch_tb_profiler."):
        if not found.name.startswith(NOT_IMPORTED):
            with contextlib.suppress(ImportError):
                importlib.import_module(found.name)
    for name in ("duckdb", "pyarrow", "pandas.io.formats.csvs", "jinja2"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()


def _next(running: dict[int, tuple[str, float]]) -> tuple[int, int]:
    """The next child that ends, or is ended because it took too long, and its exit code."""
    while True:
        for pid, (_, since) in running.items():
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return pid, forks.ended(pid, 0.1)
            if time.monotonic() - since > SECONDS:
                return pid, forks.ended(pid, 0)
        time.sleep(0.02)


def commit_of(tree: Path) -> str:
    """The commit of a tree, and whether it was changed since."""
    told = subprocess.run(
        ["git", "-C", str(tree), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout.strip() or "unknown"


def _work(
    out: Path, tree: Path, name: str, subject: Subject | None, kinds: Sequence[str]
) -> Callable[[], int]:
    def work() -> int:
        with tempfile.TemporaryDirectory(prefix="net-", ignore_cleanup_errors=True) as home:
            logs = Path(home, "logs")
            logs.mkdir()
            os.environ["TORCH_TB_PROFILER_CACHE_DIR"] = str(Path(home, "cache"))
            os.chdir(logs)
            folder = subject.copied(logs) if subject else None
            if folder is not None:
                _make(folder)
            read = Reader({str(logs): "<logs>", home: "<work>", str(tree): "<tree>"})
            for kind in kinds:
                # The working folder itself holds nothing but the subject.
                keep(file_of(out, name, kind), _replies(kind, logs, folder, subject), read)
        return 0

    return work


def _make(folder: Path) -> None:
    """Import and analyse, with what that prints and does in a process of its own."""
    from torch_tb_profiler.settings import Settings

    def make() -> None:
        routes.ready(folder.name, Settings.from_environment())

    for _ in forks.each([make], SECONDS / 2):
        pass


def _replies(
    kind: str, logs: Path, folder: Path | None, subject: Subject | None
) -> Iterator[Reply]:
    """The replies of a kind; what nobody caught is one, too."""
    try:
        if folder is None or subject is None:
            yield from _alone(kind, logs)
            return
        pair, few = parts(folder), subject.large
        if kind == "routes":
            yield from routes.replies(folder, few)
        elif kind == "commands":
            yield from commands.replies(folder.name, pair, few)
        elif kind == "tools":
            yield from tools.replies(logs, folder.name, pair, few)
        else:
            yield from tables.replies(folder.name, few)
    except Exception:
        yield Reply("(recording)", forks.RAISED, traceback.format_exc(), False)


def _alone(kind: str, logs: Path) -> Iterator[Reply]:
    if kind == "routes":
        yield from routes.alone(logs)
    elif kind == "commands":
        yield from commands.alone()
    elif kind == "tools":
        yield from tools.alone(logs)


def parts(folder: Path) -> tuple[str, str] | None:
    """Two parts of a folder that can be compared: its first two folders, else its first two files; from the folder above it."""
    for choose in (Path.is_dir, Path.is_file):
        found = sorted(path for path in folder.iterdir() if choose(path) and path.name[0] != ".")
        if len(found) > 1:
            first, second = (str(path.relative_to(folder.parent)) for path in found[:2])
            return first, second
    return None
