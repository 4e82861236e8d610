"""Traces without a server."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.loading import load
from tests.runs.conftest import write
from torch_tb_profiler.errors import NotATrace, SourceError
from torch_tb_profiler.runs import import_job, loading
from torch_tb_profiler.runs.loading import Unreadable, load_all
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import names, walk
from torch_tb_profiler.sources.listing import ListedFile
from torch_tb_profiler.sources.places import Place


def trace(rank: int | None = None, events: int = 3) -> str:
    header = {"distributedInfo": {"rank": rank, "world_size": 4}} if rank is not None else {}
    spans = [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": i * 10, "dur": 5}
        for i in range(events)
    ]
    return json.dumps({**header, "traceEvents": spans})


def test_one_file(settings: Settings, tmp_path: Path) -> None:
    path = write(tmp_path / "run" / "w.7.pt.trace.json", trace(rank=2))
    opened = load(str(path), settings)
    assert (opened.run.name, opened.worker.name, opened.span.name) == ("run", "w", "7")
    assert (opened.worker.rank, opened.worker.rank_source, opened.worker.world_size) == (
        2,
        "distributedInfo",
        4,
    )
    assert (
        opened.trace.entries,
        opened.trace["spans"].n,
        opened.span.events,
        opened.span.lost,
    ) == (3, 3, 3, 0)


def test_a_file_of_any_name(settings: Settings, tmp_path: Path) -> None:
    assert (
        load(str(write(tmp_path / "profile.txt", trace())), settings).worker.name == "profile.txt"
    )


def test_the_sidecar_is_used(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "w.json", trace())
    first = load(str(path), settings)
    monkeypatch.setattr(loading, "read_parts", lambda *_: pytest.fail("imported again"))
    assert load(str(path), settings).facts.summary == first.facts.summary
    assert len(list(Path(settings.cache_dir).glob("*.safetensors"))) == 1


def test_without_a_cache_none_is_written(settings: Settings, tmp_path: Path) -> None:
    load(
        str(write(tmp_path / "w.json", trace())), Settings(**{**vars(settings), "use_cache": False})
    )
    assert list(Path(settings.cache_dir).iterdir()) == []


def test_everything_below_a_logdir_in_order(settings: Settings, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    write(logs / "b" / "rank10.pt.trace.json", trace())
    write(logs / "b" / "rank9.2.pt.trace.json", trace())
    write(logs / "b" / "rank9.1.pt.trace.json", "")
    write(logs / "a" / "w.json", trace())
    write(logs / "a" / "package.json", "{}")
    found = list(load_all(str(logs), settings))
    assert [
        (f.run.name, f.worker.name, f.span.name)
        if isinstance(f, Opened)
        else (f.run, f.worker, f.span)
        for f in found
    ] == [
        ("a", "w", "trace"),
        ("b", "rank9", "1"),
        ("b", "rank9", "2"),
        ("b", "rank10", "trace"),
        ("", "", ""),
    ]
    assert found[1] == Unreadable(
        "b", "rank9", "1", "b/rank9.1.pt.trace.json", "The file is empty."
    )
    assert isinstance(found[4], Unreadable)
    assert (found[4].path, found[4].rejected) == ("a/package.json", True)


def test_a_file_that_nobody_foresaw_does_not_hide_the_others(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "run" / "a.json", trace())
    write(tmp_path / "run" / "b.json", trace())
    real = import_job.read_parts

    def broken(place: Place, *rest: Any) -> Any:
        return 1 // 0 if place.name == "a.json" else real(place, *rest)

    monkeypatch.setattr(loading, "read_parts", broken)
    first, second = load_all(str(tmp_path), settings)
    assert isinstance(first, Unreadable)
    assert "ZeroDivisionError" in first.message
    assert isinstance(second, Opened)


def test_a_run_folder_and_a_file(settings: Settings, tmp_path: Path) -> None:
    path = write(tmp_path / "run" / "w.json", trace())
    for place in (path.parent, path):
        (found,) = load_all(str(place), settings)
        assert isinstance(found, Opened)
        assert found.run.name == "run"


def test_a_file_that_was_named_says_why_it_cannot_be_read(
    settings: Settings, tmp_path: Path
) -> None:
    path = write(tmp_path / "run" / "package.json", "{}")
    (found,) = load_all(str(path), settings)
    assert found == Unreadable(
        "run", "package", "trace", "package.json", "Not a trace: an empty JSON object."
    )
    with pytest.raises(NotATrace, match="empty JSON object"):
        load(str(path), settings)


def test_what_is_no_file(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        load(str(tmp_path / "gone.json"), settings)
    with pytest.raises(SourceError, match="does not exist"):
        list(load_all(str(tmp_path / "gone"), settings))


def test_progress_is_told_in_bytes(settings: Settings, tmp_path: Path) -> None:
    path = write(tmp_path / "w.json", trace(events=5000))
    told: list[tuple[int, int | None]] = []
    load(str(path), settings, lambda done, total: told.append((done, total)))
    size = path.stat().st_size
    assert told
    assert all(0 <= done <= size and total == size for done, total in told)


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links")
def test_what_could_not_be_looked_at_is_said_beside_what_could(
    settings: Settings, tmp_path: Path
) -> None:
    logs = tmp_path / "logs"
    write(logs / "rank0.pt.trace.json", trace())
    (logs / "rank1.pt.trace.json").symlink_to(tmp_path / "gone")
    first, second = load_all(str(logs), settings)
    assert isinstance(first, Opened)
    assert second == Unreadable(
        "", "", "", str(logs), "rank1.pt.trace.json is a dangling symbolic link."
    )
    assert [type(item) for item in load_all(str(logs), settings, workers=("rank0",))] == [Opened], (
        "of the others nothing was asked"
    )
    (logs / "rank0.pt.trace.json").unlink()
    with pytest.raises(SourceError, match=r"dangling symbolic link\. Give a trace file"):
        list(load_all(str(logs), settings))


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("Empty.", "run/a.json: Empty."),
        ("run/a.json could not be opened.", "run/a.json could not be opened."),
        ("run/a.json: Empty.", "run/a.json: Empty."),
        ("a.json: Empty.", "run/a.json: Empty."),
        ("b/a.json: Empty.", "run/a.json: b/a.json: Empty."),
        ("Not a trace: a page.", "run/a.json: Not a trace: a page."),
    ],
)
def test_a_path_is_said_once(message: str, text: str) -> None:
    assert Unreadable("", "", "", "run/a.json", message).text == text


def test_complete_runs_come_while_a_search_goes_on(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs, far = tmp_path / "logs", tmp_path / "far"
    names = ("own.json", "good/rank0/w.json", "good/rank1/w.json", "open/w.json", "a/z.json")
    for name in names:
        write(logs / name, trace())
    write(far / "w.json", trace())
    (logs / "open" / "rank7").symlink_to(far)
    monkeypatch.setattr(loading, "PATIENCE_SECONDS", -1.0)
    asked, scandir = list[str](), os.scandir

    def noted(path: str) -> Any:
        asked.append(str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", noted)
    found = []
    for opened in load_all(str(logs), settings):
        assert isinstance(opened, Opened)
        found.append((opened.run.name, opened.span.path))
        # Whatever may be in the run of a link that was not followed yet waits for that.
        if opened.run.name in ("open", "logs"):
            assert str(logs / "open" / "rank7") in asked
        else:
            assert str(logs / "open" / "rank7") not in asked
    assert sorted(path for _, path in found) == sorted([*names, "open/rank7/w.json"])
    assert found[0] == ("a", "a/z.json")
    assert {run for run, _ in found} == {"a", "good", "open", "logs"}


def test_a_search_that_is_cut_is_said(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        write(tmp_path / "logs" / name / "w.json", trace())
    monkeypatch.setattr(walk, "MOST_ENTRIES", 3)
    first, second = load_all(str(tmp_path / "logs"), settings)
    assert isinstance(first, Opened)
    assert isinstance(second, Unreadable)
    assert "The search ended in the folder a after 3 files and folders" in second.message
    assert not second.rejected


FOLDERS = st.lists(
    st.sampled_from(["a", "b", "rank0", "step_3", "iteration_1", "replica_0"]), max_size=4
).map("/".join)


@given(st.lists(FOLDERS, min_size=1, max_size=6), st.lists(FOLDERS, max_size=3))
def test_a_run_is_complete_when_no_folder_to_come_can_add_to_it(
    folders: list[str], pending: list[str]
) -> None:
    files = [ListedFile(Place(f"/{f}/w.json"), f, "w.json", 1, None, "") for f in folders]
    complete = {names.run_of(file.folder) for file in loading._complete(files, pending)}
    assert "" not in complete
    for folder in pending:
        for below in ("", "x", "rank1", "iteration_2", "iteration_2/replica_0", "replica_0"):
            assert names.run_of("/".join(filter(None, (folder, below)))) not in complete
    if not pending:
        assert complete == {names.run_of(folder) for folder in folders} - {""}


def test_a_kept_file_that_is_gone_meanwhile_is_not_counted(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(loading.cache_use(settings).folder)
    (folder / "kept.safetensors").write_bytes(b"12345")
    listed = [folder / "kept.safetensors", folder / "gone.safetensors"]
    monkeypatch.setattr(Path, "glob", lambda *_: iter(listed))
    used = loading.cache_use(settings)
    assert (used.files, used.bytes) == (1, 5)
