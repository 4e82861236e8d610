"""Files of other tools beside a trace: the trace opens, and each of them is refused in the same words wherever one asks."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import torch_tb_profiler
from tests.builders.loop import document, loop
from tests.builders.other_files import call_tree, flight_recorder, plane
from tests.runs.conftest import states, until, write
from torch_tb_profiler.cli import main
from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.loading import Unreadable, load_all
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place

_DUMP = flight_recorder(2, 3, "train", "2.10")
_NODE = {"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1}
FILES = {
    "host.xplane.pb": (plane(2, "/device:TPU:0"), "XPlane"),
    "packed.xplane.pb": (gzip.compress(plane(None, "/host:CPU")), "XPlane"),
    "et.json": (json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": [_NODE]}).encode(), "execution trace"),
    "pytorch_et.json": (b'{"schema": "1.1.1", "nodes": []}', "execution trace"),
    "nccl_trace_rank_0": (pickle.dumps(_DUMP, protocol=2), "torchfrtrace"),
    "comm_lib_trace_rank_1": (json.dumps(_DUMP).encode(), "torchfrtrace"),
    "py-spy.json": (b'{"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[]}', "speedscope"),
    "proton_rank0.hatchet": (json.dumps(call_tree(["ROOT", "k"])).encode(), "proton-viewer"),
    "server_args.json": (b'{"model_path": "x", "tp": 2}', "an inference server"),
    "openai-1.0qps.json": (b'{"backend": "vllm", "request_throughput": 1.0}', "benchmark"),
    "prof.json": (b'{"context": {}, "prefill": {"summary_stats": [], "model_stats": []}}', "layer-wise"),
}  # fmt: skip
"""Name → content, and what the sentence holds."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A trace and all of them."""
    (tmp_path / "logs").mkdir()
    write(tmp_path / "logs" / "run" / "w0.pt.trace.json", json.dumps(document(loop())))
    for name, (content, _) in FILES.items():
        path = write(tmp_path / "logs" / "run" / name, "")
        path.write_bytes(content)
    return tmp_path / "logs"


def test_the_trace_opens_and_the_others_are_listed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = list(load_all(str(folder), Settings(use_cache=False)))
    reasons = {
        item.path.rpartition("/")[2]: item.message for item in items if isinstance(item, Unreadable)
    }
    assert len(items) == len(FILES) + 1
    for name, (_, words) in FILES.items():
        assert reasons[name].startswith("Not a trace: ")
        assert words in reasons[name]

    assert main.main(["summary", str(folder)]) == 0
    printed = capsys.readouterr()
    assert "On average a step takes 1.00 ms" in printed.out
    assert "Not a trace" not in printed.out + printed.err

    assert main.main(["doctor", str(folder), "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["unreadable"]
    assert {
        file["path"].rpartition("/")[2]: (file["rejected"], file["reason"]) for file in listed
    } == {name: (True, reason) for name, reason in reasons.items()}

    settings = Settings(cache_dir=str(folder.parent / "cache"), settle_seconds=0, scan_seconds=0.05)
    catalogue = Catalogue({"logs": Place(str(folder))}, settings)
    catalogue.start()
    try:
        until(lambda: list(states(catalogue).values()).count("rejected") == len(FILES))
        files = catalogue.snapshot().files
        assert {
            file.path.rpartition("/")[2]: file.reason
            for file in files
            if file.state.value == "rejected"
        } == reasons
    finally:
        catalogue.close()


@pytest.mark.parametrize("name", FILES)
def test_one_alone_is_refused_in_the_same_words(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "run" / name
    with pytest.raises(NotATrace) as raised:
        torch_tb_profiler.open(path)
    assert FILES[name][1] in raised.value.message
    sentence = raised.value.message.partition("Not a trace: ")[2]
    assert main.main(["summary", str(path)]) != 0
    assert f"Not a trace: {sentence}" in capsys.readouterr().err


def _chrome(events: list[dict[str, Any]], **more: Any) -> str:
    return json.dumps({**more, "traceEvents": events})


OPENED = {
    "proton_rank0.chrome_trace": (
        _chrome(
            [
                {"args": {"call_stack": ["ROOT"]}, "cat": "kernel", "dur": 200, "name": "k", "ph": "X", "pid": 0, "tid": "stream: 7", "ts": 300 * k}
                for k in range(3)
            ],
            displayTimeUnit="us",
        ),
        {"k": 600_000},
    ),
    "host.trace.json.gz": (
        _chrome(
            [
                {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}},
                {"ph": "M", "pid": 1, "tid": 13, "name": "thread_name", "args": {"name": "Stream #13(Compute)"}},
                *({"ph": "X", "pid": 1, "tid": 13, "ts": 100 + 300 * k, "dur": 200, "name": "fusion_12", "args": {"hlo_op": "fusion.12"}} for k in range(3)),
                {},
            ],
            displayTimeUnit="ns",
            metadata={"highres-ticks": True},
        ),
        {"fusion_12": 600_000},
    ),
    "timeline.json": (
        json.dumps([{"cat": "task::f", "name": "task::f", "pid": "node:1.2.3.4", "tid": "worker:a", "ts": 100.0, "dur": 50.0, "ph": "X"}]),
        {},
    ),
    "result.json": (
        _chrome([{"pid": 1, "tid": 1, "ts": 10.0, "dur": 5.0, "name": "f (/a.py:1)", "ph": "X", "cat": "FEE"}], viztracer_metadata={"version": "1.0"}),
        {},
    ),
}  # fmt: skip
"""Name → what another tool writes as a Chrome trace, and device time by kernel."""


@pytest.mark.parametrize("name", OPENED)
def test_chrome_traces_of_other_tools_open(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text, kernels = OPENED[name]
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    trace = torch_tb_profiler.open(path)
    found = trace.kernels()
    assert dict(zip(found["name"], found["total_ns"], strict=True)) == kernels
    assert trace.trace.defects["unknown_phase"] == 0
    assert main.main(["summary", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "lost" not in printed
    only_python = name == "result.json"
    assert ("No accelerator activity was recorded" in printed) == only_python
    for option in ("with_stack", "prof.step()", "record_shapes", "profile_memory"):
        assert option not in printed
