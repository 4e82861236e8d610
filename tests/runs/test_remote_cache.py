"""Traces and sidecars in an object store: the whole road, and what a failing store does."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pytest

from tests.api.traces import write as write_run
from tests.runs.clusters import of_cluster, threads
from tests.runs.conftest import states, until
from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.runs import cluster_task
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.fleet import Fleets
from torch_tb_profiler.runs.whole_logdir import make_all
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import remote_cache
from torch_tb_profiler.sources.cache_folder import CacheFolder
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.remote_cache import RemoteCache

pytestmark = pytest.mark.processes


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder below which copies are kept, of this test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    """An S3 server in this process; what is set for it is set for processes started from here."""
    server_module: Any = pytest.importorskip("moto.server")
    pytest.importorskip("s3fs")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    set_now = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    before = {name: os.environ.get(name) for name in set_now}
    os.environ.update(set_now)
    try:
        yield "s3://"
    finally:
        server.stop()
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


@pytest.fixture
def bucket(store: str, request: pytest.FixtureRequest) -> str:
    """A new bucket with a run of three ranks in ``log``."""
    name = f"b{abs(hash(request.node.name)) % 10**9}"
    fs: Any = fsspec.filesystem("s3", skip_instance_cache=True)
    fs.mkdir(name)
    return f"{store}{name}"


def _end_idle() -> None:
    with cluster_task._idle_lock:
        for _, worker in cluster_task._idle:
            worker.close()
        cluster_task._idle.clear()


def put(run: Path, url: str) -> None:
    fs, path = fsspec.core.url_to_fs(url)
    for file in run.iterdir():
        fs.put_file(str(file), f"{path}/{file.name}")


def copies(home: Path) -> set[str]:
    return {path.name for path in home.rglob("*.safetensors")}


def stored(url: str) -> dict[str, bytes]:
    fs, path = fsspec.core.url_to_fs(url)
    fs.invalidate_cache()
    return {name.rpartition("/")[2]: fs.cat_file(name) for name in fs.ls(path, detail=False)}


def ready(catalogue: Catalogue) -> bool:
    return len(states(catalogue)) == 3 and set(states(catalogue).values()) == {"ready"}


@pytest.mark.slow
def test_the_whole_road_through_an_object_store(
    bucket: str, settings: Settings, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cluster reads the traces of a store and writes its sidecars there; a server elsewhere serves them."""
    _end_idle()  # processes that an earlier test left know nothing of this store
    put(write_run(tmp_path / "run", "rank0", "rank1", "rank2"), f"{bucket}/log/run")
    there = replace(settings, cache_dir=f"{bucket}/cache")
    with threads() as scheduler:
        made = make_all(f"{bucket}/log", of_cluster(there, scheduler), alone=True)
        assert [(trace.state, trace.message, trace.made) for trace in made] == [
            ("ready", "", True)
        ] * 3
        kept = stored(there.cache_dir)
        assert (
            sorted(name.rpartition(".")[2] for name in kept) == ["json"] * 3 + ["safetensors"] * 9
        )
        again = make_all(f"{bucket}/log", of_cluster(there, scheduler), alone=True)
        assert not any(trace.made for trace in again)
        assert stored(there.cache_dir) == kept
    # Another machine, which has no copies.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "elsewhere"))
    catalogue = Catalogue({"": Place(f"{bucket}/log")}, there)
    try:
        catalogue.start()
        until(lambda: ready(catalogue))
        (run,) = catalogue.snapshot().runs
        assert not list((tmp_path / "elsewhere").rglob("*.safetensors"))
        opened = catalogue.open(run.name, "rank0", run.workers[0].spans[0].name)
        assert opened.facts["steps"].n == 2
        fleet = Fleets(catalogue).of(opened)
        assert [member.state for member in fleet.members] == ["ready"] * 3
        assert not catalogue.store.queue.started
    finally:
        catalogue.close()
    fetched = {
        path.name: path.read_bytes() for path in (tmp_path / "elsewhere").rglob("*.safetensors")
    }
    assert fetched.items() <= kept.items()
    # The indices of all ranks, and imports only where the path through all ranks led.
    assert sum(".ranks." in name for name in fetched) == 3
    assert sum("-" not in name for name in fetched) < 3


