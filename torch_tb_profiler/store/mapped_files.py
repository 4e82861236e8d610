"""Mapped files; which of them somebody wrote to, cut off or replaced since; and in which damage was found when a column was first
used. Whoever keeps one of these mapped lets it go and has it made again.

Reading a file instead takes 40 ms and not 9 for a column of 40 MB (measured on two cores of a virtual machine), so that a first
view of five million events would take more than 150 ms. What is mapped are files of the cache folder alone: this program writes
each to another name, renames it, and never makes one shorter.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import threading
from collections import deque
from collections.abc import Iterator
from typing import IO
from weakref import ref

import msgspec

from torch_tb_profiler.errors import SidecarError

_found: set[str] = set()
_whys: deque[str] = deque(["damage was found"], maxlen=16)
_times = [0]
"""How often damage was found."""
_lock = threading.Lock()


class _Mapped(msgspec.Struct):
    """``written``: when it was last, ns; ``told``: that it is damaged."""

    path: str
    data: ref[mmap.mmap]
    file: tuple[int, int]
    written: int
    told: bool = False

    def in_place(self) -> bool:
        """Whether its path leads to it: a file that was replaced stays as long as it is mapped."""
        found = _status(self.path)
        return found is not None and _identity(found) == self.file

    def changed(self) -> str:
        """What happened to it since it was mapped, in words; empty where nothing did, or its path leads nowhere: then nobody
        writes to it.
        """
        data, found = self.data(), _status(self.path)
        if data is None or self.told:
            return ""
        with contextlib.suppress(ValueError, OSError):
            if data.size() != len(data):
                return "has another size by now"
        if found is None:
            return ""
        if _identity(found) != self.file:
            return "was replaced meanwhile"
        return "was written to meanwhile" if found.st_mtime_ns != self.written else ""


_mapped: list[_Mapped] = []


def contents(file: IO[bytes], path: str) -> mmap.mmap:
    """A file of the cache folder, mapped."""
    data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    status = os.fstat(file.fileno())
    with _lock:
        _mapped[:] = [known for known in _mapped if known.data() is not None]
        _mapped.append(_Mapped(path, ref(data), _identity(status), status.st_mtime_ns))
    return data


def report_changed() -> None:
    """Report the mapped files that somebody wrote to or cut off since, each once."""
    with _lock:
        known = list(_mapped)
    for each in known:
        if why := each.changed():
            each.told = True
            report(each.path, why, remove=each.in_place())


def _status(path: str) -> os.stat_result | None:
    with contextlib.suppress(OSError):
        return os.stat(path)
    return None


def _identity(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_dev, stat.st_ino


def report(path: str, why: str, *, remove: bool = True) -> None:
    """Remember a file of which something was used that it does not hold, and remove it: nobody else uses it then. ``why``: what
    is wrong with it. Without ``remove`` another one lies there by now.
    """
    _whys.append(f"{os.path.basename(path)} {why}")
    _times[0] += 1
    with _lock:
        _found.add(path)
        for each in _mapped:
            # Whoever still has it mapped hears of it now, not again when another file takes its place.
            each.told |= remove and each.path == path
    if remove:
        with contextlib.suppress(OSError):
            os.unlink(path)


def times() -> int:
    """How often damage was found so far: what was made before the last time is not to be kept."""
    return _times[0]


@contextlib.contextmanager
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
    report_changed()
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
