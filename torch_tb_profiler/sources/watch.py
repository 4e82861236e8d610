"""Which files are new, changed, still growing, whole or gone since the last look."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from torch_tb_profiler.sources.listing import Found

Version = tuple[int, str]
"""(size, stamp): differs between two contents of one file."""


def version_of(found: Found) -> Version:
    """What tells this content of a file from its next."""
    return found.size, found.stamp


@dataclass(frozen=True)
class Changes:
    """What one look found.

    Attributes:
        whole: files that are quiet now and were not reported in this version before: to be
            imported.
        growing: files that changed a moment ago.
        removed: locations that are gone.
    """

    whole: tuple[Found, ...]
    growing: tuple[Found, ...]
    removed: tuple[str, ...]


@dataclass
class _Known:
    version: Version
    quiet_since: float
    reported: bool = False


class Watch:
    """Remembers the last look. Not thread-safe: it belongs to one scanner.

    A file is growing for ``settle_seconds`` after its last change. At first sight its own time
    stamp says when that was; later this process' clock does, which a server's wrong clock cannot
    disturb. Where no time is told (some servers) there is nothing to wait for.
    """

    def __init__(
        self,
        settle_seconds: float,
        clock: Callable[[], float] = time.monotonic,
        wall_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._settle = settle_seconds
        self._clock = clock
        self._wall_ns = wall_ns
        self._known: dict[str, _Known] = {}

    def look(self, files: Iterable[Found]) -> Changes:
        """Compare the files of a complete listing with those of the last one."""
        now = self._clock()
        whole, growing, present = [], [], set()
        for found in files:
            present.add(found.location)
            known = self._note(found, now)
            if now - known.quiet_since < self._settle:
                growing.append(found)
            elif not known.reported:
                known.reported = True
                whole.append(found)
        removed = tuple(location for location in self._known if location not in present)
        for location in removed:
            del self._known[location]
        return Changes(tuple(whole), tuple(growing), removed)

    def _note(self, found: Found, now: float) -> _Known:
        version = version_of(found)
        known = self._known.get(found.location)
        if known is None:
            known = self._known[found.location] = _Known(version, now - self._age(found))
        elif known.version != version:
            quiet = now if found.modified_ns is not None else now - self._settle
            known = self._known[found.location] = _Known(version, quiet)
        return known

    def _age(self, found: Found) -> float:
        """Seconds since the last change as the file's own stamp tells it; a stamp in the future
        tells nothing but "wait".
        """
        if found.modified_ns is None:
            return self._settle
        return max(0.0, (self._wall_ns() - found.modified_ns) / 1e9)
