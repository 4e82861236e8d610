"""Public recordings of GPUs: what ``key_averages()`` of the file prints equals what PyTorch's own
code makes of the same events.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.api.traces import SETTINGS, frames
from tests.live import kineto
from tests.live.kept import kept
from tests.live.kineto import event_list
from tests.loading import load

RUNS = ("h100_bert_small", "h100_vit", "mi300_bert_small", "mi300_resnet_ddp")
TABLES: tuple[dict[str, Any], ...] = (
    {"row_limit": -1},
    {"sort_by": "self_cuda_time_total"},
    {"sort_by": "device_time"},
    {"sort_by": "self_cuda_memory_usage", "time_unit": "ms"},
    {"top_level_events_only": True, "time_unit": "s"},
)


def _write_tables(path: Path, folder: Path) -> None:
    theirs = event_list(path)
    grouped = [theirs.key_averages(group_by_input_shapes=by_shape) for by_shape in (False, True)]
    tables = [[found.table(**options) for options in TABLES] for found in grouped]
    (folder / "tables.json").write_text(json.dumps(tables))


@pytest.mark.parametrize("run", RUNS)
def test_tables(torch: Any, real_traces: Path, run: str) -> None:
    (path,) = (real_traces / run).glob("*.gz")
    sources = (path, Path(__file__), Path(kineto.__file__))
    folder = kept(f"tables_{run}", partial(_write_tables, path), *sources)
    theirs = json.loads((folder / "tables.json").read_text())
    opened = load(str(path), SETTINGS)
    # FLOPs are not in the file, and are tested on live recordings.
    opened.trace.header.pop("with_flops", None)
    trace = frames(opened)
    for by_shape, expected in zip((False, True), theirs, strict=True):
        # As this version of PyTorch, not as the one that recorded it.
        ours = trace.key_averages(
            group_by_input_shape=by_shape, include_python_functions=True, python_frames=True
        )
        assert sum(row.self_device_time_total for row in ours if row.device_type == "CPU") > 0
        for options, table in zip(TABLES, expected, strict=True):
            assert ours.table(**options) == table, options
