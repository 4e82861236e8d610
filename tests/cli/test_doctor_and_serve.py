"""``torch-tb-profiler doctor``: what to do where something lacks. ``serve``: how it begins and
ends.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from torch_tb_profiler.cli import doctor, main
from torch_tb_profiler.native import library

pytestmark = pytest.mark.processes


def advice(capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main.main(["doctor", "--json"]) == 0
    found: list[str] = json.loads(capsys.readouterr().out)["advice"]
    return found


@pytest.fixture(autouse=True)
def whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An installation in which nothing lacks."""
    monkeypatch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(doctor, "_registered", lambda: True)
    monkeypatch.setattr(doctor, "_page_built", lambda: True)
    monkeypatch.setattr(library, "why_not", lambda: "")
    monkeypatch.setattr("shutil.which", lambda name: str(Path(sys.executable).parent / name))


def test_nothing_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert advice(capsys) == []
    assert main.main(["doctor"]) == 0
    assert "What to do" not in capsys.readouterr().out


def test_a_number_of_tokens_asks_for_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["doctor", "--tokens", "400"]) == 0
    assert capsys.readouterr().out.startswith("# torch-tb-profiler doctor\n")


def _unregistered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_registered", lambda: False)


def _unbuilt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_page_built", lambda: False)


def _another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/opt/another/bin/{name}")


def _versions(monkeypatch: pytest.MonkeyPatch, tensorboard: str) -> None:
    monkeypatch.setattr(
        doctor,
        "_version",
        lambda name: tensorboard if name == "tensorboard" else doctor.MISSING_PACKAGE,
    )


def _cacheless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_TB_PROFILER_CACHE_DIR", "/dev/null/cache")


@pytest.mark.parametrize(
    ("broken", "what"),
    [
        (_unregistered, "pip install ."),
        (_unbuilt, "npm run build"),
        (_another, "-m tensorboard.main"),
        (lambda patch: _versions(patch, doctor.MISSING_PACKAGE), "torch-tb-profiler serve"),
        (lambda patch: _versions(patch, "2.9.1"), "TensorBoard 2.9.1 is too old"),
        (lambda patch: patch.setattr(library, "why_not", lambda: "no compiler"), "(no compiler)"),
        (_cacheless, "TORCH_TB_PROFILER_CACHE_DIR=FOLDER"),
    ],
)
def test_each_lack_says_what_to_do(
    broken: Any, what: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken(monkeypatch)
    found = advice(capsys)
    assert len(found) == 1
    assert what in found[0]


def test_newer_versions_are_not_old(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for version in ("2.15.0", "2.21.0rc1", "3.0.0"):
        _versions(monkeypatch, version)
        assert advice(capsys) == []


@contextmanager
def serve(*arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """The server in a process of its own, which does not outlive the test."""
    running = subprocess.Popen(
        [sys.executable, "-m", "torch_tb_profiler.cli.main", "serve", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "SSH_CONNECTION": "", **environment},
        # What a shell runs in its background ignores SIGINT, and so would all that the tests start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with running:
        try:
            yield running
        finally:
            running.kill()


def line_of(running: subprocess.Popen[str]) -> str:
    """The next line that it prints."""
    assert running.stdout is not None
    return running.stdout.readline()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_one_address_is_printed_and_the_end_is_quiet(
    ending: signal.Signals, tmp_path: Path
) -> None:
    with serve(str(tmp_path), "--port", "0") as running:
        line = line_of(running)
        address = line.split()[3]
        assert line == f"PyTorch profiler at {address} (press Ctrl+C to quit)\n"
        with urlopen(address) as page:
            # The page asks below its own address, so that it can stand behind any prefix.
            text = page.read().decode()
        assert page.status == 200
        assert '="/' not in text
        with serve(str(tmp_path), "--port", address.rstrip("/").rpartition(":")[2]) as second:
            told = (
                f"torch-tb-profiler: {address[7:-1]} cannot be used: Address already in use. Choose"
                " another --port.\n"
            )
            assert second.communicate(timeout=60) == ("", told)
            assert second.returncode == 2
        running.send_signal(ending)
        out, err = running.communicate(timeout=60)
        assert (out, running.returncode) == ("", 0)
        assert "Traceback" not in err


def test_a_logdir_that_is_not_there_yet_is_told(tmp_path: Path) -> None:
    with serve(str(tmp_path / "later"), "--port", "0", "--host", "0.0.0.0") as running:
        assert f"http://{socket.gethostname()}:" in line_of(running)
        running.send_signal(signal.SIGINT)
        err = running.communicate(timeout=60)[1]
    assert err.startswith(
        f"torch-tb-profiler: {tmp_path / 'later'} does not exist yet; the page shows it once it"
        " does.\n"
    )
    assert "Anyone who can reach this machine can read the traces." in err


def test_names_that_it_answers_to(tmp_path: Path) -> None:
    with serve(str(tmp_path), "--port", "0", "--allowed-hosts", "a.example,*.b.example") as running:
        address = line_of(running).split()[3]
        statuses = []
        for host in ("a.example", "c.b.example:80", "b.example", "evil.example"):
            request = Request(f"{address}runs", headers={"Host": host})
            try:
                statuses.append(urlopen(request).status)
            except HTTPError as refused:
                statuses.append(refused.code)
        assert statuses == [200, 200, 403, 403]
