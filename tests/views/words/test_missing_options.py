"""What a reader pastes records what was missing."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from tests.builders.snapshots import Allocator, pickled, snapshot
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.streams import TextInMemory
from torch_tb_profiler.store.summary import SERVERS, Writer
from torch_tb_profiler.views.words.texts import MISSING, missing

EXPECTED = {
    "device": "ProfilerActivity.CUDA",
    "operators_of_device": "ProfilerActivity.CUDA",
    "device_work": "ProfilerActivity.CUDA",
    "device_times": "ProfilerActivity.CUDA",
    "device_of_rank": "ProfilerActivity.CUDA",
    "host": "ProfilerActivity.CPU",
    "shapes": "record_shapes=True",
    "stack": "with_stack=True",
    "modules": "with_stack=True",
    "steps": "profiler.step()",
    "memory": "profile_memory=True",
    "events": "ProfilerActivity.CPU",
}


@pytest.mark.parametrize("key", list(MISSING))
def test_the_call_names_the_option(key: str) -> None:
    assert EXPECTED[key] in MISSING[key].call
    compile(MISSING[key].call, key, "exec")


def test_only_what_a_view_wants_is_said_in_its_order() -> None:
    assert missing(("memory", "shapes", "device"), ("device", "shapes", "stack")) == [
        MISSING["device"],
        MISSING["shapes"],
    ]


def test_a_file_of_memory_alone_is_the_one_reason() -> None:
    device = Allocator()
    device.alloc(7)
    trace = read_trace(TextInMemory(pickled(snapshot(device))), Settings())
    lacks = absent(derive(trace))
    assert missing(lacks, ("device", "host", "steps")) == [MISSING["events"]]
    assert missing(lacks, ("memory",)) == []


# Those that are about an accelerator need one to run.
@pytest.mark.live
@pytest.mark.parametrize("key", [k for k in MISSING if "device" not in k])
def test_the_call_runs_as_pasted(key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip(
        "torch", reason="torch is not installed; the plugin does not need it"
    )
    monkeypatch.chdir(tmp_path)
    batch = torch.ones(2, 2)
    exec(MISSING[key].call, {"loader": [batch] * 9, "train_step": lambda b: b @ b})
    (written,) = tmp_path.glob("log/run/*.pt.trace.json.gz")
    events = json.loads(gzip.decompress(written.read_bytes()))["traceEvents"]
    recorded = {
        "host": any(e.get("cat") == "cpu_op" for e in events),
        "shapes": any("Input Dims" in e.get("args", {}) for e in events),
        "stack": any(e.get("cat") == "python_function" for e in events),
        "modules": any(e.get("cat") == "python_function" for e in events),
        "steps": any(str(e.get("name", "")).startswith("ProfilerStep#") for e in events),
        "memory": any(e.get("name") == "[memory]" for e in events),
        "events": any(e.get("ph") == "X" for e in events),
    }
    assert recorded[key]


WRITERS = {
    Writer.VLLM: {"name": "vllm::unified_attention", "cat": "cpu_op"},
    Writer.SGLANG: {"name": "step[DECODE bs=32]", "cat": "user_annotation"},
    Writer.SERVER: {"name": "execute_context_1(888)_generation_0(0)", "cat": "user_annotation"},
    Writer.LIGHTNING: {"name": "[pl][profile]run_training_batch", "cat": "user_annotation"},
    Writer.TRANSFORMERS: {"name": "transformers/trainer.py(9): train", "cat": "python_function"},
    Writer.LOOP: {"name": "Optimizer.step#SGD.step", "cat": "user_annotation"},
    Writer.SCRIPT: {"name": "aten::mm", "cat": "cpu_op"},
    Writer.TORCH_NPU: {"name": "aten::mm", "cat": "cpu_op"},
    Writer.OTHER: {"name": "k", "cat": "chip_op"},
}


@pytest.mark.parametrize("writer", Writer)
def test_the_lines_to_paste_are_for_the_program_that_wrote_the_trace(writer: Writer) -> None:
    event = {"ph": "X", "ts": 1, "dur": 9, "pid": 1, "tid": 1, **WRITERS[writer]}
    named = {"ph": "M", "name": "process_name", "pid": 2, "args": {"name": "Ascend Hardware"}}
    events = [event, named, {"ph": "X", "ts": 1, "dur": 9, "pid": 2, "tid": 1, "name": "k"}]
    events = events if writer == Writer.TORCH_NPU else [event]
    text = json.dumps({"traceEvents": events}).encode()
    facts = derive(read_trace(TextInMemory(text), Settings()))
    assert facts.summary.writer == writer
    (shapes,) = missing(absent(facts), ("shapes",))
    if writer == Writer.OTHER:
        assert (shapes.call, "record_shapes" in shapes.why) == ("", False)
        return
    assert ("loader" in shapes.call) == (writer in (Writer.LOOP, Writer.TORCH_NPU))
    assert "record_shapes" in shapes.call
    servers = writer in SERVERS
    assert ("start_profile" in shapes.call) == servers
    if not servers:
        compile(shapes.call, writer, "exec")
    else:
        options = re.findall(r"'(\{.*\})'", shapes.call)
        assert len(options) == (2 if writer == Writer.SERVER else 1)
        assert all(json.loads(option) for option in options)


def test_a_server_is_not_asked_to_step() -> None:
    (steps,) = missing(("steps", Writer.VLLM), ("steps",))
    assert "prof.step" not in steps.why
    assert "step()" not in steps.call
