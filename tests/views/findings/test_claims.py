"""No answer about a sample or a public trace says what is not so; and the laws tell of what is not."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests import public
from tests.conftest import REAL_TRACES, REPOSITORY
from tests.views.findings.claims import Answered, answers_of, broken

pytestmark = pytest.mark.slow

SAMPLES = sorted(path.parent.name for path in (REPOSITORY / "samples").glob("*/*.pt.trace.json.gz"))
FOLDERS = sorted(path for path in REAL_TRACES.glob("*") if path.is_dir())
SMALL = 150_000
"""Bytes of traces that are read between two edits."""


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


QUICK = [folder.name for folder in FOLDERS if _bytes(folder) <= SMALL]
LARGE: list[Path] = [folder for folder in FOLDERS if _bytes(folder) > SMALL]

UNREADABLE = ("git_lfs_pointer", "live_address_with_a_nul", "memory_timeline_as_html")
CASES = [
    path
    for path in sorted((REAL_TRACES.parent / "cases").glob("*"))
    if path.is_dir() and path.name not in UNREADABLE
]


@cache
def _sample(name: str) -> list[Answered]:
    return answers_of(REPOSITORY / "samples" / name)


def _check(answers: list[Answered]) -> None:
    assert answers
    assert not [text for told in answers for text in broken(told)]


@pytest.mark.parametrize("name", sorted(set(SAMPLES)))
def test_of_a_sample_nothing_is_said_that_is_not_so(name: str) -> None:
    _check(_sample(name))


@pytest.mark.parametrize("name", QUICK or [None])
def test_of_a_small_public_trace_nothing_is_said_that_is_not_so(name: str | None) -> None:
    if name is None:
        pytest.skip("the public traces (../shared/traces) are not on this machine")
    _check(answers_of(REAL_TRACES / name))


@pytest.mark.parametrize("folder", public.asked(LARGE))
def test_of_a_public_trace_nothing_is_said_that_is_not_so(folder: Path, real_traces: Path) -> None:
    _check(answers_of(folder))


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(path, id=path.name, marks=[] if number % 4 == 0 else [pytest.mark.nightly])
        for number, path in enumerate(CASES)
    ]
    or [public.ABSENT],
)
def test_of_a_case_nothing_is_said_that_is_not_so(folder: Path | None) -> None:
    """What each case is for is asked in ``tests/cases``; here a fourth of them each time, at night all."""
    if folder is None:
        pytest.skip("the small inputs (../shared/cases) are not on this machine")
    _check(answers_of(folder))


def _lie(**changed: Any) -> list[str]:
    """What is told of the answer about a sample once a claim is another."""
    (about,) = _sample("cnn_workers_0")
    told = copy.deepcopy(dict(about.answer))
    for part in (told["findings"][0], told["told"], told):
        part |= {key: value for key, value in changed.items() if key in part}
    return broken(replace(about, answer=told))


STEP = 58_734_259
"""Of the sample, ns."""


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"part_ns": 2 * STEP}, "a part above its whole"),
        ({"whole_ns": 557_000_000}, "no step takes 557 ms"),
        ({"step_ns": 3 * STEP}, "no step takes"),
        ({"group": "host_code"}, "on the strip"),
        ({"place_ns": STEP}, "a place above its part"),
        ({"place_ns": 1_000_000, "detail": "Most of it is in aten::relu at cnn.py:24."}, "most is"),
        ({"detail": "Most of it is in aten::relu at cnn.py:24."}, "Most of it is in aten::relu"),
        ({"detail": "Most of it is in <module> at cnn.py:1."}, "Most of it is in <module>"),
        ({"left_ns": 10_000_000}, "saves more than its part"),
        ({"headline": "No cause was found that costs 2 % or more."}, "no cause, and yet one of"),
        ({"sentence": "The GPU waits for the DataLoader."}, "a word of accelerators on a host"),
        ({"recoverable_ns": STEP + 1}, "input_bound saves"),
        ({"recoverable_ns": STEP // 2, "acted_ns": STEP}, "of a DataLoader of"),
        ({"recoverable_low_ns": STEP // 2}, "is not within"),
        ({"recoverable_high_ns": STEP}, "is not within"),
        ({"recoverable_mean_ns": 2 * STEP}, "of the mean step"),
        ({"certainty": "certain", "recoverable_low_ns": 1_000_000}, "is certain: 1000000 to"),
        ({"share": 0.5}, "is said to be 0.5"),
        ({"holds": 0}, "stands before"),
    ],
)
def test_a_false_claim_is_told(changed: dict[str, Any], told: str) -> None:
    assert [text for text in _lie(**changed) if told in text]


def test_sums_that_cannot_be_are_told() -> None:
    totals = copy.deepcopy(_sample("cnn_workers_0")[0].answer["totals"])
    totals[-1]["recoverable_ns"] //= 4
    assert [text for text in _lie(totals=totals) if "one of it" in text or "are left" in text]
