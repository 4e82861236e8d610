"""Workloads of public traces: none is above its peak, and models know most of the computation."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.analysis.figures import insight, opened
from torch_tb_profiler.analysis.efficiency.families import totals_of
from torch_tb_profiler.analysis.efficiency.rates import workload_rows
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.views.work.efficiency import efficiency_of
from torch_tb_profiler.views.work.efficiency_wire import EfficiencyPayload

RUNS = ("b200_eager", "h100_vit", "mi300_resnet_ddp")


@pytest.fixture(scope="module")
def payloads(real_traces: Path) -> dict[str, EfficiencyPayload]:
    found = {}
    for run in RUNS:
        path = next((real_traces / run).glob("*.json*"))
        _, facts = opened(path)
        found[run] = efficiency_of(facts, insight(path), select(facts), "operator")[0]
    return found


def test_no_row_of_a_public_trace_computes_beyond_its_peak(
    payloads: dict[str, EfficiencyPayload],
) -> None:
    for run, payload in payloads.items():
        known = [share for share in payload.rows["flops_share"] if not math.isnan(share)]
        assert known, run
        assert max(known) <= 1, run


def test_communication_is_no_computation_that_a_model_could_know(real_traces: Path) -> None:
    path = next((real_traces / "mi300_resnet_ddp").glob("*.json*"))
    (_, facts), made = opened(path), insight(path)
    selection = select(facts)
    found = totals_of(facts, made, selection, workload_rows(made, selection))
    # 47.2 of 68.4 ms are RCCL's.
    assert found.modelled / found.time < 0.32
    assert found.modelled / found.computation > 0.76
