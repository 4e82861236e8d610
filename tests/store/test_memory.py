"""Memory that goes back to the system."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from torch_tb_profiler.store import memory
from torch_tb_profiler.store.mapped_files import contents
from torch_tb_profiler.store.memory import (
    give_back_memory,
    give_back_pages,
    system_text,
)


def _resident(name: str | Path) -> int:
    """Kilobytes of a mapped file that this process holds."""
    _, _, entry = system_text("/proc/self/smaps").partition(f"{name}\n")
    return int(entry.partition("Rss:")[2].split()[0])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_pages_of_a_mapped_file_go_and_come_back(tmp_path: Path) -> None:
    """Those of a closed map are none."""
    path = tmp_path / "mapped"
    written = np.arange(1 << 18)
    written.tofile(path)
    with path.open("rb") as file:
        column = np.frombuffer(contents(file, str(path)), written.dtype)
        contents(file, str(path)).close()  # type: ignore[union-attr]
    np.testing.assert_array_equal(column, written)
    assert _resident(path) == written.nbytes >> 10
    path.unlink()
    give_back_pages()
    assert not _resident(f"{path} (deleted)")
    np.testing.assert_array_equal(column, written)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_freed_memory_goes_back_where_a_process_has_much(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(memory, "_call_glibc", lambda function, *_: asked.append(function))
    for few, wanted in ((1 << 62, []), (0, ["malloc_trim"])):
        monkeypatch.setattr(memory, "_FEW_BYTES", few)
        give_back_memory()
        assert asked == wanted
