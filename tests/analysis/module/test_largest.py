"""Very many modules: the largest stay, the others are summed, and nothing is lost."""

from __future__ import annotations

import numpy as np
import pytest

from tests.builders.drawn import trace_of
from tests.builders.grown import modules
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.module.modules import largest, module_sums, module_tree


@pytest.mark.parametrize("most", [1, 2, 7, 20])
def test_sums_stay_as_they_are(most: int) -> None:
    trace = trace_of(modules(20))
    facts = derive(trace)
    insight, every = build_insight(trace, facts), select(facts)
    tree = module_tree(insight)
    sums = module_sums(insight, tree, every)
    cut = largest(tree, sums, most)
    after = module_sums(insight, cut, every)
    assert len(cut.parent) == most + 1
    assert (cut.parent < np.arange(most + 1)).all()
    for key, own in sums.own.items():
        assert after.own[key].sum() == own.sum()
        assert after.total[key][0] == sums.total[key][0]
        assert (after.total[key][:most] >= after.own[key][:most]).all()
    assert after.calls.sum() == sums.calls.sum() == 21
    assert after.operators.sum() == sums.operators.sum() == 20
    assert (cut.name >= 0).tolist() == [True] * most + [False]


def test_few_modules_stay_as_they_are() -> None:
    trace = trace_of(modules(3))
    facts = derive(trace)
    insight = build_insight(trace, facts)
    tree = module_tree(insight)
    assert largest(tree, module_sums(insight, tree, select(facts)), 4) is tree
