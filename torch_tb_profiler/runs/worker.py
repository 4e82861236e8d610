"""The worker process: takes tasks as lines of JSON on standard input and answers on standard output.

A plain child process and not ``multiprocessing``, whose spawned children run the parent's
``__main__`` again: here that is TensorBoard, a notebook or a user's script without a guard.
Standard input ends when the parent does, however it ends, and the worker and its own children with
it.

::

    ← {"maker": "module:function", "location": "...", "sidecar": "...", "settings": {...}}
    → {"begun": true}   {"progress": [done, total]} ...   {"outcome": {...}}  or  {"error": "...", "code": "..."}
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import IO, Any

from torch_tb_profiler.errors import OverLimit, ProfilerError
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place, words
from torch_tb_profiler.units import format_bytes

MEMORY_SETTING = "MAX_IMPORT_MEMORY_BYTES"
FULL = (errno.ENOSPC, errno.EDQUOT)
Maker = Callable[[str, str, Settings, Callable[[int, "int | None"], None]], dict[str, Any]]


def main() -> None:
    """Do tasks until standard input ends."""
    # Whatever a library prints must not end up between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    commands = os.fdopen(os.dup(0), "rb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _be_the_first_to_go()
    tasks: queue.Queue[dict[str, Any]] = queue.Queue()
    threading.Thread(
        target=_listen, args=(commands, tasks), name="profiler-tasks", daemon=True
    ).start()
    while True:
        _serve(tasks.get(), answers)


def _listen(commands: IO[bytes], tasks: queue.Queue[dict[str, Any]]) -> None:
    for line in commands:
        tasks.put(json.loads(line))
    # The parent is gone or done with us; children that an import started (there may be some) go
    # too.
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(0)


def _serve(task: dict[str, Any], answers: IO[str]) -> None:
    def answer(**message: Any) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    do_task(task, answer, limited=True)


def do_task(task: dict[str, Any], answer: Callable[..., None], *, limited: bool = False) -> None:
    """Have something made; ``answer`` is called with each message. ``limited``: this process may allocate what the settings
    allow, as only a worker process does.

    Raises:
        ImportError, AttributeError: there is no such maker.
    """
    answer(begun=True)
    module, _, name = task["maker"].partition(":")
    maker: Maker = getattr(importlib.import_module(module), name)
    settings = Settings(**task["settings"])

    def report(done: int, total: int | None) -> None:
        answer(progress=[done, total])

    def make() -> dict[str, Any]:
        if task.get("elsewhere") or not Place(settings.cache_dir).is_local:
            from torch_tb_profiler.runs.shared_task import make_shared

            return make_shared(task, maker, settings, report)
        return maker(task["location"], task["sidecar"], settings, report)

    try:
        with limited_memory(settings) if limited else contextlib.nullcontext():
            outcome = make()
        answer(outcome=outcome)
    except OverLimit as error:
        answer(error=str(error), code=error.code)
    except ProfilerError as error:
        answer(error=error.message, code=error.code)
    except MemoryError:
        answer(error="The import ran out of memory.", code="memory")
    except Exception as error:
        full = isinstance(error, OSError) and error.errno in FULL
        answer(error=_words(error), code="no_space" if full else "raised")


@contextlib.contextmanager
def limited_memory(settings: Settings) -> Iterator[None]:
    """What this process allocates in the block is limited as it is in a worker process.

    Raises:
        OverLimit: it needs more than ``settings.max_import_memory_bytes``.
    """
    limit = settings.max_import_memory_bytes
    usual = _limit_memory(limit + _own_memory()) if limit else None
    try:
        yield
    except MemoryError:
        _limit_memory(usual)  # there must be enough to say so
        if usual is None:
            raise
        what = f"It needs more than {format_bytes(limit)} of memory"
        raise OverLimit(what, MEMORY_SETTING) from None
    finally:
        _limit_memory(usual)


def _own_memory() -> int:
    """Bytes that this process has allocated once it is ready to import, 0 unknown."""
    importlib.import_module("torch_tb_profiler.importers")
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _limit_memory(limit: int | None) -> int | None:
    """Let this process allocate so many bytes at most; the limit before, None if there can be none. Only
    Linux counts all that is allocated, and no mapped files.
    """
    if sys.platform != "linux" or limit is None:
        return None
    import resource

    before, most = resource.getrlimit(resource.RLIMIT_DATA)
    if most != resource.RLIM_INFINITY:
        limit = most if limit == resource.RLIM_INFINITY else min(limit, most)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, most))
    return before


def _words(error: BaseException) -> str:
    import traceback

    traceback.print_exc()
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"The import raised {words(error)} ({os.path.basename(frame.filename)}, line"
        f" {frame.lineno})."
    )


def _be_the_first_to_go() -> None:
    # Where memory runs out, Linux shall end an import and not TensorBoard.
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("800")
