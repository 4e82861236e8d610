"""What somebody does to a mapped file behind our back is noted before it is used again."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from torch_tb_profiler.errors import SidecarError
from torch_tb_profiler.store import mapped_files

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="mapped files cannot be cut off there"
)


def test_a_file_that_became_shorter_is_noted_before_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_bytes(bytes(10_000))
    with path.open("rb") as file:
        data = mapped_files.contents(file, str(path))
    mapped_files.report_changed()
    assert not mapped_files.take(str(path))
    os.truncate(path, 100)
    mapped_files.report_changed()
    assert mapped_files.take(str(path))
    assert len(data) == 10_000


def test_without_a_fault_nothing_is_raised() -> None:
    with mapped_files.expect_readable():
        pass
    with pytest.raises(SidecarError, match="x could not be read"), mapped_files.expect_readable():
        mapped_files.report("/nowhere/x", "could not be read")
    mapped_files.take("/nowhere/x")


def test_what_was_reported_is_not_reported_again_when_another_takes_its_place(
    tmp_path: Path,
) -> None:
    path = tmp_path / "kept"
    path.write_bytes(bytes(10_000))
    with path.open("rb") as file:
        data = mapped_files.contents(file, str(path))
    mapped_files.report(str(path), "is damaged")
    path.write_bytes(bytes(10_000))
    with mapped_files.expect_readable():
        assert len(data) == 10_000
    assert mapped_files.take(str(path))
    assert path.exists()


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
        assert mapped_files.take(str(path)) == known
    assert path.stat().st_size == len(data)
