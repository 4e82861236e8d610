"""Sums over steps that are not added up anew: of some steps, and those that an insight keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders.drawn import trace_of
from tests.builders.pairs import recording
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.kernels import kernel_rows
from torch_tb_profiler.analysis.figures.operators import operator_rows
from torch_tb_profiler.analysis.figures.selection import Selection, mask, select, sums_in
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.store.columns import Array, Table
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import NAME_STEPS, PathKind
from torch_tb_profiler.store.model import Facts

Sums = dict[tuple[int, ...], int]


@given(st.lists(st.integers(-1, 6)), st.sets(st.integers(0, 6)))
def test_rows_of_any_choice_of_steps(steps: list[int], chosen: set[int]) -> None:
    rows = mask(Selection(np.array(sorted(chosen), np.int64), False), np.array(steps, np.int32))
    assert rows.tolist() == [step in chosen for step in steps]


@given(
    st.lists(st.tuples(st.integers(-1, 5), st.integers(-1, 3), st.integers(0, 99)), max_size=30),
    st.sets(st.integers(0, 6)),
)
def test_sums_of_some_steps_are_those_of_their_rows(
    entries: list[tuple[int, int, int]], chosen: set[int]
) -> None:
    step, name, calls = np.array(sorted(entries), np.int64).reshape(-1, 3).T
    times = dict.fromkeys(("calls", "device_self", "host_self", "runtime"), calls)
    table = NAME_STEPS.build(step=step, name=name, **times)
    whole = {"calls": np.array([calls[name == number].sum() for number in range(4)])}
    sums = sums_in(np.array(sorted(chosen), np.int64), table, "name", whole)
    inside = np.isin(step, sorted(chosen))
    assert sums["calls"].tolist() == [calls[inside & (name == number)].sum() for number in range(4)]


@pytest.fixture(scope="module")
def recorded() -> tuple[Facts, Insight]:
    trace = trace_of(recording(steps=4))
    facts = derive(trace)
    return facts, build_insight(trace, facts)


@pytest.mark.parametrize("rows", [operator_rows, kernel_rows])
def test_tables_of_parts_of_the_steps_add_up(
    recorded: tuple[Facts, Insight], rows: Callable[[Facts, Selection, str], DisplayTable]
) -> None:
    facts, _ = recorded
    parts = [select(facts, 0, 0), select(facts, 1, 2), select(facts, 3, 3)]

    def of(selection: Selection) -> list[Sums]:
        table = rows(facts, selection, "name")
        summed = [c for c in table.spec.columns if c.pool == "sum" and c.name in table]
        # Shares are of the selected steps, and add up over rows only.
        sums = [column.name for column in summed if column.kind != "share"]
        assert {"calls"} < set(sums)
        return [added((table["name"],), table[name]) for name in sums]

    for whole, *pieces in zip(of(select(facts, 0, 3)), *map(of, parts), strict=True):
        assert whole == {key: sum(piece.get(key, 0) for piece in pieces) for key in whole}


def added(keys: tuple[Array, ...], values: Array) -> Sums:
    """Sums per distinct tuple of keys, one entry after the other."""
    found: Counter[tuple[int, ...]] = Counter()
    for *key, value in zip(*(column.tolist() for column in keys), values.tolist(), strict=True):
        found[tuple(key)] += value
    return dict(found)


def kept(table: Table, keys: tuple[str, ...], value: str) -> Sums:
    return dict(
        zip(
            zip(*(table[key].tolist() for key in keys), strict=True),
            table[value].tolist(),
            strict=True,
        )
    )


@pytest.mark.parametrize("column", ["calls", "device_self", "host_self", "runtime"])
def test_operators(recorded: tuple[Facts, Insight], column: str) -> None:
    facts, insight = recorded
    steps, operators = facts["operator_steps"], facts["operators"]
    assert steps[column].any()
    assert kept(insight["name_steps"], ("name", "step"), column) == added(
        (operators["name"][steps["operator"]], steps["step"]), steps[column]
    )
    assert dict(enumerate(facts["operator_sums"][column].tolist())) == {
        key[0]: n for key, n in added((steps["operator"],), steps[column]).items()
    }


def test_paths(recorded: tuple[Facts, Insight]) -> None:
    _, insight = recorded
    steps, sums = insight["path_steps"], insight["path_sums"]
    for column in sums:
        found = added((steps["path"],), steps[column])
        assert sums[column].tolist() == [
            found.get((path,), 0) for path in range(insight["paths"].n)
        ]


def test_modules(recorded: tuple[Facts, Insight]) -> None:
    _, insight = recorded
    paths, steps, sums = insight["paths"], insight["path_steps"], insight["module_steps"]

    def module_of(path: int) -> int:
        while path >= 0 and paths["kind"][path] != PathKind.MODULE:
            path = int(paths["parent"][path])
        return path

    module = np.array([module_of(path) for path in steps["path"].tolist()])
    assert len(set(module.tolist())) > 2
    assert kept(sums, ("module", "step"), "host") == added(
        (module, steps["step"]), steps["host_self"] + steps["runtime"]
    )
    assert kept(sums, ("module", "step"), "device_self") == added(
        (module, steps["step"]), steps["device_self"]
    )
    itself = (module == steps["path"]) & (module >= 0)
    found = {key: n for key, n in kept(sums, ("module", "step"), "calls").items() if n}
    assert found == added((module[itself], steps["step"][itself]), steps["calls"][itself])


@pytest.mark.parametrize("column", ["calls", "total"])
def test_device_work(recorded: tuple[Facts, Insight], column: str) -> None:
    _, insight = recorded
    work, steps, names = insight["work"], insight["work_steps"], insight["work_name_steps"]
    assert steps.n > work.n > 1
    assert work[column].tolist() == [
        n for _, n in sorted(added((steps["work"],), steps[column]).items())
    ]
    assert kept(names, ("name", "step"), column) == added(
        (work["name"][steps["work"]], steps["step"]), steps[column]
    )


def test_the_example_of_a_name_is_that_of_the_path_that_launched_most(
    recorded: tuple[Facts, Insight],
) -> None:
    _, insight = recorded
    work, steps, names = insight["work"], insight["work_steps"], insight["work_name_steps"]
    for name, step, most, event in zip(
        *(names[key].tolist() for key in ("name", "step", "most", "event")), strict=True
    ):
        mine = (work["name"][steps["work"]] == name) & (steps["step"] == step)
        assert most == steps["total"][mine].max()
        assert event == steps["event"][mine & (steps["total"] == most)][-1]
