"""What is written for people: whole or not at all, never through what somebody else put at its name."""

from __future__ import annotations

import os
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.architecture import tree
from tests.builders.drawn import events, text_of
from torch_tb_profiler.atomic_files import expect_free, make_folder, save, whole_file
from torch_tb_profiler.cli.main import main
from torch_tb_profiler.errors import BadRequest, ProfilerError, SourceError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, pipes and permissions")
TARGET = "target"
"""What a planted name leads to, beside the folder that is written to."""


def _dangling(path: Path) -> None:
    path.symlink_to(path.parent.parent / TARGET)


def _to_a_file(path: Path) -> None:
    (path.parent.parent / TARGET).write_text("precious")
    path.symlink_to(path.parent.parent / TARGET)


def _to_itself(path: Path) -> None:
    path.symlink_to(path)


def _to_a_pipe(path: Path) -> None:
    os.mkfifo(path.parent.parent / TARGET)
    path.symlink_to(path.parent.parent / TARGET)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = os.getcwd()
        os.chdir(path.parent)  # its name must be short
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


PLANTS: dict[str, Callable[[Path], None]] = {
    "dangling": _dangling,
    "linked": _to_a_file,
    "loop": _to_itself,
    "piped": _to_a_pipe,
    "pipe": os.mkfifo,
    "socket": _socket,
    "folder": Path.mkdir,
}
SKILL = "out/torch-tb-profiler/SKILL.md"
WRITERS: dict[str, tuple[str, Callable[[], object]]] = {
    "save": ("out/a.csv", lambda: save([b"new"], "out/a.csv", force=True)),
    "ours": ("out/a.csv", lambda: save([b"new"], "out/a.csv", force=True, ours=True)),
    "skill": (SKILL, lambda: main(["skill", "install", "--force", "--to", "out"])),
    "references": (
        "out/torch-tb-profiler/references/recording.md",
        lambda: main(["skill", "install", "--force", "--to", "out"]),
    ),
}
"""What is written where, and how."""


def test_a_name_that_was_not_given_is_ours(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "log").mkdir()
    (here / "log/a.pt.trace.json").write_text(text_of(events("main [aten::mm    ]\n")))
    (here / TARGET).write_text("precious")
    for name, command in (("operators.csv", "export"), ("report.html", "report")):
        (here / name).symlink_to(TARGET)
        assert main([command, "log", "--force"]) == 2
        assert "symbolic link" in capsys.readouterr().err
    assert (here / TARGET).read_text() == "precious"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("open_to_all", [False, True])
