"""Means over steps."""

from __future__ import annotations

from torch_tb_profiler.analysis.figures.selection import Selection, complete
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.step_categories import CATEGORIES


def average(facts: Facts, selection: Selection) -> dict[str, float] | None:
    """Arithmetic mean in ns over the selected steps, steps that the recording cut off left out:
    ``wall`` and the ``CATEGORIES``.

    None without a step.
    """
    steps = complete(facts, selection)
    if not len(steps):
        return None
    table = facts["steps"]
    mean = {key: float(table[key][steps].mean()) for key in CATEGORIES}
    return {"wall": float((table["end"][steps] - table["start"][steps]).mean()), **mean}
