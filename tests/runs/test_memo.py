"""Results that are kept."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Iterator

import pytest

from torch_tb_profiler.runs.memo import UNLIMITED, Memo, limit_results


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


def test_limits_go_along_to_another_process() -> None:
    memo = pickle.loads(pickle.dumps(Memo(weighed=False, heaviest=2)))
    for key in range(3):
        memo.get(key, lambda key=key: key, weight=1)
    assert memo.results() == [1, 2]


@pytest.fixture
def limited() -> Iterator[None]:
    """At most a million bytes of results, as a server limits them."""
    limit_results(1_000_000)
    yield
    limit_results(UNLIMITED)


@pytest.mark.usefixtures("limited")
def test_results_of_all_traces_together_are_limited_by_their_bytes() -> None:
    a, b = Memo(), Memo()
    for memo, key in ((a, 1), (b, 1), (a, 2), (b, 2)):
        memo.get(key, lambda: b"x" * 300_000)
    assert a.get(2, lambda: b"new") != b"new"
    assert (len(a), len(b)) == (1, 2)
    a.get(3, lambda: b"x" * 600_000)
    assert (len(a), len(b)) == (2, 0)


@pytest.mark.usefixtures("limited")
def test_what_is_in_use_outlives_what_is_not() -> None:
    memo = Memo()
    for key in (1, 2, 3, 1):
        memo.get(key, lambda: b"x" * 300_000)
    memo.get(4, lambda: b"y" * 300_000)
    assert memo.get(1, lambda: b"new") != b"new"
    assert memo.get(2, lambda: b"new") == b"new"


@pytest.mark.usefixtures("limited")
def test_one_result_is_kept_however_large() -> None:
    memo = Memo()
    memo.get(1, lambda: b"x" * 3_000_000)
    assert memo.get(1, lambda: b"new") != b"new"
    memo.get(2, lambda: b"")
    assert memo.get(1, lambda: b"new") == b"new"


@pytest.mark.usefixtures("limited")
def test_the_results_of_a_closed_trace_weigh_no_more() -> None:
    memo, closed = Memo(), Memo()
    memo.get(1, lambda: b"x" * 400_000)
    closed.get(1, lambda: b"x" * 400_000)
    del closed
    memo.get(2, lambda: b"x" * 400_000)
    assert len(memo) == 2


@pytest.mark.usefixtures("limited")
def test_what_is_mapped_is_not_weighed() -> None:
    mapped = Memo(weighed=False)
    for key in range(3):
        mapped.get(key, lambda: b"x" * 900_000)
    assert len(mapped) == 3


def test_what_does_not_fit_beside_a_coming_result_goes_before_it_is_made() -> None:
    memo = Memo(weighed=False, heaviest=10)
    memo.get("a", lambda: 1, 4)
    memo.get("b", lambda: 1, 6)
    assert memo.get("c", lambda: len(memo), 5) == 0
    assert memo.get("d", lambda: len(memo), 5) == 1
    assert memo.get("e", lambda: len(memo), 11) == 0
    assert memo.results() == [0]


def test_one_result_is_made_at_a_time() -> None:
    memo, busy, most = Memo(one_at_a_time=True), [0], list[int]()

    def make() -> None:
        busy[0] += 1
        time.sleep(0.01)
        most.append(busy[0])
        busy[0] -= 1

    threads = [threading.Thread(target=lambda key=key: memo.get(key, make)) for key in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 4


def test_a_result_is_put_in_the_place_of_another() -> None:
    memo = Memo(limit=2)
    for key, result in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        memo.put(key, result)
    assert [memo.kept(key) for key in "abc"] == [3, None, 4]
    assert memo.results() == [3, 4]
