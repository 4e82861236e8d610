"""A mapped file that is cut off behind our back ends what is computed from it, and not the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from torch_tb_profiler.errors import SidecarError
from torch_tb_profiler.store import damage_reports, mapped_files

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the signals of Linux"),
]
READ = """
import os, sys, threading
import numpy as np
from isal import isal_zlib
from torch_tb_profiler.errors import SidecarError
from torch_tb_profiler.store import damage_reports, mapped_files

path, size = sys.argv[1], 4 << 20
ways = [
    lambda data: np.frombuffer(data, np.int64).sum(),
    lambda data: isal_zlib.crc32(np.frombuffer(data, np.uint8)),
    lambda data: np.frombuffer(data, np.int64)[:: 511].copy(),
    lambda data: np.sort(np.frombuffer(data, np.int64)),
    lambda data: bytes(data),
    lambda data: np.frombuffer(data, np.int64).tolist(),
]

def cut(way, length, told):
    try:
        with damage_reports.expect_readable():
            with open(path, "rb") as file:
                data = mapped_files.contents(file, path)
            os.truncate(path, length)
            way(data)
        told.append("nothing")
    except SidecarError as error:
        told.append(error.message)

told = []
for way in ways:
    for length in (0, 5000, size // 2, size - 4096):
        np.arange(size // 8).tofile(path)
        thread = threading.Thread(target=cut, args=(way, length, told))
        thread.start()
        thread.join()
assert all(text.startswith("kept ") and "cut it off" in text or "another size" in text for text in told), told
assert not os.path.exists(path)
print("alive")
"""
CRASH = """
import ctypes, mmap, os, sys
from torch_tb_profiler.store import mapped_files
with open(sys.argv[1], "wb") as file:
    file.write(bytes(1 << 20))
with open(sys.argv[1], "rb") as file:
    ours = mapped_files.contents(file, sys.argv[1])
    others = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
os.truncate(sys.argv[1], 0)
print(others[5000])
"""


def _run(program: str, path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_what_is_computed_from_it_ends_and_the_process_does_not(tmp_path: Path) -> None:
    done = _run(READ, tmp_path / "kept")
    assert (done.returncode, done.stdout.strip()) == (0, "alive"), done.stderr


def test_the_maps_of_others_end_the_process_as_before(tmp_path: Path) -> None:
    assert _run(CRASH, tmp_path / "kept").returncode == -7


def test_a_file_that_became_shorter_is_noted_before_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_bytes(bytes(10_000))
    with path.open("rb") as file:
        data = mapped_files.contents(file, str(path))
    mapped_files.report_changed()
    assert not damage_reports.take(str(path))
    os.truncate(path, 100)
    mapped_files.report_changed()
    assert damage_reports.take(str(path))
    assert len(data) == 10_000


def test_without_a_fault_nothing_is_raised() -> None:
    with damage_reports.expect_readable():
        pass
    with pytest.raises(SidecarError, match="x could not be read"), damage_reports.expect_readable():
        damage_reports.report("/nowhere/x", "could not be read")
    damage_reports.take("/nowhere/x")


def test_the_file_that_was_made_anew_meanwhile_stays(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_bytes(bytes(10_000))
    with path.open("rb") as file:
        data = mapped_files.contents(file, str(path))
    os.truncate(path, 100)
    path.unlink()
    path.write_bytes(bytes(10_000))
    for known in (True, False):
        mapped_files.report_changed()
        assert damage_reports.take(str(path)) == known
    assert path.stat().st_size == len(data)
