"""Programs with a planted cause, and their twins without it, recorded here: nothing is said of them that
is not so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.views.findings.claims import answers_of, broken, printed_by

PROGRAMS = ("ballot", "forecast", "ranks_turns")
"""Small operators, a step that is longer now and then, and two ranks."""


@pytest.fixture(scope="module")
def recordings(torch: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that ``benchmarks/causes/run.py`` writes."""
    out = tmp_path_factory.mktemp("causes")
    only = [word for name in PROGRAMS for word in ("--only", name)]
    script = str(REPOSITORY / "benchmarks" / "causes" / "run.py")
    subprocess.run(
        [sys.executable, "-B", script, "--modes", "record", "--fork", "--out", str(out), *only],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )
    return out


@pytest.mark.parametrize("variant", ["slow", "fixed"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_is_said_that_is_not_so(recordings: Path, program: str, variant: str) -> None:
    answers = answers_of(recordings / program / f"{variant}_record")
    assert len(answers) == 1 + program.startswith("ranks")
    assert not [text for told in answers for text in broken(told)]


@pytest.mark.parametrize("program", PROGRAMS)
def test_steps_that_are_all_longer_are_not_within_noise(recordings: Path, program: str) -> None:
    folder = recordings / program
    measured = json.loads((recordings / "measured.json").read_text(encoding="utf-8"))[program]
    slow, fixed = (measured[variant]["record"]["all"] for variant in ("slow", "fixed"))
    diff = partial(printed_by, "diff", str(folder / "slow_record"), str(folder / "fixed_record"))
    verdict = diff("--json")["verdict"]
    if min(slow) > max(fixed):
        assert "within" not in verdict["sentence"]
