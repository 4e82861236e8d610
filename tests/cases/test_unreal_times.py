"""Events whose time is none take part in nothing; recordings that pause for hours stay whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from tests.builders import loop
from tests.examples import examples
from tests.importers.reading import Stream, rows
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.model import Trace

Event = dict[str, Any]
CENTURY_US = 100 * 365 * 86400 * 10**6
HOUR_US = 3600 * 10**6


def read(events: list[Event], chunk: int = 2 << 20, base_ns: int | None = loop.BASE_NS) -> Trace:
    text = json.dumps(loop.document(events, base_ns=base_ns)).encode()
    return read_trace(Stream(text), Settings(chunk_bytes=chunk))


def figures(trace: Trace) -> dict[str, Any]:
    """Everything in the tables but the positions in the file, and the facts of them."""
    facts = derive(trace)
    tables = {
        name: [
            tuple(
                v
                for v, column in zip(row, trace[name].spec.columns, strict=True)
                if column.name != "ordinal"
            )
            for row in listed
        ]
        for name, listed in rows(trace).items()
        if name != "tracks"
    }
    return {
        "tables": tables,
        "origin": trace.origin_ns,
        "steps": {key: facts["steps"][key].tolist() for key in facts["steps"] if key != "name"},
        "busy": facts["device_steps"]["busy"].tolist(),
        "summary": to_builtins(facts.summary),
    }


def unset(kind: str, at: float, number: int) -> Event:
    """An event of a kind, of no length, at a time."""
    where = {"pid": 100, "tid": 100, "ts": at}
    if kind == "span":
        return loop.span("cpu_op", f"op{number}", 100, 100, at, 0.0)
    if kind == "kernel":
        return loop.span("kernel", "gemm_kernel", 0, 7, at, 0.0, correlation=10**6 + number)
    if kind == "counter":
        return {"ph": "C", "name": "power", **where, "args": {"W": 5}}
    if kind == "flow":
        return {"ph": "s", "name": "ac2g", "cat": "ac2g", "id": 10**6 + number, **where}
    if kind == "memory":
        args = {"Device Type": 0, "Device Id": -1, "Addr": 5, "Bytes": 5, "Total Allocated": 5}
        return {"ph": "i", "name": "[memory]", **where, "args": args}
    return {"ph": "i", "name": f"mark{number}", "s": "t", **where}


def test_base_of_the_cases() -> None:
    trace = read(loop.loop())
    steps = derive(trace)["steps"]
    assert (steps["end"] - steps["start"]).tolist() == [10**6] * 3
    for key, ns in (
        ("kernel", 450_000),
        ("runtime", 60_000),
        ("cpu_exec", 190_000),
        ("other", 300_000),
    ):
        assert steps[key].tolist() == [ns] * 3
    assert not any(kind.severity == d.Severity.DATA_LOSS for kind, _ in trace.defects)


def _mm(
    correlation: int, at: float, host_us: float, begins: float, device_us: float
) -> list[Event]:
    return loop.launched("aten::mm", "gemm_kernel", at, host_us, begins, device_us, correlation)


@pytest.mark.parametrize("order", ["first", "last", "between"])
def test_exporter_that_wrote_zero_for_half_of_the_events(order: str) -> None:
    begin = loop.FIRST_US
    good = [_mm(k, begin + 1000 * k, 200, begin + 200 + 1000 * k, 400) for k in range(5)]
    bad = [
        [
            event | {"ts": 0.0} | ({"dur": 0.0} if "dur" in event else {})
            for event in _mm(10 + k, begin, 200, begin, 400)
        ]
        for k in range(5)
    ]
    groups = {"first": bad + good, "last": good + bad}.get(
        order, [e for pair in zip(good, bad, strict=True) for e in pair]
    )
    trace = read([event for group in groups for event in group])
    facts = derive(trace)
    assert facts.summary.span_ns == 4_600_000
    steps = facts["steps"]
    assert (steps["kernel"].tolist(), (steps["end"] - steps["start"]).tolist()) == (
        [2_000_000],
        [4_600_000],
    )
    assert trace.defects[d.UNREAL_TIME] == 25
    assert int(facts["operator_steps"]["calls"].sum()) == 5
    assert trace["spans"]["dur"].min() > 0


def test_one_kernel_without_a_time() -> None:
    begin = loop.FIRST_US
    events = [
        e for k in range(10) for e in _mm(k, begin + 1000 * k, 200, begin + 200 + 1000 * k, 400)
    ]
    kernel = [e for e in events if e.get("cat") == "kernel"][-1]
    kernel |= {"ts": 0.0, "dur": 0.0}
    trace = read(events)
    assert derive(trace).summary.span_ns == 9_200_000
    assert trace.defects.as_dict() == {d.UNREAL_TIME: 1}


@examples(60)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["span", "kernel", "counter", "flow", "memory", "instant"]),
            st.one_of(
                st.just(0.0),
                st.integers(-30 * CENTURY_US // 100, -HOUR_US // 60),
                st.just(-loop.BASE_NS // 1000),
                st.integers(CENTURY_US // 100, 30 * CENTURY_US // 100),
            ),
            st.floats(0, 1),
        ),
        min_size=1,
        max_size=12,
    ),
    st.integers(1, 6),
    st.sampled_from([64, 900, 2 << 20]),
)
def test_whatever_has_no_time_changes_nothing_and_is_counted(
    odd: list[tuple[str, float, float]], steps: int, chunk: int
) -> None:
    events = loop.loop(steps)
    mixed = list(events)
    for number, (kind, at, where) in enumerate(odd):
        mixed.insert(int(where * len(mixed)), unset(kind, at, number))
    trace = read(mixed, chunk)
    assert figures(trace) == figures(read(events))
    assert trace.defects[d.UNREAL_TIME] + trace.defects[d.FAR_EVENT] == len(odd)
    instants = sum(kind == "instant" for kind, _, _ in odd)
    assert trace.defects[d.FAR_EVENT] == instants


@examples(40)
@given(
    st.lists(st.integers(1, 20 * 3600), min_size=2, max_size=12),
    st.integers(0, 10**12),
    st.sampled_from([None, loop.BASE_NS]),
    st.sampled_from(["counter", "memory", "instant", "step"]),
)
def test_true_long_recordings_stay_whole(
    pauses_s: list[int], begin: int, base_ns: int | None, kind: str
) -> None:
    at, events = begin + 1, loop.loop(2, begin_us=begin + 1)
    for number, pause in enumerate(pauses_s):
        at += pause * 10**6
        events += loop.step(9 + number, at) if kind == "step" else [unset(kind, at, number)]
    trace = read(events, base_ns=base_ns)
    assert trace.defects[d.UNREAL_TIME] == trace.defects[d.FAR_EVENT] == 0


_KINDS = ["span", "kernel", "counter", "flow", "memory", "instant"]


@examples(40)
@given(
    st.sampled_from(_KINDS),
    st.none() | st.sampled_from(_KINDS),
    st.floats(10, 40_000),
    st.booleans(),
    st.integers(2, 5),
    st.sampled_from([64, 2 << 20]),
)
def test_lone_event_far_from_all_others_changes_nothing_and_is_counted(
    kind: str, other: str | None, away_s: float, late: bool, steps: int, chunk: int
) -> None:
    """Before or behind, of any kind; ``other``: one on the other side, too."""
    begin = loop.FIRST_US + 10**12
    events = loop.loop(steps, begin_us=begin)
    before, behind = begin - away_s * 10**6, begin + (away_s + 1) * 10**6
    odd = [unset(kind, behind if late else before, 0)]
    if other is not None:
        odd.append(unset(other, before if late else behind, 1))
    trace = read([*events, *odd] if late else [*odd, *events], chunk)
    assert figures(trace) == figures(read(events))
    assert trace.defects[d.UNREAL_TIME] + trace.defects[d.FAR_EVENT] == len(odd)


@examples(40)
@given(st.sampled_from(_KINDS), st.floats(0.1, 999), st.integers(2, 60), st.booleans())
def test_mark_before_a_pause_stays(kind: str, times: float, steps: int, late: bool) -> None:
    """A pause of less than 10 s, or of less than a thousand times what is recorded, is no error of a clock."""
    begin, length = loop.FIRST_US + 10**12, 1000 * steps
    pause = min(times * length, 9.9e6) if steps < 30 else times * length
    mark = unset(kind, begin + length + pause if late else begin - pause, 0)
    trace = read([*loop.loop(steps, begin_us=begin), mark])
    assert trace.defects[d.UNREAL_TIME] == trace.defects[d.FAR_EVENT] == 0


@pytest.mark.parametrize("size", [(2, 2), (1, 2), (2, 60)])
def test_two_clusters_and_sparse_recordings_stay(size: tuple[int, int]) -> None:
    """A warm-up long before, marks every minute, and one operator that fills the pause."""
    first, second = size
    begin = loop.FIRST_US + 10**12
    steps = loop.loop(second, begin_us=begin)
    for others in (
        loop.loop(first, begin_us=begin - 600 * 10**6),
        [unset("instant", begin - k * 60 * 10**6, k) for k in range(1, 1 + 2 * first)],
        [loop.span("cpu_op", "serve", 100, 100, begin - 600 * 10**6, 590e6)],
    ):
        trace = read([*steps, *others])
        assert trace.defects[d.UNREAL_TIME] == trace.defects[d.FAR_EVENT] == 0


@examples(30)
@given(st.integers(1, 4000), st.integers(1, 3600), st.integers(3, 40))
def test_zero_before_hours_of_counters(begin_s: int, period_s: int, samples: int) -> None:
    """A zero counts as unset before a long recording too, if it is farther than one sample from the next."""
    begin = (begin_s + 3601) * 10**6
    events = [unset("counter", begin + k * period_s * 10**6, k) for k in range(samples)]
    events += loop.loop(2, begin_us=begin)
    trace = read([*events, unset("span", 0.0, 0)])
    assert trace.defects[d.UNREAL_TIME] == 1
    assert trace.origin_ns == begin * 1000


@pytest.mark.parametrize("base_ns", [None, loop.BASE_NS])
def test_recording_that_begins_at_zero(base_ns: int | None) -> None:
    events = [unset("span", 0.0, 0), *loop.loop(2, begin_us=200)]
    trace = read(events, base_ns=base_ns)
    assert (trace["spans"].n, trace.defects[d.UNREAL_TIME]) == (17, 0)


def test_begin_without_a_time_encloses_nothing() -> None:
    marks = [
        {"ph": "B", "name": "epoch", "cat": "cpu_op", "pid": 100, "tid": 100, "ts": 0},
        {"ph": "E", "pid": 100, "tid": 100, "ts": loop.FIRST_US + 2500},
    ]
    trace = read([*loop.loop(3), *marks])
    assert derive(trace).summary.span_ns == 3_000_000
    assert trace.defects.as_dict() == {d.UNREAL_TIME: 1, d.UNMATCHED_END: 1}
