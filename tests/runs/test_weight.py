"""How much memory a result takes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from torch_tb_profiler.runs.memo import weight_of
from torch_tb_profiler.store import sidecar
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import INSIGHT_TABLES
from torch_tb_profiler.store.strings import StringTable
from torch_tb_profiler.web.replies import Body


@pytest.mark.parametrize(
    "make",
    [
        lambda: b"x" * 300_000,
        lambda: "a" * 300_000,
        lambda: np.zeros(100_000),
        lambda: [f"{i}" * 200 for i in range(1000, 9000)],
        lambda: StringTable.of([f"text {i}" for i in range(20_000)]),
        lambda: Body(b"x" * 500_000),
    ],
)
def test_it_is_about_what_python_allocates(make: Callable[[], Any]) -> None:
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    result = make()
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert weight_of(result) == pytest.approx(taken, rel=0.25)


def test_a_view_of_an_array_counts_nothing() -> None:
    array = np.zeros(100_000)
    assert weight_of([array, array[5:], {"again": array[:7]}]) == pytest.approx(800_000, rel=0.01)


def test_what_is_mapped_counts_nothing(tmp_path: Path) -> None:
    tables = {spec.name: spec.empty() for spec in INSIGHT_TABLES}
    strings = StringTable.of(["x" * 1_000_000])
    sidecar.write_derived(tmp_path / "a", Insight(strings, tables, {}))
    assert weight_of(Insight(strings, tables, {})) > 1_000_000
    assert weight_of(sidecar.read_derived(tmp_path / "a", Insight)) < 300_000


def test_a_circle_ends() -> None:
    circle: list[Any] = [b"x" * 1000]
    circle.append(circle)
    assert weight_of(circle) < 20_000
