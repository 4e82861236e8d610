"""Keeps the memory of a server flat, however long it runs and whatever it is asked."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from torch_tb_profiler.runs.memo import Memo, limit_results
from torch_tb_profiler.runs.model import Run, Span, Worker
from torch_tb_profiler.store.memory import give_back_memory, give_back_pages, share_freed_memory
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.timeline import Timeline

RESULT_BYTES = 128 << 20
"""What is kept of answers and of what they are made from, of all open traces together."""
TRIM_SECONDS = 60.0
MOST_LOOKED_AT = 256
"""Of a longer list so many are weighed, and stand for all."""
_OWN = __name__.partition(".")[0]
_LISTS = (list, tuple, set, frozenset)
_NOT_OF_IT = (Trace, Facts, Timeline, Memo, Run, Worker, Span, type)
"""What is there without a result that refers to it."""


def keep_flat(closed: threading.Event) -> None:
    """Limit what this process keeps of results, and give freed memory and the pages of mapped sidecars back to the
    system every minute until ``closed`` is set.
    """
    share_freed_memory()
    limit_results(RESULT_BYTES, weight_of)
    threading.Thread(target=_trim, args=(closed,), name="profiler-memory", daemon=True).start()


def _trim(closed: threading.Event) -> None:
    while not closed.wait(TRIM_SECONDS):
        give_back_memory(at_the_end=True)
        give_back_pages()


def weight_of(result: Any) -> int:
    """Bytes, about: texts, containers, arrays and objects of this program's types, each once. What a
    sidecar maps and what belongs to the trace weigh nothing.

    ::

        RanksOfRun ─▶ segments ─▶ arrays        counted
             └──────▶ open_rank (a function)    not followed
    """
    return round(_weight(result, set()))


def _weight(value: Any, seen: set[int]) -> float:
    if isinstance(value, _NOT_OF_IT) or id(value) in seen:
        return 0.0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return float(value.nbytes) if value.base is None else _weight(value.base, seen)
    if isinstance(value, memoryview):
        return _weight(value.obj, seen)
    total = float(sys.getsizeof(value, 0))
    if isinstance(value, _LISTS):
        return total + _of_many(value, len(value), seen)
    if isinstance(value, dict):
        return total + sum(_of_many(part, len(value), seen) for part in (value, value.values()))
    if type(value).__module__.partition(".")[0] == _OWN:
        return total + sum(_weight(part, seen) for part in gc.get_referents(value))
    return total


def _of_many(values: Iterable[Any], number: int, seen: set[int]) -> float:
    if not number:
        return 0.0
    step = -(-number // MOST_LOOKED_AT)
    looked_at = [_weight(value, seen) for value in islice(values, 0, None, step)]
    return sum(looked_at) / len(looked_at) * number
