"""Which jobs of a logdir can be recorded now, and what the Diagnosis view says of them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from werkzeug.test import Client

from torch_tb_profiler.live.job_files import FOLDER, jobs_below
from torch_tb_profiler.live.listener import listen
from torch_tb_profiler.runs.catalogue import catalogue_of
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.web.application import Application


def test_jobs_are_found_in_folders_below(tmp_path: Path) -> None:
    run = tmp_path / "a" / "b"
    run.mkdir(parents=True)
    (tmp_path / "empty" / FOLDER).mkdir(parents=True)
    (tmp_path / "damaged" / FOLDER).mkdir(parents=True)
    (tmp_path / "damaged" / FOLDER / "rank0.json").write_text('{"address": 3}')
    with listen(directory=run):
        assert jobs_below([str(tmp_path)]) == [(run, [0])]
    assert jobs_below([str(tmp_path)]) == []


def test_the_diagnosis_says_how_to_record_them(tmp_path: Path) -> None:
    settings = Settings(cache_dir=str(tmp_path / "cache"))
    run = tmp_path / "logs" / "my run"
    run.mkdir(parents=True)
    catalogue = catalogue_of(str(tmp_path / "logs"), settings)
    with listen(directory=run):
        told = json.loads(Client(Application(catalogue, settings)).get("/diagnosis").data)
    (job,) = told["live"]
    assert job["ranks"] == [0]
    assert job["command"] == f"torch-tb-profiler record '{run}' --steps 5"


@pytest.mark.skipif(os.name != "posix", reason="names of folders")
@pytest.mark.parametrize("name", [b"a\nb; echo owned", b"\x1b[31m", b"it's\xff", b"\xe2\x80\xae"])
def test_the_command_of_an_odd_folder_is_one_word_of_one_line(tmp_path: Path, name: bytes) -> None:
    settings = Settings(cache_dir=str(tmp_path / "cache"))
    run = tmp_path / "logs" / os.fsdecode(name)
    run.mkdir(parents=True)
    catalogue = catalogue_of(str(tmp_path / "logs"), settings)
    with listen(directory=run):
        told = json.loads(Client(Application(catalogue, settings)).get("/diagnosis").data)
    (job,) = told["live"]
    assert job["command"].isprintable()
    program = f'set -- {job["command"]}; printf %s "$3"'
    said = subprocess.run(["bash", "-c", program], capture_output=True, check=True).stdout
    assert said == os.fsencode(run)
