"""Memory that goes back to the system."""

from __future__ import annotations

import pytest

from torch_tb_profiler.store import memory
from torch_tb_profiler.store.memory import give_back_memory

MIB = 1 << 20


@pytest.mark.parametrize(
    ("resident", "at_the_end", "returned"),
    [
        ([250, 250], False, 0),
        ([250, 250], True, 0),
        ([0, 0], False, 2),  # the system does not tell
        ([300, 290, 410, 419], False, 2),  # at 300, and at 129 more than the 290
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
