"""The recipe of ``docs/adding.md`` for a subcommand: its code is a command."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.architecture import tree
from tests.builders.drawn import events, text_of
from torch_tb_profiler.cli import commands
from torch_tb_profiler.cli.main import main


def recipe(heading: str) -> str:
    """The first block of Python below a heading."""
    text = (tree.ROOT / "docs/adding.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    [block, *_] = re.findall(r"^```python\n(.*?)^```", section, re.M | re.S)
    return str(block)


@pytest.mark.parametrize("form", [[], ["--json"], ["--markdown"], ["--tokens=300"]], ids=str)
def test_the_subcommand_of_the_recipe_runs(
    form: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    module = ModuleType("torch_tb_profiler.cli.tracks")
    exec(compile(recipe("A subcommand"), "docs/adding.md", "exec"), vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(commands, "COMMANDS", {**commands.COMMANDS, "tracks": "tracks"})
    monkeypatch.setattr("torch_tb_profiler.cli.main.COMMANDS", commands.COMMANDS)
    (tmp_path / "rank0.pt.trace.json").write_text(text_of(events("main [aten::mm    ]\n")))
    assert main(["tracks", str(tmp_path), *form]) == 0
    printed = capsys.readouterr().out
    if form == ["--json"]:
        assert len(json.loads(printed)[0]["tracks"]) == 1
    else:
        assert "Tracks" in printed
