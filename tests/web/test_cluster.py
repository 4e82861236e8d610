"""What the Diagnosis view learns of a cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from tests.runs.clusters import threads
from tests.runs.conftest import until
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.web.application import Application

pytestmark = pytest.mark.processes
pytest.importorskip("distributed")


def asked(catalogue: Catalogue, settings: Settings) -> Any:
    return json.loads(Client(Application(catalogue, settings)).get("/diagnosis").data)["cluster"]


def test_a_scheduler_that_is_not_reached_leaves_its_figures_unknown(tmp_path: Path) -> None:
    settings = Settings(cache_dir=str(tmp_path / "cache"), scheduler="tcp://me:pw@127.0.0.1:9")
    catalogue = Catalogue({"": Place(str(tmp_path))}, settings)
    try:
        assert asked(catalogue, settings) == {
            "address": "tcp://127.0.0.1:9",
            "connected": False,
            **dict.fromkeys(("workers", "others", "threads", "memory", "dashboard")),
            **dict.fromkeys(("waiting", "running", "done", "failed"), 0),
        }
    finally:
        catalogue.close()


def test_a_cluster_is_described(tmp_path: Path) -> None:
    with threads(2, memory_limit="1GiB") as scheduler:
        settings = Settings(cache_dir=str(tmp_path / "cache"), scheduler=scheduler)
        catalogue = Catalogue({"": Place(str(tmp_path))}, settings)
        try:
            catalogue.start()
            until(lambda: asked(catalogue, settings)["workers"] == 2)
            cluster = asked(catalogue, settings)
            assert (cluster["connected"], cluster["threads"], cluster["others"]) == (True, 2, 0)
            assert cluster["memory"] == 2 << 30
            assert cluster["dashboard"].startswith("http://")
        finally:
            catalogue.close()


def test_without_a_scheduler_there_is_none(tmp_path: Path) -> None:
    settings = Settings(cache_dir=str(tmp_path / "cache"))
    catalogue = Catalogue({"": Place(str(tmp_path))}, settings)
    assert asked(catalogue, settings) is None
    catalogue.close()
