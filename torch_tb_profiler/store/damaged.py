"""Sidecars of which damage was found when a column was first used. Whoever keeps one of them mapped
lets it go and has it made again.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress

_found: set[str] = set()
_lock = threading.Lock()


def report(path: str) -> None:
    """Remember a damaged file, and remove it: nobody else uses it then."""
    with _lock:
        _found.add(path)
    with suppress(OSError):
        os.unlink(path)


def take(path: str) -> bool:
    """Whether a file was reported, once."""
    if not _found:
        return False
    with _lock:
        known = path in _found
        _found.discard(path)
        return known
