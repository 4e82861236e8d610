"""A few of the folders that ``benchmarks/folders.py`` tries by the thousand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.examples import CI
from tests.fuzz.folder_check import check_folder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="pipes and links"),
]
CASES = 80 if CI else 24
SEED = 25


@pytest.mark.parametrize("number", range(0, CASES, 8))
def test_mutated_folders(number: int, tmp_path: Path) -> None:
    for each in range(number, number + 8):
        home = tmp_path / str(each)
        home.mkdir()
        check_folder(home, SEED, each)
