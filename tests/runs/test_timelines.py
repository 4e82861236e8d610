"""Timelines are made in a worker process, once, and mapped from then on."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from tests.builders.drawn import events, text_of
from tests.runs.conftest import DRAWING, until, write
from torch_tb_profiler.errors import ImportFailed, NotReady, SidecarError
from torch_tb_profiler.runs import sidecar_store as store_
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.import_job import Report
from torch_tb_profiler.runs.products import TIMELINE, make_timeline
from torch_tb_profiler.runs.sidecar_store import SidecarStore
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store.timeline import Timeline


def slow(location: str, sidecar_path: str, settings: Settings, report: Report) -> dict[str, object]:
    """Waits for a file before it makes the timeline."""
    report(1, 4)
    until(Path(location + ".go").exists)
    return make_timeline(location, sidecar_path, settings, report)


def broken_once(
    location: str, sidecar_path: str, settings: Settings, report: Report
) -> dict[str, object]:
    """Fails the first time."""
    mark = Path(location + ".tried")
    if not mark.exists():
        mark.touch()
        raise ValueError("the first time")
    return make_timeline(location, sidecar_path, settings, report)


def test_made_once_and_mapped_by_the_next_server(settings: Settings, trace_sidecar: str) -> None:
    store = SidecarStore(settings)
    try:
        until(lambda: not_yet(store, trace_sidecar))
        first = store.get(TIMELINE, trace_sidecar)
        assert store.get(TIMELINE, trace_sidecar) is first
        assert store.queue.started.total() == 1
        assert Path(TIMELINE.path(trace_sidecar, settings)).is_file()
    finally:
        store.close()
    again = SidecarStore(settings)
    try:
        assert again.get(TIMELINE, trace_sidecar)["slices"].n == first["slices"].n == 3
        assert not again.queue.started
    finally:
        again.close()


def not_yet(store: SidecarStore, path: str) -> bool:
    try:
        store.get(TIMELINE, path)
    except NotReady:
        return False
    return True


def test_many_requests_share_one_job_and_are_told_to_wait(
    settings: Settings, trace_sidecar: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_, "FIRST_WAIT_SECONDS", 0.3)
    store = SidecarStore(settings, {"timeline": "tests.runs.test_timelines:slow"})
    told: list[float | None] = []

    def ask() -> None:
        try:
            store.get(TIMELINE, trace_sidecar)
        except NotReady as error:
            told.append(error.details["progress"])

    try:
        threads = [threading.Thread(target=ask) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(told) == 20
        assert store.queue.started.total() == 1
        Path(trace_sidecar + ".go").touch()
        until(lambda: not_yet(store, trace_sidecar))
    finally:
        store.close()


def test_what_was_finished_between_the_look_and_the_order_is_not_made_again(
    settings: Settings, trace_sidecar: str
) -> None:
    other = SidecarStore(settings)

    def read(path: str) -> Timeline:
        if not other.queue.started:
            until(lambda: not_yet(other, trace_sidecar))
            raise SidecarError("It was not there when it was looked for.")
        return TIMELINE.read(path)

    product = structs.replace(TIMELINE, read=read)
    store = SidecarStore(settings)
    try:
        assert store.get(product, trace_sidecar)["slices"].n == 3
        assert not store.queue.started
        assert other.queue.started.total() == 1
    finally:
        store.close()
        other.close()


def test_a_failure_is_told_and_the_next_call_tries_again(
    settings: Settings, trace_sidecar: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_, "FIRST_WAIT_SECONDS", 60.0)
    store = SidecarStore(settings, {"timeline": "tests.runs.test_timelines:broken_once"})
    try:
        with pytest.raises(ImportFailed, match="the first time"):
            store.get(TIMELINE, trace_sidecar)
        assert store.get(TIMELINE, trace_sidecar)["slices"].n == 3
    finally:
        store.close()


def test_the_catalogue_opens_a_trace_with_its_timeline(settings: Settings, logdir: Path) -> None:
    write(logdir / "run" / "worker0.1.pt.trace.json", text_of(events(DRAWING)))
    catalogue = Catalogue({"": Place(str(logdir))}, replace(settings, workers=1))
    catalogue.start()
    try:

        def there() -> bool:
            try:
                return catalogue.timeline("run", "worker0", "1").timeline["slices"].n == 3
            except NotReady:
                return False

        until(there)
        found = catalogue.timeline("run", "worker0", "1")
        own = next(
            str(path)
            for path in Path(settings.cache_dir).iterdir()
            if ".timeline" not in path.name and path.suffix == ".safetensors"
        )
        assert found.id == TIMELINE.id(own, settings)
        assert len(found.id) == 24
    finally:
        catalogue.close()
