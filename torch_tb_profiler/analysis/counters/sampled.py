"""Counters that were sampled over time → the table ``counter_steps``.

Samplers read all counters of a device at once, at equal intervals (``CuptiPMSamplingProfiler.cpp``:
1 ms), so that the mean of a step's samples is the mean over its time.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_floats
from torch_tb_profiler.analysis.facts.steps import host_step
from torch_tb_profiler.analysis.timeline.counter_samples import file_counters
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Array, Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.strings import StringBuilder

_OF_COUNTERS = " Counters"


def build_sampled(
    trace: Trace, facts: Facts, tables: dict[str, Table], texts: StringBuilder
) -> tuple[dict[str, Table], dict[str, object]]:
    """The table, the series with the most samples first. A sample is of the step that its time lies
    in; steps do not overlap.
    """
    steps = facts["steps"]
    pieces: list[dict[str, Array]] = []
    for _, name, track, _, _, time, value in file_counters(trace):
        step, at = np.unique(host_step(steps["start"], steps["end"], time), return_inverse=True)
        least, greatest = np.full(len(step), np.inf), np.full(len(step), -np.inf)
        np.minimum.at(least, at, value)
        np.maximum.at(greatest, at, value)
        numbers = {"counter": texts.intern(name), "device": texts.intern(device_name(trace, track))}
        pieces.append(
            {
                **{key: np.full(len(step), number) for key, number in numbers.items()},
                "step": step,
                "samples": np.bincount(at, minlength=len(step)),
                "total": sum_floats(at, len(step), value),
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
    """What the samples of a track are of: Kineto writes ``GPU 0 Counters`` for the process, or a
    number and a label beside it.
    """
    tracks = trace["tracks"]
    process, label, name = (
        trace.strings[int(tracks[key][track])] if tracks[key][track] >= 0 else ""
        for key in ("pid", "process_label", "process_name")
    )
    if process.endswith(_OF_COUNTERS):
        return process.removesuffix(_OF_COUNTERS)
    return label or (f"{name} {process}" if name and process.isdigit() else name or process)
