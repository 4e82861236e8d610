"""Results that are kept."""

from __future__ import annotations

import threading
import time

import pytest

from torch_tb_profiler.runs.memo import Memo


def test_a_result_is_made_once_by_many_threads() -> None:
    memo, made = Memo(), []

    def make() -> int:
        time.sleep(0.05)
        made.append(1)
        return 7

    results: list[int] = []
    threads = [
        threading.Thread(target=lambda: results.append(memo.get("k", make))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [7] * 8
    assert len(made) == 1


def test_the_least_recently_used_goes() -> None:
    memo = Memo(limit=2)
    for key in ("a", "b", "a", "c"):
        memo.get(key, lambda key=key: key)  # type: ignore[misc]
    assert memo.get("a", lambda: "new") == "a"
    assert memo.get("b", lambda: "new") == "new"
    assert len(memo) == 2


def test_a_failure_is_not_kept() -> None:
    memo = Memo()
    with pytest.raises(ZeroDivisionError):
        memo.get("k", lambda: 1 // 0)
    assert memo.get("k", lambda: 5) == 5


def test_a_dropped_result_is_made_again() -> None:
    memo = Memo()
    memo.get("k", lambda: 1)
    memo.drop("k")
    assert memo.get("k", lambda: 2) == 2
