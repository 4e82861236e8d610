"""Walks over drawn trees with links, loops and depths: what is found, in which order, at what cost, and what is said of the rest."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.asyn import AsyncFileSystem
from hypothesis import example, given
from hypothesis import strategies as st

from tests.examples import examples
from torch_tb_profiler.sources import walk
from torch_tb_profiler.sources.listing import Listing, Search, list_files
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.untrusted import is_among, kernel_places

POSIX = pytest.mark.skipif(os.name != "posix", reason="links, pipes and /proc are of POSIX")
NAMES = st.sampled_from(["a", "b", "rank0", "capture_x", ".hidden", "long" * 20])
PATHS = st.lists(NAMES, max_size=5).map("/".join)
FILES = st.sampled_from(["w.json", "rank0.pt.trace.json", "model.pt", "capture_1.json"])
TREES = st.tuples(
    st.lists(st.tuples(PATHS, FILES), max_size=8),
    st.lists(st.tuples(PATHS, st.sampled_from(["to", "to2", "z"]), PATHS), max_size=8),
)


def listed(folder: Path | str, seconds: float = 300.0) -> Listing:
    return list_files(Place(str(folder)), seconds)


def paths(found: Listing) -> list[str]:
    return [file.path for file in found.files]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the system is asked."""
    counted = Counter[str]()

    def count(name: str) -> None:
        call = getattr(os, name)

        def counting(*given: Any, **options: Any) -> Any:
            counted[name] += 1
            return call(*given, **options)

        monkeypatch.setattr(os, name, counting)

    for name in ("stat", "lstat", "scandir", "readlink"):
        count(name)
    return counted


def make(home: Path, tree: Any) -> Path:
    """The logdir of a drawn tree; links lead to folders in it and beside it."""
    files, links = tree
    logs = home / "logs"
    logs.mkdir()
    for folder, name in files:
        (logs / folder).mkdir(parents=True, exist_ok=True)
        (logs / folder / name).write_text("{}")
        (home / "beside" / folder).mkdir(parents=True, exist_ok=True)
        (home / "beside" / folder / f"far_{name}").write_text("{}")
    for number, (above, name, target) in enumerate(links):
        place = logs / above
        if place.is_dir() and not (place / name).is_symlink():
            root = (logs, home / "beside", home)[number % 3]
            (place / name).symlink_to(root / target if root != home else home)
    return logs


def reached(root: Path) -> set[Path]:
    """By their real paths the folders that can be reached: no hidden ones, and none that the logdir lies in."""
    found: set[Path] = set()
    todo = [root.resolve()]
    while todo:
        folder = todo.pop()
        if folder not in found:
            found.add(folder)
            inner = (p for p in folder.iterdir() if p.is_dir() and not p.name.startswith("."))
            todo += [p.resolve() for p in inner if p.resolve() not in root.resolve().parents]
    return found


@POSIX
@given(TREES)
@example(([("a", "w.json")], [("", "to", ""), ("a", "z", ""), ("a", "to", "a")]))
@example(([(".hidden", "w.json")], [("", "to", ".hidden")]))
@examples(40)
def test_each_folder_that_can_be_reached_is_listed_once(tree: Any) -> None:
    with tempfile.TemporaryDirectory() as home:
        logs = make(Path(home), tree)
        found = listed(logs)
        real = Counter(Path(file.location.path).resolve() for file in found.files)
        assert real == Counter(
            file
            for folder in reached(logs)
            for file in folder.iterdir()
            if file.is_file() and file.suffix == ".json"
        )
        # A folder of the logdir is called by its own path, whatever links lead to it; a hidden one by the link.
        root = logs.resolve()
        for file in found.files:
            place = Path(file.location.path).resolve()
            if place.is_relative_to(root) and ".hidden" not in place.parts:
                assert file.path == str(place.relative_to(root))
        assert found.whole
        parts = [file for batch in Search(Place(str(logs))) for file in batch]
        assert sorted(parts, key=lambda f: f.path) == sorted(found.files, key=lambda f: f.path)


