"""Property tests try the same examples in every process, and others where that is asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import draws
from tests.conftest import REPOSITORY

_DRAWN = """
from hypothesis import given, strategies as st

@given(st.lists(st.integers()), st.text(max_size=3))
def test_drawn(numbers, text):
    with open({path!r}, "a", encoding="utf-8") as file:
        print(numbers, ascii(text), file=file)
"""


def drawn(folder: Path, name: str, **environment: str) -> str:
    """The examples of a test in a process of its own that has loaded a module of that name."""
    path = folder / "drawn.txt"
    path.unlink(missing_ok=True)
    (folder / "conftest.py").write_text("from tests.examples import load\n\nload('')\n")
    (folder / "test_drawn.py").write_text(_DRAWN.format(path=path.name), encoding="utf-8")
    (folder / f"{name}.py").write_text(f"NUMBER = {len(name) * 1_234_567}\nTEXT = {name!r}\n")
    load = f"import {name}, pytest, sys; sys.exit(pytest.main(sys.argv[1:]))"
    told = subprocess.run(
        [sys.executable, "-c", load, "-q", "-p", "no:cacheprovider", "test_drawn.py"],
        cwd=folder,
        env={**os.environ, "PYTEST_ADDOPTS": "", "PYTHONPATH": str(REPOSITORY), **environment},
        check=False,
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    return path.read_text(encoding="utf-8")


@pytest.mark.slow
def test_examples_are_the_same_each_time(tmp_path: Path) -> None:
    usual = drawn(tmp_path, "one", HYPOTHESIS_EXAMPLES="all", PYTHONHASHSEED="1")
    again = drawn(tmp_path, "another", HYPOTHESIS_EXAMPLES="all", PYTHONHASHSEED="2")
    assert usual == again
    assert usual != drawn(tmp_path, "one", HYPOTHESIS_EXAMPLES="random")


def test_failures_are_named_with_their_examples() -> None:
    printed = """\
=========== FAILURES ===========
________________ test_a ________________
tests/test_x.py:3: in test_a
    assert n < 5
E   AssertionError: assert 5 < 5
E   Falsifying example: test_a(
E       n=5,
E   )
________________ test_b[one] ________________
E   ValueError: no
=========== short test summary info ===========
FAILED tests/test_x.py::test_a
"""
    (first, text), (second, _) = draws.failed(printed)
    assert (first, second) == ("test_a", "test_b[one]")
    assert "n=5" in text


@pytest.mark.nightly
def test_a_round_at_random() -> None:
    told = subprocess.run(
        [sys.executable, str(REPOSITORY / "benchmarks" / "draws.py"), "--rounds", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stdout[-8000:]
