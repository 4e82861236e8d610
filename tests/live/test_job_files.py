"""Files of a job that somebody else wrote, or had lead elsewhere: nothing of them is used, and no token is sent."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from werkzeug.test import Client

from torch_tb_profiler.cli.main import main
from torch_tb_profiler.errors import BadRequest, SourceError
from torch_tb_profiler.live.client import record_live
from torch_tb_profiler.live.job_files import (
    FOLDER,
    MOST_BYTES,
    TOKEN,
    jobs_below,
    kept_token,
    members_of,
)
from torch_tb_profiler.live.listener import TOKEN_VARIABLE, listen
from torch_tb_profiler.runs.catalogue import catalogue_of
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.web.application import Application

pytestmark = pytest.mark.skipif(os.name != "posix", reason="owners of files")
SHAPED = "k" * 32
Plant = Callable[[Path, str], None]


def _of_another_user(path: Path, text: str) -> None:
    path.write_text(text)
    if os.geteuid() == 0:
        os.chown(path, 4711, -1)
    else:
        pytest.skip("only root can give files away")


def _open_to_others(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o666)


def _a_link(path: Path, text: str) -> None:
    target = path.parent.parent.parent / "elsewhere"
    target.write_text(text)
    path.symlink_to(target)


def _in_a_linked_folder(path: Path, text: str) -> None:
    path.parent.rmdir()
    target = path.parent.parent.parent / "folder"
    target.mkdir()
    path.parent.symlink_to(target)
    path.write_text(text)


PLANTS = [_of_another_user, _open_to_others, _a_link, _in_a_linked_folder]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "run" / FOLDER).mkdir(parents=True)
    return tmp_path / "run"


@pytest.fixture
def thief() -> Iterator[tuple[str, list[bytes]]]:
    """An address, and what is sent to it."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hear() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    heard.append(connection.recv(1 << 16))

        thread = threading.Thread(target=hear, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}", heard
        server.shutdown(socket.SHUT_RDWR)
    thread.join(5)


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("given", ["kept", "environment", "option"])
def test_no_token_goes_to_an_address_that_somebody_else_wrote(
    folder: Path,
    thief: tuple[str, list[bytes]],
    plant: Plant,
    given: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    address, heard = thief
    job = folder / FOLDER / "rank0.json"
    plant(job, json.dumps({"rank": 0, "address": address}))
    if given == "kept":
        (folder / FOLDER / TOKEN).write_text(SHAPED)
    elif given == "environment":
        monkeypatch.setenv(TOKEN_VARIABLE, "secret")
    options = ["--token", "secret"] if given == "option" else []
    assert main(["record", str(folder), *options]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "is not used: " in told
    assert heard == []
    assert jobs_below([str(folder.parent)]) == []
    settings = Settings(cache_dir=str(folder.parent / "cache"))
    catalogue = catalogue_of(str(folder.parent), settings)
    client = Client(Application(catalogue, settings))
    assert json.loads(client.get("/diagnosis").data)["live"] == []
    assert heard == []


def test_one_foreign_file_among_others_is_refused_too(
    folder: Path, thief: tuple[str, list[bytes]]
) -> None:
    for rank in range(2):
        path = folder / FOLDER / f"rank{rank}.json"
        path.write_text(json.dumps({"rank": rank, "address": thief[0]}))
        path.chmod(0o600 if rank == 0 else 0o622)
    with pytest.raises(BadRequest, match=r"rank1\.json is not used: others may write to it"):
        record_live(str(folder), token="secret")
    assert thief[1] == []
    # A listener of this user still tells of its own.
    assert [member["rank"] for member in members_of(folder).ranks] == [0]


@pytest.mark.parametrize("plant", PLANTS)
def test_a_token_that_somebody_else_knows_is_not_accepted(folder: Path, plant: Plant) -> None:
    plant(folder / FOLDER / TOKEN, SHAPED)
    with pytest.raises(SourceError, match="is not used: "):
        kept_token(folder)
    with pytest.raises(SourceError, match="is not used: "):
        listen(directory=folder)
    assert not any("listener" in thread.name for thread in threading.enumerate())


def test_the_text_of_another_file_is_no_token(tmp_path: Path, folder: Path) -> None:
    for text in ("", "short", "a line\nof words", "x" * 33, "k" * 31 + "é", "k" * 1_000_000):
        (folder / FOLDER / TOKEN).write_text(text)
        if len(text) > MOST_BYTES:
            assert kept_token(folder) is None
        else:
            with pytest.raises(SourceError, match="holds no token"):
                kept_token(folder)


def test_pipes_and_folders_in_the_place_of_files_are_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / FOLDER / "rank0.json")
    os.mkfifo(folder / FOLDER / TOKEN)
    (folder / FOLDER / "rank1.json").mkdir()
    (folder / FOLDER / "rank2.json").symlink_to("/dev/zero")
    found = members_of(folder)
    assert found.ranks == []
    assert [text.split(" is not used")[0][-10:] for text in found.refused] == ["rank2.json"]
    assert kept_token(folder) is None


@pytest.mark.parametrize(
    "text",
    [
        "[" * 60_000,
        '{"a":' * 10_000 + "1" + "}" * 10_000,
        '{"rank": 0, "address": 3}',
        '{"rank": 0, "address": "\\ud800"}',
        '{"rank": 1e999, "address": "x"}',
        "[]",
        '"' * 60_001,
        '{"rank": 0, "address": "' + "x" * 70_000 + '"}',
        b"\xff\xfe{\x00}\x00",
    ],
    ids=range(9),
)
def test_what_is_no_job_file_names_no_rank(folder: Path, text: str | bytes) -> None:
    content = text if isinstance(text, bytes) else text.encode()
    (folder / FOLDER / "rank0.json").write_bytes(content)
    found = members_of(folder)
    assert found.refused == []
    assert [member for member in found.ranks if member["address"] != "x"] == []
