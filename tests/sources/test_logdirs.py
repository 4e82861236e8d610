"""The meaning of ``--logdir`` and ``--logdir_spec``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from torch_tb_profiler.sources.logdirs import parse_logdirs
from torch_tb_profiler.sources.places import Place


def test_one_logdir_needs_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert parse_logdirs("./runs", None)[""].text == str(tmp_path / "runs")


def test_home_is_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert parse_logdirs("~/runs", "")[""].text == "/home/me/runs"


@pytest.mark.skipif(os.name == "nt", reason="POSIX paths")
@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ("a:/x,b:/y", {"a": "/x", "b": "/y"}),
        ("a:/x", {"a": "/x"}),
        ("/x", {"": "/x"}),
        ("/x,/y", {"x": "/x", "y": "/y"}),
        ("/1/run,/2/run", {"run": "/1/run", "run (2)": "/2/run"}),
        ("/x:y", {"": "/x:y"}),
        ("a:/x:y", {"a": "/x:y"}),
        ("s3://bucket/a", {"": "s3://bucket/a"}),
        ("a:s3://bucket/a,b:http://host:8080/b", {"a": "s3://bucket/a", "b": "http://host:8080/b"}),
        ("http://host:8080/b,/x", {"b": "http://host:8080/b", "x": "/x"}),
        (" a:/x , ,b:/y,", {"a": "/x", "b": "/y"}),
        ("a:/x,a:/y", {"a": "/x", "a (2)": "/y"}),
    ],
)
def test_a_spec_names_places(spec: str, found: dict[str, str]) -> None:
    assert {name: place.text for name, place in parse_logdirs(None, spec).items()} == found


def test_a_drive_letter_is_no_name() -> None:
    assert list(parse_logdirs(None, r"C:\runs")) == [""]
    assert list(parse_logdirs(None, r"a:C:\runs")) == ["a"]


def test_both_flags_together() -> None:
    assert parse_logdirs("/z", "a:/x") == {"z": Place("/z"), "a": Place("/x")}


def test_nothing_given() -> None:
    assert parse_logdirs("", "") == {}
