"""Counts of one in the words of findings."""

from __future__ import annotations

import pytest

from torch_tb_profiler.views.words.texts import filled


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("1 collectives per {step}", "1 collective per step"),
        ("1 copies", "1 copy"),
        ("1 launches", "1 launch"),
        ("1 waits for the GPU", "1 wait for the GPU"),
        ("a softmax, 1 times per step", "a softmax, once per step"),
        ("11 collectives", "11 collectives"),
        ("1.5 collectives", "1.5 collectives"),
        ("rank 1 waits", "rank 1 waits"),
        ("1 ms of it", "1 ms of it"),
        ("1 has it", "1 has it"),
    ],
)
def test_one_of_something(told: str, expected: str) -> None:
    assert filled(told, {"step": "step"}) == expected
