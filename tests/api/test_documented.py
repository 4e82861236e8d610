"""docs/api.md lists every column of every table, and its programs run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import torch_tb_profiler
from tests.api.traces import write
from tests.generate.frames import FRAMES
from torch_tb_profiler.api.frames import RunFrames, TraceFrames


@pytest.fixture(scope="module")
def page(request: pytest.FixtureRequest) -> str:
    return (request.config.rootpath / "docs" / "api.md").read_text(encoding="utf-8")


def test_every_column_is_listed(page: str) -> None:
    for spec in FRAMES:
        section = page.split(f"### `{spec.name}`")[1].split("\n### ")[0]
        columns = [column for column in spec.columns if column.doc]
        assert [c.name for c in columns if f"| `{c.name}` |" not in section] == []
        assert [c.name for c in columns if not c.doc.endswith((".", "…"))] == []
        assert [c.name for c in columns if c.name.endswith("_ns") != (c.unit == "ns")] == []
        assert [c.name for c in columns if not re.fullmatch(r"[a-z][a-z0-9_]*", c.name)] == []


def test_every_public_word_is_explained(page: str) -> None:
    for kind in (TraceFrames, RunFrames):
        words = [
            name
            for name in dir(kind)
            if not name.startswith("_")
            and name not in ("trace", "facts", "insight", "context", "count", "index", "run")
        ]
        assert [
            word
            for word in words
            if f".{word}" not in page and f"`{word}" not in page and word not in ("span", "worker")
        ] == []
    assert [
        name
        for name in torch_tb_profiler.__all__
        if name not in page and name not in ("Recording", "__version__")
    ] == []


def test_what_the_page_says_of_files_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (program,) = re.findall(
        r"```python\n(from torch_tb_profiler.api import export.*?)```", page, re.S
    )
    trace = torch_tb_profiler.open(write(tmp_path / "run", "w0"), use_cache=False)
    exec(program.replace("parquet", "csv").replace("in_steps(2)", "in_steps(1)"), {"trace": trace})
    assert sorted(path.name for path in tmp_path.glob("*.*")) == [
        "lines.speedscope.json",
        "operators.csv",
        "step2.pt.trace.json.gz",
    ]


def test_what_the_page_says_of_events_runs(page: str, tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(events = trace.events.*?)```", page, re.S)
    names: dict[str, Any] = {
        "trace": torch_tb_profiler.open(write(tmp_path / "run", "w0"), use_cache=False)
    }
    exec(program.replace("events.loc[[", "found = events.loc[["), names)
    assert names["found"]["name"].tolist() == ["cudaLaunchKernel", "aten::mm"]
