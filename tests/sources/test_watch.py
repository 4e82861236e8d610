"""New, changed, growing and removed files, on a fake clock."""

from __future__ import annotations

from dataclasses import dataclass

from torch_tb_profiler.sources.listing import ListedFile
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.watch import Changes, Watch

SECOND = 1_000_000_000
EPOCH = 1_700_000_000


@dataclass
class Clock:
    now: float = 0.0

    def monotonic(self) -> float:
        return self.now

    def wall_ns(self) -> int:
        return int((EPOCH + self.now) * SECOND)


def file(size: int, age: float | None, clock: Clock, tag: str = "") -> ListedFile:
    modified = None if age is None else clock.wall_ns() - int(age * SECOND)
    return ListedFile(
        Place("/logdir/a.json"), "", "a.json", size, modified, tag or str(modified or "")
    )


def kinds(changes: Changes) -> tuple[int, int, int]:
    return len(changes.whole), len(changes.growing), len(changes.removed)


def watch(clock: Clock) -> Watch:
    return Watch(1.0, clock.monotonic, clock.wall_ns)


def test_an_old_file_is_whole_at_once_and_once() -> None:
    clock = Clock()
    seen, found = watch(clock), file(5, 60, clock)
    assert kinds(seen.look([found])) == (1, 0, 0)
    assert kinds(seen.look([found])) == (0, 0, 0)


def test_a_fresh_file_is_growing_until_it_is_quiet() -> None:
    clock = Clock()
    seen, found = watch(clock), file(5, 0.2, clock)
    assert kinds(seen.look([found])) == (0, 1, 0)
    clock.now = 0.5
    assert kinds(seen.look([found])) == (0, 1, 0)
    clock.now = 0.9
    assert kinds(seen.look([found])) == (1, 0, 0)


def test_every_write_starts_the_wait_anew() -> None:
    clock = Clock()
    seen = watch(clock)
    for size in range(1, 6):
        clock.now += 0.8
        assert kinds(seen.look([file(size, 0, clock)])) == (0, 1, 0)
    last = file(5, 0, clock)
    seen.look([last])
    clock.now += 1.1
    assert kinds(seen.look([last])) == (1, 0, 0)


def test_a_changed_file_is_reported_again() -> None:
    clock = Clock()
    seen = watch(clock)
    seen.look([file(5, 60, clock)])
    # Old time stamps come with copies that keep them: this process' own clock says when the change
    # was seen.
    changed = file(6, 30, clock)
    assert kinds(seen.look([changed])) == (0, 1, 0)
    clock.now = 1.5
    assert kinds(seen.look([changed])) == (1, 0, 0)


def test_a_time_stamp_in_the_future_does_not_wait_for_ever() -> None:
    clock = Clock()
    seen, found = watch(clock), file(5, -3600, clock)
    assert kinds(seen.look([found])) == (0, 1, 0)
    clock.now = 1.1
    assert kinds(seen.look([found])) == (1, 0, 0)


def test_without_times_there_is_nothing_to_wait_for() -> None:
    clock = Clock()
    seen = watch(clock)
    assert kinds(seen.look([file(5, None, clock, "etag-1")])) == (1, 0, 0)
    assert kinds(seen.look([file(5, None, clock, "etag-1")])) == (0, 0, 0)
    assert kinds(seen.look([file(5, None, clock, "etag-2")])) == (1, 0, 0)


def test_a_removed_file_is_reported_and_new_when_it_is_back() -> None:
    clock = Clock()
    seen, found = watch(clock), file(5, 60, clock)
    seen.look([found])
    assert seen.look([]).removed == (found.location,)
    assert kinds(seen.look([])) == (0, 0, 0)
    assert kinds(seen.look([found])) == (1, 0, 0)
