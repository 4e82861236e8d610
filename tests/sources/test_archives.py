"""Archives as folders: what is listed, what is read, and what is refused of those made to do harm."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import re
import struct
import tarfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.builders.loop import document, loop
from tests.examples import examples
from torch_tb_profiler.cli.main import main
from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.runs.loading import Unreadable, load_all
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import archives, listing, sniff
from torch_tb_profiler.sources.listing import captures_beside, list_files
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.streams import open_bytes, open_text

TEXT = json.dumps({"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 2}]}).encode()
FILES = {
    "traces/iteration_10/rank0_trace.json": TEXT,
    "traces/iteration_10/rank1_trace.json.gz": gzip.compress(TEXT),
    "top.json": TEXT,
    "readme.md": b"nothing",
    ".hidden/x.json": TEXT,
    "__MACOSX/._top.json": b"\0",
}


def zipped(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def tarred(path: Path, files: Mapping[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def archived(path: Path, files: Mapping[str, bytes] = FILES) -> Path:
    return (zipped if path.suffix == ".zip" else tarred)(path, files)


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz", "a.TGZ", "A.Zip"])
def test_members_are_files_of_a_folder(tmp_path: Path, name: str) -> None:
    archive = archived(tmp_path / name.lower(), FILES).rename(tmp_path / name)
    found = list_files(Place(str(tmp_path)))
    assert [f.path for f in found.files] == [
        f"{name}/top.json",
        f"{name}/traces/iteration_10/rank0_trace.json",
        f"{name}/traces/iteration_10/rank1_trace.json.gz",
    ]
    assert found.notes == ()
    assert [f.size for f in found.files] == [
        len(TEXT),
        len(TEXT),
        len(FILES["traces/iteration_10/rank1_trace.json.gz"]),
    ]
    assert {f.modified_ns for f in found.files} == {archive.stat().st_mtime_ns}
    for file in found.files:
        assert sniff.rejection(file.location) is None
        with open_text(file.location) as stream:
            assert stream.name == file.name
            assert b"".join(iter(lambda: stream.read(1 << 20), b"")) == TEXT


def test_an_archive_alone_is_the_logdir(tmp_path: Path) -> None:
    archive = archived(tmp_path / "a.zip")
    assert {f.folder for f in list_files(Place(str(archive))).files} == {"", "traces/iteration_10"}


def test_an_archive_elsewhere_is_read_where_it_is() -> None:
    import fsspec

    fs = fsspec.filesystem("memory")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a/b.json", TEXT)
    fs.pipe("/archives/x.zip", buffer.getvalue())
    (found,) = list_files(Place("memory://archives")).files
    assert found.path == "x.zip/a/b.json"
    file, size = open_bytes(found.location)
    with file:
        assert (file.read(), size) == (TEXT, len(TEXT))
    fs.rm("/archives", recursive=True)


@pytest.mark.parametrize("name", ["a.zip", "a.tar"])
def test_names_that_lead_out_and_archives_within_are_left_out(tmp_path: Path, name: str) -> None:
    bad = ["../up.json", "C:/x.json"]
    inner = zipped(tmp_path / "inner.bin", {"x.json": TEXT}).read_bytes()
    archived(
        tmp_path / name, {**dict.fromkeys(bad, TEXT), "in/more.zip": inner, "a::b%.json": TEXT}
    )
    found = list_files(Place(str(tmp_path)))
    assert [f.path for f in found.files] == [f"{name}/a::b%.json"]
    with open_text(found.files[0].location) as stream:
        assert stream.read(1 << 20) == TEXT
    assert found.notes == (
        f"{name}: 2 names in it lead out of it and were left out: ../up.json and C:/x.json.",
        f"{name}: 1 archive within it was not opened; unpack it: in/more.zip.",
    )


def test_links_in_a_tar_are_no_files(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE):
            info = tarfile.TarInfo(f"link{kind!r}.json")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    assert list_files(Place(str(tmp_path))).files == ()


def test_a_changed_archive_is_read_anew(tmp_path: Path) -> None:
    archived(tmp_path / "a.zip", {"a.json": TEXT})
    assert [f.name for f in list_files(Place(str(tmp_path))).files] == ["a.json"]
    archived(tmp_path / "a.zip", {"other.json": TEXT})
    os.utime(tmp_path / "a.zip", (1, 1))
    assert [f.name for f in list_files(Place(str(tmp_path))).files] == ["other.json"]


def test_a_member_that_is_gone_says_so(tmp_path: Path) -> None:
    archived(tmp_path / "a.zip", {"a.json": TEXT})
    (found,) = list_files(Place(str(tmp_path))).files
    archived(tmp_path / "a.zip", {"b.json": TEXT})
    with pytest.raises(
        SourceError,
        match=r"^The file could not be opened in its archive: the archive does not hold it",
    ):
        open_bytes(found.location)


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz", "a.tgz"])
def test_what_is_no_archive_is_a_note(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"something else" * 100)
    found = list_files(Place(str(tmp_path)))
    assert found.files == ()
    assert found.notes[0].startswith(f"{name}: it is no archive that can be read: ")


def test_many_members_are_not_all_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_LISTED", 3)
    for name in ("a.zip", "a.tar"):
        archived(tmp_path / name, {f"{n}.json": TEXT for n in range(5)})
    found = list_files(Place(str(tmp_path)))
    assert len(found.files) == 6
    assert found.notes[0].endswith(
        "only 3 files of it were listed: it holds more than 3 files that may be traces; unpack it."
    )


def zip_with_a_huge_directory(path: Path) -> None:
    zipped(path, {"a.json": TEXT})
    data = bytearray(path.read_bytes())
    end = data.rfind(b"PK\x05\x06")
    padding = b"\0" * (1 << 16)
    data[end:end] = padding
    size = struct.unpack_from("<I", data, end + len(padding) + 12)[0]
    struct.pack_into("<I", data, end + len(padding) + 12, size + len(padding))
    path.write_bytes(data)


def tar_with_a_huge_header(path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 1 << 40
    path.write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + b"\0" * (1 << 18)))


@pytest.mark.parametrize(
    ("name", "write"),
    [("a.zip", zip_with_a_huge_directory), ("a.tgz", tar_with_a_huge_header)],
)
def test_directories_are_read_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, write: Callable[[Path], None]
) -> None:
    monkeypatch.setattr(archives, "DIRECTORY_BYTES", 1 << 12)
    write(tmp_path / name)
    found = list_files(Place(str(tmp_path)))
    assert found.files == ()
    assert "what it says of its files is too much" in found.notes[0]


def test_inflating_to_list_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "INFLATED_BYTES", 1 << 20)
    tarred(tmp_path / "a.tgz", {"a.json": TEXT, "zeros": bytes(2 << 20), "b.json": TEXT})
    found = list_files(Place(str(tmp_path)))
    assert [f.name for f in found.files] == ["a.json"]
    assert "it inflates to more than is read to list it" in found.notes[0]


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz"])
def test_damaged_archives_never_raise(tmp_path: Path, name: str) -> None:
    whole = archived(tmp_path / name).read_bytes()
    rng = random.Random(7)
    listed = 0
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 4, 30))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        cut = rng.choice((len(data), rng.randrange(len(data))))
        (tmp_path / name).write_bytes(data[:cut])
        listing._members.cache_clear()
        for file in list_files(Place(str(tmp_path))).files:
            listed += 1
            try:
                with open_text(file.location) as stream:
                    while stream.read(1 << 16):
                        pass
            except SourceError:
                pass
    assert listed > 0


def test_captures_in_an_archive_belong_to_the_trace_beside_them(tmp_path: Path) -> None:
    files = {
        "run/rank0.pt.trace.json": TEXT,
        "run/capture_traces/bs_32_rank0.json": TEXT,
        "run/capture_traces/bs_32_rank1.json": TEXT,
        "other/rank0.json": TEXT,
    }
    zipped(tmp_path / "a.zip", files)
    found = {file.path: file for file in list_files(Place(str(tmp_path))).files}
    assert [path for path, file in found.items() if file.captures] == [
        "a.zip/run/capture_traces/bs_32_rank0.json",
        "a.zip/run/capture_traces/bs_32_rank1.json",
    ]
    beside = {
        path: [file.name for file in captures_beside(found[f"a.zip/{path}"].location)]
        for path in ("run/rank0.pt.trace.json", "other/rank0.json")
    }
    assert beside == {"run/rank0.pt.trace.json": ["bs_32_rank0.json"], "other/rank0.json": []}


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    zipped(tmp_path / "a.zip", {"a.json": TEXT, "b.json": TEXT, "c.json": TEXT, "d.md": TEXT})
    data = bytearray((tmp_path / "a.zip").read_bytes())
    at = -1
    for _ in range(4):
        at = data.index(b"PK\x01\x02", at + 1)
        if data[at + 46 : at + 47] != b"a":
            data[at + 8] |= 1
    (tmp_path / "a.zip").write_bytes(data)
    with tarfile.open(tmp_path / "b.tar.gz", "w:gz") as archive:
        for name, kind in (("a.json", tarfile.REGTYPE), ("b.json", tarfile.SYMTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "a.json"
            info.size = len(TEXT) if kind == tarfile.REGTYPE else 0
            archive.addfile(info, io.BytesIO(TEXT))
    found = list_files(Place(str(tmp_path)))
    assert [file.path for file in found.files] == ["a.zip/a.json", "b.tar.gz/a.json"]
    assert sorted(found.notes) == [
        "a.zip: 2 encrypted files in it were left out; unpack it: b.json and c.json.",
        "b.tar.gz: 1 link in it was left out; unpack it: b.json.",
    ]


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_damaged_member_gives_what_comes_before_or_says_so(
    tmp_path: Path, compression: int, share: float
) -> None:
    text = json.dumps(document(loop(60))).encode()
    with zipfile.ZipFile(tmp_path / "a.zip", "w", compression) as archive:
        archive.writestr("w0.pt.trace.json", text)
        archive.writestr("w1.json", text)
    data = bytearray((tmp_path / "a.zip").read_bytes())
    first = len(data) // 2
    for begin in (0, first):
        at = begin + 40 + int(share * (first - 400))
        data[at : at + 100] = b"\xff" * 100
    (tmp_path / "a.zip").write_bytes(data)
    items = list(load_all(str(tmp_path / "a.zip"), Settings(use_cache=False)))
    assert len(items) == 2
    for item in items:
        if isinstance(item, Unreadable):
            assert "archive is damaged" in item.message
            assert item.text.count("w1.json" if "w1" in item.path else "w0") == 1
        else:
            assert item.trace.defects.as_dict()


NAMES = st.sampled_from(
    ["a.json", "./a.json", "r/b.json", "r/./b.json", "latest", "in.zip", "../o.json"]
)
MEMBERS = st.lists(st.tuples(NAMES, st.sampled_from(["file", "link", "hard link"])), max_size=12)


@given(MEMBERS, st.sampled_from(["zip", "tar", "tgz"]))
@example([("latest", "file"), ("latest", "link")], "zip")
@example([], "tar")
@examples(60)
def test_every_member_that_may_be_a_trace_is_listed_or_named(
    members: list[tuple[str, str]], kind: str
) -> None:
    packed = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(packed, "w") as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, what in members:
                info = zipfile.ZipInfo(name)
                info.external_attr = (0o120777 if what != "file" else 0o100644) << 16
                archive.writestr(info, TEXT)
    else:
        with tarfile.open(fileobj=packed, mode="w:gz" if kind == "tgz" else "w") as archive_:
            for name, what in members:
                member = tarfile.TarInfo(name)
                if what == "file":
                    member.size = len(TEXT)
                    archive_.addfile(member, io.BytesIO(TEXT))
                else:
                    member.type = tarfile.SYMTYPE if what == "link" else tarfile.LNKTYPE
                    member.linkname = "x"
                    archive_.addfile(member)
    if kind == "zip":
        # Of equal names the last is read, so all are what that is.
        members = [(name, dict(members)[name]) for name, _ in members]
    packed.seek(0)
    found = archives.list_members(packed, "zip" if kind == "zip" else "tar")
    listed = [member.name for member in found.files]
    assert len(set(listed)) == len(listed)
    # Every member is listed, or counted and named; a file without an ending is none.
    told = {name for n in found.notes for name in re.split(", | and ", n.partition(": ")[2][:-1])}
    there = Counter(
        name.replace("./", "") if not name.startswith("../") else name
        for name, what in members
        if name != "latest" or what != "file"
    )
    assert sum(int(note.split()[0]) for note in found.notes) + len(listed) == there.total()
    assert told | set(listed) == set(there)
    assert told >= {name for name, count in there.items() if count > listed.count(name)}


def test_what_is_left_out_of_an_archive_is_named_in_summary_and_doctor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = json.dumps(document(loop(3))).encode()
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name, kind in (("w0.json", b"0"), ("w0.json", b"0"), ("again.json", b"2")):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "w0.json"
            info.size = len(text) if kind == b"0" else 0
            archive.addfile(info, io.BytesIO(text))
    for command in ("summary", "doctor"):
        assert main([command, str(tmp_path)]) == 0
        printed = " ".join(capsys.readouterr().out.split())
        assert "1 link in it was left out; unpack it: again.json." in printed
        assert "the name of another and was left out; rename it: w0.json." in printed
