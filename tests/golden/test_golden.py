"""The views of every sample against files that a person can review.

A change of a figure shows as a changed line here. ``UPDATE_GOLDEN=1 pytest tests/golden`` writes
the files anew; look at the difference before you commit it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.runs.loading import load_all
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.overview.payload import RankInJob, overview_payload
from torch_tb_profiler.views.steps import step_objects
from torch_tb_profiler.views.work.kernels import kernel_payload
from torch_tb_profiler.views.work.operators import operator_payload

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parents[1] / "samples"
RUNS = sorted(p.name for p in SAMPLES.iterdir() if any(p.glob("*.pt.trace.json*")))
TOP = 5
ROWS = 100_000


def summary(opened: Opened) -> dict[str, Any]:
    """What each page shows first, of one trace, as one line per fact."""
    facts = opened.facts
    chosen = select(facts)
    worker = opened.worker
    page = overview_payload(
        facts,
        chosen,
        RankInJob(len(opened.run.workers), worker.rank, worker.rank_source, worker.world_size),
    )
    operators = operator_payload(facts, chosen, "name", ROWS).rows
    kernels = kernel_payload(facts, chosen, "name", ROWS).rows
    return {
        "configuration": [f"{fact.label}: {fact.value}" for fact in page.configuration],
        "steps from": page.step_source,
        "steps": [
            _line(step["name"], step["wall_ns"], _marks(step), **step["categories_ns"])
            for step in step_objects(page.steps)
        ],
        "devices": [
            f"{d.id} {d.details.split(' · ')[0]}: busy {_share(d.utilization)}, SM {_share(d.sm_efficiency)},"
            f" occupancy {_share(d.occupancy)}, matrix cores {_share(d.matrix_core_share)}"
            for d in page.devices
        ],
        "health": [f"{h.name}: {h.count}" for h in page.health],
        "missing": [m.what for m in page.missing],
        "operators": [
            f"{operators['name'][i]}: {operators['calls'][i]} calls, device {operators['device_self_ns'][i]}"
            f" of {operators['device_total_ns'][i]}, host {operators['host_self_ns'][i]} of"
            f" {operators['host_total_ns'][i]}"
            for i in range(min(TOP, len(operators["name"])))
        ],
        "kernels": [
            f"{kernels['short_name'][i]}: {kernels['calls'][i]} calls, {kernels['total_ns'][i]}"
            for i in range(min(TOP, len(kernels["name"])))
        ],
    }


def _line(name: str, wall: int, marks: str, **categories: int) -> str:
    return f"{name}{marks}: {wall} = " + " + ".join(
        f"{value} {key}" for key, value in categories.items() if value
    )


def _marks(step: dict[str, Any]) -> str:
    return "".join(f" [{word}]" for word in ("cold", "odd", "cut") if step[word])


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{100 * value:.2f} %"


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.slow
def test_views_of_samples(run: str) -> None:
    found = {
        item.worker.name: summary(item)
        for item in load_all(str(SAMPLES / run), Settings(use_cache=False))
        if isinstance(item, Opened)
    }
    assert found
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    file = HERE / f"{run}.json"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text, "utf-8")
    assert json.loads(file.read_text("utf-8")) == found
