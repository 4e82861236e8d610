"""The net of ``benchmarks/replies.py``: what it calls a difference, and that two recordings of one tree have none."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.net import differences, kept
from tests.conftest import REPOSITORY

ALL = re.compile("")
PROGRAM = str(REPOSITORY / "benchmarks" / "replies.py")


def compared(old: Any, new: Any, ask: str = "/findings?run=a") -> list[tuple[str, str, int]]:
    """Where, what and how often, of one reply of each side."""
    found = differences.Found()
    differences.add(found, "cases/a", {ask: reply(old, ask)}, {ask: reply(new, ask)}, ALL)
    groups = {**found.errors, **found.lone, **found.changes}
    return [(*key, group.count) for key, group in groups.items()]


def reply(value: Any, ask: str, code: int = 200) -> dict[str, Any]:
    kind = "text" if isinstance(value, str) else "json"
    return {"ask": ask, "code": code, kind: value}


def finding(rule: str, saving: int) -> dict[str, Any]:
    return {"rule": rule, "saving_ns": saving}


def test_changes_of_json_are_named_by_their_path() -> None:
    old = {"findings": [finding("a", 1), finding("b", 2), finding("c", 3)]}
    new = {"findings": [finding("x", 9), finding("a", 1), finding("b", 5), finding("c", 6)]}
    assert compared(old, new) == [
        ("/findings", "findings[].saving_ns", 2),
        ("/findings", "findings[] new", 1),
    ]


def test_rows_of_a_table_are_matched_by_their_names() -> None:
    old = {"rows": {"name": ["mm", "relu"], "calls": [3, 4], "total_ns": [30, 40]}}
    new = {"rows": {"name": ["relu", "mm"], "calls": [4, 3], "total_ns": [41, 30]}}
    assert compared(old, new, "/operator?group=shape&run=a") == [
        ("/operator group=shape", "rows[].total_ns", 1),
        ("/operator group=shape", "rows[] order", 1),
    ]


def test_keys_that_are_recorded_names_are_one_path() -> None:
    old, new = {"by": {"a b": 1, "c d": 2}}, {"by": {"a b": 2, "c d": 3}, "more": None}
    assert compared(old, new) == [("/findings", "by.{}", 2), ("/findings", "more new", 1)]


def test_changes_of_text_are_named_by_the_pattern_of_their_line() -> None:
    old = "Step 3 takes 1.25 ms.\nThe rest.\naten::mm   3   4 ms\nvoid k<1>   5   6 ms"
    new = "Step 4 takes 1.30 ms.\nThe rest.\nA new line of 3.\naten::mm   3   9 ms\nvoid k<1>   5   7 ms"
    assert compared(old, new, "summary a --markdown") == [
        ("summary --markdown", "Step # takes # ms.", 1),
        ("summary --markdown", "~ # # ms", 1),
        ("summary --markdown", "void ~ # # ms", 1),
        ("summary --markdown", "A new line of #. new", 1),
    ]


def test_faults_and_other_codes_stand_first() -> None:
    found = differences.Found()
    old = {"/a": reply({}, "/a"), "/b": reply({}, "/b"), "/c": reply({}, "/c")}
    fault = reply({"error": {"message": "A bug at 12."}}, "/a", 500)
    new = {"/a": fault, "/b": reply({"error": {"message": "No run 7."}}, "/b", 404)}
    differences.add(found, "cases/a", old, new, ALL)
    assert [*found.errors] == [("/a", "500: A bug at #."), ("/b", "200 → 404: No run #.")]
    assert [*found.lone] == [("/c", "old")]
    assert (found.equal, found.differ, found.changes) == (0, 0, {})


def test_what_says_nothing_of_the_code_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "a" / "routes.jsonl.gz"
    read = kept.Reader({"/somewhere/of/ours": "<logs>"})
    text = json.dumps({"path": "/somewhere/of/ours/a", "id": 5})
    other = 'About 412 tokens, File "/x/y/z.py", line 3 at 2026-01-02 03:04:05'
    replies = [kept.Reply("/a", 200, text, True), kept.Reply("b", 0, other, False)]
    assert kept.keep(path, replies, read) == 2
    first, second = kept.kept(path)
    assert first == {"ask": "/a", "code": 200, "json": {"path": "<logs>/a", "id": 5}}
    assert second["text"] == 'About <n> tokens, File "z.py" at <time>'
    assert gzip.decompress(path.read_bytes()).count(b"\n") == 2


def test_a_recording_is_not_kept_in_a_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    told = run("record", str(tmp_path / "a" / "out"), str(tmp_path))
    assert told.returncode == 1
    assert "give a folder outside of repositories" in told.stderr
    assert not (tmp_path / "a").exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="a recording is made by forks")
def test_two_recordings_of_one_tree_are_equal(tmp_path: Path, samples: Path) -> None:
    source = tmp_path / "some" / "one"
    source.mkdir(parents=True)
    shutil.copy(next((samples / "inference").glob("*.json*")), source)
    outs = [str(tmp_path / name) for name in ("old", "new")]
    for out in outs:
        told = run(
            "record", "--kinds", "routes", "tables", "--jobs", "1", "--", out, str(source.parent)
        )
        assert told.returncode == 0, told.stdout + told.stderr
    replies = [*kept.kept(tmp_path / "old" / "some" / "one" / "routes.jsonl.gz")]
    assert len(replies) > 100
    assert {each["code"] for each in replies} <= {200, 400, 404}
    told = run("compare", *outs)
    assert told.returncode == 0, told.stdout
    assert run("record", "--kinds", "tables", "--", outs[0], str(source.parent)).stdout == ""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, PROGRAM, *arguments], capture_output=True, text=True, check=False
    )
