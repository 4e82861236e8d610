"""Columns on disk equal those in memory and leave nothing behind."""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.importers.sqlite.asked import TRAININGS, read
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.importers.sqlite import database, spill
from torch_tb_profiler.store.model import Trace

pytestmark = pytest.mark.slow


def columns(trace: Trace) -> dict[tuple[str, str], list[Any]]:
    return {
        (name, column): table[column].tolist()
        for name, table in trace.tables.items()
        for column in table
    }


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Everything goes to disk, a few rows at a time; the folder of temporary files."""
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    monkeypatch.setattr(database, "CHUNK_ROWS", 3)
    monkeypatch.setattr(spill, "HELD_BYTES", 200)
    monkeypatch.setattr(spill, "LEAST_BYTES", 1)
    return room


@pytest.fixture(params=TRAININGS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    TRAININGS[request.param](tmp_path / "a.sqlite")
    return tmp_path / "a.sqlite"


def test_the_trace_is_the_same(path: Path, small: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spill, "HELD_BYTES", 1 << 30)
        expected = read(path)
    trace = read(path)
    assert expected["spans"]["start"].flags.owndata
    assert not trace["spans"]["start"].flags.writeable
    np.testing.assert_equal(columns(trace), columns(expected))
    assert [trace.strings[n] for n in range(len(trace.strings))] == [
        expected.strings[n] for n in range(len(expected.strings))
    ]
    assert trace.header == expected.header
    assert derive(trace).summary == derive(expected).summary
    assert os.listdir(small) == []


def test_a_disk_without_room_is_no_matter(
    path: Path, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = columns(read(path))
    real, written = tempfile.TemporaryFile, [0]

    class Full:
        """A file on a disk that takes 1000 bytes in all."""

        def __init__(self, **options: Any) -> None:
            self._file: Any = real(**options)

        def __enter__(self) -> Any:
            return self._file.__enter__()

        def __exit__(self, *_: object) -> None:
            self._file.close()

        def seek(self, place: int) -> None:
            self._file.seek(place)

        def write(self, data: memoryview) -> int:
            if written[0] >= 1000:
                raise OSError(errno.ENOSPC, "No space left on device")
            written[0] += len(data[:7])
            return int(self._file.write(data[:7]))

    monkeypatch.setattr(tempfile, "TemporaryFile", Full)
    np.testing.assert_equal(columns(read(path)), expected)
    assert written[0] >= 1000


def test_no_folder_for_temporary_files_is_no_matter(
    path: Path, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = columns(read(path))
    monkeypatch.setattr(tempfile, "tempdir", str(small / "gone"))
    np.testing.assert_equal(columns(read(path)), expected)


def test_a_system_that_maps_no_files_is_no_matter(
    path: Path, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = columns(read(path))

    class Refused(mmap.mmap):
        def __new__(cls, *_: Any, **__: Any) -> Refused:
            raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(mmap, "mmap", Refused)
    np.testing.assert_equal(columns(read(path)), expected)
