"""The scanner under address and undefined-behaviour sanitizers, on mutated chunks."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.architecture import tree
from torch_tb_profiler.native import library

FLAGS = ("-std=c11", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
SAMPLES = ("cnn_workers_0", "transformer", "inference")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``fuzz.c`` with the scanner in it."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no compiler on this machine")
    target = tmp_path_factory.mktemp("fuzz") / "fuzz"
    sources = [str(Path(__file__).with_name("fuzz.c")), str(library.FOLDER / "scan.c")]
    done = subprocess.run(
        [compiler, *FLAGS, "-o", str(target), *sources], capture_output=True, text=True, timeout=300
    )
    if (done.returncode and "sanitize" in done.stderr + done.stdout) or "lasan" in done.stderr:
        pytest.skip("no sanitizers on this machine")
    assert done.returncode == 0, done.stderr
    return target


def chunks(folder: Path) -> list[str]:
    """The first events of some samples, as chunks."""
    found = []
    for name in SAMPLES:
        (path, *_) = sorted((tree.ROOT / "samples" / name).glob("*.pt.trace.json.gz"))
        text = gzip.decompress(path.read_bytes())
        events = text[text.index(b"[", text.index(b'"traceEvents"')) :]
        target = folder / name
        target.write_bytes(events[: events.rindex(b"}", 0, 60_000) + 1] + b"]")
        found.append(str(target))
    return found


def scanned(program: Path, mutations: int, folder: Path) -> tuple[int, int]:
    """How many chunks were accepted, and refused."""
    done = subprocess.run(
        [str(program), str(mutations), *chunks(folder)],
        env={**os.environ, "ASAN_OPTIONS": "detect_leaks=1"},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert (done.returncode, done.stderr) == (0, "")
    _, accepted, _, refused = done.stdout.split()
    return int(accepted), int(refused)


@pytest.mark.slow
def test_no_byte_too_far(program: Path, tmp_path: Path) -> None:
    accepted, refused = scanned(program, 400, tmp_path)
    assert accepted >= len(SAMPLES)
    assert refused > 0


@pytest.mark.nightly
def test_no_byte_too_far_in_many(program: Path, tmp_path: Path) -> None:
    accepted, refused = scanned(program, 20_000, tmp_path)
    assert accepted > 0
    assert refused > 0
