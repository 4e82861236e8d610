"""The answers on top of Efficiency and Distributed."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from torch_tb_profiler.analysis.distributed.spread import Outlier
from torch_tb_profiler.views.distributed_texts import headline_of, parts_text
from torch_tb_profiler.views.distributed_wire import (
    BlamedPart,
    BlameItem,
    DistributedPayload,
    DistributedWorker,
    OverlapColumns,
    WaitingColumns,
)
from torch_tb_profiler.views.efficiency_notes import headline
from torch_tb_profiler.views.efficiency_wire import (
    DevicePeaks,
    EfficiencyPayload,
    StepMfu,
)
from torch_tb_profiler.views.vocabulary import vendor_words

MS = 1_000_000


def worker(number: int, **more: Any) -> DistributedWorker:
    given: dict[str, Any] = {
        "worker": f"host_{100 + number}",
        "span": "1",
        "rank": number,
        "rank_source": "distributedInfo",
        "node": "host",
        "process": str(100 + number),
        "state": "ready",
        "message": "",
        "backend": "nccl",
        "devices": [],
        "offset_ns": 0,
        "error_ns": 800,
        "collectives": 12,
    }
    return DistributedWorker(**given | more)


PART = BlamedPart(
    kind="Host operator",
    name="aten::mm",
    held_ns=11 * MS,
    event=30,
    module="Net.layer1",
    line="train.py(12): forward",
)


def blame(step: int, **more: Any) -> BlameItem:
    given: dict[str, Any] = {
        "step": step,
        "worker": 1,
        "also": [],
        "held_ns": 11 * MS,
        "path_ns": 60 * MS,
        "parts": [PART],
        "text": "aten::mm in Net.layer1 (Host operator), by 11.0 ms",
    }
    return BlameItem(**given | more)


def distributed(ranks: int = 3, **more: Any) -> DistributedPayload:
    """Workers with four steps of 100 ms; rank 1 holds all but the first back."""
    times: list[list[int | None]] = [[25 * MS] * 4 for _ in range(ranks)]
    given: dict[str, Any] = {
        "workers": [worker(rank) for rank in range(ranks)],
        "steps": [f"ProfilerStep#{step}" for step in range(10, 14)],
        "step_source": "ProfilerStep",
        "overlap": OverlapColumns(
            computation_ns=times, overlap_ns=times, communication_ns=times, other_ns=times
        ),
        "own_steps": [],
        "column_begin": [],
        "counts": [],
        "waiting": WaitingColumns(waiting_ns=[], transfer_ns=[], unsplit_ns=[], late_ns=[]),
        "blame": [blame(step) for step in (1, 2, 3)],
        "operations": {},
        "matched": 12,
        "unmatched": [],
        "clock": "",
        "skew_ns": None,
        "left_out": 0,
        "ready": ranks,
        "progress": 1.0,
        "workers_total": ranks,
        "world_size": ranks,
        "headline": [],
        "notes": [],
        "missing": [],
    }
    return DistributedPayload(**given | more)


def test_who_holds_the_others_back_is_told_with_steps_time_and_cause() -> None:
    assert headline_of(distributed()) == [
        "Rank 1 holds the others back by 11.0 ms per step in 3 of 4 steps (8.3 % of all step time).",
        "What takes longer in the step that costs most: aten::mm in Net.layer1 (Host operator), by 11.0 ms.",
    ]


def test_the_first_is_who_costs_most_not_who_is_named_most_often() -> None:
    often = [blame(step, worker=0, held_ns=3 * MS) for step in (0, 1)]
    found = headline_of(distributed(blame=[*often, blame(2, worker=2, held_ns=40 * MS)]))
    assert found[0].startswith("Rank 2 holds the others back by 40.0 ms in 1 of 4 steps")


def test_a_second_one_is_told_where_it_costs_much_and_one_step_without_a_mean() -> None:
    two = [blame(1), blame(2, worker=2, held_ns=5 * MS), blame(3, worker=0, held_ns=4 * MS)]
    found = headline_of(distributed(blame=two))
    assert found[0] == (
        "Rank 1 holds the others back by 11.0 ms in 1 of 4 steps (2.8 % of all step time)."
    )
    assert found[-1].startswith("Rank 2 holds the others back by 5.00 ms in 1 of 4 steps")
    assert len(headline_of(distributed(blame=[blame(1), blame(2, worker=2, held_ns=MS)]))) == 2


def test_ranks_that_take_as_long_are_named_together() -> None:
    """Whichever of them is on the path; one that is as slow in a single step is not."""
    both = [blame(1, also=[2]), blame(2, worker=2, also=[1]), blame(3, also=[0, 2])]
    assert headline_of(distributed(blame=both))[0].startswith(
        "Ranks 1 and 2 hold the others back by 11.0 ms per step in 3 of 4 steps"
    )
    many = [blame(1, also=[0, 2, 3, 4, 5])]
    assert headline_of(distributed(6, blame=many))[0].startswith("Ranks 0, 1, 2 and 3 more hold")


@pytest.mark.parametrize(
    ("payload", "first"),
    [
        (
            distributed(blame=[blame(1, held_ns=MS // 2)]),
            "No worker holds the others back for long: rank 1 by 0.1 % of the steps.",
        ),
        (distributed(blame=[]), "No worker holds the others back: each takes as long"),
        (distributed(1), "This is the recording of one worker"),
        (distributed(matched=0), "No collective could be matched"),
        (
            distributed(workers=[worker(0, collectives=0), worker(1, collectives=0)]),
            "No communication was recorded.",
        ),
        (distributed(blame=[], progress=0.5), "The workers are still being read."),
        (
            distributed(workers=[worker(0), worker(1, rank=None, worker="node-7"), worker(2)]),
            "node-7 holds",
        ),
        (
            distributed(blame=[], world_size=128, matched=2),
            "No worker holds the others back: each takes",
        ),
    ],
)
def test_what_else_is_said_first(payload: DistributedPayload, first: str) -> None:
    assert headline_of(payload)[0].startswith(first)


def test_who_is_late_is_named_even_if_that_is_not_on_the_critical_path() -> None:
    late = Outlier(1, 24_500_000.0, 240_000.0)
    assert headline_of(distributed(blame=[], matched=2), late) == [
        "Rank 1 arrives 24.5 ms late per step, the median worker 240 µs.",
        "The critical path does not run through what makes it late.",
        "This rests on 3 of 3 ranks and 2 matched collectives.",
    ]


def test_an_answer_from_few_ranks_or_collectives_says_so() -> None:
    few = "This rests on 3 of 128 ranks and 12 matched collectives."
    assert headline_of(distributed(world_size=128))[-1] == few
    assert (
        headline_of(distributed(matched=1))[-1]
        == "This rests on 3 of 3 ranks and 1 matched collective."
    )


def test_what_takes_longer_is_told_as_far_as_it_is_known() -> None:
    assert parts_text([PART]) == (
        "aten::mm in Net.layer1, train.py(12): forward (Host operator), by 11.0 ms"
    )
    bare = replace(
        PART, kind="Python", name="a.py(3): f", held_ns=2000, module=None, line="a.py(3): f"
    )
    assert parts_text([bare]) == "a.py(3): f (Python), by 2.00 µs"
    assert parts_text([bare, PART]).count(";") == 1
    assert len(headline_of(distributed(blame=[blame(1, text="")]))) == 1


def step(index: int, **more: Any) -> StepMfu:
    given: dict[str, Any] = {"wall_ns": 10_000, "flops": 1_859_730_432, "mfu": 0.188}
    return StepMfu(index=index, steps=1, name=f"ProfilerStep#{index}", **given | more)


def efficiency(families: tuple[str | None, ...] = ("gemm", None), **more: Any) -> EfficiencyPayload:
    given: dict[str, Any] = {
        "group": "operator",
        "has_device": True,
        "vocabulary": vendor_words("nvidia"),
        "device": DevicePeaks(
            name="H100", entry="H100", known=True, bandwidth=None, bandwidth_source="", peaks=[]
        ),
        "steps": [step(4), step(5)],
        "mfu": 0.188,
        "families": {"family": list(families)},
        "time_ns": 10_500,
        "computation_ns": 10_500,
        "modelled_ns": 10_000,
        "rows": {
            "name": ["aten::mm", "aten::add", "other"],
            "kernel": [None, None, None],
            "short_name": [None, None, None],
            "parameters": ["M=788", None, None],
            "recoverable_ns": [3700, 100, None],
        },
        "pooled": 0,
        "headline": [],
        "notes": [],
        "missing": [],
    }
    return EfficiencyPayload(**given | more)


def test_the_share_of_the_peak_is_told_with_what_is_modelled_and_to_gain() -> None:
    assert headline(efficiency()) == [
        "The steps reach 18.8 % of what H100 can do (MFU)",
        "That is 186 TFLOP/s over the whole time of the steps.",
        "95.2 % of the device time of computation is in operators whose work is modelled.",
        "At most 3.80 µs would be gained at the peaks, 3.70 µs of it in aten::mm (M=788).",
    ]
    found = headline(efficiency(("gemm", "communication", None), computation_ns=20_000))
    assert found[2] == (
        "50.0 % of the device time of computation (without communication) is in operators whose"
        " work is modelled."
    )


def test_what_is_modelled_of_little_is_a_lower_bound() -> None:
    little = efficiency(computation_ns=11_200)
    assert headline(little)[:2] == [
        "The steps reach at least 18.8 % of what H100 can do (MFU)",
        "That is at least 186 TFLOP/s over the whole time of the steps.",
    ]
    assert headline(replace(little, mfu=None))[0] == "The steps do at least 186 TFLOP/s"
    empty = replace(little, mfu=None, steps=[step(1, flops=0, mfu=None)])
    assert headline(empty)[0] == (
        "What could be modelled of the step holds no product of matrices, convolution or attention"
    )


def test_rates_are_told_where_no_peak_is_known() -> None:
    assert headline(efficiency(mfu=None))[0] == "The steps do 186 TFLOP/s"
    assert headline(efficiency(mfu=None, has_device=False))[:2] == [
        "The steps do 186 TFLOP/s",
        "Nothing ran on an accelerator: times are those of the host, whose peaks are not known.",
    ]


def test_one_step_and_nothing() -> None:
    alone = efficiency(steps=[step(1)])
    assert headline(alone)[0].startswith("The step reaches 18.8 % of")
    empty = replace(alone, mfu=None, steps=[step(1, flops=0, mfu=None)])
    assert headline(empty)[0] == "The step holds no product of matrices, convolution or attention"
    assert (
        headline(replace(empty, modelled_ns=0))[0] == "No operator of the steps could be modelled"
    )


def test_the_pooled_rest_is_not_the_one_to_gain_from() -> None:
    rows = efficiency().rows | {"recoverable_ns": [1, 2, 9000]}
    assert "2 ns of it in aten::add." in headline(efficiency(pooled=7, rows=rows))[-1]
    nothing = rows | {"recoverable_ns": [None, 0, 5]}
    assert "gained" not in headline(efficiency(pooled=7, rows=nothing))[-1]
