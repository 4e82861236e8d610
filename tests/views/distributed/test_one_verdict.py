"""What a rank of drawn jobs costs is what the verdict says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.critical_path.test_ranks import fleet_of
from tests.analysis.critical_path.test_verdict import job
from tests.examples import examples
from torch_tb_profiler.units import format_ns
from torch_tb_profiler.views.distributed.payload import PlacedWorker, distributed_payload
from torch_tb_profiler.views.distributed.wire import DistributedPayload


def shown(work: np.ndarray, world: int | None = None) -> DistributedPayload:
    fleet = fleet_of(*job(work, world=world))
    placed = [
        PlacedWorker(f"rank{n}", "1", n, "distributedInfo", "ready", "", n)
        for n in range(len(work))
    ]
    return distributed_payload(placed, fleet.figures, fleet.blames, fleet.verdict, 1.0, len(work))


def drawn_work(draw: st.DataObject, ranks: int, steps: int) -> np.ndarray:
    seed = draw.draw(st.integers(0, 2**16))
    return 400 + np.random.default_rng(seed).uniform(0, 4, (ranks, steps))


@examples(8)
@given(
    st.data(),
    st.integers(3, 6),
    st.integers(6, 9),
    st.sampled_from([0.0, 120.0, 300.0]),
    st.booleans(),
)
@pytest.mark.slow
def test_who_is_named_costs_what_the_verdict_says(
    data: st.DataObject, ranks: int, steps: int, longer: float, stalled: bool
) -> None:
    work = drawn_work(data, ranks, steps)
    slow = data.draw(st.integers(0, ranks - 1))
    other = (slow + 1) % ranks
    once = data.draw(st.integers(2, steps - 1))
    work[slow] += longer
    if stalled:
        work[other, once] += 3000
    found = shown(work)
    if not longer and not stalled:
        assert not found.costs
        return
    costs = {cost.worker: cost for cost in found.costs}
    assert set(costs) == ({slow} if longer else set()) | ({other} if stalled else set())
    if longer:
        assert found.headline[0].startswith(
            f"Rank {slow} holds all others back: {format_ns(costs[slow].held_ns)} of each "
        )
        assert costs[slow].text.endswith(("steps", "every step", "but one"))
    if stalled:
        assert costs[other].text == f"once, in step {once + 1}"
        assert format_ns(costs[other].held_ns) in " ".join(found.headline)
        waited = next(item for item in found.blame if item.step == once)
        assert waited.worker == other


@examples(3)
@given(st.data(), st.integers(2, 4), st.sampled_from([8, 128]))
def test_of_a_part_of_the_ranks_nobody_is_named(
    data: st.DataObject, ranks: int, world: int
) -> None:
    work = drawn_work(data, ranks, 5)
    work[0] += 300
    found = shown(work, world)
    said = f"{ranks} of {world} ranks were read: who holds the job back is unknown."
    assert found.headline == [said]
    assert (found.costs, found.blame, found.unjudged) == ([], [], [])
