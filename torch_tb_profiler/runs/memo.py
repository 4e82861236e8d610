"""A bounded cache of what was made and may be asked for again: payloads and what they are made from, mapped files,
graphs, fleets.
"""

from __future__ import annotations

import math
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import partial
from itertools import count
from typing import Any, TypeVar, cast
from weakref import WeakSet

import msgspec

from torch_tb_profiler.store import mapped_files

T = TypeVar("T")
expect_readable = mapped_files.expect_readable
damage_times, look_for_damage = mapped_files.times, mapped_files.report_changed
LIMIT = 128
"""Results kept per trace; the least recently used is let go."""
UNLIMITED = math.inf
RESULT_BYTES = 128 << 20
"""What a server keeps of answers and of what they are made from, of all open traces together."""
MOST_LOOKED_AT = 256
_OWN = __name__.partition(".")[0]


class _Kept(msgspec.Struct):
    """A result. ``weight``: 0 where nobody limits it; ``used``: when, as a running number; ``damages``: how often damage had been
    found when it was begun.
    """

    result: Any
    weight: float
    used: int
    damages: int


class Memo:
    """A bounded store of results by key, for any number of threads: the least recently used go."""

    def __init__(
        self,
        limit: int = LIMIT,
        *,
        weighed: bool = True,
        heaviest: float = UNLIMITED,
        one_at_a_time: bool = False,
    ) -> None:
        """``limit``: how many are kept. ``weighed``: they count among those that ``limit_results`` limits. ``heaviest``: what
        they may weigh together, by the weights given to ``get``. ``one_at_a_time``: no two are made at once.
        """
        self._limit, self._weighed, self._heaviest = limit, weighed, heaviest
        self._lock = threading.Lock()
        self._results: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._only = threading.Lock() if one_at_a_time else None
        self._weight: float = 0
        if weighed:
            _together.add(self)

    def __reduce__(self) -> tuple[Callable[..., Memo], tuple[()]]:
        # Results are made again where they are needed: what is sent to another process is large
        # enough without them.
        alone = self._only is not None
        make = partial(
            Memo, self._limit, weighed=self._weighed, heaviest=self._heaviest, one_at_a_time=alone
        )
        return make, ()

    def __len__(self) -> int:
        return len(self._results)

    def get(self, key: Hashable, make: Callable[[], T], weight: float = 0) -> T:
        """The result for a key, made now if missing, once whatever the number of threads; an exception of ``make`` is passed
        on. ``weight``: of the result, known before; what does not fit beside it goes first, all else if need be.
        """
        with self._lock:
            if (kept := self._use(key)) is not None:
                return cast(T, kept.result)
            making = self._only or self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if (kept := self._use(key)) is not None:
                    return cast(T, kept.result)
                if weight:
                    self._make_room(weight)
            try:
                damages = mapped_files.times()
                with expect_readable():
                    result = make()
                self._put(
                    key, result, _together.weigh(result) if self._weighed else weight, damages
                )
                return result
            finally:
                with self._lock:
                    self._making.pop(key, None)

    def put(self, key: Hashable, result: Any, weight: float = 0) -> None:
        """Keep a result, in the place of an earlier one."""
        self._put(key, result, weight, mapped_files.times())

    def _put(self, key: Hashable, result: Any, weight: float, damages: int) -> None:
        with self._lock:
            self._drop(key)
            self._make_room(weight)
            self._results[key] = _Kept(result, weight, next(_clock), damages)
            self._weight += weight
        if weight and self._weighed:
            _together.bound()

    def kept(self, key: Hashable) -> Any:
        """The result for a key, None if there is none."""
        with self._lock:
            return None if (kept := self._use(key)) is None else kept.result

    def results(self) -> list[Any]:
        """All results, the most recently used last; they count as used now."""
        with self._lock:
            return [kept.result for key in list(self._results) if (kept := self._use(key))]

    def drop(self, key: Hashable) -> None:
        """Let one result go, if it is there."""
        with self._lock:
            self._drop(key)

    def held(self) -> tuple[float, float]:
        """Weight of all results, and when the one that is unused for longest was used."""
        with self._lock:
            oldest = next(iter(self._results.values()), None)
            return self._weight, math.inf if oldest is None else oldest.used

    def drop_oldest(self) -> float:
        """Let the least recently used result go; its weight."""
        with self._lock:
            return self._drop(next(iter(self._results))) if self._results else 0

    def _make_room(self, weight: float) -> None:
        """For one more result of this weight."""
        while self._results and (
            len(self._results) >= self._limit or self._weight + weight > self._heaviest
        ):
            self._drop(next(iter(self._results)))

    def _drop(self, key: Hashable) -> float:
        kept = self._results.pop(key, None)
        self._weight -= kept.weight if kept else 0
        return kept.weight if kept else 0

    def _use(self, key: Hashable) -> _Kept | None:
        if (kept := self._results.get(key)) is None:
            return None
        if kept.damages != mapped_files.times():
            # It may refer to a damaged file, and read it only now.
            self._drop(key)
            return None
        self._results.move_to_end(key)
        kept.used = next(_clock)
        return kept


def weight_of(result: Any, depth: int = 8) -> int:
    """Bytes, about, of the texts and arrays that a result holds, so many levels down. A view, such as one of a mapped file, and
    what other memos keep weigh nothing.
    """
    if hasattr(result, "nbytes") and hasattr(result, "base"):  # an array
        return int(result.nbytes) if isinstance(result.base, (bytes, type(None))) else 0
    if isinstance(result, (bytes, str)):
        return sys.getsizeof(result)
    if isinstance(result, msgspec.Struct):
        result = [getattr(result, name) for name in result.__struct_fields__]
    elif isinstance(result, dict):
        result = [*result, *result.values()]
    elif type(result).__module__.startswith(_OWN) and not isinstance(result, (Memo, type)):
        result = list(getattr(result, "__dict__", {}).values())
    if not isinstance(result, (list, tuple)) or not depth:
        return 0
    # Of a long list a sample stands for all.
    some = result[:: len(result) // MOST_LOOKED_AT + 1]
    mean = sum(8 + weight_of(one, depth - 1) for one in some) / max(len(some), 1)
    return round(mean * len(result))


class _Together:
    """The weighed results of all memos. ``most``: bytes."""

    def __init__(self) -> None:
        self.most = UNLIMITED
        self._lock = threading.Lock()
        self._memos: WeakSet[Memo] = WeakSet()

    def add(self, memo: Memo) -> None:
        with self._lock:
            self._memos.add(memo)

    def weigh(self, result: Any) -> int:
        """What a result counts; nothing where nobody limits them."""
        return 0 if self.most == UNLIMITED else weight_of(result)

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


def limit_results(most: float = RESULT_BYTES) -> None:
    """From now on keep weighed results of so many bytes in this process, those of all traces together."""
    _together.most = most
