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


MIB = 1 << 20


@pytest.mark.parametrize(
    ("resident", "at_the_end", "returned"),
    [
        ([250, 250], False, 0),
        ([250, 250], True, 0),
        ([0, 0], False, 2),  # the system does not tell
        ([300, 290, 310, 331], False, 2),  # at 300, and at 41 more than the 290
        ([300, 310, 290], True, 3),
    ],
)
def test_freed_memory_goes_back_where_a_process_has_much(
    resident: list[int], at_the_end: bool, returned: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(memory, "_call_glibc", lambda function, *_: asked.append(function))
    monkeypatch.setattr(memory, "_resident_before", 0)
    for bytes_ in resident:
        monkeypatch.setattr(memory, "resident_memory", lambda held=bytes_: held * MIB)
        give_back_memory(at_the_end)
    assert asked == ["malloc_trim"] * returned
