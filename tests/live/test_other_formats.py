"""What else PyTorch writes: the legacy profiler's trace and folded stacks, made here and read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.loading import load
from torch_tb_profiler.analysis.figures.operators import operator_rows
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.module.frames import line_frames
from torch_tb_profiler.runs.loading import insight_of
from torch_tb_profiler.settings import Settings

torch: Any = pytest.importorskip(
    "torch", reason="PyTorch is not installed; what it writes is made by it"
)
OWN = Settings(use_cache=False)


def _work() -> None:
    x = torch.randn(16, 16, requires_grad=True)
    (x @ x).relu().sum().backward()


def test_the_legacy_list_of_events(tmp_path: Path) -> None:
    with torch.autograd.profiler.profile() as profile:
        _work()
    events = profile.function_events
    path = tmp_path / "legacy.json"
    events.export_chrome_trace(str(path))
    opened = load(str(path), OWN)
    rows = operator_rows(opened.facts, select(opened.facts), "name")
    named = opened.facts.strings.many(rows["name"])
    written = [event.name for event in events if event.trace_name is not None]
    assert sum(rows["calls"].tolist()) > 10
    assert set(named) <= set(written)
    theirs = {
        name: sum(event.cpu_time_total for event in events if event.name == name)
        for name in ("aten::mm", "aten::relu")
    }
    ours = dict(zip(named, (rows["host_total_ns"] / 1000).tolist(), strict=True))
    assert {name: round(ours[name], 1) for name in theirs} == {
        name: round(total, 1) for name, total in theirs.items()
    }
    assert opened.trace.defects.as_dict() == {}


def test_folded_stacks(tmp_path: Path) -> None:
    verbose = torch._C._profiler._ExperimentalConfig(verbose=True)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        with_stack=True,
        experimental_config=verbose,
    ) as profile:
        _work()
    path = tmp_path / "stacks_cpu.txt"
    profile.export_stacks(str(path))
    lines = path.read_text().splitlines()
    opened = load(str(path), OWN)
    assert opened.trace.entries == len(lines) > 10
    frames, _ = line_frames(opened.facts, insight_of(opened, OWN), select(opened.facts))
    outermost = frames.parent < 0
    assert int(frames.host[outermost].sum()) == 1000 * sum(
        int(line.rpartition(" ")[2]) for line in lines
    )
    assert any(
        "test_other_formats.py(" in opened.facts.strings[name] for name in frames.name.tolist()
    )