@POSIX
@given(st.integers(1, 30), st.integers(1, 6))
@examples(8)
def test_the_system_is_asked_a_few_times_for_each_folder_and_link(depth: int, width: int) -> None:
    with tempfile.TemporaryDirectory() as home, pytest.MonkeyPatch.context() as patch:
        folder = Path(home) / "logs"
        for number in range(depth):
            folder = folder / "d"
            folder.mkdir(parents=True)
            (folder / "up").symlink_to(Path(home) / "logs")
            for each in range(width):
                (folder / f"{number}_{each}.json").write_text("{}")
        counted = calls.__wrapped__(patch)  # type: ignore[attr-defined]
        assert len(listed(Path(home) / "logs").files) == depth * width
        mounts = 40  # those of this machine, and the folders above the logdir
        assert counted["scandir"] == depth + 1
        assert sum(counted.values()) <= 4 * depth + mounts


@pytest.mark.skipif(sys.platform != "linux", reason="how long a path may be differs")
@pytest.mark.parametrize("depth", [800, 1100])
def test_deep_folders(tmp_path: Path, depth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.json").write_text("{}")
    for number in range(depth):
        os.mkdir("d")
        os.chdir("d")
        if number in (2, depth - 1):
            Path("w.json").write_text("{}")
    os.chdir("/")
    try:
        found = listed(tmp_path)
        deep = "d/" * depth + "w.json"
        assert paths(found) == ["good.json", "d/d/d/w.json", *([deep] if depth == 800 else [])]
        assert found.whole == (depth == 800)
        if depth == 1100:
            assert "lies in more than" in found.notes[0]
            assert len(found.notes[0]) < 600
    finally:
        subprocess.run(["rm", "-r", str(tmp_path)], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="how long a path may be differs")
def test_paths_that_are_too_long_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "good.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    for _ in range(17):
        os.mkdir("d" * 250)
        os.chdir("d" * 250)
    Path("w.json").write_text("{}")
    os.chdir("/")
    found = listed(tmp_path)
    assert paths(found) == ["good.json"]
    assert "could not be read: File name too long." in found.notes[0]
    assert not found.whole
    subprocess.run(["rm", "-r", str(tmp_path)], check=True)


@POSIX
@pytest.mark.parametrize("target", ["/proc", "/sys", "/dev", "/proc/self/fd", "/proc/self/task"])
def test_the_kernels_file_systems_are_not_entered(tmp_path: Path, target: str) -> None:
    if not os.path.isdir(target):
        pytest.skip(f"there is no {target}")
    (tmp_path / "w.json").write_text("{}")
    (tmp_path / "link").symlink_to(target)
    (tmp_path / "over").symlink_to("link")
    found = listed(tmp_path)
    assert paths(found) == ["w.json"]
    assert found.whole
    assert found.notes[0] == (
        "The folder link belongs to the kernel, as /proc does, and was not searched."
    )
    assert listed(target).files == ()
    assert "belongs to the kernel" in listed(target).notes[0]


@pytest.mark.skipif(sys.platform != "linux", reason="mounts are those of Linux")
def test_a_mount_of_proc_elsewhere_is_known_by_its_type(monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = Path(tempfile.mkdtemp()) / "mountinfo"
    mounts.write_text(
        "1 0 0:77 / /srv/root/proc\\040x rw - proc proc rw\n"
        "2 0 0:78 / /dev/shm rw - tmpfs tmpfs rw\n"
        "3 0 0:79 / /sys/fs/cgroup rw shared:4 - tmpfs tmpfs rw\n"
        "4 0 8:1 /x /dev/termination-log rw - ext4 /dev/sda1 rw\n"
        "5 0 0:80 / /home rw - autofs auto rw\n"
    )
    opened = open
    monkeypatch.setattr(
        "builtins.open",
        lambda path, *given, **options: opened(
            mounts if path == "/proc/self/mountinfo" else path, *given, **options
        ),
    )
    places = kernel_places()
    told = {number for number in (77, 78, 79, 80) if os.makedev(0, number) in places}
    assert told == {77, 79}
    assert os.makedev(8, 1) not in places
    assert not is_among(os.stat("/"), places)
    shutil.rmtree(mounts.parent)


@POSIX
def test_a_file_of_the_kernel_and_a_pipe_are_no_traces(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "w.json").write_text("{}")
    if os.path.exists("/proc/version"):
        (tmp_path / "link.json").symlink_to("/proc/version")
    found = listed(tmp_path)
    assert paths(found) == ["w.json"]
    said = "is a pipe, a device or a file of the kernel and was not read."
    assert f"pipe.json {said}" in found.notes
    assert (f"link.json {said}" in found.notes) == os.path.exists("/proc/version")


@POSIX
@pytest.mark.parametrize("target", ["/", "..", ".", "self"])
def test_links_up_and_to_itself_end(tmp_path: Path, target: str) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "w.json").write_text("{}")
    (logs / "self").symlink_to(target)
    found = listed(logs)
    assert paths(found) == ["w.json"]
    said = " ".join((*found.notes, *found.remarks))
    words = {"/": "Give it as the logdir", "..": "Give it as the logdir", ".": "the logdir itself"}
    assert words.get(target, "") in said


class Clock:
    """Stands still but for what the test lets pass."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time of walks."""
    made = Clock()
    monkeypatch.setattr(walk, "time", made)
    return made


def test_the_time_ends_with_a_note_and_each_half_has_its_own(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("logs/a", "logs/b", "logs/c", "far"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "w.json").write_text("{}")
    (tmp_path / "logs" / "link").symlink_to(tmp_path / "far")
    scandir = os.scandir

    def slow(path: str) -> Any:
        clock.now += 2
        return scandir(path)

    monkeypatch.setattr(os, "scandir", slow)
    found = listed(tmp_path / "logs", 5.0)
    assert paths(found) == ["a/w.json", "b/w.json", "link/w.json"]
    assert found.notes == (
        "The search ended in the folder b after 5 s (TORCH_TB_PROFILER_MAX_SCAN_SECONDS) and left 1 other"
        " folder unread. Give a folder in it as the logdir, or move what is no trace elsewhere.",
    )
    assert not found.whole


def test_what_is_done_between_two_results_does_not_count(tmp_path: Path, clock: Clock) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "w.json").write_text("{}")
    search = Search(Place(str(tmp_path)), 5.0)
    for _ in search:
        clock.now += 60
    assert len(search.listing().files) == 3
    assert search.listing().whole


@pytest.mark.parametrize(("limit", "value"), [("MOST_ENTRIES", 50), ("MOST_KEPT", 20)])
def test_a_huge_folder_is_cut_and_hides_none_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(walk, limit, value)
    monkeypatch.setattr(walk, "SLICE", 5)
    for folder, files in (("a_huge", 100), ("good", 3), ("far", 2)):
        (tmp_path / "logs" / folder).mkdir(parents=True)
        for number in range(files):
            (tmp_path / "logs" / folder / f"{number}.json").write_text("{}")
    (tmp_path / "logs" / "far").rename(tmp_path / "far")
    (tmp_path / "logs" / "link").symlink_to(tmp_path / "far")
    search = Search(Place(str(tmp_path / "logs")))
    batches = [[file.path for file in files] for files in search if files]
    assert sorted(batches[0]) == [f"good/{n}.json" for n in range(3)]
    found = search.listing()
    assert {"good", "link", "a_huge"} == {file.folder for file in found.files}
    assert found.notes[0].startswith("The search ended in the folder a_huge after")
    assert not found.whole


def test_only_some_folders_are_open_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk, "SLICE", 2)
    for folder in range(30):
        (tmp_path / str(folder)).mkdir()
        for number in range(9):
            (tmp_path / str(folder) / f"{number}.json").write_text("{}")
    scandir, opened = os.scandir, Counter[str]()

    class Counting:
        def __init__(self, path: str) -> None:
            self._inner = scandir(path)
            opened["now"] += 1
            opened["most"] = max(opened["most"], opened["now"])

        def __enter__(self) -> Any:
            return self._inner

        def __exit__(self, *_: object) -> None:
            self._inner.close()
            opened["now"] -= 1

    monkeypatch.setattr(os, "scandir", Counting)
    assert len(listed(tmp_path).files) == 270
    assert opened["now"] == 0
    assert opened["most"] <= walk.MOST_OPEN + 1


