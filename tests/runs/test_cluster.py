"""Work done by a Dask cluster: the same sidecars as here, nothing lost and nothing done twice."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from tests.api.traces import write as write_run
from tests.runs.clusters import Processes, of_cluster, threads
from tests.runs.conftest import Start, alive, nothing_may_begin, states, until, write
from tests.runs.targets import content
from tests.runs.test_work_queue import Heard, job
from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.runs import cluster, cluster_link
from torch_tb_profiler.runs.cluster import Cluster
from torch_tb_profiler.runs.loading import load_all
from torch_tb_profiler.runs.products import TIMELINE
from torch_tb_profiler.runs.sidecar_store import SidecarStore
from torch_tb_profiler.runs.whole_logdir import make_all
from torch_tb_profiler.runs.work_queue import WorkQueue
from torch_tb_profiler.settings import Settings

pytestmark = pytest.mark.processes
INFINITE = float("inf")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A scheduler with two workers of a thread each."""
    with threads() as scheduler:
        yield scheduler


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    made = Processes(tmp_path)
    made.start_scheduler()
    yield made
    made.close()


Queue = Any


@pytest.fixture
def queue_of(settings: Settings, heard: Heard) -> Iterator[Queue]:
    made: list[WorkQueue] = []

    def make(address: str, changed: Settings | None = None, alone: bool = True) -> WorkQueue:
        given = of_cluster(changed or settings, address)
        queue = WorkQueue(given, heard, Cluster(given, quiet=True, alone=alone))
        made.append(queue)
        return queue

    yield make
    for queue in made:
        queue.close()


def begun(settings: Settings) -> list[str]:
    """Names of files in the order in which ``obey`` began with them."""
    log = Path(settings.cache_dir) / "begun.log"
    return log.read_text().split() if log.exists() else []


def contents(folder: str) -> dict[str, bytes]:
    """The sidecars of a folder."""
    return {path.name: path.read_bytes() for path in Path(folder).glob("*.safetensors")}


def test_sidecars_equal_those_made_here(address: str, settings: Settings, tmp_path: Path) -> None:
    log = write_run(tmp_path / "log", "rank0", "rank1", "rank2")
    here = replace(settings, cache_dir=str(tmp_path / "here"))
    made = make_all(str(log), of_cluster(settings, address), alone=True)
    assert [(trace.state, trace.message, trace.made) for trace in made] == [("ready", "", True)] * 3
    make_all(str(log), here)
    assert len(contents(here.cache_dir)) == 9  # import, insight and rank index of each
    assert contents(settings.cache_dir) == contents(here.cache_dir)


def test_a_timeline_is_made_there_too(address: str, settings: Settings, trace_sidecar: str) -> None:
    store = SidecarStore(of_cluster(settings, address), quiet=True, alone=True)
    try:
        store.have_derived(TIMELINE, trace_sidecar, (), store, lambda pending, news: None)
        until(lambda: store.queue.counts() == (0, 0, 1, 0))
        assert store.made(TIMELINE, trace_sidecar) is not None
    finally:
        store.close()


def test_what_is_there_is_not_made_again(
    address: str, settings: Settings, queue_of: Queue, heard: Heard, tmp_path: Path
) -> None:
    queue = queue_of(address)
    queue.submit(job(tmp_path, "a", rank=3), (0,))
    until(lambda: heard.done("a"))
    first = heard.news["a"][-1]
    queue.submit(job(tmp_path, "a", rank=3), (0,))
    until(lambda: len([n for n in heard.news["a"] if n.outcome]) == 2)
    assert heard.news["a"][-1] == first
    assert begun(settings) == ["a.json"]


def test_what_is_there_and_damaged_is_made_again(
    address: str, settings: Settings, queue_of: Queue, heard: Heard, tmp_path: Path
) -> None:
    (tmp_path / "a.safetensors").write_bytes(b"no sidecar")
    queue_of(address).submit(job(tmp_path, "a"), (0,))
    until(lambda: heard.done("a"))
    assert heard.news["a"][-1].error is None
    assert begun(settings) == ["a.json"]


def test_as_many_run_as_the_cluster_has_threads(
    address: str, settings: Settings, queue_of: Queue, heard: Heard, tmp_path: Path
) -> None:
    queue = queue_of(address, replace(settings, workers=1))
    for key in "abc":
        queue.submit(job(tmp_path, key, until=tmp_path / "open"), (key,))
    until(lambda: len(begun(settings)) == 2)
    assert nothing_may_begin(queue)
    assert queue.counts()[:2] == (1, 2)
    (tmp_path / "open").touch()
    until(lambda: heard.done(*"abc"))
    assert queue.counts() == (0, 0, 3, 0)


