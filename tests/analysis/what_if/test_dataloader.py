"""What remains of a batch that is ready."""

from __future__ import annotations

import numpy as np
import pytest

from tests.builders.drawn import events, trace_of
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.what_if.changes import read_change
from torch_tb_profiler.analysis.what_if.simulation import Simulation
from torch_tb_profiler.analysis.what_if.table import edits

DRAWING = """
main    [ProfilerStep#1                       ]
main     (load                     )[aten::mm ]
main       /get                   /
main        /wait       / /loads/
"""
NAMES = {
    "get": "multiprocessing/queues.py(98): get",
    "wait": "multiprocessing/connection.py(933): wait",
    "loads": "<built-in function loads>",
}


@pytest.mark.parametrize(
    ("load", "drawing", "length"),
    [
        ("_MultiProcessingDataLoaderIter", DRAWING, 39 - 13),
        ("_SingleProcessDataLoaderIter", DRAWING, 39 - 27),
        ("_MultiProcessingDataLoaderIter", DRAWING.replace("/wait       /", ""), 39 - 27),
    ],
)
def test_a_ready_batch_is_still_taken_from_its_worker(load: str, drawing: str, length: int) -> None:
    names = NAMES | {"load": f"enumerate(DataLoader)#{load}.__next__"}
    trace = trace_of(events(drawing, names))
    facts = derive(trace)
    simulation = Simulation(trace, facts, build_insight(trace, facts))
    prediction, _ = simulation.predict(edits([read_change("dataloader-ready")]), np.arange(1))
    assert prediction.measured.tolist() == [39_000]
    assert prediction.predicted.tolist() == [length * 1000]