def test_a_maze_of_links_ends_with_each_folder_once(tmp_path: Path) -> None:
    for i in range(12):
        (tmp_path / str(i)).mkdir()
        (tmp_path / str(i) / "w.json").write_text("{}")
    for i in range(12):
        for k in range(12):
            (tmp_path / str(i) / f"to{k}").symlink_to(tmp_path / str(k))
    found = listed(tmp_path)
    assert paths(found) == [f"{i}/w.json" for i in range(12)]
    assert found.remarks[0].startswith("144 folders are listed under another name: ")


def test_notes_of_one_kind_are_counted_beyond_the_first_few(tmp_path: Path) -> None:
    for i in range(walk.NOTES_OF_A_KIND + 7):
        (tmp_path / f"{i}.json").symlink_to(tmp_path / "gone")
    notes = listed(tmp_path).notes
    assert len(notes) == walk.NOTES_OF_A_KIND + 1
    assert notes[-1] == "7 more dangling symbolic links."


def test_a_folder_that_is_removed_meanwhile_is_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "w.json").write_text("{}")
    search = Search(Place(str(tmp_path)))
    for files in search:
        if files and files[0].folder == "a":
            shutil.rmtree(tmp_path / "b")
    assert paths(search.listing()) == ["a/w.json"]
    assert search.listing().notes == ()