def test_progress_is_told(address: str, queue_of: Queue, heard: Heard, tmp_path: Path) -> None:
    queue_of(address).submit(job(tmp_path, "a", until=tmp_path / "open"), (0,))
    until(lambda: any(n.progress == 0.5 for n in heard.news.get("a", ())))
    (tmp_path / "open").touch()
    until(lambda: heard.done("a"))


@pytest.mark.parametrize(
    ("orders", "code", "words"),
    [
        ({"do": "refuse"}, "not_a_trace", "There is nothing in it."),
        ({"do": "raise"}, "raised", "ValueError: boom"),
        ({"do": "crash"}, "died", "It ran on the cluster's worker"),
        (
            {"do": "wait for", "note": "/nowhere"},
            "source_error",
            "That was on the cluster's worker",
        ),
    ],
)
def test_a_failure_is_told_with_its_reason(
    orders: dict[str, str],
    code: str,
    words: str,
    address: str,
    queue_of: Queue,
    heard: Heard,
    tmp_path: Path,
) -> None:
    queue_of(address).submit(job(tmp_path, "a", **orders), (0,))
    until(lambda: heard.done("a"))
    assert heard.news["a"][-1].code == code
    assert words in (heard.news["a"][-1].error or "")


def test_a_task_that_is_taken_back_is_ended(
    address: str, settings: Settings, queue_of: Queue, heard: Heard, tmp_path: Path
) -> None:
    queue = queue_of(address)
    for key in "ab":
        note = tmp_path / f"{key}.pid"
        queue.submit(job(tmp_path, key, do="hang with a child", note=note), (key,))
    until(lambda: (tmp_path / "a.pid").exists() and (tmp_path / "b.pid").exists())
    queue.cancel("a")
    queue.cancel("b")
    until(lambda: not any(alive(int((tmp_path / f"{key}.pid").read_text())) for key in "ab"))
    queue.submit(job(tmp_path, "c"), ("c",))
    until(lambda: heard.done("c"))


def test_what_hangs_is_stopped(
    address: str, settings: Settings, queue_of: Queue, heard: Heard, tmp_path: Path
) -> None:
    queue = queue_of(address, replace(settings, import_timeout_seconds=3.0))
    queue.submit(job(tmp_path, "a", do="hang"), (0,))
    until(lambda: heard.done("a"))
    assert heard.news["a"][-1].code == "hung"
    queue.submit(job(tmp_path, "b"), (0,))
    until(lambda: heard.done("b"))


def test_a_trace_is_not_begun_where_it_does_not_fit(
    settings: Settings, queue_of: Queue, heard: Heard, tmp_path: Path
) -> None:
    with threads(1, memory_limit="600MB") as small:
        queue = queue_of(small)
        for key, memory in (("large", 1e9), ("half", 5e8), ("other", 5e8), ("all", INFINITE)):
            queue.submit(structs.replace(job(tmp_path, key), memory=memory), (key,))
        until(lambda: heard.done("large", "half", "other", "all"))
        assert heard.news["large"][-1].code == "no_room"
        assert "may use more than 572 MiB" in (heard.news["large"][-1].error or "")
        assert sorted(begun(settings)) == ["all.json", "half.json", "other.json"]


def test_two_that_do_not_fit_together_run_one_after_another(
    settings: Settings, queue_of: Queue, heard: Heard, tmp_path: Path
) -> None:
    with threads(1, memory_limit="600MB") as small:
        queue = queue_of(small)
        queue.executor.slots = lambda wanted: 2
        for key in "ab":
            orders = job(tmp_path, key, until=tmp_path / "open")
            queue.submit(structs.replace(orders, memory=5e8), (key,))
        until(lambda: queue.counts().running == 2 and begun(settings))
        assert len(begun(settings)) == 1
        (tmp_path / "open").touch()
        until(lambda: heard.done("a", "b"))


def test_workers_of_another_version_get_nothing(
    settings: Settings, start: Start, logdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_link, "program_version", lambda: "0.0-other")
    write(logdir / "a.pt.trace.json", content())
    with threads(1) as scheduler:
        catalogue = start(logdir, of_cluster(settings, scheduler))
        until(lambda: states(catalogue) == {"a.pt.trace.json": "ready"})
        until(lambda: catalogue.snapshot().notes)
        (note,) = catalogue.snapshot().notes
        assert "where 0.0-other is needed" in note
        assert "Processes of this machine" in note
        assert catalogue.store.link is not None
        state = catalogue.store.link.state()
        assert (state.connected, state.workers, state.others) == (True, 0, 1)
        with pytest.raises(SourceError, match=r"where 0\.0-other is needed"):
            make_all(str(logdir), of_cluster(settings, scheduler), alone=True)


