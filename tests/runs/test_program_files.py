"""Which files of the user's own program are read: those of named folders alone, whatever a recording calls them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.runs.program_files import LARGEST, ProgramFiles
from torch_tb_profiler.sources.places import Place

POSIX = pytest.mark.skipif(os.name == "nt", reason="POSIX links")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("root")
    (root / "secret.py").write_text("secret")
    (root / "away").mkdir()
    (root / "away/net.py").write_text("away")
    src = root / "src"
    (src / "net").mkdir(parents=True)
    (src / "net/model.py").write_text("inner")
    (src / "model.py").write_text("outer")
    (src / "notes.txt").write_text("notes")
    (src / "large.py").write_bytes(b"#" * (LARGEST + 1))
    (src / "folder.py").mkdir()
    if os.name != "nt":
        (src / "out.py").symlink_to(root / "secret.py")
        (src / "in.py").symlink_to("model.py")
        (src / "linked").symlink_to(root / "away")
        (src / "here").symlink_to("net")
        os.mkfifo(src / "pipe.py")
    return src


def read(folder: Path, *recorded: str) -> list[tuple[str, str] | None]:
    return [ProgramFiles.of(str(folder)).read(one) for one in recorded]


def test_the_longest_end_of_a_recorded_path_chooses(folder: Path) -> None:
    inner, outer = ("net/model.py", "inner"), ("model.py", "outer")
    paths = ("/home/me/net/model.py", "net/model.py", "C:\\me\\net\\model.py", "./model.py")
    assert read(folder, *paths, "/x/model.py") == [inner, inner, inner, outer, outer]


@POSIX
@pytest.mark.parametrize(
    "recorded",
    [
        *("out.py", "in.py", "linked/net.py", "here/x.py", "pipe.py", "folder.py", "large.py"),
        *("notes.txt", "../secret.py", "net/../../secret.py", "/etc/passwd", "secret.py", ".py"),
        *("", "a\0.py", "<ipython-input-1>", "/" * 9999 + "x.py", "zip://a.py::b.py"),
    ],
)
def test_nothing_else_is_read(folder: Path, recorded: str) -> None:
    assert read(folder, recorded) == [None]
    assert read(folder, str(folder.parent / recorded)) == [None]


@POSIX
def test_a_link_on_the_way_is_refused_but_the_named_folder_may_be_one(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(folder)
    assert read(tmp_path / "link", "/x/model.py") == [("model.py", "outer")]
    assert read(folder, "here/model.py") == [("model.py", "outer")]
    with pytest.raises(OSError, match="link is on the way"):
        Place(str(folder)).read_within("here/model.py", 99)


@given(st.text("./\\nemtodlpyscr:\0~", max_size=30))
def test_what_is_read_lies_in_the_folder(folder: Path, recorded: str) -> None:
    for found in read(folder, recorded, f"{recorded}.py"):
        assert found is None or found in (("net/model.py", "inner"), ("model.py", "outer"))


@pytest.mark.parametrize("setting", ["", os.pathsep, f" {os.pathsep} "])
def test_without_a_named_folder_nothing_is_read(setting: str) -> None:
    assert ProgramFiles.of(setting).folders == ()
