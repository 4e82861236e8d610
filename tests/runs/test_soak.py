"""A minute of the soak: a server that is disturbed in every way answers each request in time, and with what it answered before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.nightly
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it looks at /proc")
@pytest.mark.parametrize("seed", [1, 2])
def test_a_minute(seed: int, repository: Path, tmp_path: Path) -> None:
    program = str(repository / "benchmarks" / "soak.py")
    words = ["--serve", "--minutes", "1", "--clients", "20", "--seed", str(seed)]
    done = subprocess.run(
        [sys.executable, program, *words, "--scratch", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
