"""Recordings of JAX, ONNX Runtime and VizTracer: steps, operators and calls of Python, whatever they are called."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases.test_other_profilers import Event, named, of, span, work
from tests.examples import examples
from tests.importers.reading import names
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.cli import main
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.importers.foreign_names import frame_name
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.streams import TextInMemory
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.python_frames import PythonFrame
from torch_tb_profiler.store.roles import Role

HOST, DEVICE = 701, 1
_WORDS = st.from_regex(r"[a-zA-Z][a-zA-Z_ ./]{0,10}", fullmatch=True)


def jax(
    name: str, lengths: list[int], first: int, device: bool = False, text: bool = True
) -> list[Event]:
    """A step per length, in µs, with a call of Python and an operation on another thread in each."""
    events = [named("process_name", HOST, "/host:CPU"), named("thread_name", HOST, "python", 5)]
    if device:
        events.append(named("process_name", DEVICE, "/device:TPU:0"))
        events += [
            named("thread_name", DEVICE, line, tid) for tid, line in enumerate(["Steps", "XLA Ops"])
        ]
    at = 10
    for step, length in enumerate(lengths, start=first):
        number = str(step) if text else step
        events.append(span(HOST, 5, name, at, length, step_num=number, _r=1))
        events.append(span(HOST, 5, "$serve.py:12 run", at + 1, length - 2))
        events.append(span(HOST, 9, "dot.3", at + 1, length - 3, hlo_op="dot.3", hlo_module="jit"))
        events.append(span(HOST, 9, "end: dot.3", at + length - 2, 0.5))
        if device:
            events.append(span(DEVICE, 0, str(step), at, length - 1, step_num=number))
            events.append(span(DEVICE, 1, "fusion.1", at + 2, length - 4, hlo_op="fusion.1"))
        at += length + 5
    return events


def steps_of(facts: Facts) -> tuple[str, list[int], list[int]]:
    """Their source, numbers and host time in µs."""
    table = facts["steps"]
    lengths = (table["host_end"] - table["host_start"]) // 1000
    return facts.summary.step_source, table["number"].tolist(), lengths.tolist()


def roles(trace: Trace) -> dict[str, str]:
    """The role of each name."""
    found = zip(names(trace), trace["spans"]["role"].tolist(), strict=True)
    return {name: Role(role).name for name, role in found}


@examples(40)
@given(
    _WORDS.filter(lambda name: "step" not in name.lower()),
    st.lists(st.integers(10, 90_000), min_size=1, max_size=9),
    st.integers(0, 10**6),
    st.booleans(),
    st.booleans(),
)
def test_what_jax_counts_are_the_steps(
    name: str, lengths: list[int], first: int, device: bool, text: bool
) -> None:
    trace = of(jax(name, lengths, first, device, text))
    facts = derive(trace)
    numbers = list(range(first, first + len(lengths)))
    assert steps_of(facts) == (name, numbers, lengths)
    assert not trace.defects.as_dict()
    kernels: Counter[tuple[str, str, int]] = Counter()
    if device:
        kernels.update(("fusion.1", "KERNEL", length - 4) for length in lengths)
    assert work(trace) == kernels
    found = roles(trace)
    assert found["serve.py(12): run"] == "PYTHON"
    assert found["dot.3"] == "OPERATOR"
    assert found["end: dot.3"] == "OTHER"


def test_marks_of_a_device_are_no_steps() -> None:
    device = [named("process_name", 3, "/device:GPU:0"), named("thread_name", 3, "Steps", 2)]
    marks = [span(3, 2, str(n), 100 * n, 90, step_num=n) for n in range(5)]
    facts = derive(of(device, named("process_name", HOST, "/host:CPU"), marks))
    assert facts["steps"]["number"].tolist() in ([], [-1])


@pytest.mark.parametrize(
    ("host", "second", "aside"),
    [
        ("host.trace.json.gz", "perfetto_trace.json.gz", True),
        ("machine-7.trace.json.gz", "perfetto_trace.json", True),
        ("host1.trace.json.gz", "host2.trace.json.gz", False),
    ],
)
def test_a_recording_that_jax_wrote_twice_is_one(
    tmp_path: Path, host: str, second: str, aside: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "plugins" / "profile" / "2031_01_02_03_04_05"
    folder.mkdir(parents=True)
    events = jax("train", [40, 50, 60], 7)
    for name, digits in ((host, "{:.17g}"), (second, "{:g}")):
        document: dict[str, Any] = {"displayTimeUnit": "ns", "traceEvents": [*events, {}]}
        if name == host:
            document["metadata"] = {"highres-ticks": True}
        text = json.dumps(document).replace("0.5", digits.format(0.5 + 1e-15))
        data = text.encode()
        (folder / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    (folder / "host.xplane.pb").write_bytes(b"")
    assert main.main(["summary", str(tmp_path), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2 - aside
    assert main.main(["doctor", str(tmp_path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (f"{second}: A copy of {host}, which JAX wrote with it and which is used." in said) == (
        aside
    )


def test_a_file_of_that_name_with_other_work_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, lengths in (("host.trace.json", [40, 50]), ("perfetto_trace.json", [40, 60])):
        (tmp_path / name).write_text(json.dumps({"traceEvents": jax("train", lengths, 0)}))
    assert main.main(["summary", str(tmp_path), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2


Node = tuple[str, str, int]
"""Type of the operator, provider and length in µs."""
_NODES = st.lists(
    st.tuples(
        st.sampled_from(["Gemm", "MatMul", "Relu", "LayerNormalization", "com.acme::Own"]),
        st.sampled_from(["CPUExecutionProvider", "CUDAExecutionProvider"]),
        st.integers(1, 400),
    ),
    min_size=1,
    max_size=6,
)


def onnx(nodes: list[Node], runs: int, loading: int, gap: int = 3) -> list[Event]:
    """A session that takes a while to load and then runs its nodes again and again."""
    events = [
        span(77, 77, "model_loading_uri", 5, loading, "Session"),
        span(77, 77, "session_initialization", 6 + loading, loading, "Session"),
    ]
    at = 2 * loading + 10
    for _ in range(runs):
        inner: list[Event] = []
        begin = at
        at += gap
        for number, (kind, provider, length) in enumerate(nodes):
            args = {
                "op_name": kind,
                "provider": provider,
                "node_index": str(number),
                "input_type_shape": [{"float": [64, 256]}, {"int64": []}],
            }
            path = f"/layers.{number}/fc/{kind}_kernel_time"
            inner.append(span(77, 77, path, at, length, "Node", **args))
            if provider.startswith("CUDA"):
                more = {"stream": "3", "grid_x": "1", "op_name": kind}
                inner.append(span(-1, -1, f"kernel_of_{kind}", at, length, "Kernel", **more))
            at += length + gap
        events.append(
            span(77, 77, "SequentialExecutor::Execute", begin + 1, at - begin - 2, "Session")
        )
        events += inner
        events.append(span(77, 77, "model_run", begin, at - begin, "Session"))
        at += 4
    return events


@examples(40)
@given(_NODES, st.integers(1, 8), st.integers(1, 10**6))
def test_runs_of_onnx_runtime_are_steps_and_nodes_operators(
    nodes: list[Node], runs: int, loading: int
) -> None:
    text = json.dumps(onnx(nodes, runs, loading)).encode()
    trace = read_trace(TextInMemory(text), Settings())
    facts = derive(trace)
    source, numbers, lengths = steps_of(facts)
    assert (source, numbers) == ("model_run", list(range(runs)))
    assert lengths == [sum(length + 3 for *_, length in nodes) + 3] * runs
    spans, found = trace["spans"], Counter[str]()
    for row, name in enumerate(names(trace)):
        if spans["role"][row] == Role.OPERATOR:
            found[name] += int(spans["dur"][row]) // 1000
    expected = Counter[str]()
    for kind, _, length in nodes:
        expected[kind] += runs * length
    assert found == expected
    kernels = sum(length for _, provider, length in nodes if provider.startswith("CUDA"))
    assert sum(us * n for (_, _, us), n in work(trace).items()) == runs * kernels
    assert facts.summary.attribution.with_operator == facts.summary.attribution.kernels
    assert set(trace["device_args"]["device"].tolist()) <= {0}
    arguments = trace["operator_args"]
    assert {trace.strings[int(n)] for n in arguments["dims"]} == {"[[64,256],[]]"}
    assert {trace.strings[int(n)] for n in arguments["types"]} == {'["float","int64"]'}
    told = facts.summary.versions["Execution provider"]
    for provider in {provider for _, provider, _ in nodes}:
        assert f"{provider} ({runs * sum(p == provider for _, p, _ in nodes)} node" in told
    assert not facts.summary.unplaced.get("category")


def test_requests_that_run_at_a_time_are_no_steps() -> None:
    runs = [span(7, tid, "model_run", 10 + 40 * tid, 100, "Session") for tid in range(4)]
    node = span(7, 0, "x_kernel_time", 15, 3, "Node", op_name="Relu")
    assert derive(of(runs, node))["steps"]["number"].tolist() == [-1]


@pytest.mark.parametrize(
    ("written", "frame", "short"),
    [
        ("decode (/srv/a b.py:2)", "/srv/a b.py(2): decode", "decode at a b.py:2"),
        ("<module> (C:\\x.py:11)", "C:\\x.py(11): <module>", "<module> at x.py:11"),
        ("A.f (x) (m.py:3)", "m.py(3): A.f (x)", "A.f (x) at m.py:3"),
        ("$contextlib.py:132 __enter__", "contextlib.py(132): __enter__", "__enter__ at contextlib.py:132"),
        ("$time sleep", "<built-in function time.sleep>", ""),
        ("$<unknown> __exit__", "<built-in function __exit__>", ""),
        ("builtins.exec", "<built-in function builtins.exec>", ""),
        ("warm up", "warm up", ""),
    ],
)  # fmt: skip
def test_frames_are_called_as_pytorch_calls_them(written: str, frame: str, short: str) -> None:
    assert frame_name(written) == frame
    parsed = PythonFrame.of(frame)
    assert (parsed is None) == (written == "warm up")
    if short and parsed is not None:
        assert parsed.short == short


@examples(30)
@given(
    st.sampled_from(["fee", "FEE"]),
    st.lists(st.integers(1, 900), min_size=2, max_size=12),
    st.floats(0.1, 0.9),
)
def test_calls_of_viztracer_are_frames(category: str, lengths: list[int], share: float) -> None:
    at, events = 1000.0, [named("process_name", 4, "MainProcess")]
    whole = sum(length + 2 for length in lengths) + 4
    for length in lengths:
        slept = length * share
        events.append(span(4, 4, "time.sleep", at + 0.1, slept, category))
        events.append(span(4, 4, "work (/srv/prog.py:2)", at, length + 1, category))
        at += length + 2
    events.append(span(4, 4, "loading", 990, 3, "own"))
    events.append(span(4, 4, "<module> (/srv/prog.py:1)", 998, whole, category))
    trace = of(events)
    found = roles(trace)
    assert found == {
        "<built-in function time.sleep>": "PYTHON",
        "/srv/prog.py(2): work": "PYTHON",
        "/srv/prog.py(1): <module>": "PYTHON",
        "loading": "ANNOTATION",
    }
    facts = derive(trace)
    assert facts.summary.has_stacks
    assert facts.summary.versions["Profiler"] == "VizTracer"
    assert not trace.defects.as_dict()


@pytest.mark.parametrize("overflow", [True, False, "true", None])
def test_events_that_viztracer_overwrote_are_said(overflow: object) -> None:
    document = {
        "traceEvents": [span(4, 4, "f (/a.py:1)", 0, 9, "fee")],
        "viztracer_metadata": {"version": "1.1.1", "overflow": overflow},
        "file_info": {"files": {"/a.py": ["SECRET = 1", 1]}, "functions": {}},
    }
    trace = read_trace(TextInMemory(json.dumps(document).encode()), Settings())
    assert trace.defects[d.OLDEST_LOST] == (overflow is True)
    assert "SECRET" not in str(trace.header)


def test_setting_wins_over_what_is_known_of_a_writer() -> None:
    events = [span(4, 4, "f (/a.py:1)", 0, 9, "fee"), span(4, 4, "g", 1, 2, "own")]
    found = roles(of(events, categories="fee=operator,own=runtime"))
    assert found == {"f (/a.py:1)": "OPERATOR", "g": "RUNTIME"}


@pytest.mark.parametrize(
    "events",
    [
        jax("train", [40, 50], 3),
        onnx([("Gemm", "CPUExecutionProvider", 20), ("Relu", "CPUExecutionProvider", 4)], 2, 9),
        [span(4, 4, "work (/srv/prog.py:2)", 5, 9, "fee"), span(4, 4, "a.b", 6, 2, "fee")],
    ],
    ids=["JAX", "ONNX Runtime", "VizTracer"],
)
def test_each_event_shows_its_own_text(
    events: list[Event], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "w0.trace.json"
    path.write_text(json.dumps(events))
    spans = sorted((e for e in events if e["ph"] == "X"), key=lambda e: (e["ts"], -e["dur"]))
    numbers = list(map(str, range(len(spans))))
    assert main.main(["event", str(path), *numbers, "--raw", "--json"]) == 0
    found = [json.loads(event["raw"]) for event in json.loads(capsys.readouterr().out)]
    assert found == spans
