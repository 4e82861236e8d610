"""Logs of torch.compile: a ``TORCH_TRACE`` folder, what tlparse makes of it, and damaged ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.importers import provenance as reader
from torch_tb_profiler.importers.provenance import (
    logs_at,
    logs_within,
    of_rank,
    read_provenance,
)
from torch_tb_profiler.store.provenance import CompiledKernel, Provenance

NAME = "dedicated_log_torch_trace_abc.log"
GRAPH = """\
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[8][1]cuda:0"):
        # File: model.py:12 in forward, code: y = (x + 1).relu()
        add: "f32[8][1]cuda:0" = torch.ops.aten.add.Tensor(x, 1);  x = None
        relu: "f32[8][1]cuda:0" = torch.ops.aten.relu.default(add);  add = None

        # File: model.py:13 in forward, code: return self.fc(y)
        addmm: "f32[8][1]cuda:0" = torch.ops.aten.addmm.default(b, relu, w)
        # No stacktrace found for following nodes
        copy = torch.ops.aten.copy.default(addmm)
"""
CODE = """\
async_compile = AsyncCompile()

# kernel path: /tmp/ab/cab.py
# Topologically Sorted Source Nodes: [add, y], Original ATen: [aten.add, aten.relu]
# Source node to ATen node mapping:
#   add => add
# Graph fragment:
#   %x : Tensor "f32[8][1]cuda:0" = PlaceHolder[target=x]
#   %add : Tensor "f32[8]"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%x, 1), kwargs = {})
#   %relu : Tensor "f32[8]"[num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%add,), kwargs = {})
#   return %relu
triton_poi_fused_add_relu_0 = async_compile.triton('triton_poi_fused_add_relu_0', '''
import triton
''', device_str='cuda')

def call(args):
    # Topologically Sorted Source Nodes: [linear], Original ATen: [aten.t, aten.addmm]
    extern_kernels.addmm(b, buf0, w, alpha=1, beta=1, out=buf1)
    del buf0
    extern_kernels.mm(buf1, w, out=buf2)
