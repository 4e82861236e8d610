"""Traces may say anything: every table, file and text of any trace is made without an error."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, reject, settings
from hypothesis import strategies as st

import torch_tb_profiler
from tests.examples import examples
from torch_tb_profiler.api import export
from torch_tb_profiler.errors import NotATrace, ProfilerError
from torch_tb_profiler.tables.registry import OF_A_TRACE

NAMES = (
    "aten::mm",
    "ProfilerStep#1",
    "ProfilerStep#2",
    "\ud800",
    "\udfff",
    "nn.Module: Linear_0",
    "[memory]",
    "gemm",
    "ncclDevKernel_AllReduce",
    "=1+1",
    None,
)
CATEGORIES = (
    "cpu_op",
    "kernel",
    "cuda_runtime",
    "user_annotation",
    "python_function",
    "gpu_memcpy",
    "cuda_profiler_range",
    "strange",
    None,
)
ODD = st.sampled_from(
    [
        None,
        True,
        -1,
        1e308,
        "x",
        "\ud800",
        "9" * 30,
        [[1, -2], [3]],
        [[4, 4], [4, 4]],
        ["float", "float"],
        "[[]]",
    ]
)
ARGUMENTS = st.one_of(
    st.fixed_dictionaries({"correlation": st.sampled_from([1, 2])}),
    st.fixed_dictionaries({"Input Dims": ODD, "Input type": ODD}),
    st.dictionaries(st.sampled_from(["kernel", "smsp__inst.sum", "=x", "\ud800"]), ODD, max_size=3),
    st.fixed_dictionaries(
        {
            "Addr": st.just(1),
            "Bytes": st.sampled_from([4, -4]),
            "Device Type": st.just(0),
            "Device Id": st.just(-1),
        }
    ),
)
EVENT = st.fixed_dictionaries(
    {
        "ph": st.sampled_from("XXXXXiMsf"),
        "cat": st.sampled_from(CATEGORIES),
        "name": st.sampled_from(NAMES),
        "pid": st.sampled_from([0, "a", None]),
        "tid": st.sampled_from([1, "stream 7"]),
        "ts": st.sampled_from([0, 1, 5.5, 10, 77.125]),
        "dur": st.sampled_from([1, 2, 50, 0, -3, None]),
        "args": ARGUMENTS,
    }
)


@given(listed=st.lists(EVENT, max_size=25))
@example(listed=[{"ph": "i", "cat": "cpu_op", "name": "[memory]", "pid": 0, "tid": 1, "ts": 0}])
@settings(examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_trace(tmp_path: Path, listed: list[dict[str, Any]]) -> None:
    path = tmp_path / "w0.pt.trace.json"
    path.write_text(json.dumps({"traceEvents": listed}))
    try:
        trace = torch_tb_profiler.open(path, use_cache=False)
    except NotATrace:
        # Nothing of it could be used at all, and the reason was said.
        reject()
    assert "\x1b" not in repr(trace) + trace._repr_html_()
    for name in OF_A_TRACE:
        file = io.BytesIO()
        export.write_table(export.table(trace, name), file, "csv")
        assert file.getvalue().count(b"\r\n") >= 1
    # Of memory alone it is of bytes.
    changes = trace.diff(trace)  # type: ignore[arg-type]
    assert changes.filter(regex="^delta_(ns|bytes)$").abs().sum().sum() == 0
    for kinds in (None, {"kernel", "memory"}):
        try:
            assert b"".join(export.part(trace, kinds=kinds))[:2] == b"\x1f\x8b"
        except ProfilerError:
            if not listed:
                # Of no event no trace can be made.
                continue
            pytest.fail("a part of a trace that opened could not be cut")
