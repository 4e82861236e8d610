"""The least time that a device's peaks allow for single pieces of its work."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, positions_of
from torch_tb_profiler.analysis.efficiency.rates import (
    everything,
    kernel_rows,
    representatives,
    shares,
)
from torch_tb_profiler.analysis.facts.attribution import device_rows
from torch_tb_profiler.analysis.facts.names import distinct
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.hardware.peaks import Peaks
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.strings import NONE


@dataclass(frozen=True)
class IdealTimes:
    """Of pieces of device work, arrays of their shape.

    time: ns that the device's peaks allow it at least, float64, NaN unknown. workload: its row of
        ``workloads``, one for all that differ in strides and
    concrete inputs only; −1 none.
    """

    time: Array
    workload: Ints


def ideal_times(
    trace: Trace, insight: Insight, row: Ints, peaks: Peaks, in_half: bool = False
) -> IdealTimes:
    """Of rows of spans that are device work. Launches of one kernel for one workload count as
    equal.

    ``in_half``: were all products of float32 done in a 16-bit type on matrix cores, which also
        halves the bytes.
    """
    rows = kernel_rows(insight, everything())
    # A fast algorithm takes less time than this: what is lost beyond it is lost by any.
    rows = replace(rows, fast=np.zeros(len(rows.fast), np.bool_))
    if in_half:
        half = next(
            (
                peaks.rates["matrix", precision]
                for precision in ("bf16", "fp16")
                if ("matrix", precision) in peaks.rates
            ),
            None,
        )
        peaks = replace(
            peaks, rates=peaks.rates | ({} if half is None else {("matrix", "fp32"): half})
        )
        single = np.append(insight["workloads"]["precision"], NONE)[
            rows.workload
        ] == insight.strings.number("fp32")
        rows = replace(
            rows,
            matrix=np.full(len(rows.matrix), Knowledge.YES, np.uint8),
            bytes=np.where(single, rows.bytes / 2, rows.bytes),
        )
    found = shares(insight, rows, peaks)
    per_launch = found.ideal / np.maximum(rows.calls, 1)
    workload = insight["device_workloads"]["workload"][
        positions_of(device_rows(trace), row)
    ].astype(np.int64)
    workload = np.append(representatives(insight["workloads"]), NONE)[workload]
    own = np.full(len(trace.strings) + 1, NONE, np.int64)
    name = trace["spans"]["name"][row]
    used = distinct(name, trace.strings)
    own[used] = [insight.strings.number(trace.strings[number]) for number in used]
    n = len(rows.time)
    _, of = group_rows(
        (np.concatenate((rows.workload, workload)), np.concatenate((rows.kernel, own[name])))
    )
    time = np.full(int(of.max(initial=-1)) + 1, np.nan)
    time[of[:n]] = per_launch
    return IdealTimes(time[of[n:]], workload)
