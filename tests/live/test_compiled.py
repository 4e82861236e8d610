"""A live ``torch.compile`` run on the CPU: every kernel that inductor made leads to operators."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.live.kept import kept
from tests.loading import load
from torch_tb_profiler.analysis.compiled.calls import compiled_table
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.hardware.aten_names import ATEN_NAMES
from torch_tb_profiler.hardware.fused_names import fused_name
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.display import DisplayTable

PROGRAM = """\
import torch
from torch.nn.functional import gelu
torch.set_num_threads(1)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.norm, self.b = torch.nn.Linear(8, 8), torch.nn.LayerNorm(8), torch.nn.Linear(8, 8)
    def forward(self, x):
        y = gelu(self.a(x))
        y = self.norm(y)
        return torch.softmax(self.b(y) + x, -1).sum(-1)
net = torch.compile(Net())
x = torch.randn(4, 8, requires_grad=True)
net(x).sum().backward()
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as recording:
    net(x).sum().backward()
recording.export_chrome_trace("cpu.pt.trace.json")
"""
TRACE = "cpu.pt.trace.json"


def _run(folder: Path) -> None:
    (folder / "program.py").write_text(PROGRAM)
    with tempfile.TemporaryDirectory() as cache:
        environment = {
            **os.environ,
            "TORCHINDUCTOR_CACHE_DIR": cache,
            "TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE": "1",
            # Three small kernels: no pool of compilers, no precompiled headers, no trial of the machine.
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
            "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0",
            "TORCHINDUCTOR_VEC_ISA_OK": "1",
        }
        command = [sys.executable, "program.py"]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600
        )
    if not (folder / TRACE).exists():
        pytest.skip(f"this PyTorch compiles nothing here: {done.stderr[-500:]}")


@pytest.fixture(scope="module")
def compiled(torch: Any) -> DisplayTable:
    """The compiled kernels of the program."""
    if shutil.which("g++") is None and shutil.which("c++") is None:
        pytest.skip("no C++ compiler is installed")
    folder = kept("compiled", _run, Path(__file__))
    opened = load(str(folder / TRACE), Settings(use_cache=False))
    return compiled_table(opened.trace, opened.facts, select(opened.facts))


def test_each_kernel_leads_to_operators(compiled: DisplayTable) -> None:
    names = [str(name) for name in compiled.texts("name")]
    kernels = [row for row, name in enumerate(names) if "cpp_fused" in name]
    assert len(kernels) >= 3, names
    for row, fused in enumerate(compiled.texts("fused")):
        functions = (fused or "").split(", ")
        assert set(functions) <= ATEN_NAMES, (names[row], fused)


def test_forward_and_backward_are_in_the_region(compiled: DisplayTable) -> None:
    assert set(compiled.texts("region")) == {"0/0"}
    assert len(set(compiled.texts("graph"))) == 2


def test_the_functions_of_pytorch_are_known(torch: Any) -> None:
    """Each is found again in the name of a kernel that fuses it with another."""
    listed = torch._C._dispatch_get_all_op_names()
    present = {name.partition("::")[2].partition(".")[0] for name in listed}
    for function in sorted(ATEN_NAMES & present):
        first, second = sorted((function, "zeros_like"))
        fused = fused_name(f"triton_poi_fused_{first}_{second}_0")
        assert fused is not None
        assert function in fused.functions, fused
