"""Whether the file that a sidecar was made of is gone or another by now, as its header tells.

A file system that is not mounted just now must not be taken for an empty one: what remains of the
path has to lie on the device that the file was on. A sidecar without such a record (of a URL) stays
until the cache is full.
"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote_to_bytes

from torch_tb_profiler.sources.identity import agrees
from torch_tb_profiler.untrusted import decoded

_LONGEST_HEADER = 64 << 20


def is_gone(sidecar: Path) -> bool:
    """Whether its file was removed or changed; not where that cannot be said. May wait for a file
    system that does not answer.
    """
    try:
        with sidecar.open("rb") as file:
            used = os.fstat(file.fileno())
            size = int.from_bytes(file.read(8), "little")
            header = decoded(file.read(min(size, _LONGEST_HEADER)))
        # Who looks does not use it.
        os.utime(sidecar, ns=(used.st_atime_ns, used.st_mtime_ns))
        source = decoded(header["__metadata__"]["told"].encode())["source"]
        path, device = os.fsdecode(unquote_to_bytes(source["path"])), source["device"]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False
    try:
        if _is_there(path):
            status = os.stat(path)
            return not agrees(source["identity"], status.st_size, status.st_mtime_ns)
        return bool(os.stat(_remaining(path)).st_dev == device)
    except (OSError, ValueError):
        return False


def _remaining(path: str) -> str:
    """The deepest folder of a path that exists."""
    parent = os.path.dirname(path)
    while not _is_there(parent):
        parent = os.path.dirname(parent)
    return parent


def _is_there(path: str) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
