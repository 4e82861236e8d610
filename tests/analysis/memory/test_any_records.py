"""Whatever stands in the records: the tables are made, every question is answered, and what is
listed adds up.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.memory.recorded import built
from tests.builders.drawn import trace_of
from tests.builders.loop import span
from tests.examples import examples
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.views.memory.payload import (
    memory_curve_payload,
    memory_payload,
    whole_window,
)
from torch_tb_profiler.views.memory.tables import (
    memory_alive_payload,
    memory_blocks_payload,
    memory_statistics_payload,
)
from torch_tb_profiler.views.memory.wire import HeldFrames
from torch_tb_profiler.views.wire import to_json

NUMBER = st.one_of(
    st.integers(-3, 40),
    st.sampled_from(
        [0, -1, 1 << 31, 1 << 47, 1 << 52, -(1 << 62), (1 << 63) - 1, 1 << 64, 1 << 90]
    ),
)
VALUE: st.SearchStrategy[Any] = st.one_of(
    NUMBER, st.sampled_from([None, "7", "", 1.5, True, [], {}])
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(
        ["Device Type", "Device Id", "Addr", "Bytes", "Total Allocated", "Total Reserved"]
    ),
    VALUE,
)
RECORD = st.builds(
    lambda ts, tid, args: {
        "ph": "i",
        "s": "t",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "pid": 1,
        "tid": tid,
        "ts": ts,
        "args": args,
    },
    st.one_of(st.integers(0, 50), st.sampled_from([-5, 10**15, 0.001])),
    st.integers(0, 2),
    ARGUMENTS,
)
CALL = st.builds(
    lambda ts, dur, tid, name, cat: span(cat, name, 1, tid, ts, dur),
    st.integers(0, 50),
    st.integers(0, 30),
    st.integers(0, 2),
    st.sampled_from(["aten::mm", "nn.Module: Linear_0", "train.py(3): step", "ProfilerStep#1"]),
    st.sampled_from(["cpu_op", "python_function", "user_annotation", "cuda_runtime"]),
)


def adds_up(frames: HeldFrames, whole: int) -> None:
    """Frames are as wide as all of it, and none is narrower than those beneath it."""
    beneath = dict.fromkeys(range(-1, len(frames.parent)), 0)
    for place, (parent, size) in enumerate(zip(frames.parent, frames.bytes, strict=True)):
        assert parent < place
        beneath[parent] += size
    assert beneath[-1] == whole
    assert all(beneath[place] <= size for place, size in enumerate(frames.bytes))


@examples(150)
@given(
    st.lists(RECORD, max_size=25),
    st.lists(CALL, max_size=15),
    st.integers(0, 60_000),
    st.integers(1, 5),
)
def test_any_records(
    listed: list[dict[str, Any]], calls: list[dict[str, Any]], time: int, limit: int
) -> None:
    trace = trace_of([*listed, *calls])
    facts = derive(trace)
    found = built(trace, facts)
    view = memory_payload(trace, facts, found)
    assert found["memory_curve"].n + found.about["memory_left_out"] == trace["memory"].n
    for device in (item.key for item in view.devices):
        curve = memory_curve_payload(found, device, whole_window(trace, facts), 8)
        assert len({len(values) for values in curve.rows.values()}) == 1
        for window in (None, (time, time + 9_000)):
            blocks = memory_blocks_payload(found, device, window, limit)
            assert len(blocks.rows["bytes"]) <= limit
            for statistics in (
                memory_statistics_payload(trace, facts, found, device, window, "operator", limit),
                memory_statistics_payload(trace, facts, found, device, window, "module", limit),
            ):
                to_json(statistics)
            to_json(blocks)
        for at in (None, time):
            alive = memory_alive_payload(facts, found, device, at, limit)
            assert (
                alive.rows["bytes"].sum() + alive.pooled_bytes + alive.unknown_bytes
                == alive.allocated_bytes
            )
            adds_up(alive.frames, alive.allocated_bytes + max(0, -alive.unknown_bytes))
            to_json(alive)
        to_json(curve)
    to_json(view)
