"""Curves against following every nanosecond."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.timeline.charts import Chart, chart, chart_drawn
from tests.builders.allocator import records
from tests.builders.drawn import Event, events, trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.timeline import counter_samples, counters
from torch_tb_profiler.analysis.timeline.counters import Curve, edges, in_buckets
from torch_tb_profiler.store import timeline_schema
from torch_tb_profiler.store.columns import Table

US = 1000
DRAWING = """
main   [mm                                       ]
main    <launch #1><launch #2><launch #3>
gpu 7          {gemm #1           }
gpu 8               {half #2           }
gpu 7                              {tail #3   }
"""


def curve(found: Chart, key: str) -> list[tuple[float, float]]:
    """(µs, value) of every sample of a series."""
    series = next(s for s in found[2].about["series"] if s["key"] == key)
    rows = slice(series["first"], series["first"] + series["count"])
    table = found[2]["samples"]
    return list(
        zip((table["time"][rows] / US).tolist(), table["value"][rows].tolist(), strict=True)
    )


def keys(found: Chart) -> list[str]:
    return [series["key"] for series in found[2].about["series"]]


def counter(name: str, ts: float, pid: int = 1, **values: Any) -> Event:
    return {
        "ph": "C",
        "name": name,
        "pid": pid,
        "tid": 0,
        "ts": ts,
        "cat": "hardware_counters",
        "args": values,
    }


def memory(ts: float, kind: int, device: int, allocated: int, reserved: int) -> Event:
    args = {
        "Device Type": kind,
        "Device Id": device,
        "Bytes": 1,
        "Addr": 1,
        "Total Allocated": allocated,
        "Total Reserved": reserved,
    }
    return {
        "ph": "i",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "pid": 100,
        "tid": 1,
        "ts": ts,
        "s": "t",
        "args": args,
    }


def test_a_device_is_used_while_a_kernel_runs() -> None:
    example = chart_drawn(DRAWING)
    assert curve(example, "utilization:0") == [(0, 0), (8, 1), (40, 0)]
    assert example[2].about["series"][0] == {
        "key": "utilization:0",
        "name": "Device 0: utilization",
        "track": 1,
        "unit": "share",
        "mean": True,
        "lowest": 0.0,
        "highest": 1.0,
        "first": 0,
        "count": 3,
        "thinned": False,
    }


def test_work_waits_in_the_queue_from_its_launch_to_its_begin() -> None:
    assert curve(chart_drawn(DRAWING), "queue:0") == [
        (0, 0),
        (1, 1),
        (8, 0),
        (12, 1),
        (13, 0),
        (23, 1),
        (28, 0),
    ]


def test_work_that_begins_before_its_launch_was_never_queued() -> None:
    example = chart_drawn("""
        main      [mm        ]
        main          <launch #1>
        gpu 7   {gemm #1 }
    """)
    assert "queue:0" not in keys(example)


def test_sm_efficiency_is_what_kernels_ask_for_but_never_more_than_all() -> None:
    args = {"gemm": {"blocks per SM": 0.5}, "half": {"blocks per SM": 0.75}}
    assert curve(chart_drawn(DRAWING, args=args), "sm_efficiency:0") == [
        (0, 0),
        (8, 0.5),
        (13, 1),
        (28, 0.75),
        (33, 0),
    ]
    assert "sm_efficiency:0" not in keys(chart_drawn(DRAWING))


def test_shared_memory_is_added_to_the_hosts_totals_that_leave_it_out() -> None:
    # As ATen's MapAllocator writes it: total 0, and its own size as reserved.
    written = """
        main 5 cpu a  +100 100   0
        main 6 cpu m +5000   0 5000
        main 7 cpu b   +50 150   0
        main 8 cpu m -5000   0   0
    """
    example = chart(trace_of([*events("main [a   ]"), *records(written)]))
    assert keys(example) == ["allocated:0:-1"]
    assert curve(example, "allocated:0:-1") == [(0, 100), (1, 5100), (2, 5150), (3, 150)]


def test_memory_of_each_device() -> None:
    listed = [
        *events("main [a   ]"),
        memory(5, 0, -1, 10, 0),
        memory(6, 1, 0, 100, 200),
        memory(7, 1, 0, 150, 200),
        memory(8, 1, 0, 150, 300),
        memory(9, 1, 1, 7, 8),
    ]
    example = chart(trace_of(listed))
    assert keys(example) == [
        "allocated:0:-1",
        "allocated:1:0",
        "reserved:1:0",
        "allocated:1:1",
        "reserved:1:1",
    ]
    assert curve(example, "allocated:1:0") == [(1, 100), (2, 150)]
    assert curve(example, "reserved:1:0") == [(1, 200), (3, 300)]
    assert [s["name"] for s in example[2].about["series"]][:2] == [
        "Host: memory allocated",
        "Device 0: memory allocated",
    ]


def test_counters_of_the_file() -> None:
    listed = [
        *events("main [a   ]"),
        counter("queue", 5, length=3, depth=1.5),
        counter("queue", 7, length=3),
        counter("queue", 8, length=4),
        counter("sm__cycles", 6, pid=7, **{"": 12.0}),
        counter("none", 6, text="1", flag=True, many=10**400, nothing=None),
        counter("queue", 6, pid=7, length=9),
    ]
    example = chart(trace_of(listed))
    assert keys(example) == [
        "counter:1:queue:length",
        "counter:1:queue:depth",
        "counter:7:queue:length",
        "counter:7:sm__cycles:",
    ]
    assert curve(example, "counter:1:queue:length") == [(0, 3), (3, 4)]
    assert curve(example, "counter:7:sm__cycles:") == [(1, 12)]
    assert [s["name"] for s in example[2].about["series"]] == [
        "queue: length",
        "queue: depth",
        "queue: length",
        "sm__cycles",
    ]


def test_a_file_with_nothing_but_counters() -> None:
    example = chart(trace_of([counter("queue", 5, length=3)]))
    assert example[2]["lanes"].n == 0
    assert curve(example, "counter:1:queue:length") == [(0, 3)]


@pytest.mark.parametrize("args", ["x", 1, [], [1], {}, None, {"a": {"b": 1}}, {"a": "1e5"}])
def test_arguments_that_are_no_samples(args: Any) -> None:
    example = chart(
        trace_of(
            [
                *events("main [a   ]"),
                {"ph": "C", "name": "c", "pid": 1, "tid": 1, "ts": 6, "args": args},
            ]
        )
    )
    assert keys(example) == []


def test_a_file_of_many_counters_keeps_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counter_samples, "MOST_SERIES", 2)
    listed = [counter(f"c{i}", 5 + k, v=k) for i in range(4) for k in range(i + 1)]
    assert keys(chart(trace_of([*events("main [a   ]"), *listed]))) == [
        "counter:1:c3:v",
        "counter:1:c2:v",
    ]


SAMPLES = st.lists(st.tuples(st.integers(-3, 40), st.integers(0, 5)), min_size=1, max_size=30).map(
    lambda s: sorted(s, key=lambda x: x[0])
)


def table_of(samples: list[tuple[int, int]], most: int) -> tuple[dict[str, Any], Table]:
    found = Curve(
        "k",
        "n",
        -1,
        "",
        True,
        np.array([t for t, _ in samples]),
        np.array([float(v) for _, v in samples]),
    )
    time, value, integral, distinct = counters._finished(found, most)
    return {
        "first": 0,
        "count": len(time),
        "thinned": len(time) < distinct,
    }, timeline_schema.SAMPLES.build(time=time, value=value, integral=integral)


def expected(
    samples: list[tuple[int, int]], begin: int, end: int
) -> tuple[float | None, float | None, float | None]:
    """Lowest, highest and mean of one bucket: every value held at some time of it, and nanosecond
    by nanosecond.
    """
    held = [v for t, v in samples if t <= begin][-1:]
    before = [] if any(t == begin for t, _ in samples) else held
    values = before + [v for t, v in samples if begin <= t < end] if end > begin else held
    if not values:
        return None, None, None
    steps = [
        [v for t, v in samples if t <= now][-1] for now in range(begin, end) if samples[0][0] <= now
    ]
    return min(values), max(values), sum(steps) / len(steps) if steps else held[0]


@examples(300)
@given(
    samples=SAMPLES, begin=st.integers(0, 45), length=st.integers(1, 45), parts=st.integers(1, 12)
)
def test_buckets(samples: list[tuple[int, int]], begin: int, length: int, parts: int) -> None:
    series, table = table_of(samples, 1 << 20)
    samples = [
        sample for at, sample in enumerate(samples) if not at or sample[1] != samples[at - 1][1]
    ]
    borders = edges(begin, begin + length, parts)
    buckets = in_buckets(table, series, borders)
    for at in range(parts):
        low, high, mean = expected(samples, int(borders[at]), int(borders[at + 1]))
        got = [
            None if np.isnan(v) else float(v)
            for v in (buckets.lowest[at], buckets.highest[at], buckets.mean[at])
        ]
        assert got[:2] == [low, high]
        assert got[2] == (mean if mean is None else pytest.approx(mean, abs=1e-9))


@examples(200)
@given(
    values=st.lists(st.tuples(st.integers(1, 9), st.integers(0, 50)), min_size=30, max_size=120),
    most=st.integers(4, 40),
)
def test_a_thinned_series_keeps_extremes_and_means_of_its_buckets(
    values: list[tuple[int, int]], most: int
) -> None:
    time = np.cumsum([gap for gap, _ in values])
    samples = list(zip(time.tolist(), [value for _, value in values], strict=True))
    series, table = table_of(samples, most)
    whole_series, whole = table_of(samples, 1 << 20)
    assert table.n <= max(most, 4) or not series["thinned"]
    borders = np.array([time[0], time[-1] + 1])
    thin, full = (in_buckets(t, s, borders) for t, s in ((table, series), (whole, whole_series)))
    assert (thin.lowest[0], thin.highest[0]) == (full.lowest[0], full.highest[0])
    assert thin.mean[0] == pytest.approx(full.mean[0])
    # At the samples that stay the integral is exact, so the mean between any two of them is.
    borders = table["time"]
    if len(borders) > 1:
        assert np.allclose(
            in_buckets(table, series, borders).mean, in_buckets(whole, whole_series, borders).mean
        )


def test_means_are_exact_where_nothing_changes() -> None:
    """The integral of gigabytes over a minute has no room for the bytes of a nanosecond."""
    series, table = table_of([(0, 10**11), (60 * 10**9, 10**11 + 3), (61 * 10**9, 5)], 1 << 20)
    buckets = in_buckets(table, series, edges(60 * 10**9 + 5, 60 * 10**9 + 25, 20))
    assert buckets.mean.tolist() == [10**11 + 3] * 20