@pytest.mark.slow
def test_processes_of_this_machine_write_to_a_store(
    bucket: str, settings: Settings, tmp_path: Path, home: Path
) -> None:
    log = write_run(tmp_path / "run", "rank0", "rank1")
    there, here = (
        replace(settings, cache_dir=where) for where in (f"{bucket}/cache", str(tmp_path / "here"))
    )
    make_all(str(log), there)
    make_all(str(log), here)
    expected = {path.name: path.read_bytes() for path in Path(here.cache_dir).glob("*.safetensors")}
    assert {n: data for n, data in stored(there.cache_dir).items() if n in expected} == expected
    assert copies(home) == expected.keys()


def test_a_cache_in_memory_serves_the_processes_own_work(
    settings: Settings, tmp_path: Path, home: Path
) -> None:
    there = replace(settings, cache_dir="memory://cache-of-a-test")
    made = make_all(str(write_run(tmp_path / "run", "rank0")), there)
    assert [trace.state for trace in made] == ["ready"]
    assert stored(there.cache_dir).keys() > copies(home)
    assert len(copies(home)) == 3


@pytest.fixture
def remote(tmp_path: Path) -> RemoteCache:
    (tmp_path / "place").mkdir()
    (tmp_path / "copies").mkdir()
    return RemoteCache(f"local://{tmp_path}/place")


def test_a_copy_is_fetched_once_it_is_listed(
    remote: RemoteCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copies" / "a.safetensors"
    assert not remote.fetch(copy)
    (tmp_path / "place" / "a.safetensors").write_bytes(b"all of it")
    assert not remote.fetch(copy)
    monkeypatch.setattr(remote_cache, "LIST_SECONDS", 0.0)
    assert remote.size("a.safetensors") == 9
    assert remote.fetch(copy)
    assert copy.read_bytes() == b"all of it"
    assert [path.name for path in copy.parent.iterdir()] == ["a.safetensors"]


def test_what_a_worker_says_is_there_is_fetched_without_a_listing(
    remote: RemoteCache, tmp_path: Path
) -> None:
    remote.size("a.safetensors")
    (tmp_path / "place" / "a.safetensors").write_bytes(b"new")
    remote.saw("a.safetensors")
    assert remote.fetch(tmp_path / "copies" / "a.safetensors")


def test_what_is_gone_meanwhile_is_not_there(remote: RemoteCache, tmp_path: Path) -> None:
    remote.saw("a.safetensors")
    assert not remote.fetch(tmp_path / "copies" / "a.safetensors")
    assert remote.size("a.safetensors") is None


def test_nobody_sees_half_of_what_is_published(remote: RemoteCache, tmp_path: Path) -> None:
    copy = tmp_path / "copies" / "a.safetensors"
    copy.write_bytes(b"all of it")
    seen: list[set[str]] = []
    move = remote._fs.mv

    def look(source: str, target: str) -> None:
        seen.append({path.name for path in (tmp_path / "place").iterdir()})
        move(source, target)

    remote._fs.mv = look
    try:
        remote.publish(copy)
    finally:
        del remote._fs.mv
    assert [name for names in seen for name in names if not name.endswith(".part")] == []
    assert {path.name for path in (tmp_path / "place").iterdir()} == {"a.safetensors"}


def test_a_store_that_does_not_answer_is_said_without_secrets(tmp_path: Path) -> None:
    remote = RemoteCache("http://user:secret@127.0.0.1:9/cache")
    with pytest.raises(SourceError) as failed:
        remote.size("a.safetensors")
    assert "http://127.0.0.1:9/cache could not be used" in failed.value.message
    assert "secret" not in failed.value.message


def test_an_unknown_store_is_not_used_and_said(settings: Settings, home: Path) -> None:
    folder = CacheFolder(replace(settings, cache_dir="nowhere://bucket/cache"))
    assert folder.remote is None
    assert "nowhere://bucket/cache" in folder.note


def test_a_damaged_copy_is_fetched_again(settings: Settings, home: Path, tmp_path: Path) -> None:
    folder = CacheFolder(replace(settings, cache_dir="memory://damaged"))
    copy = folder.path / "a.safetensors"
    copy.write_bytes(b"good")
    folder.publish(copy)
    copy.write_bytes(b"bad")
    folder.discard(copy)
    assert folder.copied(copy).read_bytes() == b"good"
