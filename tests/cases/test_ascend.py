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
from torch_tb_profiler.analysis.facts.calltree import call_tree
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.device_causes import causes
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.cli.main import main
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.runs.loading import load_all
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.streams import open_text
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role
from torch_tb_profiler.store.summary import Writer
from torch_tb_profiler.views.words.texts import missing
from torch_tb_profiler.views.words.vocabulary import device_title, vocabulary

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
    assert derive(trace).summary.communication_backends == ("hccl",)


def test_shapes_are_lists() -> None:
    trace = read(Npu(steps=1).text())
    table, named = trace["operator_args"], names(trace)
    rows = {named[span]: row for row, span in enumerate(table["span"].tolist())}
    row = rows["aten::mm"]
    assert trace.strings[int(table["dims"][row])] == "[[64,32],[32,8],[]]"
    assert trace.strings[int(table["types"][row])] == '["float","float","Scalar"]'


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
    assert facts.summary.writer == Writer.TORCH_NPU
    (stack,) = missing(absent(facts), ("stack",))
    assert "torch_npu" in stack.call
    assert "with_stack=True" in stack.call
    compile(stack.call, "call", "exec")


@pytest.mark.traces
def test_the_public_recording(real_traces: Path) -> None:
    (path,) = real_traces.glob("ascend_torch_npu/*/ASCEND_PROFILER_OUTPUT/trace_view.json")
    with open_text(Place(str(path))) as stream:
        trace = read_trace(stream, Settings())
    spans = trace["spans"]
    rows = np.flatnonzero(np.isin(spans["role"], DEVICE_ROLES))
    assert (len(rows), int(spans["dur"][rows].sum())) == (276, 1_790_440)
    assert int((spans["role"] == Role.MEMCPY).sum()) == 2
    facts = derive(trace)
    table = facts["operators"]
    assert facts.summary.attribution.with_operator == 274
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


def written(folder: Path, rank: int, *, recording: str = "20240512080000000") -> Path:
    """A folder of a rank of two, as torch_npu leaves it."""
    home = folder / f"host_{400 + rank}_{recording}_ascend_pt"
    output = home / "ASCEND_PROFILER_OUTPUT"
    msprof = home / "PROF_000001_x" / "mindstudio_profiler_output"
    for path in (output, msprof, home / "PROF_000001_x" / f"device_{rank + 4}"):
        path.mkdir(parents=True)
    (output / "trace_view.json").write_bytes(Npu().text())
    (output / "kernel_details.csv").write_text("Name\n")
    (msprof / "msprof_20240512.json").write_bytes(Npu().text())
    (home / f"profiler_info_{rank}.json").write_text(json.dumps({"rank_id": str(rank)}))
    groups = {"comm": {"group_name": "default_group", "global_ranks": [0, 1]}}
    (home / "profiler_metadata.json").write_text(json.dumps({"parallel_group_info": groups}))
    return home


def test_a_folder_is_a_worker_and_a_recording_with_its_rank(tmp_path: Path) -> None:
    for rank in (1, 0):
        written(tmp_path, rank)
    (run,) = {opened.run.name for opened in _opened(tmp_path)}
    found = [
        (opened.worker.name, opened.worker.rank, opened.worker.world_size, opened.span.name)
        for opened in _opened(tmp_path)
    ]
    recording = "20240512080000000"
    assert found == [("host_400", 0, 2, recording), ("host_401", 1, 2, recording)]
    assert run == tmp_path.name
    devices = [opened.facts["devices"]["id"].tolist() for opened in _opened(tmp_path)]
    assert devices == [[4], [5]]


def test_recordings_of_a_process_are_those_of_one_worker(tmp_path: Path) -> None:
    for recording in ("20240512080000000", "20240512081000000"):
        home = written(tmp_path, 0, recording=recording)
    trace = home / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    trace.write_bytes(trace.read_bytes().replace(b"170416151", b"170416251"))
    assert {opened.worker.name for opened in _opened(tmp_path)} == {"host_400"}
    assert len(_opened(tmp_path)) == 2


def _opened(folder: Path) -> list[Opened]:
    settings = Settings(use_cache=False, workers=1)
    return [item for item in load_all(str(folder), settings) if isinstance(item, Opened)]


def test_files_beside_the_trace_are_named_and_none_is_a_second_recording(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = written(tmp_path, 0)
    assert main(["doctor", str(tmp_path), "--json", "--no-cache"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["traces"]) == 1
    reasons = {item["path"].rpartition("/")[2]: item["reason"] for item in told["unreadable"]}
    assert "computed from this recording" in reasons["kernel_details.csv"]
    assert "once more" in reasons["msprof_20240512.json"]
    assert "torch_npu" in reasons["profiler_info_0.json"]
    (home / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").unlink()
    assert [opened.span.path.rpartition("/")[2] for opened in _opened(tmp_path)] == [
        "msprof_20240512.json"
    ]


@given(st.lists(st.tuples(st.integers(0, 10**7), st.integers(2, 4)), min_size=1, max_size=30))
def test_sums_of_a_stream_lose_less_than_a_nanosecond(drawn: list[tuple[int, int]]) -> None:
    """Durations of 0.1 ns and streams; each is stored as the next ns below or above."""
    events = [e for e in Npu(steps=0).events() if e["ph"] == "M"]
    text = json.dumps(events)[:-1]
    for number, (tenths, stream) in enumerate(drawn):
        dur = f"{tenths // 10000}.{tenths % 10000:04d}"
        text += (
            f', {{"ph":"X","name":"k","pid":43767504,"tid":{stream},"ts":{9000 * number},"dur":{dur},'
            f'"args":{{}}}}'
        )
    trace = read(text + "]")
    spans, tids = trace["spans"], trace.strings.many(trace["tracks"]["tid"])
    sums: Counter[str] = Counter()
    for row, (tenths, stream) in enumerate(drawn):
        assert abs(10 * int(spans["dur"][row]) - tenths) < 10
        assert tids[spans["track"][row]] == str(stream)
        sums[str(stream)] += 10 * int(spans["dur"][row]) - tenths
    assert all(-10 < lost <= 0 for lost in sums.values())
