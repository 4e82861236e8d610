"""Sidecars of which damage was found when a column was first used, that could not be read to their end, or that were written to
while they were mapped. Whoever keeps one of them mapped lets it go and has it made again.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from torch_tb_profiler.errors import SidecarError

_found: set[str] = set()
_whys: deque[str] = deque(["damage was found"], maxlen=16)
_times = [0]
"""How often damage was found."""
_lock = threading.Lock()
_looks: list[Callable[[], None]] = []


def report(path: str, why: str, *, remove: bool = True) -> None:
    """Remember a file of which something was used that it does not hold, and remove it: nobody else uses it then. ``why``: what
    is wrong with it. Without ``remove`` another one lies there by now.
    """
    _whys.append(f"{os.path.basename(path)} {why}")
    _times[0] += 1
    with _lock:
        _found.add(path)
    if remove:
        with suppress(OSError):
            os.unlink(path)


def times() -> int:
    """How often damage was found so far: what was made before the last time is not to be kept."""
    return _times[0]


def look_by(find: Callable[[], None]) -> None:
    """Have ``find`` look for damage and report it, at the end of each block of ``expect_readable``."""
    _looks.append(find)


def look() -> None:
    """Report what was damaged since."""
    for each in _looks:
        each()


@contextmanager
def expect_readable() -> Iterator[None]:
    """Of what is computed in this block nothing is of a file that is damaged; nor is an error that it raises.

    Raises:
        SidecarError: some may have been read, by this or another thread.
    """
    before, failure = _times[0], None
    try:
        yield
    except SidecarError:
        raise
    except Exception as error:
        failure = error
    look()
    if _times[0] != before:
        raise SidecarError(f"{_whys[-1]}.", "It is made again.") from failure
    if failure is not None:
        raise failure


def take(path: str) -> bool:
    """Whether a file was reported, once."""
    if not _found:
        return False
    with _lock:
        known = path in _found
        _found.discard(path)
        return known
