"""Public recordings of GPUs: what ``key_averages()`` of the file prints equals what PyTorch's own
code makes of the same events.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.api.traces import SETTINGS, frames
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


@pytest.mark.parametrize("run", RUNS)
def test_tables(torch: Any, real_traces: Path, run: str) -> None:
    (path,) = (real_traces / run).glob("*.gz")
    theirs, opened = event_list(path), load(str(path), SETTINGS)
    # FLOPs are not in the file, and are tested on live recordings.
    opened.trace.header.pop("with_flops", None)
    trace = frames(opened)
    for by_shape in (False, True):
        # As this version of PyTorch, not as the one that recorded it.
        ours = trace.key_averages(
            group_by_input_shape=by_shape, include_python_functions=True, python_frames=True
        )
        expected = theirs.key_averages(group_by_input_shapes=by_shape)
        assert sum(row.self_device_time_total for row in ours if row.device_type == "CPU") > 0
        for options in TABLES:
            assert ours.table(**options) == expected.table(**options), options
