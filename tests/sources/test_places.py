"""Places: what a text means, and what may be opened there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.sources.places import Place, leads_out, words

POSIX = pytest.mark.skipif(os.name == "nt", reason="POSIX paths")
ZIP = "zip://in/a%20b.json::/data/run.zip"
ARCHIVE = Place("/data/run.zip")
REMOTE = Place("s3://bucket/log/")


@POSIX
@pytest.mark.parametrize(
    ("text", "scheme", "name", "shown", "parent"),
    [
        ("/data/run/a.json", "", "a.json", "/data/run/a.json", "/data/run"),
        ("/data/run/", "", "run", "/data/run", "/data"),
        ("/data/./x/../a", "", "a", "/data/a", "/data"),
        ("file:///data/a%20b", "", "a b", "/data/a b", "/data"),
        ("/", "", "", "/", "/"),
        ("s3://bucket/run/a.json", "s3", "a.json", "s3://bucket/run/a.json", "s3://bucket/run"),
        ("S3://bucket", "s3", "bucket", "s3://bucket", "S3:/"),
        ("gs+x://a/b", "gs+x", "b", "gs+x://a/b", "gs+x://a"),
        ("https://me:pw@h/r/a%20b?t=1", "https", "a b", "https://h/r/a%20b", "https://me:pw@h/r"),
        (ZIP, "zip", "a b.json", "/data/run.zip/in/a b.json", "/data/run.zip"),
        ("zip://nothing", "zip", "nothing", "zip://nothing", "zip:/"),
        (f"part://TP%2000::{ZIP}", "zip", "a b.json", "/data/run.zip/in/a b.json", "/data/run.zip"),
        ("part://TP00::/data/a.json", "", "a.json", "/data/a.json", "/data"),
    ],
)
def test_what_a_text_means(text: str, scheme: str, name: str, shown: str, parent: str) -> None:
    place = Place(text)
    assert (str(place), place.scheme, place.is_local) == (text, scheme, scheme == "")
    assert (place.name, place.shown, place.parent.text) == (name, shown, parent)
    assert place.is_web == (scheme == "https")


def test_a_path_of_this_machine_is_made_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert Place("runs").absolute == Place(str(tmp_path / "runs"))
    assert Place("~/runs").path == str(tmp_path / "me" / "runs")
    assert REMOTE.absolute is REMOTE
    with pytest.raises(ValueError, match="no path of this machine"):
        _ = REMOTE.path


@pytest.mark.parametrize("file", [Place("/data/a::b.json"), Place(ZIP), REMOTE])
@pytest.mark.parametrize("part", ["TP00", "a::b/é %", "without rank"])
def test_a_rank_in_a_file(file: Place, part: str) -> None:
    rank = file.with_part(part)
    assert (rank.part, rank.file, rank.scheme) == (part, file, file.scheme)
    assert (rank.with_part(""), file.part, file.file) == (file, "", file)
    assert rank != file


@pytest.mark.parametrize("path", ["a.json", "./a.json", "a::b%.json", "in/\udcff?.json", "é/~"])
def test_a_member_of_an_archive(path: str) -> None:
    member = ARCHIVE.member_at(path)
    assert (member.archive, member.member, member.scheme) == (ARCHIVE, path, "zip")
    assert Place(member.text) == member
    assert Place("/data/run.tar.gz").member_at(path).scheme == "tar"


def test_no_secret_is_shown_of_an_archive_in_an_archive() -> None:
    url = "https://user:password@host/run.zip?token=secret"
    assert (
        Place(f"zip://a%20b.json::tar://in.tar::{url}").shown
        == "https://host/run.zip/in.tar/a b.json"
    )
    assert Place(f"part://TP00::zip://a.json::zip://in.zip::{url}").shown.startswith(
        "https://host/"
    )


def test_what_only_this_process_can_read() -> None:
    inside = Place("memory://x/run.zip")
    for place in (inside, inside.member_at("a.json"), inside.with_part("TP00")):
        assert place.in_this_process_only
    assert not any(p.in_this_process_only for p in (ARCHIVE, REMOTE, Place(ZIP), Place("")))


OUT = ("..", "../x", "a/../../x", "s3://bucket/run", "zip://a::/data/b.zip", "a\0b")
ONLY_ELSEWHERE = ("/etc/passwd", "a/../x", "a//b", "C:/x", "C:\\x", "a\\..\\..\\b", "\\x")


@POSIX
@pytest.mark.parametrize("folder", [Place("/data/log"), REMOTE])
@pytest.mark.parametrize("path", [*OUT, "/etc/passwd", pytest.param("zip://a::" * 9999, id="deep")])
def test_no_path_leads_out_of_a_folder(folder: Place, path: str) -> None:
    with pytest.raises(ValueError, match="leads out of the folder"):
        folder.join(path)


@pytest.mark.parametrize("path", [*OUT[:3], OUT[-1], *ONLY_ELSEWHERE])
def test_no_path_leads_out_of_an_archive(path: str) -> None:
    with pytest.raises(ValueError, match="leads out of the archive"):
        ARCHIVE.member_at(path)
    if "://" not in path:
        with pytest.raises(ValueError, match="leads out of the folder"):
            REMOTE.join(path)


@POSIX
@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("run/a.json", "/data/log/run/a.json"),
        ("run/../a", "/data/log/a"),
        ("/data/log/run", "/data/log/run"),
        (".", "/data/log"),
        ("..a", "/data/log/..a"),
        ("a::b", "/data/log/a::b"),
    ],
)
def test_paths_within_a_folder(path: str, found: str) -> None:
    assert Place("/data/log").join(path).text == found


def test_paths_within_a_url() -> None:
    assert REMOTE.join("run/a.json").text == "s3://bucket/log/run/a.json"
    assert REMOTE.join("run/").text == "s3://bucket/log/run/"


@given(st.text("./\\a:\0"))
def test_what_is_joined_lies_within(path: str) -> None:
    folder = Place("/data/log")
    try:
        found = folder.join(path)
    except ValueError:
        return
    assert os.path.commonpath([folder.path, found.path]) == folder.path
    assert leads_out(path) or ".." not in path.split("/")


@POSIX
def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    folder = Place(str(tmp_path))
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "to_pipe").symlink_to("pipe")
    os.mkfifo(tmp_path / "pipe")
    for name in ("file", "link"):
        with folder.join(name).open() as file:
            assert file.read() == b"12345"
    for name in ("pipe", "to_pipe", "."):
        with pytest.raises(OSError, match="no regular file"):
            folder.join(name).open()
    with pytest.raises(OSError, match="no regular file"):
        Place("/dev/zero").open()
    with pytest.raises(ValueError, match="no path of this machine"):
        REMOTE.open()


@POSIX
def test_small_files_are_read_through_no_link(tmp_path: Path) -> None:
    folder = Place(str(tmp_path))
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("file")
    assert folder.join("file").read(5) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes"):
        folder.join("file").read(4)
    with pytest.raises(OSError, match="symbolic link"):
        folder.join("link").read(5)


@pytest.mark.skipif(sys.platform != "linux", reason="names that are not UTF-8 need Linux")
def test_names_that_are_no_utf_8_are_opened_and_shown(tmp_path: Path) -> None:
    place = Place(str(tmp_path)).join("\udcff\x1b.json")
    Path(place.path).write_bytes(b"{}")
    with place.open() as file:
        assert file.read() == b"{}"
    for shown in (place.shown, ARCHIVE.member_at(place.name).shown):
        assert shown.endswith("\\udcff\x1b.json")
        shown.encode("utf-8")


def test_an_exception_in_one_line() -> None:
    assert words(OSError("a\nb  c.")) == "OSError: a b c"
    assert words(KeyError()) == "KeyError"
    assert len(words(ValueError("x" * 9999))) < 500
