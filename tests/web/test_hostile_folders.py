"""A few of the folders that ``benchmarks/folders.py`` tries by the thousand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.fuzz.folder_check import check_folder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="pipes and links"),
]
CASES = 80
SEED = 25


@pytest.mark.parametrize(
    "number", [0, *(pytest.param(n, marks=pytest.mark.nightly) for n in range(8, CASES, 8))]
)
def test_mutated_folders(number: int, tmp_path: Path) -> None:
    for each in range(number, number + 8):
        home = tmp_path / str(each)
        home.mkdir()
        check_folder(home, SEED, each)
