"""The queue alone: order, reuse of workers, cancelling."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.runs.conftest import OBEY, nothing_may_begin, until, write
from tests.runs.targets import content, obey
from torch_tb_profiler.runs.executor import Death, LocalProcesses, Worker
from torch_tb_profiler.runs.work_queue import Job, News, WorkQueue
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place


class Heard:
    """What the queue told, by key."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.news: dict[str, list[News]] = {}

    def __call__(self, job: Job, news: News) -> None:
        with self.lock:
            self.news.setdefault(job.key, []).append(news)

    def done(self, *keys: str) -> bool:
        with self.lock:
            return all(
                any(n.outcome is not None or n.error is not None for n in self.news.get(k, ()))
                for k in keys
            )

    def begun(self) -> list[str]:
        with self.lock:
            return list(self.news)


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def queue(settings: Settings, heard: Heard) -> Iterator[WorkQueue]:
    made = WorkQueue(Settings(**{**vars(settings), "workers": 1}), heard, idle_seconds=3600)
    yield made
    made.close()


def job(folder: Path, key: str, maker: str = OBEY, **orders: object) -> Job:
    path = write(folder / f"{key}.json", content(**orders))
    return Job(
        key, maker, Place(str(path)), str(folder / f"{key}.safetensors"), path.stat().st_size
    )


def test_a_worker_that_waits_takes_the_next_job_at_once(
    queue: WorkQueue, heard: Heard, tmp_path: Path
) -> None:
    # It would wait for an hour if the news of a new job went to another thread.
    for key in "abcdef":
        queue.submit(job(tmp_path, key), (0,))
        until(lambda key=key: heard.done(key), seconds=30)  # type: ignore[misc]
    assert queue.started == {OBEY: 6}


def test_small_priorities_go_first(queue: WorkQueue, heard: Heard, tmp_path: Path) -> None:
    queue.submit(job(tmp_path, "gate", until=tmp_path / "open"), (0,))
    until(lambda: heard.begun() == ["gate"])
    for key, priority in (("a", 3), ("b", 1), ("c", 2), ("d", 4), ("e", 5)):
        queue.submit(job(tmp_path, key), (priority,))
    queue.promote("d")
    queue.promote("e")
    (tmp_path / "open").touch()
    until(lambda: heard.done(*"abcde"))
    assert heard.begun() == ["gate", "e", "d", "b", "c", "a"]


def test_nothing_is_told_of_a_cancelled_job(queue: WorkQueue, heard: Heard, tmp_path: Path) -> None:
    queue.submit(job(tmp_path, "runs", do="hang"), (0,))
    until(lambda: any(n.progress for n in heard.news.get("runs", ())))
    queue.submit(job(tmp_path, "waits"), (1,))
    queue.cancel("waits")
    queue.cancel("runs")
    queue.submit(job(tmp_path, "next"), (2,))
    until(lambda: heard.done("next"))
    assert not heard.done("runs")
    assert heard.begun() == ["runs", "next"]


def test_a_worker_that_died_idle_is_replaced(
    queue: WorkQueue, heard: Heard, tmp_path: Path
) -> None:
    queue.submit(job(tmp_path, "a", until=tmp_path / "open"), (0,))
    until(lambda: queue.worker_pids())
    (pid,) = queue.worker_pids().values()
    (tmp_path / "open").touch()
    until(lambda: heard.done("a"))
    import os
    import signal

    os.kill(pid, signal.SIGKILL)
    queue.submit(job(tmp_path, "b"), (0,))
    until(lambda: heard.done("b"))
    assert heard.news["b"][-1].error is None


def test_idle_workers_end(settings: Settings, heard: Heard, tmp_path: Path) -> None:
    queue = WorkQueue(settings, heard, idle_seconds=0.05)
    try:
        queue.submit(job(tmp_path, "a"), (0,))
        until(
            lambda: (
                heard.done("a")
                and not any(t.name == "profiler-import" for t in threading.enumerate())
            )
        )
        queue.submit(job(tmp_path, "b"), (0,))
        until(lambda: heard.done("b"))
    finally:
        queue.close()


def test_never_more_workers_than_allowed(settings: Settings, heard: Heard, tmp_path: Path) -> None:
    queue = WorkQueue(Settings(**{**vars(settings), "workers": 2}), heard)
    try:
        for i in range(6):
            queue.submit(job(tmp_path, str(i), until=tmp_path / "open"), (i,))
        until(lambda: len(queue.worker_pids()) == 2)
        assert heard.begun() == ["0", "1"]
        (tmp_path / "open").touch()
        until(lambda: heard.done(*map(str, range(6))))
    finally:
        queue.close()


