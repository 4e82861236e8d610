"""Which of the public traces beside the checkout a law is asked of: each time a small one of every maker and kind, every night all."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REAL_TRACES

EACH_TIME = (
    "a100_alexnet_cupti_ranges",
    "a100_event_sync",
    "a100_triton",
    "ancient_categories",
    "ascend_torch_npu",
    "cpu_only",
    "ddp128_sampled",
    "h100_bert_small",
    "h100_ngc2310_mlp",
    "h100_vit",
    "h800_deepseek_train",
    "ibm_aiu",
    "mi210_gpu_only",
    "mi250_minitoy",
    "mi300_vllm_graph",
    "mtia_inference",
    "rtx3060_compile_05",
    "sglang_qwen3_decode",
)
FOLDERS = (
    sorted(path for path in REAL_TRACES.iterdir() if path.is_dir()) if REAL_TRACES.is_dir() else []
)
ABSENT = pytest.param(None, id="absent")
"""Stands for all where there are none, so that the test says why it is skipped."""


def some(paths: Iterable[Path]) -> list[Path]:
    """Those that are read each time."""
    return [path for path in paths if _run(path) in EACH_TIME]


def asked(paths: Iterable[Path]) -> list[Any]:
    """Parameters of a test: a path each, named by its run, of which most are for the night."""
    nightly = [pytest.mark.nightly]
    return [
        pytest.param(path, id=_run(path), marks=() if _run(path) in EACH_TIME else nightly)
        for path in paths
    ] or [ABSENT]


def _run(path: Path) -> str:
    return path.relative_to(REAL_TRACES).parts[0]
