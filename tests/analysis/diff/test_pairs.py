"""Recordings with one injected change each: it ranks first in the tables that it belongs to, and
equal recordings are within noise.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.analysis.diff.compared import changed, drawn, of_lengths
from tests.builders.pairs import COPY, GELU, NO_CHANGE
from torch_tb_profiler.analysis.diff import tree as tree_room
from torch_tb_profiler.analysis.diff.compare import Comparison, compare
from torch_tb_profiler.analysis.diff.side import path_costs


def first(found: Comparison, table: str) -> tuple[str, str, bool]:
    """Name, status and ``beyond`` of the row that changed most."""
    part = found.tables[table]
    a, b = int(part.changes.a[0]), int(part.changes.b[0])
    return (
        part.a.name[a] if a >= 0 else part.b.name[b],
        part.changes.status[0],
        bool(part.changes.beyond[0]),
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "slower_kernel",
            {
                "category": "kernel",
                "operator": "aten::gelu",
                "kernel": GELU,
                "module": "Net › Block › GELU",
            },
        ),
        ("missing_overlap", {"category": "communication"}),
        (
            "extra_copy",
            {"category": "memcpy", "operator": "aten::copy_", "kernel": COPY, "module": "Net"},
        ),
        (
            "new_sync",
            {"category": "cpu_exec", "host": "aten::nonzero", "runtime": "cudaStreamSynchronize"},
        ),
    ],
)
def test_an_injected_change_ranks_first(name: str, expected: dict[str, str]) -> None:
    found = changed(name)
    assert found.test.changed is True
    assert {table: first(found, table)[0] for table in expected} == expected
    for table in expected:
        if (name, table) != (
            "new_sync",
            "runtime",
        ):  # called more often, for as long in all: the device works all the same
            assert first(found, table)[1:] in (("changed", True), ("new", True)), table


@pytest.mark.parametrize("name", ["slower_kernel", "missing_overlap", "extra_copy", "new_sync"])
def test_what_was_not_changed_is_the_same(name: str) -> None:
    found = changed(name)
    kernels = found.tables["kernel"]
    untouched = [
        i
        for i, row in enumerate(kernels.changes.a.tolist())
        if row >= 0 and kernels.a.name[row] != GELU
    ]
    assert len(untouched) == 3
    assert {kernels.changes.status[i] for i in untouched} == {"same"}


def test_extra_calls_are_changed_calls() -> None:
    runtime = changed("new_sync").tables["runtime"]
    row = runtime.a.name.index("cudaStreamSynchronize")
    assert runtime.a.calls is not None
    assert runtime.b.calls is not None
    assert (runtime.a.calls.mean[row], runtime.b.calls.mean[row]) == (1, 4)
    assert runtime.changes.status[runtime.changes.a.tolist().index(row)] == "changed"


def test_equal_recordings_are_within_noise() -> None:
    comparison = compare(drawn(NO_CHANGE), drawn(NO_CHANGE, seed=99))
    assert comparison.test.changed is False
    assert {status for table in comparison.tables.values() for status in table.changes.status} == {
        "same"
    }


def test_another_kernel_name_and_a_wrapper_do_not_part_the_trees() -> None:
    found = changed("renamed")
    assert found.test.changed is False
    kernels = found.tables["kernel"]
    pairs = {
        (kernels.a.name[i], kernels.b.name[j])
        for i, j in zip(kernels.changes.a.tolist(), kernels.changes.b.tolist(), strict=True)
    }
    assert ("sm90_xmma_gemm_bf16", "nvjet_tst_256x128") in pairs
    tree = found.tree
    assert [
        tree.b.name[i] for i, status in enumerate(tree.status) if status in ("new", "gone")
    ] == ["OptimizedModule_0"]
    matched = set(zip(tree.a.name, tree.b.name, strict=True))
    assert {
        ("Net_0", "Net_0"),
        ("Linear_0", "Linear_7"),
        ("Linear_2", "Linear_9"),
        ("GELU_1", "GELU_1"),
    } <= matched


@pytest.mark.parametrize("name", [NO_CHANGE, "slower_kernel", "extra_copy", "renamed"])
def test_a_node_holds_what_is_beneath_it(name: str) -> None:
    tree = changed(name).tree
    for side in (tree.a, tree.b):
        beneath = np.zeros(len(tree.parent))
        np.add.at(beneath, tree.parent[tree.parent >= 0], side.device[tree.parent >= 0])
        inner = np.isin(np.arange(len(beneath)), tree.parent)
        np.testing.assert_allclose(side.device[inner], beneath[inner], rtol=1e-9)


def test_a_large_tree_keeps_what_changed_most(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = changed("slower_kernel").tree
    monkeypatch.setattr(tree_room, "MOST_NODES", 8)
    few = changed("slower_kernel").tree
    assert (len(few.parent), few.pooled) == (8, len(whole.parent) - 8)
    assert GELU in few.a.name
    assert (few.parent < np.arange(8)).all()
    largest = np.argmax(np.abs(whole.b.device - whole.a.device))
    assert whole.a.name[int(largest)] in few.a.name


def test_paths_that_take_least_are_left_out_with_all_beneath_them() -> None:
    one = drawn(NO_CHANGE)
    every, few = path_costs(one, True, 1000), path_costs(one, True, 6)
    assert len(few.row) == 6
    assert few.name[int(np.argmax(few.device))] == every.name[int(np.argmax(every.device))]
    assert (few.parent < np.arange(6)).all()
    assert set(few.row[few.parent[few.parent >= 0]]) <= set(few.row)


def test_an_odd_step_does_not_hide_a_change() -> None:
    usual = [2000, 2010, 1990, 2005, 1995, 2002, 2003]
    a, b = of_lengths([*usual, 3900]), of_lengths([x + 200 for x in usual])
    assert (a.odd.tolist(), len(a.steps), a.sample.steps) == ([7], 7, 8)
    test = compare(a, b).test
    assert test.changed is True
    assert test.delta == pytest.approx(200_000, rel=0.01)
