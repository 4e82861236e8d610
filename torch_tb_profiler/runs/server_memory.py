"""Keeps the memory of a server flat, however long it runs and whatever it is asked."""

from __future__ import annotations

import threading
from typing import Any

from torch_tb_profiler.runs.memo import limit_results
from torch_tb_profiler.store.memory import give_back_memory, give_back_pages, share_freed_memory

RESULT_BYTES = 128 << 20
"""What is kept of answers and of what they are made from, of all open traces together."""
TRIM_SECONDS = 60.0


def keep_flat(closed: threading.Event) -> None:
    """Limit what this process keeps of results, and give freed memory and the pages of mapped sidecars back to the
    system every minute until ``closed`` is set.
    """
    share_freed_memory()
    limit_results(RESULT_BYTES, _weight)
    threading.Thread(target=_trim, args=(closed,), name="profiler-memory", daemon=True).start()


def _weight(result: Any) -> int:
    # A server has nothing to weigh when it starts, and what weighs takes long to import.
    from torch_tb_profiler.runs.weight import weight_of

    return weight_of(result)


def _trim(closed: threading.Event) -> None:
    while not closed.wait(TRIM_SECONDS):
        give_back_memory()
        give_back_pages()
