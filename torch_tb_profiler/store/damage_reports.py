"""Sidecars of which damage was found when a column was first used, or that could not be read to their end. Whoever keeps
one of them mapped lets it go and has it made again.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from torch_tb_profiler.errors import SidecarError

_found: set[str] = set()
_unreadable: deque[str] = deque(maxlen=16)
_times = [0]
"""How often one was found."""
_lock = threading.Lock()


def report(path: str, *, remove: bool = True) -> None:
    """Remember a damaged file, and remove it: nobody else uses it then. Without ``remove`` another one lies there by now."""
    with _lock:
        _found.add(path)
    if remove:
        with suppress(OSError):
            os.unlink(path)


def report_unreadable(path: str, *, remove: bool = True) -> None:
    """Remember, and remove, a file of which zeros were read instead of what it holds."""
    _times[0] += 1
    _unreadable.append(os.path.basename(path))
    report(path, remove=remove)


@contextmanager
def expect_readable() -> Iterator[None]:
    """Of what is computed in this block nothing is of such zeros.

    Raises:
        SidecarError: some may have been read, by this or another thread.
    """
    before = _times[0]
    yield
    if _times[0] != before:
        raise SidecarError(
            f"{_unreadable[-1]} could not be read to its end: something cut it off.",
            "It is made again.",
        )


def take(path: str) -> bool:
    """Whether a file was reported, once."""
    if not _found:
        return False
    with _lock:
        known = path in _found
        _found.discard(path)
        return known
