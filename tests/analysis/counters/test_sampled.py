"""Counter samples per step: the mean of the samples in the step's time, the least, the greatest."""

from __future__ import annotations

from typing import Any

from tests.builders.drawn import Event, events, trace_of
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.timeline.counters import series_of
from torch_tb_profiler.store.insight import Insight

STEPS = "main [ProfilerStep#1 ][ProfilerStep#2 ]"
"""Two steps of 17 µs, from 5 µs on."""


def _sample(
    ts: float,
    value: Any,
    name: str = "sm__cycles_active.avg",
    pid: Any = "GPU 0 Counters",
    key: str = "",
) -> Event:
    return {
        "ph": "C",
        "cat": "hardware_counters",
        "name": name,
        "pid": pid,
        "tid": 0,
        "ts": ts,
        "args": {key: value},
    }


def _insight(*more: Event) -> Insight:
    trace = trace_of([*events(STEPS), *more])
    return build_insight(trace, derive(trace))


def _rows(insight: Insight) -> list[tuple[Any, ...]]:
    table, texts = insight["counter_steps"], insight.strings
    columns = [
        texts.many(table["counter"]),
        texts.many(table["device"]),
        *(table[key].tolist() for key in ("step", "samples", "total", "least", "greatest")),
    ]
    return list(zip(*columns, strict=True))


def test_samples_belong_to_the_step_in_whose_time_they_begin() -> None:
    sampled = _insight(_sample(5, 10), _sample(21, 2.5), _sample(22, 100), _sample(39, 7))
    assert _rows(sampled) == [
        ("sm__cycles_active.avg", "GPU 0", -1, 1, 7, 7, 7),
        ("sm__cycles_active.avg", "GPU 0", 0, 2, 12.5, 2.5, 10),
        ("sm__cycles_active.avg", "GPU 0", 1, 1, 100, 100, 100),
    ]


def test_devices_and_keys_are_apart_and_the_most_sampled_stand_first() -> None:
    label: Event = {
        "ph": "M",
        "name": "process_labels",
        "pid": 3,
        "tid": 0,
        "args": {"labels": "GPU 3"},
    }
    named = (_sample(8, 4, "mtia", 3, "power"), _sample(8, "text", "mtia", 3, "state"))
    sampled = _insight(
        _sample(6, 1, pid="GPU 1 Counters"), _sample(6, 2), _sample(7, 3), label, *named
    )
    assert [(name, device, total) for name, device, _, _, total, _, _ in _rows(sampled)] == [
        ("sm__cycles_active.avg", "GPU 0", 5),
        ("sm__cycles_active.avg", "GPU 1", 1),
        ("mtia: power", "GPU 3", 4),
    ]


def test_curves_of_the_timeline_have_the_counters_unit() -> None:
    names = ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "dram__bytes.sum", "jobs")
    trace = trace_of([*events(STEPS), *(_sample(6, 50, name) for name in names)])
    series, _ = series_of(trace, derive(trace))
    assert {one["name"]: one["unit"] for one in series} == {
        "dram__bytes.sum": "bytes",
        "jobs": "",
        "sm__throughput.avg.pct_of_peak_sustained_elapsed": "%",
    }
