"""The shortest time that the device's peaks allow for single pieces of device work."""

from __future__ import annotations

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.arrays.grouping import group_rows, positions_of
from torch_tb_profiler.analysis.efficiency.rates import (
    everything,
    kernel_rows,
    representatives,
    shares,
)
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.facts.host_names import distinct
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.hardware.peaks import Peaks
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.strings import NONE


class IdealTimes(msgspec.Struct, frozen=True):
    """Arrays with one entry per piece of device work.

    time: shortest time that the device's peaks allow, ns, float64, NaN unknown.
    workload: representative row of ``workloads``, ignoring strides, concrete inputs and the server's
        step; −1 none.
    """

    time: Array
    workload: Ints


def ideal_times(
    trace: Trace, insight: Insight, row: Ints, peaks: Peaks, in_half: bool = False
) -> IdealTimes:
    """Ideal times of device rows; all launches of one kernel for one workload get the same time.

    ``in_half``: as if all float32 products ran in a 16-bit type on matrix cores, with half the
        bytes.
    """
    rows = kernel_rows(insight, everything(), by_step=True)
    # Fast algorithms (Winograd, FFT) beat this time, so any excess is a true loss.
    rows = replace(rows, fast=np.zeros(len(rows.fast), np.bool_))
    if in_half:
        half = peaks.rates.get(("matrix", "bf16"), peaks.rates.get(("matrix", "fp16")))
        if half is not None:
            peaks = replace(peaks, rates=peaks.rates | {("matrix", "fp32"): half})
        single = np.append(insight["workloads"]["precision"], NONE)[
            rows.workload
        ] == insight.strings.number("fp32")
        rows = replace(
            rows,
            matrix=np.full(len(rows.matrix), Knowledge.YES, np.uint8),
            bytes=np.where(single, rows.bytes / 2, rows.bytes),
        )
    per_launch = shares(insight, rows, peaks).ideal / np.maximum(rows.calls, 1)
    # Transfers of host libraries have none.
    own = np.append(insight["device_workloads"]["workload"].astype(np.int64), NONE)
    workload = own[positions_of(device_rows(trace), row)]
    exact, merged = (
        np.append(representatives(insight["workloads"], by_step=by_step), NONE)[workload]
        for by_step in (True, False)
    )
    number_in_insight = np.full(len(trace.strings) + 1, NONE, np.int64)
    name = trace["spans"]["name"][row]
    used = distinct(name, trace.strings)
    number_in_insight[used] = [insight.strings.number(trace.strings[number]) for number in used]
    kernel = np.concatenate((rows.kernel, number_in_insight[name]))
    _, group = group_rows((np.concatenate((rows.workload, exact)), kernel))
    n = len(rows.time)
    time = np.full(int(group.max(initial=-1)) + 1, np.nan)
    time[group[:n]] = per_launch
    return IdealTimes(time[group[n:]], merged)
