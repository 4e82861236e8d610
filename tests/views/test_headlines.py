"""The answers on top of Efficiency and Distributed."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from torch_tb_profiler.analysis.distributed.cause import Cause
from torch_tb_profiler.views.distributed_texts import before_text, headline_of
from torch_tb_profiler.views.distributed_wire import (
    DistributedPayload,
    DistributedWorker,
    LateItem,
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


def late(step: int, **more: Any) -> LateItem:
    given: dict[str, Any] = {
        "step": step,
        "worker": 1,
        "caused_ns": 24 * MS,
        "longest_ns": 12 * MS,
        "lead_ns": 11 * MS,
        "collectives": 3,
        "kind": "all_reduce",
        "event": 40,
        "start_ns": 0,
        "before_operator": "aten::mm",
        "before_module": "Net.layer1",
        "before_line": "train.py(12): forward",
        "before_event": 30,
        "before_name": "aten::mm",
        "before_ns": 11 * MS,
        "before_side": "host",
        "before_side_ns": 12 * MS,
        "before": "aten::mm in Net.layer1",
    }
    return LateItem(**given | more)


def distributed(ranks: int = 3, **more: Any) -> DistributedPayload:
    """Workers with four steps of 100 ms; rank 1 is late in all but the first."""
    times: list[list[int | None]] = [[25 * MS] * 4 for _ in range(ranks)]
    given: dict[str, Any] = {
        "workers": [worker(rank) for rank in range(ranks)],
        "steps": [f"ProfilerStep#{step}" for step in range(10, 14)],
        "step_source": "ProfilerStep",
        "overlap": OverlapColumns(
            computation_ns=times, overlap_ns=times, communication_ns=times, other_ns=times
        ),
        "waiting": WaitingColumns(waiting_ns=[], transfer_ns=[], unsplit_ns=[], late_ns=[]),
        "late": [late(step) for step in (1, 2, 3)],
        "operations": {},
        "matched": 12,
        "unmatched": [],
        "clock": "",
        "skew_ns": None,
        "left_out": 0,
        "ready": ranks,
        "progress": 1.0,
        "workers_total": ranks,
        "headline": [],
        "notes": [],
        "missing": [],
    }
    return DistributedPayload(**given | more)


def test_who_is_late_is_told_with_steps_wait_gain_and_cause() -> None:
    assert headline_of(distributed()) == [
        "Rank 1 is late in 3 of 4 steps: the others wait up to 12.0 ms per step for it.",
        "On time it could save up to 11.0 ms in each of them, 8.3 % of the time of all steps.",
        "Before that its host works 12.0 ms longer than that of the rank that waits longest in the"
        " step that cost most; the largest part: aten::mm in Net.layer1.",
    ]


def test_the_first_is_who_all_waiting_was_for_not_who_is_last_most_often() -> None:
    often = [late(step, worker=0, caused_ns=5) for step in (0, 1)]
    found = headline_of(distributed(late=[*often, late(2, worker=2, caused_ns=100)]))
    assert found[0].startswith("Rank 2 is late in 1 of 4 steps")


def test_a_second_one_is_told_where_it_costs_much_and_one_step_without_a_mean() -> None:
    two = [late(1), late(2, worker=2, caused_ns=5 * MS), late(3, worker=0, caused_ns=4 * MS)]
    found = headline_of(distributed(late=two))
    assert found[0] == "Rank 1 is late in 1 of 4 steps: the others wait up to 12.0 ms for it."
    assert found[1] == "On time it could save up to 11.0 ms, 2.8 % of the time of all steps."
    assert found[-1] == "Rank 2 is late in 1 of 4 steps: the others wait up to 12.0 ms for it."
    little = [late(1), late(2, worker=2, caused_ns=MS)]
    assert len(headline_of(distributed(late=little))) == 3


@pytest.mark.parametrize(
    ("payload", "first"),
    [
        (
            distributed(late=[late(1, lead_ns=MS // 2)]),
            "No worker holds the others back for long: the latest, rank 1, costs 0.1 % of the steps.",
        ),
        (distributed(late=[]), "No worker holds the others back: they arrive at every collective"),
        (distributed(late=[late(1, caused_ns=0)]), "No worker holds the others back: they"),
        (distributed(1), "This is the recording of one worker"),
        (distributed(matched=0), "No collective could be matched"),
        (
            distributed(workers=[worker(0, collectives=0), worker(1, collectives=0)]),
            "No communication was recorded.",
        ),
        (distributed(late=[], matched=0, progress=0.5), "The workers are still being read."),
        (distributed(progress=0.5), "So far: Rank 1 is late"),
        (
            distributed(workers=[worker(0), worker(1, rank=None, worker="node-7"), worker(2)]),
            "node-7 is late",
        ),
        (
            distributed(late=[late(1, before="")]),
            "Rank 1 is late in 1 of 4 steps: the others wait up to 12.0 ms for it.",
        ),
    ],
)
def test_what_else_is_said_first(payload: DistributedPayload, first: str) -> None:
    assert headline_of(payload)[0].startswith(first)


def test_what_took_longer_is_told_as_far_as_it_is_known() -> None:
    cause = Cause(30, "gemm", 11 * MS, False, 12 * MS, "aten::mm", "Net", "train.py(12): forward")
    assert before_text(cause, "gemm") == (
        "aten::mm in Net, train.py(12): forward, by 11.0 ms on the host"
    )
    bare = Cause(30, "a.py(3): f", 2000, True, 0, None, None, "a.py(3): f")
    assert before_text(bare, "a.py(3): f") == "a.py(3): f, by 2.00 µs on the device"
    assert before_text(None, None) == ""
    short = headline_of(distributed(late=[late(1, before="x", before_side_ns=0)]))
    assert short[2:] == ["What took longer on it: x."]


def step(index: int, **more: Any) -> StepMfu:
    given: dict[str, Any] = {"wall_ns": 10_000, "flops": 1_859_730_432, "mfu": 0.188}
    return StepMfu(index=index, name=f"ProfilerStep#{index}", **given | more)


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