def test_what_was_put_at_a_name_is_neither_written_nor_waited_for(
    here: Path, writer: str, plant: str, open_to_all: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    if (writer, plant, open_to_all) == ("save", "linked", False):
        pytest.skip("a link of the user's own that they named")
    name, write = WRITERS[writer]
    path = here / name
    path.parent.mkdir(parents=True)
    PLANTS[plant](path)
    if open_to_all:
        path.parent.chmod(0o777)
    before = os.lstat(path)
    told = ""
    try:
        assert write() == 2
        told = capsys.readouterr().err
    except ProfilerError as error:
        told = str(error)
    assert path.name in told
    assert "\n" not in told.strip()
    assert os.lstat(path).st_ino == before.st_ino
    target = path.parent.parent / TARGET
    if plant == "linked":
        assert target.read_text() == "precious"
    if plant == "dangling":
        assert not target.exists()


def test_a_folder_of_the_skill_that_is_a_link_is_not_entered(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("torch-tb-profiler", "torch-tb-profiler/references"):
        elsewhere, link = here / f"elsewhere{len(name)}", here / f"to{len(name)}" / name
        elsewhere.mkdir()
        link.parent.mkdir(parents=True)
        link.symlink_to(elsewhere)
        assert (
            main(["skill", "install", "--force", "--to", str(link.parents[name.count("/")])]) == 2
        )
        assert "symbolic link" in capsys.readouterr().err
        assert list(elsewhere.iterdir()) == []


def test_a_link_that_the_user_named_is_followed_to_the_file(here: Path) -> None:
    (here / "real").mkdir()
    (here / "real/a.csv").write_text("old")
    (here / "a.csv").symlink_to("real/a.csv")
    with pytest.raises(BadRequest, match="exists already"):
        save([b"new"], "a.csv")
    save([b"new"], "a.csv", force=True)
    assert (here / "a.csv").is_symlink()
    assert (here / "real/a.csv").read_text() == "new"


@settings(
    deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.binary(max_size=200), max_size=4),
    st.one_of(st.none(), st.integers(0, 0o777)),
    st.integers(0, 0o777),
    st.booleans(),
)
def test_a_file_is_whole_and_keeps_its_permissions(
    here: Path, pieces: list[bytes], mode: int | None, mask: int, private: bool
) -> None:
    place = here / "file"
    place.unlink(missing_ok=True)
    before = os.umask(mask)
    try:
        if mode is not None:
            place.write_bytes(b"old")
            place.chmod(mode)
        with whole_file(place, private=private) as file:
            file.writelines(pieces)
            assert place.exists() == (mode is not None)
    finally:
        os.umask(before)
    assert place.read_bytes() == b"".join(pieces)
    expected = 0o600 & ~mask if private else 0o666 & ~mask if mode is None else mode
    assert stat.S_IMODE(place.stat().st_mode) == expected
    assert [path.name for path in here.iterdir()] == ["file"]


def test_what_fails_midway_leaves_what_was_there(here: Path) -> None:
    (here / "a").write_text("old")

    def half() -> Iterator[bytes]:
        yield b"new"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        save(half(), "a", force=True)
    assert [(path.name, path.read_text()) for path in here.iterdir()] == [("a", "old")]


def test_a_name_that_was_taken_meanwhile_is_not_written_over(here: Path) -> None:
    def meanwhile() -> Iterator[bytes]:
        yield b"new"
        (here / "a").write_text("of another")

    with pytest.raises(BadRequest, match="exists already"):
        save(meanwhile(), "a")
    assert [(path.name, path.read_text()) for path in here.iterdir()] == [("a", "of another")]


def test_standard_output_has_several_names(
    here: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    for name in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        expect_free(name)
        save([b"x"], name)
    save([b"y"], "/dev/stderr")
    save([b"z"], "/dev/null")
    assert capfdbinary.readouterr() == (b"xxxx", b"y")
    assert list(here.iterdir()) == []


def test_a_pipe_is_written_while_somebody_reads_it(here: Path) -> None:
    os.mkfifo("pipe")
    with pytest.raises(SourceError, match=r"^pipe cannot be written: "):
        save([b"x"], "pipe", force=True)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_bytes()))
    keep = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    reader.start()
    save([b"x" * 300_000], "pipe", force=True)
    os.close(keep)
    reader.join()
    assert len(read[0]) == 300_000


@pytest.mark.parametrize("name", ["missing/a", "file/a", "a\0b", "n" * 300])
def test_what_cannot_be_written_is_told_in_a_line(here: Path, name: str) -> None:
    (here / "file").touch()
    with pytest.raises((SourceError, BadRequest)) as told:
        save([b"x"], name)
    assert "\n" not in str(told.value)
    assert "cannot be written" in str(told.value)
    with pytest.raises(SourceError, match="cannot be created or written to"):
        make_folder(here / "file" / "x")


def test_nothing_else_opens_files_to_write_them() -> None:
    """But caches, which have folders of their own, temporary files, and what ``atomic_files.py`` is for."""
    import re

    writes = re.compile(
        r"""write_text\(|write_bytes\(|os\.O_CREAT|mkstemp|to_csv\("|open\([^()]*["'][wax]b?["']"""
    )
    own = {
        "atomic_files.py",
        "cli/pyprof.py",  # standard input, in a temporary folder
        "importers/sqlite/__init__.py",  # a temporary file
        "recording.py",  # compresses into the opener's file
        "runs/worker.py",  # /proc
        "sources/remote_cache.py",
        "store/sidecar.py",
    }
    package = "torch_tb_profiler/"
    found = {path for path, text in tree.sources(package, ".py").items() if writes.search(text)}
    assert {path.removeprefix(package) for path in found} <= own
