"""``--fail-on``: what became longer fails, whatever is odd; equal programs pass; and what cannot be told is said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.builders.windows import steps, written
from torch_tb_profiler import TraceFrames
from torch_tb_profiler import open as open_trace
from torch_tb_profiler.analysis.diff import rank_test
from torch_tb_profiler.analysis.diff.rank_test import Sample, compare_samples
from torch_tb_profiler.cli.checks import check_of
from torch_tb_profiler.cli.main import main
from torch_tb_profiler.views.diff.verdict import judged

pytestmark = pytest.mark.slow

Lengths = Sequence[float]
Series = NDArray[np.float64]
LIMIT = 5.0


def compare_steps(a: Series, b: Series) -> rank_test.Test:
    return compare_samples([(Sample(a), Sample(b))])


def gate(a: Series, b: Series, limit: float = LIMIT) -> bool | None:
    """What the gate says of steps of these times: held, failed or unknown."""
    return check_of("", "", judged(compare_steps(a, b)), limit).ok


def diffed(folder: Path, a: Lengths, b: Lengths, *more: str) -> int:
    """The exit code of ``diff --fail-on``."""
    number = next(n for n in count() if not (folder / f"a{n}").exists())
    paths = [written(folder, f"{side}{number}", steps(of)) for side, of in (("a", a), ("b", b))]
    return main(["diff", *paths, "--fail-on", f"{LIMIT:g}", *more])


def series(random: np.random.Generator, n: int, noise: float, shape: int) -> Series:
    """Step times around 1 ms in ns: normal, lognormal, with a heavy tail, or with odd steps."""
    drawn = random.normal(size=n)
    found = np.exp(noise * drawn) if shape == 1 else 1 + noise * drawn
    if shape == 2:
        found = 1 + noise * np.abs(random.standard_t(2, n))
    elif shape == 3:
        found[random.random(n) < 0.1] *= 1 + 10 * random.random()
    return np.asarray(1e6 * np.maximum(found, 0.05))


FAR = [
    ([1124, 1223, 1627, 1948, 1577], [6423, 2768, 3999, 5270, 157_469]),
    ([900, 1010, 950, 875, 960], [41_000, 4200, 2800, 3100, 1900]),
    ([2000, 2020, 2010, 1990, 2005], [2200, 2230, 2210, 2190, 9000]),
    ([30, 31, 30, 32, 33], [60, 4000, 62, 61, 63]),
    # A first step that counts as cold on both sides.
    ([9000, 1010, 1000, 1005, 1020], [21_000, 1500, 1520, 1100, 1550]),
]


@pytest.mark.parametrize(("a", "b"), FAR)
def test_five_steps_apart_fail_whatever_is_odd(
    tmp_path: Path, a: Lengths, b: Lengths, capsys: pytest.CaptureFixture[str]
) -> None:
    assert diffed(tmp_path, a, b) == 1
    said = capsys.readouterr().out
    assert " longer " in said or "times as long" in said
    assert "one-sided at 1 %" in said
    assert diffed(tmp_path, b, a) == 0


def test_page_python_and_baseline_say_what_the_gate_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for number, (a, b) in enumerate([*FAR, ([100, 101, 102], [130, 131, 132])]):
        paths = [
            written(tmp_path, f"{side}{number}", steps(of))
            for side, of in zip("xy", (a, b), strict=True)
        ]
        assert main(["diff", *paths, "--json", "--fail-on", "5"]) == 1
        told = json.loads(capsys.readouterr().out)["verdict"]
        assert main(["baseline", "save", f"n{number}", paths[0]]) == 0
        assert main(["baseline", "compare", f"n{number}", paths[1], "--json", "--fail-on=5"]) == 1
        (beside,) = json.loads(capsys.readouterr().out)["workers"]
        before, after = map(open_trace, paths)
        assert isinstance(before, TraceFrames)
        assert isinstance(after, TraceFrames)
        said = before.diff(after).attrs
        assert told["sentence"] == beside["sentence"] == said["verdict"]
        assert told["changed"] is beside["changed"] is said["changed"] is True
        assert told["p"] == said["p"]


@pytest.mark.parametrize(
    ("a", "b", "code", "strict"),
    [
        ([100, 101, 102], [113, 114, 115], 1, 1),
        ([100, 101, 102], [108, 109, 110], 0, 1),
        ([100, 104, 108], [120, 130, 140], 0, 1),
        ([100, 101, 102, 103], [160, 161, 162], 1, 1),
        ([100, 101], [300, 301], 0, 1),
        ([100, 101, 102], [100, 101, 102], 0, 0),
        ([113, 114, 115], [100, 101, 102], 0, 0),
    ],
)
def test_few_steps_fail_by_the_gap_and_twice_the_limit(
    tmp_path: Path,
    a: Lengths,
    b: Lengths,
    code: int,
    strict: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert diffed(tmp_path, a, b) == code
    said = capsys.readouterr().out
    assert ("is rare enough for 1 %; that all of them are longer" in said) >= code
    assert diffed(tmp_path, a, b, "--strict") == strict


@pytest.mark.parametrize("noise", [0.02, 0.05, 0.1, 0.2])
def test_equal_programs_fail_at_most_once_in_a_hundred_times(noise: float) -> None:
    random = np.random.default_rng(round(1000 * noise))
    failed = 0
    for number in range(2000):
        n, m = random.choice([3, 4, 5, 6, 8, 12, 20, 40], 2)
        a, b = (series(random, int(size), noise, number % 4) for size in (n, m))
        failed += gate(a, b) is False
    assert failed <= 20


@given(st.data())
def test_no_separate_pair_of_five_passes(data: st.DataObject) -> None:
    draw = data.draw
    sizes = st.integers(5, 40)
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    noise, shape = draw(st.floats(0.02, 0.2)), draw(st.integers(0, 3))
    a, b = (series(random, draw(sizes), noise, shape) for _ in range(2))
    b *= a.max() / b.min() * draw(st.floats(1.001, 3))
    test = compare_steps(a, b)
    assert test.changed is True
    assert test.p <= 0.01
    assert gate(a, b) is (100 * test.share <= LIMIT)
    assert gate(b, a) is True


@given(st.data())
def test_who_reaches_the_level_by_the_order_of_all_steps_fails(data: st.DataObject) -> None:
    """Odd steps leave the mean alone."""
    sizes = st.integers(5, 12)
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    a, b = (series(random, data.draw(sizes), 0.1, 3) for _ in range(2))
    b *= a.max() / b.min() * 1.1
    odd = np.arange(len(b)) == int(np.argmax(b))
    whole, without = Sample(b), Sample(b, odd=odd)
    both = [compare_samples([(Sample(a), one)]) for one in (whole, without)]
    assert (both[0].p, both[0].share) == (both[1].p, both[1].share)
    assert both[1].means[1] == pytest.approx(b[~odd].mean())
