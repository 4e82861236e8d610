"""Results kept with an opened trace, so that a second request for the same payload costs nothing."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

T = TypeVar("T")
LIMIT = 128
"""Results kept per trace; the least recently used is let go."""


class Memo:
    """A bounded store of results by key; each is made once, whatever the number of threads."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._results: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}

    def __reduce__(self) -> tuple[type[Memo], tuple[int]]:
        # Results are made again where they are needed: what is sent to another process is large
        # enough without them.
        return Memo, (self._limit,)

    def __len__(self) -> int:
        return len(self._results)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result for a key, made now if missing; an exception of ``make`` is passed on."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return cast(T, self._results[key])
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._results:
                    return cast(T, self._results[key])
            try:
                result = make()
                with self._lock:
                    self._results[key] = result
                    while len(self._results) > self._limit:
                        self._results.popitem(last=False)
                return result
            finally:
                with self._lock:
                    self._making.pop(key, None)

    def drop(self, key: Hashable) -> None:
        """Let one result go, if it is there."""
        with self._lock:
            self._results.pop(key, None)
