"""The user's own performance models in insights: here, in a worker process, and apart in the cache."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.builders.drawn import events
from tests.loading import load
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.runs.loading import insight_of
from torch_tb_profiler.runs.products import INSIGHT, content_version, make_insight
from torch_tb_profiler.runs.work_queue import Job, News, WorkQueue
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store import sidecar
from torch_tb_profiler.store.insight import Insight

DRAWING = """
main   [mine           ]
main    <L #1>
gpu 7          {gemm #1}
"""
MODELS = """
from torch_tb_profiler import register_model
from torch_tb_profiler.api.models import Work

@register_model("own", "my::operator", source="of my own")
def operator(call):
    return Work(77, None, "matrix", "bf16", {"N": 1})
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    drawn = events(
        DRAWING,
        {"mine": "my::operator", "L": "cudaLaunchKernel"},
        {"mine": {"Input Dims": [[4, 8]], "Input type": ["float"]}},
    )
    path = tmp_path / "worker0.pt.trace.json"
    path.write_text(json.dumps({"traceEvents": drawn}), encoding="utf-8")
    return path


def flops(insight: Insight) -> list[int]:
    names = insight.strings.many(insight["workloads"]["name"])
    return [
        int(count)
        for name, count in zip(names, insight["workloads"]["flops"], strict=True)
        if name == "my::operator"
    ]


def test_models_are_used_and_kept_apart(trace: Path, tmp_path: Path) -> None:
    plain = Settings(cache_dir=str(tmp_path / "cache"))
    own = tmp_path / "own.py"
    own.write_text(MODELS, encoding="utf-8")
    assert flops(insight_of(load(str(trace), plain), plain)) == [-1]
    with_models = Settings(cache_dir=plain.cache_dir, models=str(own))
    assert content_version(plain) != content_version(with_models)
    assert flops(_in_a_worker(trace, tmp_path, with_models)) == [77]
    assert flops(insight_of(load(str(trace), plain), plain)) == [-1]


def _in_a_worker(trace: Path, tmp_path: Path, settings: Settings) -> Insight:
    """As the server makes it: in a process of its own, so that the models of one test are not those
    of the next.
    """
    opened = load(str(trace), settings)
    sidecar.write(tmp_path / "trace.safetensors", opened.trace, opened.facts)
    news: list[News] = []
    jobs = WorkQueue(settings, lambda job, said: news.append(said))
    try:
        jobs.submit(
            Job(
                "insight",
                INSIGHT.maker,
                Place(str(tmp_path / "trace.safetensors")),
                str(tmp_path / "insight.safetensors"),
                0,
            ),
            (),
        )
        _wait_for_end(news)
    finally:
        jobs.close()
    assert news[-1].error is None
    return sidecar.read_derived(str(tmp_path / "insight.safetensors"), Insight)


def _wait_for_end(news: list[News]) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and not any(
        said.outcome is not None or said.error is not None for said in news
    ):
        time.sleep(0.02)


def test_a_faulty_file_is_told(trace: Path, tmp_path: Path) -> None:
    faulty = tmp_path / "faulty.py"
    faulty.write_text("raise RuntimeError('not today')", encoding="utf-8")
    settings = Settings(use_cache=False, models=str(faulty))
    opened = load(str(trace), settings)
    with pytest.raises(
        BadRequest, match=r"faulty\.py could not be used: line 1: RuntimeError: not today"
    ):
        insight_of(opened, settings)
    with pytest.raises(BadRequest, match="not today"):
        make_insight(str(trace), str(tmp_path / "out"), settings, lambda done, total: None)
