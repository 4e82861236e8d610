"""How much memory is free, and when what was freed goes back to the system (glibc only).

A trace is gathered in some ten thousand small arrays, which glibc keeps when they are freed: half
of the peak of a large import (measured: 830 against 510 MB for 5 million events).
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import re
import sys
from pathlib import Path

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_MMAP_MAX, _M_ARENA_MAX = -1, -3, -4, -8
"""Parameters of glibc's ``mallopt`` (malloc.h)."""
_FEW_BYTES = 256 << 20
"""Resident, libraries included: what an import may take of 210 MB of text (``benchmarks/README.md``)."""
_LITTLE_BYTES = 128 << 20
_resident_before = 0
"""When free pages were last returned, or fewer since."""


def free_memory() -> int:
    """Bytes that Linux has available, within the limit of the control group; ``sys.maxsize`` elsewhere."""
    try:
        available = re.search(r"^MemAvailable: +(\d+) kB", system_text("/proc/meminfo"), re.M)
    except OSError:
        return sys.maxsize
    free = int(available[1]) * 1024 if available else sys.maxsize
    with contextlib.suppress(OSError, ValueError):
        group = "/sys/fs/cgroup/memory."
        cached = re.search(r"^inactive_file (\d+)", system_text(f"{group}stat"), re.M)
        used = int(system_text(f"{group}current")) - (int(cached[1]) if cached else 0)
        free = min(free, int(system_text(f"{group}max")) - used)
    return free


def resident_memory() -> int:
    """Bytes of memory of this process; 0 where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(system_text("/proc/self/statm").split()[1]) * mmap.PAGESIZE
    return 0


def system_text(path: str) -> str:
    """What a file of the system says.

    Raises:
        OSError: there is none.
    """
    return Path(path).read_text("ascii", "replace")


def give_back_memory(at_the_end: bool = False) -> None:
    """Ask glibc to return free pages to the system, unless this process has few or, while it still works, has hardly
    grown since it last did so.

    What was given back must be cleared by the kernel before it is used again: of 75,000 events a fourth of the time of
    the facts, of 1.2 million an eighth (measured). A large process that reads small traces would pay it for each.
    """
    global _resident_before
    resident = resident_memory()
    little = not at_the_end and resident - _resident_before < _LITTLE_BYTES
    if resident and (little or resident < _FEW_BYTES):
        _resident_before = min(resident, _resident_before)
        return
    _call_glibc("malloc_trim", 0)
    _resident_before = resident_memory()


def keep_freed_memory() -> None:
    """Make this process reuse freed memory instead of mapping fresh pages.

    For a process that creates many large arrays in sequence: glibc would map each one anew, and the
    kernel would clear every page. Measured on the timeline of ten million events: 3.7 instead of
    5.8 to 6.8 s at the same peak; on the findings of 1.2 million: 0.8 instead of 1.4 s in the kernel, and a lower peak.
    """
    _call_glibc("mallopt", _M_MMAP_MAX, 0)
    _call_glibc("mallopt", _M_ARENA_MAX, 1)  # threads reuse what others freed, too
    _call_glibc("mallopt", _M_TRIM_THRESHOLD, (1 << 31) - 1)


def share_freed_memory() -> None:
    """Make the threads of this process reuse what others freed.

    For a server: glibc gives threads up to eight heaps per core, and what one of them freed is of no use to another.
    Measured after ten thousand requests from 16 threads: 418 instead of 628 MB, of which 250 are in use.

    The thresholds are what glibc learns by itself from the first large arrays that are freed; until then the kernel
    would clear every page of each array anew, an eighth of the time of a first view of five million events (measured).
    """
    _call_glibc("mallopt", _M_ARENA_MAX, 2)
    _call_glibc("mallopt", _M_MMAP_THRESHOLD, 32 << 20)
    _call_glibc("mallopt", _M_TRIM_THRESHOLD, 64 << 20)


def _call_glibc(function: str, *arguments: int) -> None:
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            getattr(ctypes.CDLL(None), function)(*arguments)
