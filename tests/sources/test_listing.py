"""Listing a logdir: on disk, in memory, on a web server."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
from fsspec.registry import _registry

from tests.web_server import serving
from torch_tb_profiler.errors import MissingDriver, SourceError
from torch_tb_profiler.sources.listing import list_files
from torch_tb_profiler.sources.places import Place


def write(path: Path, text: str = "{}") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def paths(location: object) -> list[str]:
    return [f.path for f in list_files(Place(str(location))).files]


def test_files_at_any_depth_in_natural_order(tmp_path: Path) -> None:
    for name in (
        "w.pt.trace.json",
        "run10/a.json",
        "run2/b/c/d/e.json.gz",
        "run2/rank10.json",
        "run2/rank9.json.zst",
    ):
        write(tmp_path / name)
    assert paths(tmp_path) == [
        "w.pt.trace.json",
        "run2/rank9.json.zst",
        "run2/rank10.json",
        "run2/b/c/d/e.json.gz",
        "run10/a.json",
    ]


def test_a_file_says_what_it_is(tmp_path: Path) -> None:
    path = write(tmp_path / "run" / "a.json", "12345")
    (found,) = list_files(Place(str(tmp_path))).files
    assert (found.location, found.folder, found.name, found.size) == (
        Place(str(path)),
        "run",
        "a.json",
        5,
    )
    assert found.modified_ns == path.stat().st_mtime_ns


def test_hidden_and_other_files_are_ignored(tmp_path: Path) -> None:
    for name in (".hidden.json", ".git/a.json", "events.out.tfevents.1", "model.pt", "a.json"):
        write(tmp_path / name)
    assert paths(tmp_path) == ["a.json"]


def test_a_link_that_leads_nowhere_is_noted(tmp_path: Path) -> None:
    (tmp_path / "a.json").symlink_to(tmp_path / "gone.json")
    listing = list_files(Place(str(tmp_path)))
    assert listing.files == ()
    assert listing.notes == ("a.json is a dangling symbolic link.",)


def test_a_logdir_may_come_later(tmp_path: Path) -> None:
    assert "does not exist" in list_files(Place(str(tmp_path / "later"))).notes[0]
    write(tmp_path / "later" / "a.json")
    assert paths(tmp_path / "later") == ["a.json"]


def test_a_logdir_may_be_a_file(tmp_path: Path) -> None:
    assert paths(write(tmp_path / "run" / "a.json")) == ["a.json"]


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything"
)
def test_a_folder_that_may_not_be_read_is_noted(tmp_path: Path) -> None:
    write(tmp_path / "shut" / "a.json")
    write(tmp_path / "b.json")
    (tmp_path / "shut").chmod(0)
    try:
        listing = list_files(Place(str(tmp_path)))
    finally:
        (tmp_path / "shut").chmod(0o700)
    assert [f.path for f in listing.files] == ["b.json"]
    assert "shut" in listing.notes[0]


def test_strange_names_survive(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("names that are not UTF-8 need Linux")
    with open(os.path.join(os.fsencode(tmp_path), b"\xff\xfe.json"), "wb") as file:
        file.write(b"{}")
    (found,) = list_files(Place(str(tmp_path))).files
    assert Path(found.location.path).read_bytes() == b"{}"
    assert found.name == r"\udcff\udcfe.json"
    found.path.encode("utf-8")


@pytest.fixture
def memory() -> Iterator[fsspec.AbstractFileSystem]:
    fs = fsspec.filesystem("memory")
    yield fs
    if fs.exists("/logs"):
        fs.rm("/logs", recursive=True)


def test_memory(memory: fsspec.AbstractFileSystem) -> None:
    memory.pipe("/logs/a.json", b"{}")
    memory.pipe("/logs/run/b.json.gz", b"123")
    memory.pipe("/logs/run/.hidden.json", b"123")
    files = list_files(Place("memory://logs")).files
    assert [(f.path, f.folder, f.size, f.location.text) for f in files] == [
        ("a.json", "", 2, "memory:///logs/a.json"),
        ("run/b.json.gz", "run", 3, "memory:///logs/run/b.json.gz"),
    ]
    assert fsspec.open(files[1].location.text).open().read() == b"123"
    memory.pipe("/logs/a.json", b"[]")
    assert list_files(Place("memory://logs")).files[0].stamp != files[0].stamp
    assert paths("memory://logs/run/b.json.gz") == ["b.json.gz"]
    assert "does not exist" in list_files(Place("memory://nowhere")).notes[0]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    pytest.importorskip("aiohttp")
    with serving(tmp_path) as address:
        yield address


def test_a_web_server_with_index_pages(tmp_path: Path, server: str) -> None:
    path = write(tmp_path / "logs" / "a run" / "rank-0.json", "12345")
    write(tmp_path / "logs" / "run2" / "deep" / "b.json.gz")
    write(tmp_path / "logs" / "run2" / "readme.md")
    write(tmp_path / "outside.json")
    files = list_files(Place(f"{server}/logs")).files
    assert [(f.path, f.size) for f in files] == [
        ("a run/rank-0.json", 5),
        ("run2/deep/b.json.gz", 2),
    ]
    assert files[0].modified_ns == int(path.stat().st_mtime) * 1_000_000_000
    assert list_files(Place(f"{server}/logs/")).files == files
    write(path, "123456")
    assert list_files(Place(f"{server}/logs")).files[0].size == 6


def test_the_url_of_a_file(tmp_path: Path, server: str) -> None:
    write(tmp_path / "a.json", "123")
    (found,) = list_files(Place(f"{server}/a.json?token=secret")).files
    assert (found.name, found.size) == ("a.json", 3)


def test_a_place_on_the_web_that_does_not_exist(server: str) -> None:
    assert "does not exist" in list_files(Place(f"{server}/later")).notes[0]


def test_a_server_that_does_not_answer() -> None:
    pytest.importorskip("aiohttp")
    with pytest.raises(SourceError, match=r"127\.0\.0\.1:1/logs could not be listed") as caught:
        list_files(Place("http://user:secret@127.0.0.1:1/logs"))
    assert "secret" not in caught.value.message

    # An archive in an archive: fsspec names the outermost alone.
    inner = Place("zip://a.json::zip://in.zip::http://user:secret@127.0.0.1:1/run.zip")
    with pytest.raises(SourceError) as caught:
        list_files(inner)
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    ("url", "module", "package"),
    [
        ("s3://b/x", "s3fs", "s3fs"),
        ("gs://b/x", "gcsfs", "gcsfs"),
        ("abfs://b/x", "adlfs", "adlfs"),
    ],
)
def test_a_missing_driver_is_named(
    url: str, module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    # An earlier test may have used the driver.
    monkeypatch.delitem(_registry, url.partition(":")[0], raising=False)
    with pytest.raises(MissingDriver, match=package) as caught:
        list_files(Place(url))
    assert "pip install" in caught.value.hint


def test_an_unknown_scheme_is_an_error() -> None:
    with pytest.raises(SourceError, match="nope"):
        list_files(Place("nope://b/x"))
