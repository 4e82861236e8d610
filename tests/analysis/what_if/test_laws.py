"""What holds of every change on every trace: drawn ones, the samples, and public ones."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.figures import insight, opened, trace_files
from tests.analysis.test_any_trace import ARROW, EVENT
from tests.builders.drawn import trace_of
from tests.conftest import REAL_TRACES
from tests.examples import examples
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.what_if.changes import CHANGES, read_change
from torch_tb_profiler.analysis.what_if.simulation import Simulation
from torch_tb_profiler.analysis.what_if.table import edits
from torch_tb_profiler.store.columns import Array
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace

SCALED = (
    "host:factor={}",
    "network:factor={}",
    "scale:kernel=*,factor={}",
    "scale:operator=*,factor={}",
    "scale:kind=kernel,factor={}",
)
FACTORS = (0, 0.3, 1, 2)
SAVING = (
    *(text.format(0.5) for text in SCALED),
    *("dataloader-ready", "no-sync", "graph", "graphs", "no-python", "no-overhead"),
    *("peak:share=0.7", "precision", "fuse", "fuse-chains", "buckets", "overlap"),
)
NEAR = 2.0
"""ns by which sums of rounded times may differ."""


class Replayed:
    """A trace whose steps are replayed with changes."""

    def __init__(self, trace: Trace, facts: Facts, insight: Insight) -> None:
        self.simulation = Simulation(trace, facts, insight)
        self.near = NEAR + 1e-7 * self.simulation.replayed.sum()

    def steps(self, *texts: str) -> Array:
        """Length of each step, ns."""
        changed = self.simulation.changed(edits([read_change(text) for text in texts]))
        return self.simulation.lengths(changed).astype(np.float64)

    def removed(self, *texts: str) -> float:
        """By how much all that is shorter is shorter, ns."""
        before = self.simulation.measured
        after = self.simulation.changed(edits([read_change(text) for text in texts]))
        gone = 0.0
        for part in ("segment", "work", "lead", "latency", "after"):
            gone += np.maximum(getattr(before, part) - getattr(after, part), 0).sum()
        return float(gone)


def check(replayed: Replayed) -> None:
    """All laws."""
    unchanged, near = replayed.simulation.replayed.astype(np.float64), replayed.near
    alone: dict[str, float] = {}
    for text in SCALED:
        np.testing.assert_allclose(replayed.steps(text.format(1)), unchanged, atol=1, err_msg=text)
        lengths = [replayed.steps(text.format(factor)).sum() for factor in FACTORS]
        assert (np.diff(lengths) >= -near).all(), (text, lengths)
    for text in SAVING:
        steps = replayed.steps(text)
        alone[text] = steps.sum()
        assert (steps >= 0).all(), (text, steps)
        assert alone[text] <= unchanged.sum() + near, (text, alone[text])
        if text != "no-sync":
            saved = unchanged.sum() - alone[text]
            assert saved <= replayed.removed(text) + near, (text, saved)
    for one, other in zip(SAVING, (*SAVING[3:], *SAVING[:3]), strict=True):
        both = replayed.steps(one, other)
        assert both.sum() <= min(alone[one], alone[other]) + near, (one, other)
        np.testing.assert_array_equal(both, replayed.steps(other, one))


@examples(200)
@given(st.lists(st.one_of(EVENT, EVENT, EVENT, ARROW), max_size=25))
def test_drawn_traces(listed: list[dict[str, Any]]) -> None:
    trace = trace_of(listed)
    facts = derive(trace)
    check(Replayed(trace, facts, build_insight(trace, facts)))


def samples() -> list[Path]:
    """A trace of each sample."""
    by_folder: dict[Path, Path] = {}
    for path in trace_files(Path(__file__).parents[3] / "samples"):
        by_folder.setdefault(path.parent, path)
    return list(by_folder.values())


@pytest.mark.parametrize("path", samples(), ids=lambda path: path.parent.name)
def test_samples(path: Path) -> None:
    check(Replayed(*opened(path), insight(path)))


@pytest.mark.traces
@pytest.mark.parametrize("path", trace_files(REAL_TRACES), ids=lambda path: path.parent.name)
def test_public_traces(path: Path, real_traces: Path) -> None:
    check(Replayed(*opened(path), insight(path)))


def test_any_order_of_any_changes_is_the_same() -> None:
    """Of three stages, of which the first two also scale the same work."""
    [path] = [path for path in samples() if path.parent.name == "synthetic_ddp8"]
    replayed = Replayed(*opened(path), insight(path))
    texts = ("scale:operator=aten::*,factor=0.3", "host:factor=0.7", "fuse", "graphs", "overlap")
    expected = replayed.steps(*texts)
    for order in list(permutations(texts))[::7]:
        np.testing.assert_array_equal(replayed.steps(*order), expected)


def test_every_change_is_judged() -> None:
    judged = {text.partition(":")[0] for text in (*SAVING, *SCALED)}
    assert judged | {"kernels-loaded", "no-stragglers"} == set(CHANGES)
