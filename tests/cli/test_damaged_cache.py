"""Damage of the cache costs a command time, and never its figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.drawn import events, text_of
from tests.runs.conftest import DRAWING
from tests.store.damage import damage_large_columns
from torch_tb_profiler.cli import main
from torch_tb_profiler.store import sidecar


@pytest.mark.parametrize("command", [["event", "0"], ["kernels"]])
def test_a_damaged_column_is_made_again(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(tmp_path / "cache"))
    trace = tmp_path / "w0.pt.trace.json"
    trace.write_text(text_of(events(DRAWING)))
    arguments = [command[0], str(trace), *command[1:], "--json"]
    assert main.main(arguments) == 0
    first = capsys.readouterr().out
    for path in (tmp_path / "cache").glob("*.safetensors"):
        damage_large_columns(path)
    monkeypatch.setattr(sidecar, "CHECK_WHOLE_BYTES", 0)
    assert main.main(arguments) == 0
    printed = capsys.readouterr()
    assert printed.out == first
    assert not printed.err
