"""Kernel sequences: of drawings, and of a public trace as counted one by one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.builders.drawn import events, trace_of
from tests.loading import load
from torch_tb_profiler.analysis.api_calls.launches import launches_of
from torch_tb_profiler.analysis.api_calls.sequences import MOST, sequence_table
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

US = 1000


def _asked(trace: Trace, longest: int = 8, operator: str = "") -> DisplayTable:
    facts = derive(trace)
    launches = launches_of(trace, facts, Selection(np.arange(facts["steps"].n), True))
    return sequence_table(trace, facts, launches, longest, operator)


def _drawn(drawing: str, longest: int = 8, operator: str = "") -> dict[str, tuple[int, ...]]:
    table = _asked(trace_of(events(drawing)), longest, operator)
    figures = zip(*(table[n] for n in ("count", "device_ns", "gaps_ns", "host_ns")), strict=True)
    return {
        str(text).replace(" → ", " "): (
            int(count),
            *(int(v) // US if v > 0 else int(v) for v in ns),
        )
        for text, (count, *ns) in zip(table.texts("sequence"), figures, strict=True)
    }


def test_the_longest_run_that_repeats_is_counted_with_its_gaps() -> None:
    found = _drawn("gpu 0 {a}{b}  {c}{d}{x}{a}{b}{c}{d}")
    assert found == {"a b c d": (2, 24, 2, -1)}


def test_no_kernel_counts_twice() -> None:
    found = _drawn("gpu 0 {a}{b}{c}{x}{a}{b}{c}{d}{y}{b}{c}{d}")
    # b c d runs twice, once in kernels that a b c has already.
    assert found == {"a b c": (2, 18, 0, -1)}


def test_what_only_repeats_a_shorter_run_is_none() -> None:
    assert _drawn("gpu 0 {a}{a}{a}{a}{a}{a}{a}{a}") == {}
    found = _drawn("gpu 0 {a}{b}{c}{a}{b}{c}{a}{b}{c}{a}{b}{c}", longest=6)
    assert found == {"a b c": (4, 36, 0, -1)}


def test_streams_and_devices_are_apart() -> None:
    assert (
        _drawn("""
        gpu 0   {a}   {c}      {a}   {c}
        gpu 7      {b}            {b}
    """)
        == {}
    )
    both = _drawn("gpu 0 {a}{b}{c}\ngpu 1:0 {a}{b}{c}")
    assert both == {"a b c": (2, 18, 0, -1)}


def test_longest_is_the_limit() -> None:
    drawing = "gpu 0 {a}{b}{c}{d}{x}{a}{b}{c}{d}"
    (text,) = _drawn(drawing, longest=3)
    assert text in ("a b c", "b c d")


BENEATH = """
    main  [attention        ] [mlp  ] [attention        ]
    main    [qk    ][av    ]          [qk    ][av    ]
    main     <L #1>  <L #2>   <L #3>   <L #4>  <L #5>
    gpu 0        {a #1}{b #2}{x #3}       {a #4}{b #5}
"""


def test_beneath_an_operator_a_sequence_is_all_that_a_call_launched() -> None:
    deeper = BENEATH.replace("{b #2}", "{b #2}{c #2}").replace("{b #5}", "{b #5}{c #5}")
    found = _drawn(deeper, operator="attention")
    assert found == {"a b c": (2, 36, 0, 38)}
    assert _drawn(deeper, operator="nothing") == {}
    # Two kernels are no sequence.
    assert _drawn(BENEATH, operator="attention") == {}


@pytest.mark.parametrize("run", ["mi300_resnet_ddp", "h100_owlv2"])
def test_counts_on_a_public_trace_are_those_of_a_slow_count(real_traces: Path, run: str) -> None:
    (path,) = sorted((real_traces / run).glob("*.json.gz"))[:1]
    trace = load(path.as_posix(), Settings()).trace
    table = _asked(trace, longest=5)
    names, lanes = _by_stream(trace)
    texts = table.texts("sequence")
    assert 3 < table.n <= MOST
    taken = Counter[Any]()
    for i, text in enumerate(texts):
        length, count = int(table["length"][i]), int(table["count"][i])
        event = int(table["event"][i])
        lane, place = lanes[event]
        wanted = names[lane][place : place + length]
        runs = _apart(names[lane], wanted)
        assert 2 <= count <= sum(_apart(own, wanted) for own in names.values()), text
        assert runs >= 1
        taken[tuple(wanted)] += 1
    # The first one, with the most device time, has all of its runs.
    event = int(table["event"][0])
    lane, place = lanes[event]
    first = names[lane][place : place + int(table["length"][0])]
    assert int(table["count"][0]) == sum(_apart(own, first) for own in names.values())
    assert max(taken.values()) == 1
    total = int(trace["spans"]["dur"][trace["spans"]["role"] == Role.KERNEL].sum())
    assert int(table["device_ns"].sum()) <= total


def _by_stream(trace: Trace) -> tuple[dict[int, list[int]], dict[int, tuple[int, int]]]:
    """Names of the kernels of each track in order, and where each kernel stands."""
    spans = trace["spans"]
    names: dict[int, list[int]] = {}
    places = {}
    for row in np.flatnonzero(spans["role"] == Role.KERNEL).tolist():
        own = names.setdefault(int(spans["track"][row]), [])
        places[row] = int(spans["track"][row]), len(own)
        own.append(int(spans["name"][row]))
    return names, places


def _apart(names: list[int], wanted: list[int]) -> int:
    count = place = 0
    while place + len(wanted) <= len(names):
        if names[place : place + len(wanted)] == wanted:
            count += 1
            place += len(wanted)
        else:
            place += 1
    return count
