"""Whatever the ranges, launches, kernels and samples of a trace: nothing is dropped, nothing is
tied twice, and the page can be written.
"""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.figures import everything
from tests.builders.drawn import trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.counters.profiled import profiled_kernels
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.profiled_ranges import RangeMatch
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.views.wire import to_json
from torch_tb_profiler.views.work.counters import counters_table_payload

COUNTERS = [
    f"smsp__sass_thread_inst_executed_op_f{kind}_pred_on.sum" for kind in ("add", "mul", "fma")
]
SPAN = st.fixed_dictionaries(
    {
        "ph": st.just("X"),
        "cat": st.sampled_from(
            ["cpu_op", "user_annotation", "cuda_runtime", "cuda_runtime", "cuda_driver", "kernel"]
        ),
        "name": st.sampled_from(
            [
                "cudaLaunchKernel",
                "cuLaunchKernel",
                "cudaGraphLaunch",
                "cudaMemcpyAsync",
                "mul",
                "add",
                "ProfilerStep#1",
                "ProfilerStep#2",
            ],
        ),
        "pid": st.integers(0, 1),
        "tid": st.integers(0, 1),
        "ts": st.integers(0, 60),
        "dur": st.integers(0, 40),
        "args": st.fixed_dictionaries({}, optional={"correlation": st.integers(1, 4)}),
    }
)
RANGE = st.fixed_dictionaries(
    {
        "ph": st.just("X"),
        "cat": st.just("cuda_profiler_range"),
        "name": st.sampled_from(["mul", "add", "__missing__"]),
        "pid": st.sampled_from([0, 0, 0, 1, "x"]),
        "tid": st.just(0),
        "ts": st.integers(0, 60),
        "dur": st.sampled_from([0, 10, 10, 10, 60]),
        "args": st.dictionaries(
            st.sampled_from([*COUNTERS, "dram__bytes.sum", ""]),
            st.one_of(st.integers(-3, 1 << 70), st.floats(), st.text(max_size=2)),
            max_size=5,
        ),
    }
)
SAMPLE = st.fixed_dictionaries(
    {
        "ph": st.just("C"),
        "cat": st.just("hardware_counters"),
        "name": st.sampled_from(["a", "b"]),
        "pid": st.sampled_from(["GPU 0 Counters", 3]),
        "tid": st.just(0),
        "ts": st.integers(0, 90),
        "args": st.dictionaries(
            st.sampled_from(["", "k"]),
            st.one_of(st.integers(-9, 9), st.booleans(), st.text(max_size=2)),
            max_size=2,
        ),
    }
)


@examples(100)
@given(st.lists(st.one_of(SPAN, SPAN, RANGE, SAMPLE), max_size=25))
def test_counters_hold_together(listed: list[dict[str, Any]]) -> None:
    trace = trace_of(listed)
    facts = derive(trace)
    insight = build_insight(trace, facts)
    _check_ties(trace, facts)
    _check_samples(trace, facts, insight)
    payload = counters_table_payload(trace, facts, insight, everything(facts), 1000)
    found = json.loads(to_json(payload))
    assert len(found["profiled"]["kernel"]) == sum(
        event["cat"] == "cuda_profiler_range" for event in listed
    )
    by_step = [
        counters_table_payload(trace, facts, insight, select(facts, row, row), 1000)
        for row in range(facts["steps"].n)
    ]
    assert sum(len(part.profiled["kernel"]) for part in by_step) == sum(
        step is not None for step in found["profiled"]["step"]
    )


def _check_ties(trace: Trace, facts: Facts) -> None:
    spans, found = trace["spans"], profiled_kernels(trace, facts)
    launches = found.launches
    assert launches.row.tolist() == np.flatnonzero(spans["role"] == Role.COUNTER_RANGE).tolist()
    tied = launches.launch[launches.launch >= 0]
    assert len(set(tied.tolist())) == len(tied)
    assert (spans["role"][tied] == Role.RUNTIME).all()
    assert (
        (launches.launch < 0)
        == np.isin(
            launches.how, (RangeMatch.WHOLE, RangeMatch.NO_LAUNCH, RangeMatch.SEVERAL_DEVICES)
        )
    ).all()
    for device in np.unique(launches.device).tolist():
        ordered = launches.launch[
            (launches.device == device)
            & np.isin(launches.how, (RangeMatch.BY_ORDER, RangeMatch.BY_BEGIN))
        ]
        assert (np.diff(ordered) > 0).all()
    ends = spans["start"] + spans["dur"]
    for i, launch in enumerate(launches.launch.tolist()):
        path = [
            *found.operators[found.first[i] : found.first[i + 1]].tolist(),
            *([launch] if launch >= 0 else []),
        ]
        assert all(
            spans["start"][a] <= spans["start"][b] and ends[a] >= ends[b] for a, b in pairwise(path)
        )
        assert all(spans["role"][row] == Role.OPERATOR for row in path[:-1])


def _check_samples(trace: Trace, facts: Facts, insight: Insight) -> None:
    """Against a plain loop over the samples."""
    instants, tracks, steps = trace["instants"], trace["tracks"], facts["steps"]
    expected: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    for row in np.flatnonzero(instants["args"] >= 0).tolist():
        name, pid = (
            trace.strings[int(instants["name"][row])],
            trace.strings[int(tracks["pid"][instants["track"][row]])],
        )
        time = int(instants["time"][row])
        step = next((i for i in range(steps.n) if steps["start"][i] <= time < steps["end"][i]), -1)
        for key, value in json.loads(trace.strings[int(instants["args"][row])]).items():
            if isinstance(value, int) and not isinstance(value, bool):
                expected[
                    ": ".join(filter(None, (name, key))), pid.removesuffix(" Counters"), step
                ].append(value)
    table = insight["counter_steps"]
    keys = zip(
        insight.strings.many(table["counter"]),
        insight.strings.many(table["device"]),
        table["step"].tolist(),
        strict=True,
    )
    found = dict(
        zip(
            keys,
            zip(
                *(table[key].tolist() for key in ("samples", "total", "least", "greatest")),
                strict=True,
            ),
            strict=True,
        )
    )
    assert found == {
        key: (len(values), pytest.approx(sum(values)), min(values), max(values))
        for key, values in expected.items()
    }
