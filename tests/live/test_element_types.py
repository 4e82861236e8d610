"""Types that cost time on a CPU, in small networks recorded here, and their twins without: the finding says so of the one alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import torch_tb_profiler
from torch_tb_profiler.analysis.findings.step_findings import findings_of

STEPS = 5


def _halved(torch: Any, slow: bool) -> Callable[[], Any]:
    """Layers in float16, else in float32."""
    layers = [torch.nn.Linear(256, 256) for _ in range(4)]
    model, x = torch.nn.Sequential(*layers), torch.randn(128, 256)
    return (lambda: model.half()(x.half())) if slow else (lambda: model(x))


def _converted(torch: Any, slow: bool) -> Callable[[], Any]:
    """Narrow layers in bfloat16 whose activations are computed in float32, else in bfloat16."""
    layers = [torch.nn.Linear(16, 16).to(torch.bfloat16) for _ in range(8)]
    x = torch.randn(65_536, 16).to(torch.bfloat16)

    def forward() -> Any:
        values = x
        for layer in layers:
            made = layer(values)
            values = torch.relu(made.float()).to(torch.bfloat16) if slow else torch.relu(made)
        return values

    return forward


@pytest.mark.parametrize("slow", [True, False], ids=["slow", "fixed"])
@pytest.mark.parametrize(
    ("program", "rule"), [(_halved, "half_on_host"), (_converted, "conversions")]
)
def test_a_type_that_costs_time_is_told(
    torch: Any, tmp_path: Path, program: Callable[..., Any], rule: str, slow: bool
) -> None:
    torch.manual_seed(3)
    with torch.no_grad():
        step = program(torch, slow)
        step()
        with torch.profiler.profile(record_shapes=True) as profiler:
            for number in range(STEPS):
                with torch.profiler.record_function(f"ProfilerStep#{number}"):
                    step().sum().item()
    path = tmp_path / "worker.pt.trace.json"
    profiler.export_chrome_trace(str(path))
    trace = torch_tb_profiler.open(path)
    told = findings_of(trace.facts, trace.insight, None)["found"]
    assert (rule in [one["rule"] for one in told]) is slow
