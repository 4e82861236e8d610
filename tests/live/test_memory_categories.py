"""Live CPU training: no tensor that we know is told to be of something else.

The addresses and sizes of parameters, gradients, optimizer state, inputs and what the forward pass saves
are those of the program's own tensors.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.analysis.memory.recorded import built
from tests.loading import load
from torch_tb_profiler.analysis.memory.window import by_category
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.categories import BLOCK_CATEGORIES
from torch_tb_profiler.store.insight import Insight

STEPS = 4
Known = dict[str, list[tuple[int, int]]]


def train(torch: Any, path: Path, stacks: bool) -> tuple[Known, Known]:
    """Records training; ``(kept, gone)``: address and bytes of tensors of each category that were there
    at the end, and of those that were not any more.
    """
    nn, kept, gone = torch.nn, Known(), Known()

    def know(known: Known, category: str, tensor: Any) -> None:
        storage = tensor.untyped_storage()
        known.setdefault(category, []).append((storage.data_ptr(), storage.nbytes()))

    def saved(tensor: Any) -> Any:
        # A view, such as a transposed weight, is memory of its base.
        if tensor.grad_fn is not None and tensor._base is None:
            know(gone, "activation", tensor)
        return tensor

    data = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(torch.randn(STEPS * 64, 96)), batch_size=64
    )
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(
        activities=activities, profile_memory=True, with_stack=stacks, record_shapes=True
    ) as profiler:
        # Frames say that modules are built; without them nobody knows.
        model = nn.Sequential(nn.Linear(96, 128), nn.GELU(), nn.Linear(128, 72), nn.Tanh())
        optimizer = torch.optim.Adam(model.parameters())
        for step, (batch,) in enumerate(data):
            know(gone if step < STEPS - 1 else kept, "input", batch)
            optimizer.zero_grad()
            with torch.autograd.graph.saved_tensors_hooks(saved, lambda tensor: tensor):
                loss = model(batch).square().mean()
            loss.backward()
            if step < STEPS - 1:
                for parameter in model.parameters():
                    know(gone, "gradient", parameter.grad)
            optimizer.step()
            profiler.step()
        for parameter in model.parameters():
            know(kept, "parameter", parameter)
            know(kept, "gradient", parameter.grad)
            for value in optimizer.state[parameter].values():
                know(kept, "optimizer_state", value)
    profiler.export_chrome_trace(str(path))
    return kept, gone


def categories(insight: Insight, tensors: list[tuple[int, int]], *, alive: bool) -> list[str]:
    """The categories of the blocks at these addresses and of these sizes."""
    table = insight["allocations"]
    found = []
    for address, size in tensors:
        rows = np.flatnonzero((table["address"] == address) & (table["bytes"] == size))
        if alive:
            rows = rows[table["release"][rows] < 0]
        found += [BLOCK_CATEGORIES[c] if c >= 0 else "" for c in table["category"][rows].tolist()]
    return found


@pytest.mark.parametrize("stacks", [False, True])
def test_tensors_that_we_know(torch: Any, tmp_path: Path, stacks: bool) -> None:
    path = tmp_path / "w.pt.trace.json"
    kept, gone = train(torch, path, stacks)
    opened = load(str(path), Settings())
    insight = built(opened.trace, opened.facts)
    for category, tensors in kept.items():
        found = categories(insight, tensors, alive=True)
        assert len(found) == len(tensors)
        # Nothing but frames tells that a module is built; that its memory stays can be seen.
        wanted = category if stacks or category != "parameter" else "kept"
        assert set(found) == {wanted}, category
    # Addresses are given out again, to temporaries too: most blocks there are of the category.
    for category in ("gradient", "activation", "input"):
        found = categories(insight, gone[category], alive=False)
        assert found.count(category) >= len(gone[category])
        assert not {"parameter", "optimizer_state"} & set(found)
    curve = insight["memory_curve"]
    bands = by_category(insight, 0, np.arange(curve.n))
    assert bands.sum(axis=0).tolist() == curve["allocated"].tolist()
    assert bands.min() >= 0
