"""Predictions against the generator: the model of the job is changed as a what-if says, and the trace that
it then writes is what the prediction from the unchanged trace must meet.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.analysis.figures import opened
from tests.loading import load
from tests.runs.written_run import WrittenRun
from tests.samples.conftest import document
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.what_if.changes import read_change
from torch_tb_profiler.analysis.what_if.simulation import Simulation
from torch_tb_profiler.analysis.what_if.stragglers import Stragglers
from torch_tb_profiler.analysis.what_if.table import edits
from torch_tb_profiler.runs.fleet import Fleets
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.columns import Array

STEPS, NEAR = 6, 0.005
"""The fifth step is the odd one, whose DataLoader stalls."""
Make = Callable[..., tuple[list[Path], Array]]


@pytest.fixture(scope="module")
def make(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Make:
    """The job under assumptions: its traces, and what the steps of its first rank take by the generator's own account,
    ns.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(samples))
        patch.setattr("sys.dont_write_bytecode", True)
        generator: Any = importlib.import_module("synthesize")

    def made(ranks: int = 1, **assumptions: Any) -> tuple[list[Path], Array]:
        out = tmp_path_factory.mktemp("truth")
        traces = generator.synthesize(
            out, ranks, STEPS, layers=2, seed=3, assumptions=generator.Assumptions(**assumptions)
        )
        steps = document(out / "rank0.expected.json")["steps"]
        return traces, np.array([step["wall_ns"] for step in steps], np.float64)

    return made


@pytest.fixture(scope="module")
def simulation(make: Make) -> Simulation:
    """The usual job."""
    ((trace,), _) = make()
    loaded = load(str(trace), Settings(use_cache=False))
    insight = build_insight(loaded.trace, loaded.facts)
    return Simulation(loaded.trace, loaded.facts, insight)


HALF_GEMMS = {"kernels": (("nvjet*", 0.5),)}


@pytest.mark.parametrize(
    ("changes", "assumptions"),
    [
        ("scale:kernel=nvjet*,factor=0.5", HALF_GEMMS),
        ("scale:kernel=triton*,factor=0", {"kernels": (("triton*", 0),)}),
        ("scale:kernel=Memcpy*,factor=5", {"kernels": (("Memcpy*", 5),)}),
        ("scale:operator=aten::mm,factor=0.5", {"calls": (("aten::mm", 0.5),)}),
        ("scale:operator=aten::linear,factor=0.3", {"calls": (("aten::linear", 0.3),)}),
        ("scale:module=Attention*,factor=0", {"modules": (("Attention*", 0),)}),
        ("scale:module=Linear*,factor=2", {"modules": (("Linear*", 2),)}),
        ("scale:line=model.py*,factor=3", {"calls": (("model.py*", 3),)}),
        ("scale:name=Optimizer.step*,factor=0.2", {"calls": (("Optimizer.step*", 0.2),)}),
        ("scale:kind=python,factor=20", {"python": 20}),
        ("no-python", {"python": 0}),
        ("host:factor=0.5", {"host": 0.5}),
        ("host:factor=2", {"host": 2}),
        ("network:factor=0.5", {"transfer": 0.5}),
        ("network:factor=4", {"transfer": 4}),
        ("overlap", {"awaits": False}),
        ("no-sync", {"synchronizes": False}),
        ("dataloader-ready", {"batch": 0}),
        ("fuse:operator=aten::_fused_adamw_", {"fused": ("aten::_fused_adamw_",)}),
        # Launches without any length would stand at the border of two steps.
        ("graph", {"host": 0.01}),
        ("host:factor=0.5 scale:kernel=nvjet*,factor=0.5", HALF_GEMMS | {"host": 0.5}),
        ("no-sync scale:kernel=nvjet*,factor=0.5", HALF_GEMMS | {"synchronizes": False}),
        (
            "no-sync dataloader-ready host:factor=0.5",
            {"synchronizes": False, "batch": 0, "host": 0.5},
        ),
    ],
)
def test_change(
    simulation: Simulation, make: Make, changes: str, assumptions: dict[str, Any]
) -> None:
    told = edits([read_change(change) for change in changes.split(" ")])
    prediction, _ = simulation.predict(told, np.arange(STEPS))
    _, expected = make(**assumptions)
    assert expected.tolist() != prediction.measured.tolist()
    # A graph launch changes nothing of what the host does before the first launch of a step and after the last.
    near = 2 * NEAR if changes == "graph" else NEAR
    np.testing.assert_allclose(prediction.predicted, expected, rtol=near)


@pytest.mark.slow
def test_no_stragglers(make: Make) -> None:
    """The slow rank's kernels take a quarter longer than those of the others; without stragglers all take the mean."""
    lengths = []
    for assumptions in ({}, {"straggler": 1, "device": 1 + 0.25 / 3}):
        traces, _ = make(ranks=3, steady=True, **assumptions)
        run = WrittenRun({path.name.split(".")[0]: opened(path) for path in traces})
        fleet = Fleets(run).of(run.open("run", "rank0", "1"))
        ranks = [fleet.open_rank(rank) for rank in range(3)]
        measured, _, ideal = Stragglers(fleet.figures, ranks).steps()
        lengths.append((measured, ideal))
    (measured, ideal), (truth, _) = lengths
    assert (measured > 1.02 * truth)[:4].all()
    np.testing.assert_allclose(ideal, truth, rtol=NEAR)
