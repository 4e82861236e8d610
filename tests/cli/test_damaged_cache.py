"""Damage of the cache costs a command time, and never its figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders.drawn import events, text_of
from tests.runs.conftest import DRAWING
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
        data = bytearray(path.read_bytes())
        size = int.from_bytes(data[:8], "little")
        for name, column in json.loads(data[8 : 8 + size]).items():
            if name.startswith(sidecar._LARGE) and column["shape"] != [0]:
                data[8 + size + column["data_offsets"][0]] ^= 1
        path.write_bytes(data)
    monkeypatch.setattr(sidecar, "CHECK_WHOLE_BYTES", 0)
    assert main.main(arguments) == 0
    printed = capsys.readouterr()
    assert printed.out == first
    assert not printed.err
