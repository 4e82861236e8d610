"""Whatever two traces hold, they can be compared, shown and written, and the figures keep together."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.diff.compared import side_of
from tests.analysis.diff.test_side import holds
from tests.analysis.test_any_trace import ARROW, EVENT
from tests.builders.drawn import trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.diff.compare import compare
from torch_tb_profiler.views.diff.file import diff_csv, diff_markdown
from torch_tb_profiler.views.diff.payload import Recording, diff_payload
from torch_tb_profiler.views.diff.wire import DiffPayload
from torch_tb_profiler.views.wire import to_json

MODULE = st.fixed_dictionaries(
    {
        "ph": st.just("X"),
        "cat": st.just("python_function"),
        "name": st.sampled_from(
            ["nn.Module: Net_0", "nn.Module: Net_1", "nn.Module: _0", "f.py(1): f"]
        ),
        "pid": st.just(0),
        "tid": st.integers(0, 1),
        "ts": st.integers(0, 60),
        "dur": st.integers(0, 40),
        "args": st.just({}),
    }
)
LISTED = st.lists(st.one_of(EVENT, EVENT, MODULE, ARROW), max_size=20)


@examples(100)
@given(LISTED, LISTED)
def test_any_two_traces(left: list[dict[str, Any]], right: list[dict[str, Any]]) -> None:
    comparison = compare(side_of(trace_of(left)), side_of(trace_of(right)))
    holds(comparison)
    recording = Recording("r", "w", "s", "r", {})
    payload = diff_payload(comparison, recording, recording, most_rows=3)
    encoded = to_json(payload)
    assert to_json(msgspec.json.decode(encoded, type=DiffPayload, strict=True)) == encoded
    assert diff_csv(payload).count("\r\n") == 1 + len(payload.changes["name"])
    assert diff_markdown(payload).startswith("**")
    for whole in payload.wholes:
        rows = [i for i, table in enumerate(payload.changes["table"]) if table == whole.table]
        assert (
            sum(payload.changes["delta_ns"][i] for i in rows) == whole.time_b_ns - whole.time_a_ns
        )
