"""The eight synthetic ranks: the straggler, the stalled DataLoader and the clocks' skew that the
model put in come out, within 1 %.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from tests.analysis.distributed.injected import Truth, truth
from tests.conftest import REPOSITORY
from tests.runs.written_run import sample
from tests.web.test_distributed import payload
from torch_tb_profiler.views.distributed.wire import DistributedPayload

pytestmark = pytest.mark.slow

STRAGGLER, STALLED, STALLED_STEP = 5, 2, 4
ROUNDING = 1000
"""Traces hold ns, and clocks are aligned to some tens of them."""


@lru_cache(maxsize=1)
def found() -> DistributedPayload:
    return payload(sample(str(REPOSITORY / "samples" / "synthetic_ddp8")))


@pytest.fixture(name="model")
def _model() -> Truth:
    return truth()


def test_the_right_rank_holds_every_step_back() -> None:
    assert [item.step for item in found().blame] == list(range(7))
    assert [item.worker for item in found().blame] == [
        STALLED if step == STALLED_STEP else STRAGGLER for step in range(7)
    ]
    assert found().steps[STALLED_STEP] == "ProfilerStep#7"


def test_every_wait_is_that_of_the_model(model: Truth) -> None:
    waiting = np.array(found().waiting.waiting_ns)
    expected = model.wait.reshape(8, 7, model.per_step).sum(axis=2)
    assert (
        np.abs(waiting - expected).max()
        <= np.maximum(0.01 * expected, model.per_step * ROUNDING).max()
    )
    large = expected > 100_000
    assert large.sum() > 40
    assert (np.abs(waiting - expected)[large] <= 0.01 * expected[large]).all()
    assert not np.array(found().waiting.unsplit_ns).any()


def test_the_stalled_loader_is_named_with_its_line(model: Truth) -> None:
    item = found().blame[STALLED_STEP]
    part = item.parts[0]
    assert (part.kind, part.line) == (
        "DataLoader",
        "torch/utils/data/dataloader.py(1482): _next_data",
    )
    stall = model.stall[:, STALLED_STEP]
    usual = np.median(np.delete(stall, STALLED))
    # The straggler, which comes next, waits less than that; what lies before the last rank begins the step keeps nobody waiting.
    assert 0.7 * (stall[STALLED] - usual) < part.held_ns < 1.01 * (stall[STALLED] - usual)
    assert item.also == []


def test_the_stragglers_kernels_are_named() -> None:
    """They take a quarter longer, so a fifth of the path on it is what it holds the others back by."""
    for item in found().blame:
        if item.worker == STRAGGLER:
            assert {part.kind for part in item.parts} == {"Kernel"}
            # Forward or backward of a Linear: what takes most before the collective.
            assert item.parts[0].name in ("aten::mm", "aten::addmm")
            assert (item.parts[0].module or "").startswith("Linear_")
            assert sum(part.held_ns for part in item.parts) <= item.held_ns <= 0.22 * item.path_ns
    first = found().headline[0]
    assert first.startswith("Rank 5 holds all others back: ")
    assert found().headline[-1].startswith("Once, in step 7, rank 2 held all others back by ")


def test_the_clocks_are_put_right(model: Truth) -> None:
    """The recordings begin together on the true clock, so what the skewed clocks say must come out
    as no difference.
    """
    offsets = [worker.offset_ns or 0 for worker in found().workers]
    assert max(model.skews) - min(model.skews) > 10**6
    assert max(offsets) - min(offsets) <= 400  # the model ends each collective within 400 ns
    assert all(worker.error_ns is not None and worker.error_ns <= 400 for worker in found().workers)
    assert "aligned on the ends of 28 collectives" in found().clock
    assert (found().skew_ns or 0) <= 400
    assert found().left_out == 0


def test_bandwidths_are_those_of_the_model() -> None:
    """The model moves 160 bytes/ns after 18 µs: 25,165,824 bytes in 18 + 157.3 µs ± 2 %."""
    rows = found().operations
    place = next(i for i, worker in enumerate(rows["worker"]) if worker == -1)
    assert (
        rows["kind"][place],
        rows["bytes"][place],
        rows["calls"][place],
        rows["group_size"][place],
    ) == (
        "all_reduce",
        25165824,
        8 * 28,
        8,
    )
    speed = 25165824 / (18e-6 + 25165824 / 160e9)
    assert rows["algorithm_bandwidth"][place] == pytest.approx(speed, rel=0.01)
    assert rows["bus_bandwidth"][place] == pytest.approx(speed * 2 * 7 / 8, rel=0.01)
    assert rows["split"][place]
