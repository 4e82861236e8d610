"""Mapped files, and what becomes of a process when one of them can no longer be read: it was cut off behind our back, or
its disk or server is gone. The system then sends the thread that touches such a page a signal, SIGBUS, which would end
the process. Here it ends what that thread computes::

    thread reads a page ─▶ SIGBUS ─▶ zeros are laid over the page and all behind it, the file is noted
          └──────────── goes on, reads zeros ──────────────▶ ``damage_reports.expect_readable`` ─▶ SidecarError: nothing of it is told

Reading instead of mapping needs no such thing, and is what other systems than 64-bit Linux do. It takes 40 ms instead of
9 for a column of 40 MB (measured on two cores of a virtual machine), so that a first view of five million events would
take more than 150 ms.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import signal
import sys
import threading
from functools import cache
from typing import IO, Any
from weakref import ref

import msgspec

from torch_tb_profiler.store import damage_reports

_SIGINFO = 4
"""``SA_SIGINFO`` (asm-generic/signal-defs.h)."""
_ADDRESS_AT = 16
"""Of ``si_addr`` in ``siginfo_t`` on 64-bit systems."""
_FIXED, _ANONYMOUS, _FAILED = 0x10, 0x20, ctypes.c_void_p(-1).value
"""Of ``mmap`` on Linux."""


class _Mapped(msgspec.Struct):
    """``written``: when it was last, ns; ``told``: that it is damaged."""

    path: str
    begin: int
    end: int
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


class _Action(ctypes.Structure):
    """``struct sigaction`` of glibc and musl."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_byte * 128),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


_mapped: list[_Mapped] = []
_lock = threading.Lock()


def contents(file: IO[bytes], path: str) -> mmap.mmap | bytes:
    """A file, mapped where a page that cannot be read ends no process, else read."""
    if os.name != "nt" and not _is_guarded():
        return file.read()
    data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    begin = _address(data)
    with _lock:
        _mapped[:] = [known for known in _mapped if known.data() is not None]
        status = os.fstat(file.fileno())
        known = (path, begin, begin + len(data), ref(data), _identity(status))
        _mapped.append(_Mapped(*known, status.st_mtime_ns))
    return data


def report_changed() -> None:
    """Report the mapped files that somebody wrote to or cut off since, each once."""
    with _lock:
        known = list(_mapped)
    for each in known:
        if why := each.changed():
            each.told = True
            damage_reports.report(each.path, why, remove=each.in_place())


damage_reports.look_by(report_changed)


def _status(path: str) -> os.stat_result | None:
    with contextlib.suppress(OSError):
        return os.stat(path)
    return None


def _identity(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_dev, stat.st_ino


def _address(data: mmap.mmap) -> int:
    import numpy as np

    return int(np.frombuffer(data, np.uint8).ctypes.data)


def _lay_zeros(address: int, libc: Any) -> bool:
    """Lay zeros over the pages of a mapped file from an address on; whether it is one."""
    for known in _mapped:
        data = known.data() if known.begin <= address < known.end else None
        if data is not None and not data.closed:
            page = address - address % mmap.PAGESIZE
            flags = mmap.MAP_PRIVATE | _FIXED | _ANONYMOUS
            laid = libc.mmap(page, known.end - page, mmap.PROT_READ, flags, -1, 0)
            why = "could not be read to its end: something cut it off"
            damage_reports.report(known.path, why, remove=known.in_place())
            return bool(laid != _FAILED)
    return False


@cache
def _is_guarded() -> bool:
    """Handle the signal from now on; whether that can be."""
    if not sys.platform.startswith("linux") or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    try:
        libc = ctypes.CDLL(None)
        libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
        libc.mmap.restype = ctypes.c_void_p
        before = _Action()

        # The signal comes from an instruction that reads an array, between no two steps of the interpreter.
        def hear(number: int, info: int, context: int) -> None:
            address = ctypes.c_uint64.from_address(info + _ADDRESS_AT).value
            if not _lay_zeros(address, libc):
                # Not ours: it comes again, to who was there before.
                libc.sigaction(number, ctypes.byref(before), None)

        handle = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(hear)
        _kept.append(handle)
        action = _Action(ctypes.cast(handle, ctypes.c_void_p).value, flags=_SIGINFO)
        done = libc.sigaction(signal.SIGBUS, ctypes.byref(action), ctypes.byref(before))
    except (OSError, AttributeError):
        return False
    return bool(done == 0)


_kept: list[Any] = []
"""What C calls must not be collected."""
