"""What one step takes is one figure wherever it is told: in the answer, on the strip and its legend, and among the steps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.web.served import WHERE, WrittenCatalogue, body, client
from torch_tb_profiler.runs.loading import load_all
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.units import format_ns


@pytest.mark.parametrize("run", ["cnn_workers_0", "inference", "transformer"])
def test_the_median_step_is_one_figure(samples: Path, run: str) -> None:
    [opened] = load_all(str(samples / run), Settings())
    assert isinstance(opened, Opened)
    asked = client(WrittenCatalogue(opened))
    found, causes = (
        json.loads(body(asked.get(f"/{route}{WHERE}")))
        for route in ("findings?", "critical_path/steps?ranks=own&")
    )
    median = found["median"]
    path = json.loads(body(asked.get(f"/critical_path?steps={median}-{median}&{WHERE}")))
    step, [strip], row = found["step_ns"], path["strips"], causes["steps"]["step"].index(median)
    assert format_ns(step) in found["headline"]
    assert strip["end_ns"] - strip["start_ns"] == step
    assert sum(path["parts"]["path_ns"]) == step
    assert (causes["median"], causes["median_ns"]) == (median, step)
    groups = [key for key in causes["steps"] if key.endswith("_ns") and key != "wall_ns"]
    assert sum(causes["steps"][key][row] for key in groups) == step
    assert f" {format_ns(step)} step." in path["headline"][0]
