"""Live CPU recordings: the backward of every module equals ``key_averages()`` of the functions that
undo it, to the nanosecond.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.analysis.module.trees import insight_of
from tests.live.figures import of_pytorch, operator_names
from tests.live.test_key_averages import OPTIONS, record
from tests.live.test_key_averages_table import checkpoints
from tests.loading import load
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.views.work.module import module_payload, module_tree
from torch_tb_profiler.views.work.module_wire import ModulePayload

EVALUATE = "autograd::engine::evaluate_function: "
ACCUMULATE = f"{EVALUATE}torch::autograd::AccumulateGrad"
UNDOES = {
    "Conv2d_0": "ConvolutionBackward0",
    "BatchNorm2d_0": "NativeBatchNormBackward0",
    "ReLU_0": "ReluBackward0",
    "Tanh_0": "TanhBackward0",
    "Linear_0": "AddmmBackward0",
    "CrossEntropyLoss_0": "NllLossBackward0",
}
STEPS = 3


def model(torch: Any) -> tuple[Any, Any]:
    """Every module has a backward function that no other has."""
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(3, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Tanh(),
        nn.Flatten(),
        nn.Linear(144, 10),
    ), nn.CrossEntropyLoss()


def training(torch: Any) -> Callable[[], None]:
    net, loss = model(torch)

    def work() -> None:
        for _ in range(STEPS):
            loss(net(torch.randn(4, 3, 8, 8)), torch.randint(10, (4,))).backward()

    return work


def read(path: Path) -> tuple[ModulePayload, Insight]:
    opened = load(str(path), Settings(use_cache=False))
    insight = insight_of(opened.trace, opened.facts)
    return module_payload(
        opened.facts, insight, module_tree(insight), select(opened.facts)
    ), insight


def calls_beneath(insight: Insight, module: str, name: str) -> int:
    """Calls of a function that is laid at a module."""
    paths, table = insight["paths"], insight["path_steps"]
    texts = insight.strings.many(paths["name"])
    wanted = [
        i
        for i, (text, above) in enumerate(zip(texts, paths["parent"].tolist(), strict=True))
        if text == name and above >= 0 and texts[above] == module
    ]
    return int(table["calls"][np.isin(table["path"], wanted)].sum())


def test_backward_of_every_module(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "worker.pt.trace.json"
    prof = record(torch, path, training(torch), **OPTIONS["stacks"])
    theirs = {
        name: figures
        for (name, _), figures in of_pytorch(
            prof.key_averages(), operator_names(prof.events())
        ).items()
    }
    found, insight = read(path)
    backward = dict(zip(found.rows["name"], found.rows["backward_host_total_ns"], strict=True))
    assert found.totals.backward_untied == found.totals.backward_outside == 0
    for module in ("ReLU_0", "Tanh_0"):
        assert backward[module] == theirs[EVALUATE + UNDOES[module]].total_time
    for module in ("Conv2d_0", "BatchNorm2d_0", "Linear_0"):
        assert (
            calls_beneath(insight, module, EVALUATE + UNDOES[module])
            == theirs[EVALUATE + UNDOES[module]].calls
            == STEPS
        )
        # A weight and a bias each.
        assert calls_beneath(insight, module, ACCUMULATE) == 2 * STEPS
        assert backward[module] > theirs[EVALUATE + UNDOES[module]].total_time
    everything = sum(
        figures.total_time for name, figures in theirs.items() if name.startswith(EVALUATE)
    )
    outermost = [row for row, parent in enumerate(found.rows["parent"]) if parent < 0]
    assert sum(found.rows["backward_host_total_ns"][row] for row in outermost) == everything
    assert theirs[ACCUMULATE].calls == 6 * STEPS
    assert all(calls == STEPS for calls in found.rows["calls"])


def test_a_checkpoint_runs_its_modules_again(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "worker.pt.trace.json"
    prof = record(torch, path, checkpoints(torch), **OPTIONS["stacks"])
    theirs = {
        name: figures
        for (name, _), figures in of_pytorch(
            prof.key_averages(), operator_names(prof.events())
        ).items()
    }
    found, insight = read(path)
    rows = dict(
        zip(
            found.rows["name"],
            zip(found.rows["calls"], found.rows["operators"], strict=True),
            strict=True,
        )
    )
    # Forward twice; what ran again is backward.
    assert rows["Linear_0"] == (2, 2)
    assert rows["Tanh_0"] == (2, 2)
    assert calls_beneath(insight, "Linear_0", "aten::linear") == theirs["aten::linear"].calls == 4
    assert (
        calls_beneath(insight, "Tanh_0", f"{EVALUATE}TanhBackward0")
        == theirs[f"{EVALUATE}TanhBackward0"].calls
        == 2
    )
    assert calls_beneath(insight, "Linear_0", f"{EVALUATE}AddmmBackward0") == 2
    assert any("ran again" in note for note in found.notes)
