"""The table of ranges of some steps."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.analysis.ranges.build import ALL
from torch_tb_profiler.store.display import DisplayTable, display_spec, known
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import RangeKind
from torch_tb_profiler.store.model import Facts

_KINDS = np.array(["host", "device"], object)
RANGES = display_spec("""
ranges: One row per name of an annotation: `record_function`, NVTX, `gpu_user_annotation`. Steps are left out.
    name          code   Range           term=range_name pool=other width=320      Name of the range.
    kind          text   Recorded on     term=range_kind width=110 hidden          `host`, or `device` where only the device's part is recorded.
    calls         count  Calls           term=range_calls pool=sum unit=calls      How many.
    host_ns       time   Host            term=range_host optional bar              Host time from begin to end; missing for `device`.
    device_ns     time   {Device}        term=range_device optional bar            From the first to the last device work launched inside, summed over calls.
    busy_ns       time   {Device} busy   term=range_busy optional bar              Of it, while such work ran.
    device_share  share  {Device} share  term=range_share optional                 Busy time as a share of that of everything launched in the steps.
    launched      count  Launched        term=range_launched optional unit=events  Device events launched inside; missing for `device`.
    path_ns       time   On the path     term=range_path optional                  Time on the critical path of what lies inside or was launched there.
    path_share    share  Share of path   term=range_path_share optional            Of the time of the steps.
    event         row    -               -                                         Its longest call.
""")  # fmt: skip


def range_table(facts: Facts, insight: Insight, selection: Selection) -> DisplayTable:
    """The ranges with calls or work in the selected steps, the busiest on the device first, then the longest on the host."""
    ranges, sums = insight["ranges"], insight["range_steps"]
    taken = np.flatnonzero(mask(selection, sums["step"]))
    # The sums over everything come first.
    number = sums["range"][taken].astype(np.int64) - ALL
    figures = ("calls", "host", "device", "busy", "launched", "path")
    all_sums = {name: sum_by(number, ranges.n + 1, sums[name][taken]) for name in figures}
    whole = {name: int(values[0]) for name, values in all_sums.items()}
    total = {name: values[1:] for name, values in all_sums.items()}
    row = np.flatnonzero(sum(total[name] > 0 for name in ("calls", "host", "device", "path")))
    row = row[np.lexsort((-total["host"][row], -total["busy"][row]))]
    own = {name: values[row] for name, values in total.items()}
    on_host = ranges["kind"][row] == RangeKind.HOST
    has_device = facts.summary.has_device
    has_path = whole["path"] > 0
    return RANGES.build(
        facts.strings,
        name=ranges["name"][row],
        kind=_KINDS[ranges["kind"][row]].tolist(),
        calls=own["calls"],
        host_ns=np.where(on_host, own["host"], -1),
        device_ns=known(own["device"], has_device),
        busy_ns=known(own["busy"], has_device),
        device_share=_shares(own["busy"], whole["busy"]),
        launched=known(np.where(on_host, own["launched"], -1), has_device),
        path_ns=np.where(on_host, known(own["path"], has_path), -1),
        path_share=np.where(on_host, _shares(own["path"], whole["path"]), np.nan),
        event=ranges["event"][row],
    )


def _shares(part: np.ndarray, whole: int) -> np.ndarray:
    return part / whole if whole else np.full(len(part), np.nan)
