"""How far an answer is, in words."""

from __future__ import annotations

import pytest

from torch_tb_profiler.views.waiting import WaitingPayload, waiting_payload

WIDTHS = {"read": 0.5, "arrange": 0.1, "analyse": 0.4}


def told(
    phase: str,
    begun: bool = True,
    size: int = 2_700_000,
    ready: int = 0,
    total: int = 1,
    **more: str,
) -> WaitingPayload:
    return waiting_payload(0.99999, phase, begun, WIDTHS.items(), size, ready, total, **more)


@pytest.mark.parametrize(
    ("found", "label"),
    [
        (told("read", False), "Waiting to be read"),
        (told("read"), "Reading 2.57 MiB"),
        (told("read", size=0), "Reading"),
        (told("arrange"), "Arranging the events"),
        (told("analyse"), "Finding what holds the step back"),
        (told("lay_out"), "Laying out the timeline"),
        (told("analyse", ready=3, total=8), "3 of 8 ranks read"),
        (told("read", ready=1, total=2, traces="recordings"), "1 of 2 recordings read"),
    ],
)
def test_what_happens_now(found: WaitingPayload, label: str) -> None:
    assert found.label == label
    assert found.progress < 1


def test_the_phases_of_one_trace_are_told_and_those_of_several_are_not() -> None:
    parts = [(part.name, part.share) for part in told("read").parts]
    assert parts == [("Read", 0.5), ("Arrange", 0.1), ("Analyse", 0.4)]
    assert told("read", total=8).parts == []
