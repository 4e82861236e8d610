"""Insights are made in worker processes when they are first asked for, of all workers of a run at
once, and mapped from then on.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.builders.drawn import events, text_of, trace_of
from tests.runs.conftest import DRAWING, until, write
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.errors import ImportFailed, NotFound, NotReady
from torch_tb_profiler.runs import sidecar_store as store_
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.import_job import Report
from torch_tb_profiler.runs.model import OpenedInsight
from torch_tb_profiler.runs.products import INSIGHT, make_insight
from torch_tb_profiler.runs.sidecar_store import SidecarStore
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store import sidecar
from torch_tb_profiler.store.insight import Insight


def dies_once(
    location: str, sidecar_path: str, settings: Settings, report: Report
) -> dict[str, object]:
    """Is killed the first time, as by the kernel when memory ends."""
    mark = Path(location + ".tried")
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)
    return make_insight(location, sidecar_path, settings, report)


def test_an_insight_comes_back_from_its_sidecar_as_it_was(tmp_path: Path) -> None:
    trace = trace_of(events(DRAWING))
    made = build_insight(trace, derive(trace))
    sidecar.write_derived(tmp_path / "i.safetensors", made)
    read = sidecar.read_derived(tmp_path / "i.safetensors", Insight)
    assert read.about == made.about
    assert read.strings.all() == made.strings.all()
    assert set(read.tables) == set(made.tables)
    for name, table in made.tables.items():
        for column in table:
            assert read[name][column].tolist() == table[column].tolist(), (name, column)
    assert read["span_paths"].n == trace["spans"].n


def test_asking_does_not_wait(settings: Settings, trace_sidecar: str) -> None:
    store = SidecarStore(settings)
    try:
        assert store.made(INSIGHT, trace_sidecar) is None
        progress = store.ask(INSIGHT, trace_sidecar)
        assert isinstance(progress, float)
        assert 0.0 <= progress < 1.0
        until(lambda: store.made(INSIGHT, trace_sidecar) is not None)
        assert store.ask(INSIGHT, trace_sidecar) is store.made(INSIGHT, trace_sidecar)
        assert store.made(INSIGHT, trace_sidecar) is store.get(INSIGHT, trace_sidecar)
        assert store.queue.started.total() == 1
    finally:
        store.close()


def test_a_killed_worker_costs_one_answer(
    settings: Settings, trace_sidecar: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_, "FIRST_WAIT_SECONDS", 60.0)
    store = SidecarStore(settings, {"insight": "tests.runs.test_insights:dies_once"})
    try:
        with pytest.raises(ImportFailed, match="analysis of the trace could not be made"):
            store.get(INSIGHT, trace_sidecar)
        assert store.get(INSIGHT, trace_sidecar)["span_paths"].n == 3
    finally:
        store.close()


def test_the_catalogue_has_the_insights_of_all_workers_made(
    settings: Settings, logdir: Path
) -> None:
    for rank in range(3):
        write(logdir / "run" / f"rank{rank}.pt.trace.json", text_of(events(DRAWING)))
    write(logdir / "run" / "rank3.pt.trace.json", "{broken")
    catalogue = Catalogue({"": Place(str(logdir))}, replace(settings, workers=1))
    catalogue.start()
    try:

        def all_there() -> bool:
            return all(
                isinstance(catalogue.ask_insight("run", f"rank{rank}", "trace"), OpenedInsight)
                for rank in range(3)
            )

        def insight() -> OpenedInsight | None:
            try:
                return catalogue.insight("run", "rank0", "trace")
            except NotReady:
                return None

        until(lambda: not catalogue.snapshot().scanning)
        until(all_there)
        found = insight()
        assert found is not None
        assert found.insight["span_paths"].n == 3
        assert len(found.id) == 24
        with pytest.raises(NotFound):
            catalogue.ask_insight("run", "rank9", "trace")
        until(
            lambda: any(
                s.state.value == "failed"
                for w in catalogue.snapshot().runs[0].workers
                for s in w.spans
            )
        )
        with pytest.raises(ImportFailed):
            catalogue.ask_insight("run", "rank3", "trace")
    finally:
        catalogue.close()