@pytest.mark.slow
def test_a_worker_without_this_package_gets_nothing(
    queue_of: Queue, heard: Heard, processes: Processes, tmp_path: Path, settings: Settings
) -> None:
    # An installed package would be found by it, too: one of that name hides it.
    (tmp_path / "other" / "torch_tb_profiler").mkdir(parents=True)
    (tmp_path / "other" / "torch_tb_profiler" / "__init__.py").write_text("raise ImportError")
    processes.start_worker(sees=tmp_path / "other")
    queue = queue_of(processes.address, alone=False)
    queue.executor.link.connect()
    until(lambda: queue.executor.link.state().others == 1)
    until(lambda: "cannot run torch_tb_profiler" in queue.executor.link.note)
    queue.submit(job(tmp_path, "a"), (0,))
    until(lambda: heard.done("a"))
    processes.start_worker()
    until(lambda: queue.executor.link.state().workers == 1)
    queue.submit(job(tmp_path, "b"), (1,))
    until(lambda: heard.done("b"))
    assert begun(settings) == ["a.json", "b.json"]


def test_a_server_starts_without_its_scheduler(
    settings: Settings,
    start: Start,
    logdir: Path,
    processes: Processes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("CONNECT_SECONDS", "RETRY_SECONDS"):
        monkeypatch.setattr(cluster_link, name, 1.0)
    processes.close()
    write(logdir / "a.pt.trace.json", content())
    catalogue = start(logdir, of_cluster(settings, processes.address))
    until(lambda: states(catalogue) == {"a.pt.trace.json": "ready"})
    (note,) = catalogue.snapshot().notes
    assert note.startswith(f"The Dask scheduler {processes.address} cannot be reached (")
    processes.start_scheduler()
    processes.start_worker()
    assert catalogue.store.link is not None
    until(lambda: catalogue.store.link and catalogue.store.link.state().workers)
    until(lambda: not catalogue.snapshot().notes)
    write(logdir / "b.pt.trace.json", content())
    until(lambda: len(begun(settings)) == 2)
    until(lambda: set(states(catalogue).values()) == {"ready"})


def test_a_lost_worker_costs_its_task_only(
    settings: Settings, queue_of: Queue, heard: Heard, processes: Processes, tmp_path: Path
) -> None:
    first = processes.start_worker()
    queue = queue_of(processes.address)
    queue.submit(job(tmp_path, "a"), (0,))
    until(lambda: heard.done("a"))
    queue.submit(job(tmp_path, "b", until=tmp_path / "open"), (1,))
    until(lambda: begun(settings) == ["a.json", "b.json"])
    processes.start_worker()
    os.kill(first.pid, signal.SIGKILL)
    until(lambda: begun(settings) == ["a.json", "b.json", "b.json"])
    (tmp_path / "open").touch()
    until(lambda: heard.done("b"))
    assert heard.news["b"][-1].error is None
    assert queue.counts() == (0, 0, 2, 0)


def test_a_restarted_scheduler_loses_nothing(
    settings: Settings, queue_of: Queue, heard: Heard, processes: Processes, tmp_path: Path
) -> None:
    processes.start_worker()
    queue = queue_of(processes.address)
    # Known from the first task on, so that the one thread gets them in their order.
    queue.executor.link.connect()
    until(lambda: queue.executor.link.usable() is not None)
    for key in "abc":
        gate = tmp_path / "open" if key == "b" else tmp_path
        queue.submit(job(tmp_path, key, until=gate), (key,))
    until(lambda: heard.done("a") and "b.json" in begun(settings))
    processes.close()
    until(lambda: "cannot be reached" in queue.executor.link.note)
    processes.start_scheduler()
    processes.start_worker()
    until(lambda: begun(settings).count("b.json") == 2)
    (tmp_path / "open").touch()
    until(lambda: heard.done("b", "c"))
    assert sorted(begun(settings)) == ["a.json", "b.json", "b.json", "c.json"]
    assert queue.counts() == (0, 0, 3, 0)


def test_a_folder_that_is_not_shared_is_said(
    address: str,
    queue_of: Queue,
    heard: Heard,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "ARRIVAL_SECONDS", 0.3)
    queue_of(address).submit(job(tmp_path, "a", "tests.runs.test_cluster:forget"), (0,))
    until(lambda: heard.done("a"))
    assert heard.news["a"][-1].code == "not_shared"


def forget(location: str, sidecar: str, settings: Settings, report: Any) -> dict[str, Any]:
    """Says that it wrote a sidecar, as a worker does whose folder nobody else sees."""
    return {}


def test_a_command_uses_the_cluster_for_a_single_small_trace(
    address: str, settings: Settings, tmp_path: Path
) -> None:
    log = write_run(tmp_path / "log", "rank0")
    opened = list(load_all(str(log), of_cluster(settings, address)))
    assert len(opened) == 1
    shutil.rmtree(log)
    assert len(contents(settings.cache_dir)) == 1


def test_without_a_cache_nothing_goes_to_a_cluster(settings: Settings) -> None:
    store = SidecarStore(of_cluster(replace(settings, use_cache=False), "tcp://127.0.0.1:1"))
    assert store.link is None
    store.close()
