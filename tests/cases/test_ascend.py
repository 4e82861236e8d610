"""torch_npu's recordings: work of the NPU counts once, and belongs to the operators that had it done."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders.npu import COLLECTIVE_US, MATMUL_US, Npu
from tests.importers.reading import names, read
from torch_tb_profiler.analysis.facts.attribution import causes
from torch_tb_profiler.analysis.facts.calltree import call_tree
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.writer import Writer, writer_of
from torch_tb_profiler.analysis.figures.absent import absent
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.streams import open_text
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role
from torch_tb_profiler.views.texts import missing
from torch_tb_profiler.views.vocabulary import device_title, vocabulary

WRITTEN = st.builds(
    Npu,
    label=st.sampled_from(("NPU", "NPU 0", "NPU 3")),
    tie=st.sampled_from(("async_npu", "HostToDevice", "connection")),
    collective=st.sampled_from(("device", "whole", "plane")),
    inner=st.booleans(),
    texts=st.booleans(),
    device_last=st.booleans(),
    process=st.sampled_from(("Communication", "HCCL")),
    steps=st.integers(1, 4),
)


def work(trace: Trace) -> Counter[tuple[str, int]]:
    """Name and duration in µs of all device work."""
    spans, named = trace["spans"], names(trace)
    rows = np.flatnonzero(np.isin(spans["role"], DEVICE_ROLES)).tolist()
    kind = {row: named[row].partition("__")[0] for row in rows}
    return Counter((kind[row], int(spans["dur"][row]) // 1000) for row in rows)


def operators(trace: Trace) -> dict[str, Counter[str]]:
    """Of each kind of device work its operators."""
    tree = call_tree(trace)
    caused, named = causes(trace, tree, tree.names), names(trace)
    found: dict[str, Counter[str]] = {}
    for row, operator in zip(caused.row.tolist(), caused.operator.tolist(), strict=True):
        name = named[int(tree.row[operator])] if operator >= 0 else ""
        found.setdefault(named[row].partition("__")[0], Counter())[name] += 1
    return found


@given(WRITTEN)
def test_work_counts_once_wherever_the_file_tells_it(file: Npu) -> None:
    trace = read(file.text())
    assert work(trace) == {
        ("MatMulV2", MATMUL_US): file.steps,
        ("hcom_allReduce", COLLECTIVE_US): file.steps,
    }
    assert not trace.defects.as_dict()


@given(WRITTEN)
def test_work_belongs_to_the_operator_that_had_it_done(file: Npu) -> None:
    matmul = operators(read(file.text()))["MatMulV2"]
    innermost = "aclnnMm" if file.inner else "aten::mm"
    assert matmul == {innermost: file.steps}


@given(WRITTEN)
def test_a_step_holds_its_work_and_adds_up(file: Npu) -> None:
    facts = derive(read(file.text()))
    steps = facts["steps"]
    assert (steps["end"] - steps["start"]).tolist() == [1_000_000] * file.steps
    assert steps["kernel"].tolist() == [MATMUL_US * 1000] * file.steps
    assert steps["communication"].tolist() == [COLLECTIVE_US * 1000] * file.steps
    words = vocabulary(facts)
    number = int(file.label.removeprefix("NPU") or 0)
    assert [device_title(words, n) for n in facts["devices"]["id"].tolist()] == [f"NPU {number}"]
    assert (
        facts["device_steps"]["busy"].tolist() == [(MATMUL_US + COLLECTIVE_US) * 1000] * file.steps
    )


@given(WRITTEN)
def test_what_is_computed_from_the_work_stays_on_the_timeline_without_a_role(file: Npu) -> None:
    trace = read(file.text())
    spans, named = trace["spans"], names(trace)
    derived = [r for r in range(spans.n) if named[r] in ("Computing", "Communication", "Free")]
    assert len(derived) == 3 * file.steps
    assert set(spans["role"][derived].tolist()) == {Role.OTHER}
    waits = [r for r in range(spans.n) if named[r] == "Notify_Wait"]
    assert not np.isin(spans["role"][waits], DEVICE_ROLES).any()


def test_a_collective_has_its_arguments_where_it_counts() -> None:
    trace = read(Npu().text())
    args, named = trace["collective_args"], names(trace)
    assert args.n == 3
    assert {named[row].partition("__")[0] for row in args["span"].tolist()} == {"hcom_allReduce"}
    assert trace.strings.many(args["collective"]) == ["allReduce"] * 3
    assert trace.strings.many(args["dtype"]) == ["Float"] * 3
    assert trace.strings.many(args["group"]) == ["606"] * 3
    assert (args["elements_in"].tolist(), args["group_size"].tolist()) == ([1024] * 3, [8] * 3)
    assert derive(trace).summary["communication_backends"] == ["hccl"]


def test_two_kernels_that_start_in_one_nanosecond_keep_their_operators() -> None:
    events = Npu(steps=1, tie="connection").events()
    named = [e for e in events if e["ph"] == "M"]
    base = next(e for e in events if e["name"] == "aten::mm")
    start = next(e for e in events if e["name"] == "MatMulV2")["ts"]
    found = [*named]
    for number, stream in ((0, 2), (1, 3)):
        at = str(float(base["ts"]) + 30 * number)
        found.append({**base, "name": f"op{number}", "ts": at, "dur": 20})
        task = {
            "ph": "X",
            "name": f"kernel{number}",
            "pid": 43767504,
            "tid": stream,
            "ts": start,
            "dur": 5,
        }
        begin = {
            "ph": "s",
            "cat": "async_npu",
            "id": 7,
            "pid": base["pid"],
            "tid": base["tid"],
            "ts": at,
        }
        end = {**begin, "ph": "f", "pid": task["pid"], "tid": stream, "ts": start}
        found += [task, begin, end]
    assert operators(read(json.dumps(found))) == {"kernel0": {"op0": 1}, "kernel1": {"op1": 1}}


def test_what_is_missing_is_asked_of_torch_npu() -> None:
    facts = derive(read(Npu().text()))
    assert writer_of(facts) == Writer.TORCH_NPU
    (stack,) = missing(absent(facts), ("stack",))
    assert "torch_npu" in stack.call
    assert "with_stack=True" in stack.call
    compile(stack.call, "call", "exec")


@pytest.mark.traces
def test_the_public_recording(real_traces: Path) -> None:
    (path,) = real_traces.glob("ascend_torch_npu/*/ASCEND_PROFILER_OUTPUT/trace_view.json")
    with open_text(str(path)) as stream:
        trace = read_trace(stream, Settings())
    spans = trace["spans"]
    rows = np.flatnonzero(np.isin(spans["role"], DEVICE_ROLES))
    # Each of 34 durations has half a nanosecond more, which is rounded up.
    assert len(rows) == 276
    assert abs(int(spans["dur"][rows].sum()) - 1_790_440) <= 34
    assert int((spans["role"] == Role.MEMCPY).sum()) == 2
    facts = derive(trace)
    table = facts["operators"]
    assert facts.summary["attribution"]["with_operator"] == 274
    named = facts.strings.many(table["name"])
    self_ns: Counter[str] = Counter()
    total_ns: Counter[str] = Counter()
    steps = facts["operator_steps"]
    for row, own, whole in zip(
        steps["operator"].tolist(),
        steps["device_self"].tolist(),
        steps["device_total"].tolist(),
        strict=True,
    ):
        self_ns[named[row]] += own
        total_ns[named[row]] += whole
    assert {name: round(ns, -1) for name, ns in self_ns.most_common(8)} == {
        "aclnnReduceSum": 252_680,
        "aclnnMm": 209_110,
        "Conv2DBackpropFilter": 150_030,
        "MaxPoolGradWithArgmaxV1": 147_390,
        "aclnnAddmm": 140_270,
        "aclnnCast": 139_420,
        "Conv2D": 133_170,
        "MaxPoolWithArgmaxV1": 95_040,
    }
    totals = {
        "aten::convolution_backward": 277_120,
        "aten::sum": 252_680,
        "aten::mm": 209_110,
        "aten::max_pool2d_with_indices_backward": 147_390,
        "aten::addmm": 140_270,
        "aten::_convolution": 133_170,
        "aten::max_pool2d_with_indices": 95_040,
        "aten::add_": 68_490,
    }
    assert {name: round(total_ns[name], -1) for name in totals} == totals
