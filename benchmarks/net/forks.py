"""Work in processes of their own that have everything imported already: forks. Unix only."""

from __future__ import annotations

import io
import os
import pickle
import select
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import IO, NamedTuple

RAISED = 99
"""Exit code of work that raised."""
LATE = 124
"""Exit code of work that was ended because it took too long."""
Work = Callable[[], object]


class Said(NamedTuple):
    """How work ended, and what it printed. ``code``: negative where a signal ended its process."""

    code: int
    out: bytes
    err: bytes


def each(works: Sequence[Work], seconds: float) -> Iterator[Said]:
    """Do work after work in a child; what one returns is its exit code where it is a number, else 0. Where one ends the
    child, or takes longer than so many seconds and has it killed, the next have a child of their own.
    """
    done = 0
    while done < len(works):
        answers, end = os.pipe()
        pid = start(partial(_all, works[done:], end), 1, 2)
        os.close(end)
        with open(answers, "rb") as file:
            while done < len(works):
                late = not select.select([file], [], [], seconds)[0]
                said = None if late else _read(file)
                if said is None:
                    code = ended(pid, 0 if late else 5)
                    yield Said(code, b"", b"the process ended")
                    done += 1
                    break
                yield said
                done += 1
            else:
                ended(pid, 5)


def _read(file: IO[bytes]) -> Said | None:
    try:
        return Said(*pickle.load(file))
    except (EOFError, pickle.UnpicklingError):
        return None


def _all(works: Sequence[Work], to: int) -> None:
    with open(to, "wb") as answers:
        for work in works:
            with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
                code = _printing(work, out.fileno(), err.fileno())
                for file in (out, err):
                    file.seek(0)
                pickle.dump((code, out.read(), err.read()), answers)
            answers.flush()


def start(work: Work, out: int, err: int) -> int:
    """The id of a child that works and prints to these descriptors, in a session of its own."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    code = RAISED
    try:
        os.setsid()
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        code = _printing(work, out, err)
    finally:
        os._exit(code)


def _printing(work: Work, out: int, err: int) -> int:
    """The exit code of work whose output goes to these descriptors."""
    os.dup2(out, 1)
    os.dup2(err, 2)
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(io.BufferedWriter(io.FileIO(number, "w", closefd=False)), encoding="utf-8")
        for number in (1, 2)
    )
    try:
        told = work()
    except SystemExit as end:
        told = end.code
    except BaseException:
        traceback.print_exc()
        told = RAISED
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    return told if isinstance(told, int) else 0


def ended(pid: int, seconds: float) -> int:
    """The exit code of a child, once it has ended or its time is over."""
    handle = os.pidfd_open(pid)
    try:
        late = not select.select([handle], [], [], seconds)[0]
        if late:
            os.killpg(pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return LATE if late else code
    finally:
        os.close(handle)
