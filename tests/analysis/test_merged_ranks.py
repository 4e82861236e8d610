"""The ranks of a merged file are told apart; no kernel is ever at another rank's operator."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders.drawn import trace_of
from tests.builders.loop import loop
from tests.builders.merged import CLOCKS_US, IDS, LABELS, ORDERS, Variant, any_variant, merged_file
from tests.builders.merged_check import check, merged_trace
from tests.examples import examples
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.merged_ranks import clean, find_ranks, labels_of
from torch_tb_profiler.analysis.facts.rank_parts import UNRANKED, rank_parts
from torch_tb_profiler.analysis.figures.missing_data import absent

variants = st.builds(
    Variant,
    ranks=st.integers(2, 5),
    steps=st.integers(1, 4),
    label=st.none() | st.integers(0, len(LABELS) - 1),
    offset=st.sampled_from((0, 1_000_000)),
    ids=st.sampled_from(IDS),
    order=st.sampled_from(ORDERS),
    own_devices=st.booleans(),
    clock_us=st.sampled_from(CLOCKS_US),
    alike=st.booleans(),
    queued=st.booleans(),
    externals=st.booleans(),
    graphs=st.booleans(),
    seed=st.integers(0, 1 << 32),
)


@given(variants)
@examples(60)
def test_no_kernel_is_ever_at_another_ranks_operator(variant: Variant) -> None:
    told = check(variant)
    assert told.wrong == ()
    ranks = [part for part in told.parts if part != UNRANKED]
    assert len(ranks) == variant.ranks
    if variant.label is not None or (variant.ids == "apart" and not variant.graphs):
        # As in each rank's own file.
        assert told.right == told.launched


@pytest.mark.parametrize("seed", range(40))
def test_nor_in_a_drawn_file_with_losses(seed: int) -> None:
    """A small draw of what ``benchmarks/merged.py`` tries with more seeds."""
    assert check(any_variant(random.Random(seed))).wrong == ()


MANY = Variant(ranks=3, steps=8, alike=True, queued=True)


def test_ranks_of_other_times_are_told_apart_by_them() -> None:
    for clock_us in (50_000, 3_600_000_000):
        told = check(replace(MANY, clock_us=clock_us, order="shuffled"))
        assert told.right == told.launched > 30


def test_ranks_one_after_the_other_are_told_apart_by_their_places_in_the_file() -> None:
    """As PyTorch's ``profile_analysis.py --combine`` writes them: nothing else differs."""
    told = check(MANY)
    assert told.right == told.launched > 30
    # The same events in the order of time fit every rank, so they stay without one.
    told = check(replace(MANY, order="by time"))
    assert (told.right, told.wrong, told.parts[-1]) == (0, (), UNRANKED)


def test_what_is_unclear_is_counted() -> None:
    parts = list(rank_parts(merged_trace(replace(MANY, order="by time"))))
    counts = {part.trace.defects["unclear_rank"] for part in parts}
    rest = parts[-1].trace
    assert counts == {rest["spans"].n}
    facts = derive(rest)
    assert (facts["span_links"]["launch"] == -1).all()
    assert (facts["span_links"]["operator"] == -1).all()


def test_a_file_of_one_rank_is_no_merged_one() -> None:
    assert find_ranks(trace_of(loop())) is None
    # Nor are two devices of one process.
    both = loop(device=0) + loop(first=10, device=1, begin_us=6_000_000_000)
    assert find_ranks(trace_of(both)) is None


def test_a_span_of_the_profiler_is_of_the_ranks_that_it_records() -> None:
    events = merged_file(replace(MANY, order="by time", clock_us=3_600_000_000))["traceEvents"]
    begin = min(event["ts"] for event in events if "dur" in event)
    for number in (0, 1):
        at = {"ts": begin + number * 3_600_000_000, "pid": "Spans", "tid": "PyTorch Profiler"}
        name = f"PyTorch Profiler ({number})"
        events.append({"ph": "X", "cat": "Trace", "name": name, "dur": 100, **at})
    held = {}
    for part in rank_parts(trace_of(events)):
        names = part.trace.strings.many(part.trace["spans"]["name"].tolist())
        held[part.name] = [name for name in names if name.startswith("PyTorch")]
    assert list(held.values()) == [["PyTorch Profiler (0)"], ["PyTorch Profiler (1)"], []]


@pytest.mark.parametrize(
    ("processes", "expected"),
    [
        (["[TP00] 100", "[TP00] 0", "[TP01] 100", "[TP01] 0"], ["TP00", "TP00", "TP01", "TP01"]),
        (["100 (rank 0)", "0 (rank 0)", "7 (rank 1)", "1 (rank 1)"], ["rank 0"] * 2 + ["rank 1"] * 2),
        (["node0 rank1 5", "node0 rank1 0", "node1 rank1 5", "node1 rank1 0"],
         ["node0 rank1"] * 2 + ["node1 rank1"] * 2),
        (["0_100", "0_0", "1_100", "1_0"], ["0", "0", "1", "1"]),
        (["100", "0", "101", "1"], None),
        (["Host 1", "Device 0", "Host 2", "Device 1"], None),
        (["python 100", "GPU 0", "loader 101", "GPU 1"], None),
    ],
)  # fmt: skip
def test_labels_of_processes(processes: list[str], expected: list[str] | None) -> None:
    device = np.array([False, True] * 2)
    labels = labels_of(processes, ~device, device)
    assert (labels and [clean(label) for label in labels]) == expected


def test_no_rank_is_said_to_have_used_no_accelerator() -> None:
    parts = list(rank_parts(merged_trace(replace(MANY, order="by time"))))
    for part in parts:
        lacks = {key for key in absent(derive(part.trace)) if isinstance(key, str)}
        assert not lacks & {"device", "host"}
        assert ("device_of_rank" in lacks) == (part.name != UNRANKED)
