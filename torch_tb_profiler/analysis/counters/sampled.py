"""The table ``counter_steps``: counters that were sampled over time.

Samplers read all counters of a device at equal intervals (1 ms in ``CuptiPMSamplingProfiler.cpp``),
so the mean of a step's samples is the mean over its time.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_floats
from torch_tb_profiler.analysis.arrays.intervals import window_at
from torch_tb_profiler.analysis.timeline.counter_samples import file_counters
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Array, Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.strings import StringBuilder

_OF_COUNTERS = " Counters"


def build_sampled(
    trace: Trace, facts: Facts, tables: dict[str, Table], texts: StringBuilder
) -> tuple[dict[str, Table], dict[str, object]]:
    """The table ``counter_steps``; samples count for the step at their time."""
    steps = facts["steps"]
    pieces: list[dict[str, Array]] = []
    for _, name, track, _, _, time, value in file_counters(trace):
        step, group = np.unique(window_at(steps["start"], steps["end"], time), return_inverse=True)
        least, greatest = np.full(len(step), np.inf), np.full(len(step), -np.inf)
        np.minimum.at(least, group, value)
        np.maximum.at(greatest, group, value)
        numbers = {"counter": texts.intern(name), "device": texts.intern(device_name(trace, track))}
        pieces.append(
            {
                **{key: np.full(len(step), number) for key, number in numbers.items()},
                "step": step,
                "samples": np.bincount(group, minlength=len(step)),
                "total": sum_floats(group, len(step), value),
                "least": least,
                "greatest": greatest,
            }
        )
    if not pieces:
        return {schema.COUNTER_STEPS.name: schema.COUNTER_STEPS.empty()}, {}
    columns = {
        column.name: np.concatenate([piece[column.name] for piece in pieces])
        for column in schema.COUNTER_STEPS.columns
    }
    return {schema.COUNTER_STEPS.name: schema.COUNTER_STEPS.build(**columns)}, {}


def device_name(trace: Trace, track: int) -> str:
    """The owner of a track's samples: ``GPU 0`` of ``GPU 0 Counters``, else label or name."""
    tracks = trace["tracks"]
    process, label, name = (
        trace.strings[int(tracks[key][track])] if tracks[key][track] >= 0 else ""
        for key in ("pid", "process_label", "process_name")
    )
    if process.endswith(_OF_COUNTERS):
        return process.removesuffix(_OF_COUNTERS)
    return label or (f"{name} {process}" if name and process.isdigit() else name or process)
