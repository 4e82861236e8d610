"""Call trees laid over each other: renumbered and inserted modules, wrappers, compiled regions, and
that every path has exactly one place.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.analysis.match.names import pair_by, stable_name, without_numbers
from torch_tb_profiler.analysis.match.paths import MatchedPaths, PathCosts, match_paths

Drawn = Sequence[tuple[int, str]]
"""(depth, name); a name that begins with M_ is a module's, with A_ an annotation's; ``name=9``
costs 9, others 0.
"""


def costs(text: str) -> PathCosts:
    """A tree, one path per line, indented by its depth."""
    lines = [
        (len(line) - len(line.lstrip()), line.strip()) for line in text.splitlines() if line.strip()
    ]
    return of_lines(lines)


def of_lines(lines: Drawn) -> PathCosts:
    lowest = min((depth for depth, _ in lines), default=0)
    open_: list[tuple[int, int]] = []
    parent, names, kinds, device = [], [], [], []
    for at, (depth, text) in enumerate(lines):
        while open_ and open_[-1][0] >= depth:
            open_.pop()
        parent.append(open_[-1][1] if open_ and depth > lowest else -1)
        open_.append((depth, at))
        name, _, cost = text.partition("=")
        kinds.append({"M_": 0, "A_": 1}.get(name[:2], 2))
        names.append(name[2:] if kinds[-1] < 2 else name)
        device.append(float(cost or 0))
    n = len(names)
    total = np.array(device)
    for at in range(n - 1, -1, -1):
        if parent[at] >= 0:
            total[parent[at]] += total[at]
    ones = np.ones(n)
    rows, forward = np.arange(n), np.zeros(n, np.bool_)
    return PathCosts(
        rows,
        np.array(parent, np.int64),
        np.array(kinds, np.int64),
        forward,
        tuple(names),
        rows,
        ones,
        ones,
        total,
        ones,
    )


def pairs(a: PathCosts, b: PathCosts) -> set[tuple[str, str]]:
    """Names of matched nodes; ``-`` for none."""
    matched = match_paths(a, b)
    return {
        (a.name[i] if i >= 0 else "-", b.name[j] if j >= 0 else "-")
        for i, j in zip(matched.a, matched.b, strict=True)
    }


def test_an_inserted_layer_is_new_and_the_others_stay() -> None:
    a = costs("M_Net_0\n M_Block_0\n  mm=5\n M_Block_1\n  conv=9\n M_Block_2\n  bmm=2")
    b = costs(
        "M_Net_0\n M_Block_0\n  mm=5\n M_Block_1\n  fft=4\n M_Block_2\n  conv=9\n M_Block_3\n "
        " bmm=2"
    )
    found = pairs(a, b)
    assert {
        ("Block_0", "Block_0"),
        ("-", "Block_1"),
        ("Block_1", "Block_2"),
        ("Block_2", "Block_3"),
        ("-", "fft"),
        ("conv", "conv"),
        ("bmm", "bmm"),
    } <= found


def test_a_wrapper_stands_between() -> None:
    a = costs("M_Net_0\n M_Linear_0=5")
    b = costs(
        "M_DistributedDataParallel_0\n A_DistributedDataParallel.forward\n  M_Net_0\n  "
        " M_Linear_0=5"
    )
    assert pairs(costs("A_forward\n M_Net_0=3"), costs("A_forward\n M_DDP_0\n  M_Net_0=3")) == {
        ("forward", "forward"),
        ("-", "DDP_0"),
        ("Net_0", "Net_0"),
    }
    assert pairs(a, b) == {
        ("-", "DistributedDataParallel_0"),
        ("-", "DistributedDataParallel.forward"),
        ("Net_0", "Net_0"),
        ("Linear_0", "Linear_0"),
    }


def test_a_host_operator_is_not_wrapped_by_whatever_calls_it() -> None:
    found = pairs(costs("aten::empty"), costs("aten::rand\n aten::empty\naten::full\n aten::empty"))
    assert found == {
        ("aten::empty", "-"),
        ("-", "aten::rand"),
        ("-", "aten::empty"),
        ("-", "aten::full"),
    }


@pytest.mark.parametrize("flipped", [False, True])
def test_wrappers_on_either_side(flipped: bool) -> None:
    plain, wrapped = costs("M_Net_0\n mm=3"), costs("M_OptimizedModule_0\n M_Net_0\n  mm=3")
    found = match_paths(wrapped, plain) if flipped else match_paths(plain, wrapped)
    assert len(found.parent) == 3
    assert found.parent == [-1, 0, 1]
    assert (found.b if flipped else found.a)[0] == -1


def test_eager_and_compiled() -> None:
    a = costs("aten::to\nM_Net_0\n M_Linear_0\n  aten::linear\n   aten::addmm=9")
    b = costs(
        "aten::to\nTorch-Compiled Region: 0/1\n A_## Call CompiledFxGraph fabc ##\n  aten::mm=8\n "
        " triton_poi_fused_add_0=1"
    )
    found = pairs(a, b)
    assert {("aten::to", "aten::to"), ("Net_0", "Torch-Compiled Region: 0/1")} <= found


def test_names_that_only_look_different() -> None:
    a = costs("Torch-Compiled Region: 0/0\n triton_red_fused_add_0=2\nAddmmBackward0=1")
    b = costs("Torch-Compiled Region: 1/2\n triton_red_fused_add_4=3\nAddmmBackward1=1")
    assert all("-" not in pair for pair in pairs(a, b))


def test_one_that_is_left_on_each_side_is_the_same_under_another_name() -> None:
    a = costs("M_Attention_0\n aten::softmax=3\n aten::mul\n aten::bmm=8")
    b = costs("M_Attention_0\n aten::_safe_softmax=3\n aten::mul\n aten::bmm=8")
    assert ("aten::softmax", "aten::_safe_softmax") in pairs(a, b)
    two = costs("M_Attention_0\n aten::_safe_softmax=3\n aten::mul\n aten::exp=3\n aten::bmm=8")
    assert {("aten::softmax", "-"), ("-", "aten::_safe_softmax"), ("-", "aten::exp")} <= pairs(
        a, two
    )


_LINES = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.sampled_from(
            [
                "M_Linear_0",
                "M_Linear_1",
                "M_Linear_2",
                "M_Net_0",
                "A_step",
                "mm=3",
                "add",
                "AddBackward0=1",
                "f<int>",
            ]
        ),
    ),
    max_size=25,
)


def once(lines: Drawn) -> PathCosts:
    """A tree without two siblings of one name, as paths have none."""
    seen: set[tuple[str, ...]] = set()
    kept: list[tuple[int, str]] = []
    way: list[str] = []
    for depth, name in lines:
        depth = min(depth, len(way))
        way = [*way[:depth], name]
        if tuple(way) not in seen:
            seen.add(tuple(way))
            kept.append((depth, name))
    return of_lines(kept)


def is_whole(found: MatchedPaths, a: PathCosts, b: PathCosts) -> bool:
    """Every path once, and what is above a path is above it in the common tree."""
    if sorted(i for i in found.a if i >= 0) != list(range(len(a.name))) or sorted(
        j for j in found.b if j >= 0
    ) != list(range(len(b.name))):
        return False
    for side, of in ((a, found.a), (b, found.b)):
        node_of = {path: node for node, path in enumerate(of) if path >= 0}
        for path, node in node_of.items():
            above = found.parent[node]
            while above >= 0 and of[above] < 0:
                above = found.parent[above]
            if (of[above] if above >= 0 else -1) != side.parent[path]:
                return False
    return all(parent < node for node, parent in enumerate(found.parent))


@given(_LINES, _LINES)
def test_every_path_has_one_place(left: Drawn, right: Drawn) -> None:
    a, b = once(left), once(right)
    assert is_whole(match_paths(a, b), a, b)


@given(_LINES)
def test_a_tree_matches_itself(lines: Drawn) -> None:
    a = once(lines)
    matched = match_paths(a, a)
    assert matched.a == matched.b


def test_many_siblings_are_matched_in_bearable_time() -> None:
    # 400 modules of one class against 399, and a thousand operators that the other side lacks.
    a = costs(
        "M_Net_0\n"
        + "".join(f" M_Linear_{i}={i + 1}\n" for i in range(400))
        + "".join(f" a{i}x=1\n" for i in range(1000))
    )
    b = costs(
        "M_Net_0\n"
        + "".join(f" M_Linear_{i}={i + 2}\n" for i in range(399))
        + "".join(f" b{i}x=1\n" for i in range(1000))
    )
    matched = match_paths(a, b)
    assert is_whole(matched, a, b)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("Linear_3", "Linear"),
        ("aten::mm", "aten::mm"),
        ("AddmmBackward0", "AddmmBackward"),
        ("Torch-Compiled Region: 0/1", "Torch-Compiled Region"),
        (
            "autograd::engine::evaluate_function: AddBackward1",
            "autograd::engine::evaluate_function: AddBackward",
        ),
        ("triton_poi_fused_add_12", "triton_poi_fused_add"),
        ("void k<4, A<int>>(int)", "void k(int)"),
        ("a<b", "a<b"),
        ("<lambda>", "<lambda>"),
        ("", ""),
        ("_0", ""),
        ("Optimizer.step#SGD.step", "Optimizer.step#SGD.step"),
    ],
)
def test_plain_names(name: str, plain: str) -> None:
    assert stable_name(name) == plain


@given(st.integers(0, 1 << 60), st.integers(0, 1 << 60))
def test_annotations_that_count_are_one(step: int, request: int) -> None:
    assert without_numbers(f"step {step} of req{request}") == "step # of req#"


def test_hostile_names_take_no_time() -> None:
    for name in ("_0" * 100_000, "<" * 100_000, "f" * 100_000, "0x" * 50_000, "Backward" * 20_000):
        assert len(stable_name(name)) <= 4096


def test_pairs_by_rounds() -> None:
    a, b = ["x", "y_0", "p"], ["x", "y_1", "q"]
    keys = [
        (a, b),
        ([stable_name(t) for t in a], [stable_name(t) for t in b]),
        (["k"] * 3, ["k"] * 3),
    ]
    assert pair_by([0, 1, 2], [0, 1, 2], keys, unique_from=2) == [(0, 0), (1, 1), (2, 2)]
    assert pair_by([0, 1, 2], [0, 1, 2], keys[:2], unique_from=2) == [(0, 0), (1, 1)]
    assert pair_by([0], [0], [([None], [None])], unique_from=1) == []
