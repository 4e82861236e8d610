"""No time is claimed twice; a lead is spent once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.findings.cases import launched, made, span, steps
from tests.builders.drawn import Event
from tests.examples import examples
from torch_tb_profiler.analysis.arrays.intervals import Intervals, intersect, union
from torch_tb_profiler.analysis.findings.ledger import (
    NOTHING,
    THRESHOLD,
    Candidate,
    settle,
    spent,
    take,
    worth,
)

HOLDS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=8)
GAPS = st.lists(st.tuples(st.integers(1, 10), st.integers(1, 10)), max_size=8)


def _gaps(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Disjoint gaps from (distance, length)."""
    length = np.array([b for _, b in pairs], np.int64)
    end = np.cumsum(np.array([a + b for a, b in pairs], np.int64))
    return end - length, end


@given(HOLDS, GAPS)
def test_a_lead_is_spent_as_counting_says(
    holds: list[tuple[int, int]], pairs: list[tuple[int, int]]
) -> None:
    holds = sorted(holds)
    begin, length = (np.array([hold[i] for hold in holds], np.int64) for i in (0, 1))
    gap_start, gap_end = _gaps(pairs)
    closed, of = spent(begin, length, gap_start, gap_end)
    credit, waiting = 0, list(zip(begin.tolist(), length.tolist(), strict=True))
    for place, (low, high) in enumerate(zip(gap_start.tolist(), gap_end.tolist(), strict=True)):
        while waiting and waiting[0][0] < high:
            credit += waiting.pop(0)[1]
        expected = min(credit, high - low)
        credit -= expected
        assert closed[place] == expected
        if expected:
            assert begin[of[place]] < high
            assert length[of[place]] > 0
        else:
            assert of[place] == -1
    assert closed.sum() <= length.sum()


CLAIMS = st.lists(st.tuples(st.integers(0, 90), st.integers(0, 40)), min_size=1, max_size=5)


@given(st.lists(CLAIMS, min_size=1, max_size=6))
def test_claims_share_no_time(several: list[list[tuple[int, int]]]) -> None:
    windows = Intervals(np.array([5, 60]), np.array([50, 110]))
    taken, total = NOTHING, 0
    for pairs in several:
        start = np.array([a for a, _ in pairs], np.int64)
        claim = settle(
            Candidate(np.arange(len(pairs)), start, start + np.array([b for _, b in pairs])),
            taken,
            windows,
        )
        assert intersect(claim.own, taken).length == 0
        assert intersect(claim.own, windows).length == claim.own.length
        assert (claim.cost > 0).all()
        assert (np.diff(claim.cost) <= 0).all()
        if worth(claim, windows):
            assert claim.own.length >= THRESHOLD * windows.length
            taken, total = take(taken, claim), total + claim.own.length
    assert total == taken.length <= windows.length


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(
            (
                "k",
                "volta_sgemm_128x64_nn",
                "ncclDevKernel_AllReduce",
                "Memcpy HtoD (Pageable -> Device)",
                "cudaStreamSynchronize",
                "cudaMalloc",
                "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                "Buffer Flush",
                "aten::mm",
                "gloo:all_reduce",
            )
        ),
        st.integers(0, 1900),
        st.integers(1, 400),
        st.integers(1, 300),
    ),
    max_size=25,
)


def _entries(drawn: list[tuple[str, int, int, int]]) -> list[Event]:
    entries = steps((0, 700), (700, 1300), (1300, 2000))
    for number, (name, begin, length, ahead) in enumerate(drawn):
        if name.startswith("cuda"):
            entries.append(span("cuda_runtime", name, begin, length))
        elif name.startswith(("enumerate", "gloo")):
            entries.append(
                span("user_annotation", name, begin, length, tid=1 + name.startswith("gloo"))
            )
        elif name == "Buffer Flush":
            entries.append(span("overhead", name, begin, length, tid=9))
        elif name.startswith("aten"):
            entries.append(span("cpu_op", name, begin, length))
        else:
            category = "gpu_memcpy" if name.startswith("Memcpy") else "kernel"
            entries += launched(
                name,
                number + 1,
                max(0, begin - ahead),
                begin,
                length,
                stream=7 + number % 2,
                category=category,
            )
    return entries


@examples(60)
@given(EVENTS)
def test_all_findings_together_are_no_more_than_the_step(
    drawn: list[tuple[str, int, int, int]],
) -> None:
    found = made(
        _entries(drawn), deviceProperties=[{"id": 0, "name": "NVIDIA A100", "computeMajor": 8}]
    )
    costing = [item for item in found["found"] if item["recoverable_ns"] is not None]
    assert sum(item["recoverable_ns"] for item in costing) <= found["step_ns"]
    for item in costing:
        assert item["share"] >= THRESHOLD
        assert item["count"] >= len(item["rows"]) > 0
        assert abs(item["recoverable_ns"] / found["step_ns"] - item["share"]) < 0.01


def test_windows_without_time_have_no_findings() -> None:
    assert made([])["found"] == []
    assert made([])["step_ns"] is None
    assert union(np.zeros(0, np.int64), np.zeros(0, np.int64)).length == 0
