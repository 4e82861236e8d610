"""The Operator view of the committed recordings equals the ``key_averages()`` that PyTorch computed
when they were made. No PyTorch needed.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.live.figures import difference, of_engine, of_expected

EXPECTED = sorted((REPOSITORY / "samples" / "capture" / "expected").glob("*/*.json"))


def test_every_recording_has_its_figures(samples: Path) -> None:
    real = {
        path
        for path in samples.glob("*/*.pt.trace.json.gz")
        if path.parent.name != "synthetic_ddp8"
    }
    assert {
        samples / path.parent.name / json.loads(path.read_text())["trace"] for path in EXPECTED
    } == real


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_operators_equal_key_averages(expected: Path, samples: Path) -> None:
    trace = (
        samples / expected.parent.name / json.loads(expected.read_text(encoding="utf-8"))["trace"]
    )
    theirs = of_expected(expected)
    assert len(theirs) > 30
    assert difference(of_engine(trace), theirs) == {}


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_operators_by_shape_equal_key_averages(expected: Path, samples: Path) -> None:
    trace = (
        samples / expected.parent.name / json.loads(expected.read_text(encoding="utf-8"))["trace"]
    )
    assert difference(of_engine(trace, by_shape=True), of_expected(expected, by_shape=True)) == {}
