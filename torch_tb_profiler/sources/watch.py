"""Which files are new, changed, still growing, complete or removed since the last listing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import msgspec

from torch_tb_profiler.sources.listing import ListedFile
from torch_tb_profiler.sources.places import Place


class Changes(msgspec.Struct, frozen=True):
    """What changed between two listings.

    Attributes:
        whole: files that have settled and were not reported in this version before: import them.
        growing: files that changed a moment ago.
        removed: files that no longer exist.
    """

    whole: tuple[ListedFile, ...]
    growing: tuple[ListedFile, ...]
    removed: tuple[Place, ...]


class _FileState(msgspec.Struct):
    version: tuple[int, str]
    """Size and stamp."""
    quiet_since: float
    reported: bool = False


class Watch:
    """Compares each listing with the one before. Not thread-safe: it belongs to one scanner.

    A file is growing for ``settle_seconds`` after its last change. When first seen, its timestamp
    says when that was; afterwards our own clock does, so a server's wrong clock does no harm. A
    file without a timestamp (some servers) counts as settled.
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
        self._known: dict[Place, _FileState] = {}

    def look(
        self, files: Iterable[ListedFile], is_gone: Callable[[Place], bool] = lambda place: True
    ) -> Changes:
        """Compare a listing with the previous one. ``is_gone``: whether a file that it lacks is not there any more."""
        now = self._clock()
        whole, growing, present = [], [], set()
        for file in files:
            present.add(file.location)
            state = self._update(file, now)
            if now - state.quiet_since < self._settle:
                growing.append(file)
            elif not state.reported:
                state.reported = True
                whole.append(file)
        missing = (location for location in self._known if location not in present)
        removed = tuple(location for location in missing if is_gone(location))
        for location in removed:
            del self._known[location]
        return Changes(tuple(whole), tuple(growing), removed)

    def _update(self, file: ListedFile, now: float) -> _FileState:
        version = file.size, file.stamp
        state = self._known.get(file.location)
        if state is None:
            state = self._known[file.location] = _FileState(version, now - self._age(file))
        elif state.version != version:
            quiet = now if file.modified_ns is not None else now - self._settle
            state = self._known[file.location] = _FileState(version, quiet)
        return state

    def _age(self, file: ListedFile) -> float:
        """Seconds since the last change by the file's own timestamp; 0 if that is in the future."""
        if file.modified_ns is None:
            return self._settle
        return max(0.0, (self._wall_ns() - file.modified_ns) / 1e9)