class Endless(fsspec.AbstractFileSystem):  # type: ignore[misc]
    """Each folder holds a trace and two further folders, for ever."""

    protocol = "endless"

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        return {"name": path, "type": "directory", "size": 0}

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[dict[str, Any]]:
        where = path.rstrip("/")
        inner = [{"name": f"{where}/{n}", "type": "directory", "size": 0} for n in "ab"]
        return [{"name": f"{where}/w.json", "type": "file", "size": 2, "mtime": 1.0}, *inner]


class Flat(AsyncFileSystem):  # type: ignore[misc]
    """A store of objects: asked for all of them it takes for ever, for a folder not."""

    protocol = "flat"
    asked: list[str] = []  # noqa: RUF012
    hangs = True

    async def _info(self, path: str, **_: Any) -> dict[str, Any]:
        return {"name": path, "type": "directory", "size": 0}

    async def _find(self, path: str, **_: Any) -> dict[str, Any]:
        import asyncio

        self.asked.append(f"find {path}")
        if self.hangs:
            await asyncio.sleep(3600)
        return {
            f"{path}/{n}/w.json": {"name": f"{path}/{n}/w.json", "type": "file", "size": 2}
            for n in "ab"
        }

    async def _ls(self, path: str, detail: bool = True, **_: Any) -> list[dict[str, Any]]:
        self.asked.append(f"ls {path}")
        if path.rstrip("/").endswith(("a", "b")):
            return [{"name": f"{path}/w.json", "type": "file", "size": 2}]
        return [{"name": f"{path}/{n}", "type": "directory", "size": 0} for n in "ab"]


@pytest.fixture
def register() -> Callable[[type[fsspec.AbstractFileSystem]], None]:
    """Make a file system known to fsspec."""
    return lambda kind: fsspec.register_implementation(kind.protocol, kind, clobber=True)


def test_an_endless_server_ends(register: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    register(Endless)
    monkeypatch.setattr(walk, "MOST_ENTRIES", 300)
    found = list_files(Place("endless://bucket/logs"))
    assert len(found.files) == 100
    assert found.files[0].path == "w.json"
    assert "The search ended in the folder" in found.notes[0]
    assert not found.whole
    monkeypatch.setattr(walk, "MOST_ENTRIES", 10_000)
    monkeypatch.setattr(walk, "DEEPEST", 3)
    found = list_files(Place("endless://bucket/logs"))
    assert len(found.files) == 1 + 2 + 4 + 8
    assert "lies in more than 3 others" in found.notes[0]


@pytest.mark.parametrize("hangs", [False, True])
def test_a_store_of_objects_is_asked_once_and_by_folders_if_that_takes_too_long(
    register: Any, monkeypatch: pytest.MonkeyPatch, hangs: bool
) -> None:
    register(Flat)
    monkeypatch.setattr(Flat, "hangs", hangs)
    monkeypatch.setattr(Flat, "asked", [])
    found = list_files(Place("flat://bucket/logs"), 3.0)
    assert paths(found) == ["a/w.json", "b/w.json"]
    assert len(Flat.asked) == (4 if hangs else 1)
