"""Recordings without steps are compared per unit of work, however long they are; or it is said why they are not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.builders.loop import Event
from tests.builders.windows import window, written
from torch_tb_profiler.analysis.diff.repeats import Repeated, Repeats, unit_between
from torch_tb_profiler.cli.main import main

pytestmark = pytest.mark.slow

KINDS = ["operators", "cpu", "kernels", "graphs", "layers", "ahead", "frames", "ranges"]
UNEVEN = [0.02, -0.01, 0.03, 0.0, -0.02, 0.01, -0.03]


def gate(folder: Path, a: list[Event], b: list[Event], *more: str) -> int:
    paths = [written(folder, name, events) for name, events in (("before", a), ("after", b))]
    return main(["diff", *paths, "--fail-on", "5", *more])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lengths", [(300_000, 300_000), (150_000, 400_000)])
def test_an_item_that_takes_longer_fails(
    tmp_path: Path, kind: str, lengths: tuple[int, int], capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = (window(n, item, kind, UNEVEN) for n, item in zip(lengths, (4400, 5000), strict=True))
    assert gate(tmp_path, a, b, "--json") == 1
    told = json.loads(capsys.readouterr().out)
    said, unit = told["verdict"], told["verdict"]["unit"]
    assert unit["count_a"] == pytest.approx(lengths[0] / 4400, abs=1)
    assert unit["count_b"] == pytest.approx(lengths[1] / 5000, abs=1)
    assert said["share"] == pytest.approx(5000 / 4400 - 1, abs=0.01)
    assert said["sentence"].startswith(
        f"Compared per item: {unit['count_a']} and {unit['count_b']} of "
    )
    assert said["delta_ns"] == pytest.approx(600_000, rel=0.03)
    # What the tables are made of is of one item, too.
    whole = next(one for one in told["wholes"] if one["table"] == "category")
    assert whole["time_b_ns"] - whole["time_a_ns"] == pytest.approx(said["delta_ns"], abs=9)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_items_of_windows_of_other_lengths_pass(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = window(200_000, 4400, kind, UNEVEN), window(310_000, 4400, kind, UNEVEN[::-1])
    assert gate(tmp_path, a, b, "--strict") == 0
    assert "No change beyond" in capsys.readouterr().out


def test_what_has_nothing_in_common_cannot_be_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = [
        {
            **event,
            "name": event["name"].replace("aten::sdpa", "aten::conv2d").replace("addmm", "gelu"),
        }
        for event in window(300_000, 5000, "cpu")
    ]
    assert gate(tmp_path, window(300_000, 4400, "cpu"), other) == 0
    said = capsys.readouterr()
    assert "nothing that fills half of both repeats in the same proportions" in said.out
    assert "cannot be told" in said.err
    assert gate(tmp_path / "again", window(300_000, 4400, "cpu"), other, "--strict") == 1


def side(counts: dict[str, int], length: int) -> Repeats:
    """Names that repeat as often as they say, evenly."""
    names = {
        name: Repeated(np.linspace(i, length - 1000 + i, n).astype(np.int64), 100 * n)
        for i, (name, n) in enumerate(counts.items())
    }
    return Repeats(length, names, {})


def test_another_mix_of_work_is_no_unit() -> None:
    a = side({"prefill": 10, "decode": 100, "wait": 60}, 1_000_000)
    b = side({"prefill": 20, "decode": 80, "wait": 60}, 1_000_000)
    assert unit_between(a, b) is None
    assert unit_between(a, side({"prefill": 11, "decode": 109, "wait": 66}, 1_100_000)) is not None


def test_what_repeats_at_one_end_is_no_unit_of_the_whole() -> None:
    a, b = side({"item": 50}, 100_000), side({"item": 40}, 100_000)
    assert unit_between(a, b) is not None
    long = Repeats(1_000_000, b.host, b.device)
    assert unit_between(a, long) is None


CUTS = st.tuples(st.floats(20, 60), st.floats(0, 1, exclude_max=True))


@given(
    st.integers(1, 2),
    st.lists(st.integers(1, 6), max_size=4),
    st.integers(0, 2**32),
    st.sampled_from([1.0, 1.2, 2.0]),
    st.tuples(CUTS, CUTS),
)
@example(first=2, more=[5], seed=0, factor=1.0, cuts=((149 / 7, 0.3), (184 / 7, 0.0)))
def test_the_change_of_an_item_is_found_whatever_it_is_made_of(
    first: int,
    more: list[int],
    seed: int,
    factor: float,
    cuts: tuple[tuple[float, float], tuple[float, float]],
) -> None:
    """Whole items of parts that are called several times each, cut by the ends, in recordings of any length."""
    random = np.random.default_rng(seed)
    order = [f"part{i}" for i, times in enumerate([first, *more]) for _ in range(times)]

    def recorded(item: float, cut: tuple[float, float]) -> Repeats:
        count, begin = round(cut[0] * len(order)), int(cut[1] * len(order))
        names = [order[(begin + i) % len(order)] for i in range(count)]
        lengths: NDArray[np.float64] = item / len(order) * (1 + 0.02 * random.random(count))
        at = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.int64)
        listed = np.array(names)
        repeated = {
            name: Repeated(at[listed == name], int(lengths[listed == name].sum()))
            for name in dict.fromkeys(names)
        }
        return Repeats(int(lengths.sum()), repeated, {})

    unit = unit_between(recorded(1e6, cuts[0]), recorded(1e6 * factor, cuts[1]))
    assert unit is not None
    means = [float(items.mean()) for items in unit.items]
    assert means[1] / means[0] == pytest.approx(factor, rel=0.01)


@given(st.integers(0, 2**32))
def test_what_comes_between_calls_at_random_does_not_make_units_of_them(seed: int) -> None:
    random = np.random.default_rng(seed)

    def recorded() -> Repeats:
        calls = np.arange(1000) * 1000
        strays = np.sort(random.choice(calls[:-1], 10, replace=False)) + 500
        return Repeats(
            1_000_000, {"item": Repeated(calls, 900_000), "stray": Repeated(strays, 10)}, {}
        )

    unit = unit_between(recorded(), recorded())
    assert unit is not None
    assert unit.name == "item"
    assert unit.counts == (1000, 1000)
