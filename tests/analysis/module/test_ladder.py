"""The line ladder: rungs of drawn trees against the laws of rungs, and of drawn traces against figures that one counts off."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.builders.drawn import events, trace_of
from torch_tb_profiler.analysis.arrays.nesting import subtree_totals
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.module.ladder import KEPT, LEAST, MOST, line_ladder, rungs
from torch_tb_profiler.store.display import DisplayTable

US = 1000
NAMES = {
    "train": "/w/train.py(9): main",
    "loop": "/w/loop.py(3): run",
    "net": "/w/net.py(3): forward",
    "data": "/w/data.py(7): read",
    "call": "torch/nn/modules/module.py(1501): _call_impl",
    "Net": "nn.Module: Net_0",
    "lib": "torch/nn/functional.py(5): linear",
    "back": "torch/_tensor.py(5): backward",
    "run_b": "<built-in method run_backward of torch._C._EngineBase object at 0x7f>",
}


def of(drawing: str) -> DisplayTable:
    trace = trace_of(events(drawing, NAMES))
    facts = derive(trace)
    return line_ladder(trace, facts, build_insight(trace, facts), select(facts))


def rows(table: DisplayTable) -> list[tuple[str, int, int, int]]:
    """Name without its folder, row of the parent, joined calls and µs of each rung."""
    return [
        (name.removeprefix("/w/"), parent, joined, time // US)
        for name, parent, joined, time in zip(
            table["name"],
            table["parent"].tolist(),
            table["joined"].tolist(),
            table["path_ns"].tolist(),
            strict=True,
        )
    ]


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[int], list[int], list[int]]:
    """Parents first; chains, fans, and both."""
    n = draw(st.integers(1, 120))
    steep = draw(st.booleans())
    parent = [
        draw(st.integers(max(-1, row - 3) if steep else -1, row - 1)) if row else -1
        for row in range(n)
    ]
    own = draw(st.lists(st.sampled_from([0, 0, 1, 5, 40, 2000]), min_size=n, max_size=n))
    tells = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return parent, own, tells


@given(trees())
def test_the_laws_of_rungs(tree: tuple[list[int], list[int], list[int]]) -> None:
    parent, own, tells = (np.array(column, np.int64) for column in tree)
    total, whole = subtree_totals(parent, own), int(own.sum())
    found = rungs(parent, total, tells, whole)
    assert len({rung.call for rung in found}) == len(found) <= MOST
    beneath = np.zeros(len(found), np.int64)
    for row, rung in enumerate(found):
        assert rung.parent < row
        assert total[rung.call] >= LEAST * whole
        # What names a chain keeps its share of all above it, up to the rung around or the root.
        above = found[rung.parent].call if rung.parent >= 0 else -1
        at = rung.call
        while parent[at] != above and parent[at] >= 0:
            at = int(parent[at])
        if above >= 0:
            assert parent[at] == above
            beneath[rung.parent] += total[rung.call]
    assert all(beneath[row] <= total[rung.call] for row, rung in enumerate(found))
    assert sum(total[r.call] for r in found if r.parent < 0) <= whole
    if len(found) < MOST:
        # Each call that is not small lies in a rung or beside its name within 5 %.
        named = {rung.call for rung in found}
        for call in np.flatnonzero(total >= max(LEAST * whole, 1)).tolist():
            up = call
            while up >= 0 and up not in named:
                up = int(parent[up])
            chain = [r for r in found if _within(parent, r.call, call)]
            assert up >= 0 or chain or total[call] <= (1 - KEPT) * whole


def _within(parent: np.ndarray, call: int, above: int) -> bool:
    while call >= 0 and call != above:
        call = int(parent[call])
    return call == above


def test_a_chain_that_keeps_its_time_is_one_rung() -> None:
    table = of("""
    main  [ProfilerStep#1                                            ]
    main  /train                                                     /
    main  /loop                                                      /
    main    /data             /  /net                              /
    """)
    assert rows(table) == [
        ("loop.py(3): run", -1, 1, 60),
        ("net.py(3): forward", 0, 0, 35),
        ("data.py(7): read", 0, 0, 19),
    ]
    assert table["own_ns"].tolist() == [6 * US, 35 * US, 19 * US]
    assert table["share"][0] == 1


def test_frames_that_only_pass_a_module_on_are_no_rung() -> None:
    table = of("""
    main  [ProfilerStep#1                              ]
    main  /train                                       /
    main       /Net                           /
    main         /call                       /
    main           /net                  /
    main             /lib        /
    """)
    assert [name for name, *_ in rows(table)] == [
        "train.py(9): main",
        "net.py(3): forward",
        "torch/nn/functional.py(5): linear",
    ]


def test_work_of_a_thread_beside_the_backward_pass_hangs_at_it() -> None:
    table = of("""
    main  [ProfilerStep#1                              ]
    main  /train                                       /
    main     /back                               /
    main       /run_b                          /
    auto          [aten::mm                 ]
    """)
    assert rows(table) == [("train.py(9): main", -1, 0, 46), (NAMES["back"], 0, 0, 37)]
    assert sum(table["own_ns"].tolist()) == table.attributes["path_ns"]


def test_without_frames_the_rungs_are_operators_and_annotations() -> None:
    table = of("""
    main  [ProfilerStep#1                              ]
    main  (load            ) [aten::linear             ]
    main                       [aten::mm    ][aten::add]
    """)
    assert rows(table) == [
        ("aten::linear", -1, 0, 27),
        ("aten::mm", 0, 0, 14),
        ("aten::add", 0, 0, 11),
        ("load", -1, 0, 18),
    ]
    assert table["kind"] == ["operator"] * 3 + ["annotation"]


def test_an_empty_path_has_no_rung() -> None:
    assert of("main [aten::mm]").n == 1
    assert of("gpu 7 {gemm}").n == 0
