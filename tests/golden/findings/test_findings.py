"""The findings of every sample, in words, and of the public traces, in numbers, against files that
a person can review.

``UPDATE_GOLDEN=1 pytest tests/golden/findings`` writes them anew. Look at each changed line, and at
the events it rests on, before you commit it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torch_tb_profiler.analysis.findings.candidate import THRESHOLD
from torch_tb_profiler.analysis.findings.rules import RULES
from torch_tb_profiler.analysis.findings.unsure import UNSURE
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.runs.single import load_all
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.views.findings import Source, findings_payload
from torch_tb_profiler.views.findings_wire import Finding

HERE = Path(__file__).resolve().parent
IDLE = (
    "profiler_overhead",
    "silent_end",
    "kernel_loading",
    "input_bound",
    "host_backend",
    "allocator_churn",
    "host_synchronisation",
    "launch_bound",
    "idle_host",
    "idle_queue",
    "idle_other",
)
BOTH = ("optimizer_unfused",)
UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))


def _opened(folder: Path) -> Iterator[tuple[str, Opened, Insight]]:
    for run in sorted(path for path in folder.iterdir() if path.is_dir()):
        for opened in load_all(str(run), Settings()):
            if isinstance(opened, Opened):
                yield (
                    f"{run.name} {opened.worker.name} {opened.span.name}",
                    opened,
                    build_insight(opened.trace, opened.facts),
                )


def _compare(name: str, found: dict[str, Any]) -> None:
    path = HERE / name
    if UPDATE:
        lines = [
            f" {json.dumps(key)}: {json.dumps(value, indent=2, ensure_ascii=False)}"
            for key, value in found.items()
        ]
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    assert json.loads(path.read_text(encoding="utf-8")) == found


def _fits(made: dict[str, Any]) -> None:
    """What must hold of any trace."""
    costing = [item for item in made["found"] if item["recoverable_ns"] is not None]
    assert sum(item["recoverable_ns"] for item in costing) <= (made["step_ns"] or 0)
    assert sum(item["share"] for item in costing) <= 1 + 1e-9
    assert all(item["share"] >= THRESHOLD for item in costing)
    if made["busy"] is not None:
        # What the device's idle time is laid at is idle time, all of it but for causes too small to
        # be told; the rest is work.
        idle = sum(item["share"] for item in costing if item["rule"] in IDLE)
        work = sum(item["share"] for item in costing if item["rule"] not in (*IDLE, *BOTH))
        both = sum(item["share"] for item in costing if item["rule"] in BOTH)
        assert idle <= 1 - made["busy"] + 1e-9
        assert work <= made["busy"] + 1e-9
        if "edges" not in made["unsure"]:
            assert 1 - made["busy"] - idle - both <= THRESHOLD * len(IDLE) / 2
    for item in made["found"]:
        assert item["rule"] in RULES
        assert set(made["unsure"]) <= set(UNSURE)
        assert len(item["rows"]) == min(item["count"], 20)


def _evidence(item: Finding) -> str:
    return f"{item.evidence_count} × {item.evidence[0].label}" if item.evidence else "no event"


def test_samples(samples: Path) -> None:
    found = {}
    for key, opened, insight in _opened(samples):
        _fits(insight.about["findings"])
        page = findings_payload(
            Source(opened.trace, opened.facts, opened.worker.name, opened.span.name),
            insight.about["findings"],
        )
        found[key] = {
            "headline": page.headline,
            "findings": [
                f"{item.sentence} [{_evidence(item)}, {item.line}]" for item in page.findings
            ],
            "unsure": page.unsure,
        }
    _compare("samples.json", found)


def test_public_traces(real_traces: Path) -> None:
    """Rule, share of the step in per cent, pieces of evidence."""
    found = {}
    for key, _, insight in _opened(real_traces):
        made = insight.about["findings"]
        _fits(made)
        found[key] = [
            f"{item['rule']} {'-' if item['share'] is None else format(item['share'], '.0%')}"
            f" {item['count']}"
            for item in made["found"]
        ]
    _compare("public_traces.json", found)
