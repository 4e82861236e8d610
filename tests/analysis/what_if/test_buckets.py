"""Collectives that are merged, counted off lists of events."""

from __future__ import annotations

import numpy as np
import pytest

from tests.builders.drawn import Event, trace_of
from tests.builders.listed import listed
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.what_if.changes import read_change
from torch_tb_profiler.analysis.what_if.collectives import merges
from torch_tb_profiler.analysis.what_if.simulation import Simulation
from torch_tb_profiler.analysis.what_if.table import edits

LATENCY, PER_KIB = 40.0, 0.5
"""µs of any collective, and of each KiB."""


def recording(sizes: list[int], between: str = "", late: float = 0.0) -> list[Event]:
    """Collectives of so many KiB, of which each blocks the host, and 100 µs of something after them; the second waits
    ``late`` µs for another rank.
    """
    lines, now = [], 10.0
    for number, size in enumerate(sizes, 1):
        length = LATENCY + PER_KIB * size + late * (number == 2)
        more = f'{{"Collective name": "allreduce", "In msg nelems": {size * 256}, "dtype": "Float", "Group size": 2}}'
        lines += [
            f"1 op   record_param_comms@{now}+5 e{number} {more}",
            f"1 call cudaLaunchKernel@{now + 1}+3 e{number} c{number}",
            f"gpu 0:20 kernel ncclDevKernel_AllReduce@{now + 6}+{length} e{number} c{number} {more}",
            f"1 call cudaDeviceSynchronize@{now + 6}+{length + 1}",
        ]
        now += length + 10
        if between:
            lines.append(f"1 op   aten::mul@{now}+4 e{100 + number}")
            lines.append(f"1 call cudaLaunchKernel@{now + 1}+2 e{100 + number} c{100 + number}")
            lines.append(f"gpu 0:20 kernel {between}@{now + 4}+2 e{100 + number} c{100 + number}")
            now += 8
    lines.insert(0, f"1 note ProfilerStep#1@0+{now + 100}")
    return listed("\n".join(lines))


def simulated(entries: list[Event]) -> Simulation:
    trace = trace_of(entries)
    facts = derive(trace)
    return Simulation(trace, facts, build_insight(trace, facts))


def saved(simulation: Simulation, *changes: str) -> float:
    """By how much the step is shorter, µs."""
    prediction, _ = simulation.predict(edits([read_change(text) for text in changes]), np.arange(1))
    return float((prediction.measured - prediction.predicted)[0]) / 1000


def test_merged_collectives_pay_their_latency_once() -> None:
    """Seven calls, their waits and latencies go; all bytes still move."""
    simulation = simulated(recording([4, 8, 16, 32, 4, 8, 16, 32]))
    assert merges(simulation.scene, 25 << 20).count == 7
    assert saved(simulation, "buckets") >= 7 * LATENCY
    # Calls and gaps between them are 10 µs each.
    assert saved(simulation, "buckets") <= 7 * (LATENCY + 11)


def test_a_late_rank_is_waited_for_once() -> None:
    found = merges(simulated(recording([64] * 4, late=500.0)).scene, 25 << 20)
    assert (found.time - found.time[0])[:3].tolist() == [0, 500_000, 0]


def test_a_bucket_holds_no_more_than_it_may() -> None:
    scene = simulated(recording([512] * 8)).scene
    assert merges(scene, 25 << 20).count == 7
    assert merges(scene, 1 << 20).count == 4
    assert merges(scene, 512 << 10).count == 0


def test_of_large_messages_the_latency_is_little() -> None:
    """The line through the sizes is known: what grows with the bytes stays."""
    sizes = [100, 1000, 10_000]
    simulation = simulated(recording(sizes))
    assert saved(simulation, "buckets") <= 2 * (LATENCY + 11)


@pytest.mark.parametrize(
    ("between", "fewer"), [("vectorized_elementwise_kernel", 3), ("sm90_xmma_gemm", 0)]
)
def test_a_product_that_needs_the_result_keeps_them_apart(between: str, fewer: int) -> None:
    scene = simulated(recording([4, 8, 16, 32], between)).scene
    assert merges(scene, 25 << 20).count == fewer


def test_a_faster_network_makes_the_bucket_faster() -> None:
    simulation = simulated(recording([4, 8, 16, 32]))
    both = saved(simulation, "buckets", "network:factor=0.1")
    assert both > saved(simulation, "buckets")
    assert both == saved(simulation, "network:factor=0.1", "buckets")


def test_hidden_communication_takes_no_longer_than_it_does_after_other_changes() -> None:
    """Before, it counted as long as measured."""
    simulation = simulated(recording([4000]))
    faster = saved(simulation, "network:factor=0.1")
    assert saved(simulation, "network:factor=0.1", "overlap") >= faster
    assert saved(simulation, "overlap") < faster
