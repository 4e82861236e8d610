"""The limit of memory of an import holds for every command that imports."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest

from torch_tb_profiler.cli.main import main

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts all that is allocated"),
]


@pytest.mark.parametrize(
    "command",
    [["summary"], ["findings", "--json"], ["doctor"], ["export", "-o", "-"], ["event", "0"]],
)
@pytest.mark.parametrize("cache", [True, False])
def test_what_needs_more_is_said_in_one_sentence(
    command: list[str],
    cache: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TORCH_TB_PROFILER_MAX_IMPORT_MEMORY_BYTES", str(64 << 20))
    monkeypatch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o700)
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(b'{"traceEvents":[' + b"[" * (96 << 20), 1))
    name, *rest = command
    code = main([name, str(path), *rest, *([] if cache else ["--no-cache"])])
    told = capsys.readouterr()
    assert "It needs more than 64.0 MiB of memory, the limit of an import." in told.err + told.out
    assert code == 2
