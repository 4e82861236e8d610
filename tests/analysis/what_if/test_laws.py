"""What holds of every change on every trace: drawn ones, the samples, and public ones."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import public
from tests.analysis.figures import insight, opened, trace_files
from tests.analysis.test_any_trace import ARROW, EVENT
from tests.builders.drawn import trace_of
from tests.conftest import REAL_TRACES
from tests.examples import examples
from torch_tb_profiler.analysis.arrays.intervals import measure, union
from torch_tb_profiler.analysis.facts.communication import communication_rows
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.what_if.changes import CHANGES, PRESETS, read_change
from torch_tb_profiler.analysis.what_if.simulation import Simulation
from torch_tb_profiler.analysis.what_if.table import edits, is_absent
from torch_tb_profiler.store.columns import Array, Mask
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role

pytestmark = pytest.mark.slow

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
    *(
        "dataloader-ready",
        "no-sync",
        "graph",
        "graphs",
        "no-python",
        "no-overhead",
        "kernels-loaded",
    ),
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
            gone += np.maximum(np.subtract(getattr(before, part), getattr(after, part)), 0).sum()
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
        if text in ACTS_ON:
            most = acted_on(replayed.simulation, text)
            assert (unchanged - steps <= most + near).all(), (text, unchanged - steps, most)
    for one, other in zip(SAVING, (*SAVING[3:], *SAVING[:3]), strict=True):
        both = replayed.steps(one, other)
        assert both.sum() <= min(alone[one], alone[other]) + near, (one, other)
        np.testing.assert_array_equal(both, replayed.steps(other, one))


def _launches(simulation: Simulation) -> Array:
    """Per step from the first launch of device work to the last, all threads added up, ns."""
    scene = simulation.scene
    spans, work = scene.trace["spans"], scene.graph.work
    of_device = (work.launch >= 0) & np.isin(spans["role"][work.row], DEVICE_ROLES)
    launch = np.unique(work.launch[of_device])
    step, track = scene.facts["span_links"]["step"][launch], spans["track"][launch]
    most = np.zeros(scene.facts["steps"].n)
    for number, thread in {*zip(step.tolist(), track.tolist(), strict=True)}:
        begin = spans["start"][launch[(step == number) & (track == thread)]]
        if number >= 0:
            most[number] += begin.max() - begin.min()
    return most


def _roles(simulation: Simulation, *roles: Role) -> Mask:
    return np.asarray(np.isin(simulation.scene.trace["spans"]["role"], roles))


def _communication(simulation: Simulation) -> Mask:
    scene = simulation.scene
    found = np.zeros(scene.trace["spans"].n, np.bool_)
    found[communication_rows(scene.trace, scene.facts)] = True
    found[scene.graph.work.row[~_roles(simulation, *DEVICE_ROLES)[scene.graph.work.row]]] = True
    return found


ACTS_ON: dict[str, Any] = {
    "graph": _launches,
    "network:factor=0.5": _communication,
    "buckets": _communication,
    "overlap": _communication,
    "no-python": lambda simulation: _roles(simulation, Role.PYTHON),
    "no-overhead": lambda simulation: _roles(simulation, Role.OVERHEAD),
    "peak:share=0.7": lambda simulation: _roles(simulation, *DEVICE_ROLES),
    "precision": lambda simulation: _roles(simulation, *DEVICE_ROLES),
    "scale:kind=kernel,factor=0.5": lambda simulation: _roles(simulation, *DEVICE_ROLES),
}
"""What a change acts on: spans, or time per step."""


def acted_on(simulation: Simulation, text: str) -> Array:
    """Time of what a change acts on, ns, float64 of shape (steps,): of device work what a step launched, of the host what is
    from the begin of its mark to its end.
    """
    trace, facts = simulation.scene.trace, simulation.scene.facts
    what = ACTS_ON[text](simulation)
    if what.dtype != np.bool_:
        return np.asarray(what)
    spans, steps = trace["spans"], facts["steps"]
    work = np.zeros(spans.n, np.bool_)
    work[simulation.scene.graph.work.row] = True
    step = facts["span_links"]["step"]
    own = np.flatnonzero(what & work & (step >= 0))
    total = np.bincount(step[own], weights=spans["dur"][own], minlength=steps.n)
    row = np.flatnonzero(what & ~work)
    for track in np.unique(spans["track"][row]):
        mine = row[spans["track"][row] == track]
        time = union(spans["start"][mine], spans["start"][mine] + spans["dur"][mine])
        total = total + measure(time, steps["host_start"], steps["end"])
    return np.asarray(total, np.float64)


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


@pytest.mark.parametrize("path", public.asked(trace_files(REAL_TRACES)))
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
    assert judged | {"no-stragglers"} == set(CHANGES)


def test_a_job_without_an_accelerator_is_offered_no_graph_launch() -> None:
    [path] = [path for path in samples() if path.parent.name == "ddp_gloo"]
    made = insight(path)
    offered = {made.strings[int(number)] for number in np.unique(made["what_if_steps"]["change"])}
    device = {"graph", "no-sync", "peak:share=0.7", "precision", "kernels-loaded", "no-overhead"}
    assert offered & set(PRESETS)
    assert not offered & device


@pytest.mark.parametrize(
    ("text", "absent"),
    [("graph", True), ("no-sync", True), ("precision", True), ("host:factor=0.5", False)],
)
def test_what_a_change_acts_on_may_be_absent(text: str, absent: bool) -> None:
    [path] = [path for path in samples() if path.parent.name == "ddp_gloo"]
    replayed = Replayed(*opened(path), insight(path))
    assert is_absent(replayed.simulation, [read_change(text)]) == absent
    assert not is_absent(replayed.simulation, [])
    np.testing.assert_array_equal(
        np.any(replayed.steps(text) != replayed.simulation.replayed), not absent
    )
