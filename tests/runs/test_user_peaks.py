"""The user's own peaks of devices in findings: used, kept apart in the cache, and no obstacle where
the file is broken.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.analysis.efficiency.cases import inputs
from tests.analysis.findings.cases import launched, rules, span, steps
from tests.loading import load
from torch_tb_profiler.runs.loading import insight_of
from torch_tb_profiler.runs.products import INSIGHT, make_insight
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store import sidecar
from torch_tb_profiler.store.insight import Insight

UNKNOWN = {
    "deviceProperties": [
        {"id": 0, "name": "Accelerator Something New", "totalGlobalMem": 85_018_279_936}
    ]
}
KERNEL = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64"
FAST = {
    "Accelerator Something*": {
        "bandwidth_gbps": 3350,
        "peaks": {"matrix_bf16": 989, "vector_fp32": 60},
    }
}
SLOW = {
    "Accelerator Something*": {
        "bandwidth_gbps": 3350,
        "peaks": {"matrix_bf16": 20, "vector_fp32": 5},
    }
}


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    operator = span("cpu_op", "aten::mm", 0.5, 6, **inputs((2048, 2048), (2048, 2048)))
    path = tmp_path / "worker0.pt.trace.json"
    path.write_text(
        json.dumps(
            {
                "traceEvents": [*steps((0, 10)), operator, *launched(KERNEL, 1, 1, 1, 999)],
                **UNKNOWN,
            }
        ),
        encoding="utf-8",
    )
    return path


def _found(trace: Path, settings: Settings) -> bool:
    return "far_from_peak" in rules(
        insight_of(load(str(trace), settings), settings).about["findings"]
    )


def test_findings_follow_the_file(trace: Path, tmp_path: Path) -> None:
    file = tmp_path / "peaks.json"
    cache = str(tmp_path / "cache")
    with_file = Settings(cache_dir=cache, peaks=str(file))
    assert not _found(trace, Settings(cache_dir=cache))
    # One read after the other is told by the time of change.
    for at, content, expected in (
        (1, json.dumps(FAST), True),
        (2, json.dumps(SLOW), False),
        (3, "{broken", False),
        (4, json.dumps(FAST), True),
    ):
        file.write_text(content, encoding="utf-8")
        os.utime(file, (at, at))
        assert _found(trace, with_file) is expected, content
    file.unlink()
    assert not _found(trace, with_file)


def test_a_worker_process_makes_the_same(trace: Path, tmp_path: Path) -> None:
    file = tmp_path / "peaks.json"
    file.write_text(json.dumps(FAST), encoding="utf-8")
    settings = Settings(cache_dir=str(tmp_path / "cache"), peaks=str(file))
    opened = load(str(trace), settings)
    imported, made = tmp_path / "trace.safetensors", tmp_path / "insight.safetensors"
    sidecar.write(imported, opened.trace, opened.facts)
    make_insight(str(imported), str(made), settings, lambda done, total: None)
    assert "far_from_peak" in rules(sidecar.read_derived(made, Insight).about["findings"])


def test_only_insights_depend_on_the_file(tmp_path: Path) -> None:
    file = tmp_path / "peaks.json"
    file.write_text(json.dumps(FAST), encoding="utf-8")
    kept = str(tmp_path / "0d4f.safetensors")
    assert INSIGHT.path(kept, Settings(peaks=str(file))) != INSIGHT.path(kept, Settings())
    assert INSIGHT.id(kept, Settings(peaks=str(file))) != INSIGHT.id(kept, Settings())
    assert INSIGHT.path(kept, Settings(peaks=str(tmp_path / "none.json"))) == INSIGHT.path(
        kept, Settings()
    )
