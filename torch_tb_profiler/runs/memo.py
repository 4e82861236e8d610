"""Results kept with an opened trace, so that a second request for the same payload costs nothing."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar, cast
from weakref import WeakSet

from torch_tb_profiler.store import damaged

T = TypeVar("T")
expect_readable = damaged.expect_readable
LIMIT = 128
"""Results kept per trace; the least recently used is let go."""
UNLIMITED = math.inf


@dataclass
class _Kept:
    """A result. ``bytes``: about, 0 where nobody limits them; ``used``: when, as a running number."""

    result: Any
    bytes: int
    used: int


class Memo:
    """A bounded store of results by key; each is made once, whatever the number of threads."""

    def __init__(self, limit: int = LIMIT, *, weighed: bool = True) -> None:
        """``weighed``: the results count among those that ``limit_results`` limits."""
        self._limit, self._weighed = limit, weighed
        self._lock = threading.Lock()
        self._results: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._bytes = 0
        if weighed:
            _together.add(self)

    def __reduce__(self) -> tuple[type[Memo], tuple[int]]:
        # Results are made again where they are needed: what is sent to another process is large
        # enough without them.
        return Memo, (self._limit,)

    def __len__(self) -> int:
        return len(self._results)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result for a key, made now if missing; an exception of ``make`` is passed on."""
        with self._lock:
            if (kept := self._use(key)) is not None:
                return cast(T, kept.result)
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if (kept := self._use(key)) is not None:
                    return cast(T, kept.result)
            try:
                with expect_readable():
                    result = make()
                size = _together.weigh(result) if self._weighed else 0
                with self._lock:
                    self._results[key] = _Kept(result, size, next(_clock))
                    self._bytes += size
                    while len(self._results) > self._limit:
                        self._drop_oldest()
                if size:
                    _together.bound()
                return result
            finally:
                with self._lock:
                    self._making.pop(key, None)

    def drop(self, key: Hashable) -> None:
        """Let one result go, if it is there."""
        with self._lock:
            if (kept := self._results.pop(key, None)) is not None:
                self._bytes -= kept.bytes

    def held(self) -> tuple[int, float]:
        """Bytes of all results, and when the one that is unused for longest was used."""
        with self._lock:
            oldest = next(iter(self._results.values()), None)
            return self._bytes, math.inf if oldest is None else oldest.used

    def drop_oldest(self) -> int:
        """Let the least recently used result go; its bytes."""
        with self._lock:
            return self._drop_oldest() if self._results else 0

    def _drop_oldest(self) -> int:
        _, kept = self._results.popitem(last=False)
        self._bytes -= kept.bytes
        return kept.bytes

    def _use(self, key: Hashable) -> _Kept | None:
        if (kept := self._results.get(key)) is not None:
            self._results.move_to_end(key)
            kept.used = next(_clock)
        return kept


def _nothing(result: Any) -> int:
    return 0


class _Together:
    """The weighed results of all memos. ``most``: bytes; ``weigh``: of a result."""

    def __init__(self) -> None:
        self.most = UNLIMITED
        self.weigh: Callable[[Any], int] = _nothing
        self._lock = threading.Lock()
        self._memos: WeakSet[Memo] = WeakSet()

    def add(self, memo: Memo) -> None:
        with self._lock:
            self._memos.add(memo)

    def bound(self) -> None:
        """Let go what is unused for longest, of whichever memo; one result always stays."""
        with self._lock:
            memos = list(self._memos)
            held = {memo: memo.held() for memo in memos}
            total = sum(size for size, _ in held.values())
            while total > self.most and sum(map(len, memos)) > 1:
                memo = min(memos, key=lambda memo: held[memo][1])
                total -= memo.drop_oldest()
                held[memo] = memo.held()


_clock = count()
_together = _Together()


def limit_results(most: float, weigh: Callable[[Any], int] = _nothing) -> None:
    """From now on keep weighed results of so many bytes in this process, those of all traces together. ``weigh``: the
    bytes of one.
    """
    _together.most, _together.weigh = most, weigh