def test_a_program_that_cannot_start_is_a_reason(
    settings: Settings, heard: Heard, tmp_path: Path
) -> None:
    queue = WorkQueue(settings, heard)
    try:
        queue.submit(job(tmp_path, "a", "tests.runs.targets:gone"), (0,))
        until(lambda: heard.done("a"))
        assert "exit status 1" in (heard.news["a"][-1].error or "")
    finally:
        queue.close()


class SlowToEnd(LocalProcesses):
    """Workers that, killed, answer only when they are let go; they do nothing else."""

    def __init__(self) -> None:
        super().__init__(True)
        self.started: list[SlowWorker] = []

    def start(self) -> Worker:
        self.started.append(SlowWorker(len(self.started)))
        return self.started[-1]


class SlowWorker:
    def __init__(self, pid: int) -> None:
        self.pid, self.tasks, self.ended = pid, 0, threading.Event()

    def run(self, task: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield {}
        self.ended.wait(30)

    def death(self, size: int) -> Death:
        return Death("ended", "killed")

    def kill(self) -> None:
        pass

    def close(self) -> None:
        pass


def test_a_cancelled_job_that_ends_late_does_not_end_the_next_of_its_key(
    settings: Settings, heard: Heard, tmp_path: Path
) -> None:
    slow = SlowToEnd()
    queue = WorkQueue(Settings(**{**vars(settings), "workers": 2}), heard, slow)
    try:
        queue.submit(job(tmp_path, "a"), (0,))
        until(lambda: queue.worker_pids() == {"a": 0})
        queue.submit(job(tmp_path, "a"), (0,))
        until(lambda: queue.worker_pids() == {"a": 1})
        slow.started[0].ended.set()
        until(lambda: queue._idle == 1, "the thread of the first one has nothing more to do")
        assert queue.worker_pids() == {"a": 1}
    finally:
        for worker in slow.started:
            worker.ended.set()
        queue.close()


class LittleMemory(LocalProcesses):
    """A machine with 100 bytes."""

    def free_memory(self) -> int:
        return 100


def test_jobs_share_the_memory(settings: Settings, heard: Heard, tmp_path: Path) -> None:
    queue = WorkQueue(Settings(**{**vars(settings), "workers": 3}), heard, LittleMemory(True))

    def submit(key: str, memory: float) -> None:
        queue.submit(replace(job(tmp_path, key, until=tmp_path / key), memory=memory), (key,))

    def end(key: str) -> None:
        (tmp_path / key).touch()
        until(lambda: heard.done(key))

    try:
        submit("a", 60)
        until(lambda: heard.begun() == ["a"])
        submit("b", 60)
        submit("c", 40)
        assert nothing_may_begin(queue)
        assert heard.begun() == ["a"], (
            "what comes later does not overtake: the large one would starve"
        )
        end("a")
        until(lambda: heard.begun() == ["a", "b", "c"])
        submit("d", 1000)
        end("b")
        assert nothing_may_begin(queue)
        assert heard.begun() == ["a", "b", "c"]
        end("c")
        # More than there is: it is tried alone.
        until(lambda: heard.begun() == ["a", "b", "c", "d"])
        end("d")
    finally:
        queue.close()


def test_what_somebody_waits_for_is_derived_beside_imports(
    queue: WorkQueue, heard: Heard, tmp_path: Path
) -> None:
    queue.submit(job(tmp_path, "import", until=tmp_path / "open"), (0,))
    until(lambda: heard.begun() == ["import"])
    for key in ("shown", "later"):
        queue.submit(replace(job(tmp_path, key), brief=True), (1,))
    queue.promote("shown")
    until(lambda: heard.done("shown"))
    assert nothing_may_begin(queue)
    assert heard.begun() == ["import", "shown"]
    (tmp_path / "open").touch()
    until(lambda: heard.done("import", "later"))


def test_one_worker_does_all_kinds_of_work(queue: WorkQueue, heard: Heard, tmp_path: Path) -> None:
    pids: set[int] = set()
    for key, maker in (("a", OBEY), ("b", "tests.runs.test_work_queue:other")):
        queue.submit(job(tmp_path, key, maker, until=tmp_path / f"{key}.open"), (0,))
        until(queue.worker_pids)
        pids.update(queue.worker_pids().values())
        (tmp_path / f"{key}.open").touch()
        until(lambda key=key: heard.done(key))  # type: ignore[misc]
    assert len(pids) == 1
    assert queue.started.total() == 2


other = obey
