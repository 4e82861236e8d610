"""Kept files that are cut off while a server has them mapped: requests are answered all the same."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from unittest import mock

import pytest
from werkzeug.test import Client

from benchmarks.fuzz.folder_check import InThisProcess, settled
from tests.api.traces import write
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.watch import Watch
from torch_tb_profiler.web.application import Application

pytestmark = pytest.mark.skipif(os.name != "posix", reason="mapped files cannot be cut off there")


@pytest.mark.parametrize("left", [0.0, 0.3, 0.9])
@pytest.mark.parametrize(
    "view", ["overview", "trace/timeline", "critical_path", "memory", "module"]
)
@pytest.mark.slow
def test_a_cut_file_is_made_again(view: str, left: float, tmp_path: Path) -> None:
    write(tmp_path / "logs" / "run", "w0")
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    settings = Settings(cache_dir=str(cache), settle_seconds=0.0)
    with mock.patch("torch_tb_profiler.runs.sidecar_store._executor", return_value=InThisProcess()):
        catalogue = Catalogue({"logs": Place(str(tmp_path / "logs"))}, settings)
        try:
            catalogue._scan("logs", Watch(0.0))
            settled(catalogue)
            client = Client(Application(catalogue, settings))
            (run,) = catalogue.snapshot().runs
            place = (
                f"run={run.name}&worker={run.workers[0].name}&span={run.workers[0].spans[0].name}"
            )

            def asked() -> tuple[int, bytes]:
                for _ in range(20):
                    reply = client.get(f"/{view}?{place}")
                    if reply.status_code != 202:
                        break
                    settled(catalogue)
                return reply.status_code, reply.data

            first = asked()
            assert first[0] == 200
            for path in cache.glob("*.safetensors"):
                os.truncate(path, int(path.stat().st_size * left))
            assert asked() == first
        finally:
            catalogue.close()
            shutil.rmtree(cache)