"""
MAPPINGS = {"cppCodeToPost": {"extern_kernels.addmm:2": ["addmm"], "extern_kernels.mm:3": ["copy"]}}
STACK = '  File "train.py", line 3, in main\n    net(x)\n  File "model.py", line 20, in head\n    w @ y\n'
STACKS = {"extern_kernels.mm:3": [STACK], "extern_kernels.mm:10": [STACK.replace("20", "21")]}


def entry(name: str, payload: Any, frame: int = 0, **head: Any) -> str:
    text = payload if isinstance(payload, str) else json.dumps(payload, indent=1)
    kind = {name: {}} if name == "inductor_output_code" else {"artifact": {"name": name}}
    header = {**kind, "frame_id": frame, "attempt": 0, "has_payload": "0" * 32, **head}
    lines = "".join(f"\t{line}\n" for line in text.splitlines())
    return f"V1122 15:43:45.177000 18350 torch/_x.py:14] {json.dumps(header)}\n{lines}"


def graph(key: str = "fkey", frame: int = 0, code: str = CODE) -> str:
    return (
        entry("inductor_post_grad_graph", GRAPH, frame)
        + entry("inductor_output_code", code, frame)
        + entry("chromium_event", {"name": "compile"}, frame)
        + entry("inductor_provenance_tracking_node_mappings", MAPPINGS, frame)
        + entry("inductor_provenance_tracking_kernel_stack_traces", STACKS, frame)
        + entry("fx_graph_cache_miss", {"key": key}, frame)
    )


def read(tmp_path: Path, text: str) -> Provenance:
    (tmp_path / NAME).write_bytes(text.encode())
    return read_provenance(logs_at(str(tmp_path)))


def test_a_graph(tmp_path: Path) -> None:
    found = read(tmp_path, graph())
    assert found.problems == {}
    assert found.kernels == (
        CompiledKernel(
            "triton_poi_fused_add_relu_0",
            "fkey",
            ("aten.add", "aten.relu"),
            ("add", "y"),
            (("model.py(12): forward",),),
            "/tmp/ab/cab.py",
        ),
        CompiledKernel(
            "extern_kernels.addmm",
            "fkey",
            ("aten.t", "aten.addmm"),
            ("linear",),
            (("model.py(13): forward",),),
        ),
        CompiledKernel(
            "extern_kernels.mm",
            "fkey",
            calls=(("model.py(20): head",), ("model.py(21): head",)),
        ),
    )


def test_graphs_of_compilations_that_take_turns(tmp_path: Path) -> None:
    one, two = graph("f1", 1).split("V1122"), graph("f2", 2).split("V1122")
    text = "V1122".join(part for pair in zip(one, two, strict=True) for part in pair)
    found = read(tmp_path, text.replace("V1122V1122", "V1122"))
    assert {kernel.graph for kernel in found.kernels} == {"f1", "f2"}
    assert len(found.kernels) == 6


def test_a_graph_without_a_key_is_known_by_name(tmp_path: Path) -> None:
    found = read(tmp_path, entry("inductor_output_code", CODE))
    (kernel,) = found.find("triton_poi_fused_add_relu_0", "fkey")
    assert (kernel.graph, kernel.lines) == ("", ())
    assert kernel.functions == ("aten.add", "aten.relu")


def test_numbers_begin_anew_in_each_graph(tmp_path: Path) -> None:
    other = graph("f2").replace("model.py:12", "model.py:99")
    found = read(tmp_path, graph("f1") + other)
    name = "triton_poi_fused_add_relu_0"
    assert found.find(name, "f2")[0].lines == ("model.py(99): forward",)
    assert len(found.find(name, "")) == 2
    assert found.find(name, "f3") == ()


def test_what_tlparse_writes(tmp_path: Path) -> None:
    whole = read(tmp_path, graph())
    folder = tmp_path / "out"
    inner = folder / "-_0_0_0"
    inner.mkdir(parents=True)
    (folder / "compile_directory.json").write_text("{}")
    code = CODE.replace("&", "&amp;").replace("'", "&#39;").replace(">", "&gt;")
    for name, text in {
        "inductor_post_grad_graph_9.txt": GRAPH,
        f"inductor_output_code_{'c' * 52}_10.html": f"<pre><span>{code}</span></pre>",
        "inductor_provenance_tracking_node_mappings_11.json": json.dumps(MAPPINGS),
        "inductor_provenance_tracking_kernel_stack_traces_12.json": json.dumps(STACKS),
        "inductor_provenance_tracking_kernel_stack_traces_12_readable.html": "<b>",
        "fx_graph_cache_hit_13.json": json.dumps({"key": "fkey"}),
    }.items():
        (inner / name).write_text(text)
    assert read_provenance(logs_at(str(folder))) == whole


def test_logs_are_found_beside_a_trace_and_by_rank(tmp_path: Path) -> None:
    for rank in (0, 1):
        folder = tmp_path / "logs"
        folder.mkdir(exist_ok=True)
        (folder / f"dedicated_log_torch_trace_rank_{rank}_x.log").write_text(graph(f"f{rank}"))
    (tmp_path / "train.log").write_text("epoch 1\n")
    logs = logs_within(str(tmp_path))
    assert [Path(log).name[-8:] for log in logs] == ["_0_x.log", "_1_x.log"]
    assert [Path(log).name[-8:] for log in of_rank(logs, 1)] == ["_1_x.log"]
    assert of_rank(logs, 7) == logs


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (("\t{\n", "\t{{\n"), "JSON that is damaged or of another form"),
        (('"artifact": {', '"artifact": {{'), "entries that are damaged"),
        (
            ('"cppCodeToPost": {', '"cppCodeToPost": 1, "x": {'),
            "JSON that is damaged or of another form",
        ),
    ],
)
def test_damage_is_counted(tmp_path: Path, damage: tuple[str, str], problem: str) -> None:
    found = read(tmp_path, graph().replace(*damage))
    assert problem in found.problems
    assert "triton_poi_fused_add_relu_0" in {kernel.name for kernel in found.kernels}


def test_sizes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_PAYLOAD", len(CODE) // 2)
    assert read(tmp_path, graph()).problems[reader.LONG] >= 1
    monkeypatch.setattr(reader, "MOST_BYTES", 100)
    assert read(tmp_path, graph()).problems[reader.CUT] == 1


@given(text=st.text(max_size=300), begin=st.integers(0, 3000), size=st.integers(0, 300))
def test_no_log_raises(
    tmp_path_factory: pytest.TempPathFactory, text: str, begin: int, size: int
) -> None:
    whole = graph()
    folder = tmp_path_factory.mktemp("logs")
    read(folder, whole[:begin] + text.replace("\r", "") + whole[begin + size :])
