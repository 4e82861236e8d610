"""The answers on top of Efficiency and Distributed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from torch_tb_profiler.analysis.critical_path.blame import Blame, BlamedWork
from torch_tb_profiler.analysis.critical_path.verdict import UNKNOWN, Hold, Verdict
from torch_tb_profiler.analysis.critical_path.verdict_texts import doing, verdict_sentences
from torch_tb_profiler.analysis.efficiency.families import Totals
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.views.distributed.texts import all_called, headline_of, parts_text
from torch_tb_profiler.views.distributed.wire import (
    BlamedPart,
    DistributedPayload,
    DistributedWorker,
    OverlapColumns,
    WaitingColumns,
)
from torch_tb_profiler.views.wire import Subject
from torch_tb_profiler.views.words.vocabulary import vendor_words
from torch_tb_profiler.views.work.efficiency_notes import headline
from torch_tb_profiler.views.work.efficiency_wire import (
    DevicePeaks,
    EfficiencyPayload,
    StepMfu,
)

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


def distributed(ranks: int = 3, **more: Any) -> DistributedPayload:
    """Workers with four steps of 100 ms."""
    times: list[list[int | None]] = [[25 * MS] * 4 for _ in range(ranks)]
    given: dict[str, Any] = {
        "subject": Subject(),
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
        "blame": [],
        "costs": [],
        "unjudged": [],
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


def judged(blames: Sequence[Blame] = (), **more: Any) -> Verdict:
    """Four steps of 100 ms; by default nobody holds them back."""
    given: dict[str, Any] = {
        "kind": "none",
        "judged": np.arange(4),
        "length": np.full(4, 100.0 * MS),
    }
    if blames:
        held = np.zeros(4)
        for one in blames:
            held[one.step] = one.held
        ranks = (blames[0].rank, *blames[0].also)
        hold = Hold(ranks, tuple(one.step for one in blames), held, blames[0])
        given |= {"kind": "straggler", "hold": hold}
    return Verdict(**given | more)


def told(payload: DistributedPayload, verdict: Verdict) -> list[str]:
    ranks, world = payload.ready, payload.world_size or payload.ready
    said = verdict_sentences(
        verdict, lambda own: all_called(payload.workers, own), payload.steps, ranks, world
    )
    return headline_of(payload, verdict.kind != "unknown", said)


def of_step(step: int, *also: int, rank: int = 1, held: int = 11 * MS) -> Blame:
    part = BlamedWork(
        PathCause.OPERATOR, "aten::mm", held, 7, 0, held, "Net.layer1", "train.py(12): forward"
    )
    return Blame(step, rank, also, held, 60 * MS, (part,))


@pytest.mark.parametrize(
    ("name", "module", "line", "says"),
    [
        ("aten::mm", "", "", "aten::mm"),
        ("aten::mm", "", "a/train.py: main", "aten::mm at train.py"),
        ("json/encoder.py(205): iterencode", "", "a/books.py(17): enter", "iterencode in enter at books.py:17"),
        ("<built-in method wait of Work at 0x7f>", "", "main.py: main", "wait in main at main.py"),
        ("a/books.py(17): enter", "Net", "a/books.py(17): enter", "enter in Net at books.py:17"),
    ],
)  # fmt: skip
def test_what_takes_longer_is_called_by_its_function_and_line(
    name: str, module: str, line: str, says: str
) -> None:
    assert doing(BlamedWork(PathCause.PYTHON, name, 1, 0, 0, 1, module, line)) == says


def test_who_holds_all_others_back_is_told_with_time_and_cause() -> None:
    assert told(distributed(), judged([of_step(step) for step in range(4)])) == [
        "Rank 1 holds all others back: 11.0 ms of each 100 ms step.",
        "The same operators take longer, as on a slower or shared processor: aten::mm in Net.layer1 at"
        " train.py:12, by at most 11.0 ms.",
    ]


def test_how_often_is_told_where_it_is_not_every_step() -> None:
    first = told(distributed(), judged([of_step(step) for step in (0, 1, 3)]))[0]
    assert (
        first == "Rank 1 holds all others back: 11.0 ms of each 100 ms step, in every step but one."
    )
    first = told(distributed(), judged([of_step(0), of_step(3)]))[0]
    assert first.endswith("11.0 ms of each 100 ms step, in 2 of 4 steps.")


def test_ranks_that_take_as_long_are_named_together() -> None:
    both = judged([of_step(step, 2) for step in range(4)])
    assert told(distributed(), both)[0].startswith("Ranks 1 and 2 hold all others back: 11.0 ms of")
    many = judged([of_step(step, 0, 2, 3, 4, 5) for step in range(4)])
    assert told(distributed(6), many)[0].startswith("Ranks 1, 0, 2 and 3 more hold")


def test_a_single_step_is_told_apart_and_not_averaged() -> None:
    one = of_step(2, rank=0, held=80 * MS)
    held = np.zeros(4)
    held[2] = 80.0 * MS
    once = (Hold((0,), (2,), held, one),)
    assert told(distributed(), judged(once=once)) == [
        "Once, in step 12, rank 0 held all others back by 80.0 ms: aten::mm in Net.layer1 at train.py:12 took longer."
    ]


@pytest.mark.parametrize(
    ("payload", "first"),
    [
        (distributed(), "No rank holds the others back for long: each works as long"),
        (distributed(1), "This is the recording of one worker"),
        (distributed(matched=0), "No collective could be matched"),
        (
            distributed(workers=[worker(0, collectives=0), worker(1, collectives=0)]),
            "No communication was recorded.",
        ),
        (distributed(progress=0.5), "The workers are still being read."),
    ],
)
def test_what_else_is_said_first(payload: DistributedPayload, first: str) -> None:
    assert told(payload, judged())[0].startswith(first)


def test_a_worker_without_a_rank_is_called_by_its_name() -> None:
    payload = distributed(workers=[worker(0), worker(1, rank=None, worker="node-7"), worker(2)])
    assert told(payload, judged([of_step(step) for step in range(4)]))[0].startswith("node-7 holds")


def test_from_less_than_the_whole_group_nobody_is_named() -> None:
    payload = distributed(2, world_size=128, matched=2)
    assert told(payload, UNKNOWN) == [
        "2 of 128 ranks were read: who holds the job back is unknown."
    ]


def test_an_answer_from_few_ranks_or_collectives_says_so() -> None:
    few = "This rests on 3 of 128 ranks and 12 matched collectives."
    assert told(distributed(world_size=128), judged())[-1] == few
    one = "This rests on 3 of 3 ranks and 1 matched collective."
    assert told(distributed(matched=1), judged())[-1] == one


def test_what_takes_longer_is_told_as_far_as_it_is_known() -> None:
    assert parts_text([PART]) == (
        "aten::mm in Net.layer1, train.py(12): forward (Host operator), by 11.0 ms"
    )
    bare = replace(
        PART, kind="Python", name="a.py(3): f", held_ns=2000, module=None, line="a.py(3): f"
    )
    assert parts_text([bare]) == "a.py(3): f (Python), by 2.00 µs"
    assert parts_text([bare, PART]).count(";") == 1


def step(index: int, **more: Any) -> StepMfu:
    given: dict[str, Any] = {"wall_ns": 10_000, "flops": 1_859_730_432, "mfu": 0.188}
    return StepMfu(index=index, steps=1, name=f"ProfilerStep#{index}", **given | more)


def efficiency(**more: Any) -> EfficiencyPayload:
    given: dict[str, Any] = {
        "group": "operator",
        "has_device": True,
        "vocabulary": vendor_words("nvidia"),
        "device": DevicePeaks(
            name="H100", entry="H100", bandwidth=None, bandwidth_source="", peaks=[]
        ),
        "steps": [step(4), step(5)],
        "mfu": 0.188,
        "kernels_together": {},
        "families_together": {},
        "time_ns": 10_500,
        "rows": {
            "name": ["aten::mm", "aten::add", "other"],
            "kernel": [None, None, None],
            "short_name": [None, None, None],
            "time_ns": [8000, 2000, 500],
            "roof": ["memory", "vector fp32", None],
            "over_roof_ns": [3700, 100, None],
        },
        "pooled": 0,
        "headline": [],
        "notes": [],
        "missing": [],
    }
    return EfficiencyPayload(**given | more)


TOTALS = Totals(time=10_500, aside=(), computation=10_500, modelled=10_000, products=0)


def rows(**more: list[Any]) -> dict[str, Any]:
    return efficiency().rows | more


def test_the_row_that_is_furthest_over_its_roof_is_the_answer() -> None:
    assert headline(efficiency(), TOTALS) == [
        "aten::mm takes 8.00 µs; its memory roof is 4.30 µs.",
        "MFU of the steps: 18.8 % of H100, 186 TFLOP/s.",
        "95.2 % of the computation is modelled.",
    ]
    found = headline(efficiency(), replace(TOTALS, aside=("communication",), computation=20_000))
    assert found[1:] == [
        "MFU of the steps: at least 18.8 % of H100, 186 TFLOP/s.",
        "50.0 % of the computation (without communication) is modelled.",
    ]


@pytest.mark.parametrize(
    ("columns", "answer"),
    [
        (
            {"name": ["aten::mm", "aten::mm", None], "over_roof_ns": [1, 2, None]},
            "aten::mm (one shape) takes 2.00 µs; its compute roof is 2.00 µs.",
        ),
        (
            {
                "name": [None, None, None],
                "kernel": ["k<1>", "j", "l"],
                "short_name": ["k", "j", "l"],
            },
            "k takes 8.00 µs; its memory roof is 4.30 µs.",
        ),
        (
            {"roof": [None, None, None], "over_roof_ns": [None, None, None]},
            "aten::mm takes 8.00 µs of 10.5 µs on the GPU.",
        ),
    ],
)
def test_other_answers(columns: dict[str, list[Any]], answer: str) -> None:
    assert headline(efficiency(rows=rows(**columns)), TOTALS)[0] == answer


def test_where_no_row_takes_much_all_are_told_together() -> None:
    many = rows(
        name=["aten::add"] * 20,
        time_ns=[500] * 20,
        roof=["memory"] * 20,
        over_roof_ns=[200] * 20,
    )
    told = headline(efficiency(rows=many, time_ns=10_000), TOTALS)[0]
    assert told == "Work with a known roof takes 10.0 µs; its roofs are 6.00 µs."
    unknown = headline(efficiency(rows=many, time_ns=30_000), TOTALS)[0]
    assert unknown == "aten::add (one shape) takes 500 ns of 30.0 µs on the GPU."


def test_the_pooled_rest_is_no_answer() -> None:
    pooled = rows(time_ns=[8000, 2000, 90_000], roof=[None, None, None])
    assert headline(efficiency(pooled=7, rows=pooled, time_ns=100_000), TOTALS)[0] == (
        "aten::mm takes 8.00 µs of 100 µs on the GPU."
    )


def test_rates_are_told_where_no_peak_is_known_and_nothing_where_nothing_is() -> None:
    alone = efficiency(mfu=None, steps=[step(1)])
    assert headline(alone, TOTALS)[1] == "Rate of the step: 186 TFLOP/s."
    empty = replace(alone, steps=[step(1, flops=0, mfu=None)])
    assert headline(empty, replace(TOTALS, modelled=0))[1:] == [
        "No operator of the steps could be modelled."
    ]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["aten::mm", "aten::scaled_dot_product_attention", None]),
            st.integers(1, 10**12),
            st.one_of(st.none(), st.floats(0, 1)),
        ),
        min_size=1,
        max_size=6,
    ),
    st.booleans(),
)
def test_an_answer_has_twelve_words_and_two_quantities(
    drawn: list[tuple[str | None, int, float | None]], has_device: bool
) -> None:
    names, times, over = (list(column) for column in zip(*drawn, strict=True))
    columns = rows(
        name=names,
        kernel=names,
        short_name=names,
        time_ns=times,
        roof=[None if share is None else "matrix bf16" for share in over],
        over_roof_ns=[
            None if share is None else int(share * time)
            for share, time in zip(over, times, strict=True)
        ],
    )
    told = headline(efficiency(rows=columns, time_ns=sum(times), has_device=has_device), TOTALS)[0]
    quantities = re.findall(r"[0-9.\u202f]+ (?:ns|µs|ms|s|min|h)\b", told)
    assert len(quantities) == 2
    assert len(told.split(" ")) - len(quantities) <= 12
