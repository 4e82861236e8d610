"""Which jobs of a logdir can be recorded now, and what the Diagnosis view says of them."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from werkzeug.test import Client, TestResponse

from tests.live.test_listen import stepping
from torch_tb_profiler.api.opening import open_path
from torch_tb_profiler.live.job_files import FOLDER
from torch_tb_profiler.live.jobs import jobs_below
from torch_tb_profiler.live.listener import Listener, listen
from torch_tb_profiler.runs.catalogue import catalogue_of
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.record_wire import RecordedRank, RecordPayload
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


@pytest.fixture
def job(torch: Any, tmp_path: Path) -> Iterator[tuple[Client, Path, Listener]]:
    """The routes of a logdir in which a job listens, the job's folder, and the job."""
    settings = Settings(cache_dir=str(tmp_path / "cache"))
    run = tmp_path / "logs" / "run"
    run.mkdir(parents=True)
    catalogue = catalogue_of(str(tmp_path / "logs"), settings)
    with listen(directory=run, scalars=False) as listener, stepping(listener):
        yield Client(Application(catalogue, settings)), run, listener


def posted(job: tuple[Client, Path, Listener], **changed: Any) -> TestResponse:
    client, run, listener = job
    asked = {"folder": str(run), "steps": 2, "ranks": None, "token": listener.token}
    return client.post("/record", json={**asked, **changed})


def test_a_job_is_recorded_by_its_token(job: tuple[Client, Path, Listener]) -> None:
    run = job[1]
    told = msgspec.json.decode(posted(job).data, type=RecordPayload)
    assert told.ranks == [RecordedRank(rank=0, problem="")]
    until = time.monotonic() + 60
    while not list(run.glob("*.pt.trace.json.gz")):
        assert time.monotonic() < until
        time.sleep(0.05)
    steps = open_path(run, use_cache=False).steps["name"].tolist()
    assert steps == [f"ProfilerStep#{told.at_step + i}" for i in range(2)]


@pytest.mark.parametrize(
    ("changed", "status", "words"),
    [
        # Though the server could read the job's token, it adds none.
        ({"token": ""}, 400, "length >= 1 - at `$.token`"),
        ({"token": "guessed"}, 400, "The token is wrong"),
        ({"folder": "/etc"}, 404, "No job listens for this folder"),
        ({"ranks": [3]}, 400, "No such rank listens"),
        ({"ranks": []}, 400, "length >= 1 - at `$.ranks`"),
        ({"steps": 100_000}, 400, "steps (1 to 1000)"),
        ({"steps": "all"}, 400, "Expected `int`"),
    ],
)
def test_what_is_not_right_records_nothing(
    job: tuple[Client, Path, Listener], changed: dict[str, Any], status: int, words: str
) -> None:
    reply = posted(job, **changed)
    assert (reply.status_code, words in reply.get_data(as_text=True)) == (status, True)
    assert not job[2].status()["busy"]


def test_a_form_of_another_site_records_nothing(job: tuple[Client, Path, Listener]) -> None:
    client, run, listener = job
    asked = {"folder": str(run), "steps": 2, "ranks": None, "token": listener.token}
    # What a form can send without a preflight.
    reply = client.post("/record", data=json.dumps(asked), content_type="text/plain")
    assert (reply.status_code, listener.status()["busy"]) == (400, False)
    reply = client.get("/record", query_string=asked)
    assert (reply.status_code, reply.headers["Allow"]) == (405, "POST")
