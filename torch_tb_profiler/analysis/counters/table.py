"""The tables of hardware counters: profiled kernels, and means of sampled counters."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.counters.profiled import ProfiledKernels
from torch_tb_profiler.analysis.facts.header import device_properties
from torch_tb_profiler.analysis.facts.profiled_ranges import RangeMatch
from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.hardware.counter_names import counter_unit, operations_of
from torch_tb_profiler.hardware.peaks import Peaks as Peaks
from torch_tb_profiler.hardware.peaks import peaks_of
from torch_tb_profiler.store.columns import Array, Ints, unique_values
from torch_tb_profiler.store.display import DisplayTable, display_spec
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace

_NO_NAME = "__missing__"
"""What CUPTI calls a kernel whose name it does not know."""
_SHORT_NAMES = {_NO_NAME: "kernel without a name"}

WHOLE = "whole recording"
"""What the page calls a range that stands for everything that ran in it."""
COUNTERS = display_spec("""
counters: One row per profiled kernel (`cuda_profiler_range`), behind these columns one per counter under its own name. `time_ns` is missing where the times of
  the file are no measured ones.
    kernel      code    Kernel           term=counters_kernel width=240                Full name.
    short_name  code    -                -                                             The name without its template arguments.
    op_stack    texts   Operators        term=counters_path hidden                     Tuple of the operators around the launch, outermost first.
    top_op      code    Top operator     term=counters_top optional width=170          Outermost one.
    bottom_op   code    Bottom operator  term=counters_bottom optional width=170       The innermost operator.
    step        id      Step             term=counters_step optional unit=step hidden  The launch's.
    time_ns     time    Time             term=counters_time optional bar               Duration.
    flops       FLOP    FLOPs            term=counters_flops optional bar              By instruction counters.
    bytes       bytes   Memory traffic   term=counters_bytes optional bar              By memory counters.
    intensity   number  FLOP/B           term=counters_intensity width=76
    flops_rate  FLOP/s  FLOP/s           term=counters_rate
    unit        text    -                optional                                      `matrix` or `vector`: what did most of its FLOPs.
    precision   text    -                optional                                      Of the multiplied elements.
    peak        FLOP/s  -                -                                             The device's rate of that unit and precision.
    launch      row     -                -                                             The launch.
    event       row     -                -                                             The range.
""")
COUNTER_SAMPLES = display_spec("""
counter_samples: One row per sampled counter, device and step; the step is missing outside all.
    counter  code    Counter   term=counters_counter width=280                  Name.
    unit     text    Unit      term=counters_unit width=90                      Its unit.
    device   text    Device    term=counters_device width=110                   The device.
    step     id      Step      term=counters_step optional unit=step width=130  The step.
    samples  count   Samples   term=counters_samples unit=samples               How many.
    mean     number  Mean      term=counters_mean unit=see_`unit`               Mean.
    min      number  Least     term=counters_least unit=see_`unit`              Least.
    max      number  Greatest  term=counters_greatest unit=see_`unit`           Greatest.
""")

Roof = tuple[str, str]
"""(unit, precision) as in the device table."""


def name_of(kernel: str) -> str:
    """What a measured kernel is called in short."""
    return _SHORT_NAMES.get(kernel) or short_name(kernel)


def counter_table(
    trace: Trace, profiled: ProfiledKernels, chosen: Ints, peaks: Peaks
) -> DisplayTable:
    """Rows of the chosen ranges, in their order; ``profiled.values[:, chosen]`` stands beside them."""
    launches, names = profiled.launches, trace["spans"]["name"]
    kernels = trace.strings.many(names[launches.row[chosen]])
    whole = (launches.how[chosen] == RangeMatch.WHOLE).tolist()
    distinct, place = np.unique(names[profiled.operators], return_inverse=True)
    texts = trace.strings.many(distinct)
    operators, first = [texts[i] for i in place.tolist()], profiled.first.tolist()
    stacks = [tuple(operators[first[row] : first[row + 1]]) for row in chosen.tolist()]
    roofs, of_range = main_roofs(profiled)
    roof = [roofs[number] if number >= 0 else None for number in of_range[chosen].tolist()]
    rates = [peaks.rate(*one) if one else None for one in roof]
    time, flops, size = profiled.time[chosen], profiled.flops[chosen], profiled.bytes[chosen]
    return COUNTERS.build(
        trace.strings,
        kernel=kernels,
        short_name=[
            WHOLE if is_whole else name_of(kernel)
            for kernel, is_whole in zip(kernels, whole, strict=True)
        ],
        op_stack=stacks,
        top_op=[stack[0] if stack else None for stack in stacks],
        bottom_op=[stack[-1] if stack else None for stack in stacks],
        step=profiled.step[chosen],
        time_ns=time,
        flops=flops,
        bytes=size,
        intensity=_ratio(flops, size),
        flops_rate=_ratio(flops, time) * 1e9,
        unit=[one and one[0] for one in roof],
        precision=[one and one[1] for one in roof],
        peak=np.array(rates, np.float64),
        launch=launches.launch[chosen],
        event=launches.row[chosen],
    )


def _ratio(values: Ints, by: Ints) -> Array:
    """NaN where one of them is unknown, or nothing is divided by."""
    ratio: Array = np.divide(
        values, by, out=np.full(len(by), np.nan), where=(values >= 0) & (by > 0)
    )
    return ratio


def sample_table(insight: Insight, selection: Selection) -> DisplayTable:
    """Sampled counters of the selected steps, those with the most samples first; the step is −1
    outside all, or without steps.
    """
    table = insight["counter_steps"].take(mask(selection, insight["counter_steps"]["step"]))
    numbers, place = np.unique(table["counter"], return_inverse=True)
    units = [counter_unit(name) for name in insight.strings.many(numbers)]
    return COUNTER_SAMPLES.build(
        insight.strings,
        counter=table["counter"],
        unit=[units[i] for i in place.tolist()],
        device=table["device"],
        step=table["step"],
        samples=table["samples"],
        mean=table["total"] / np.maximum(table["samples"], 1),
        min=table["least"],
        max=table["greatest"],
    )


def main_roofs(profiled: ProfiledKernels) -> tuple[list[Roof], Ints]:
    """The counted (unit, precision) pairs, and for each range the one that did most of its FLOPs.

    roofs: in the order in which their counters first appear in the trace.
    of: index into ``roofs``, int64 of shape (ranges,); −1 where no operation was counted.
    """
    counted = [
        (operation[:2], operation[2], c)
        for c, name in enumerate(profiled.counters)
        if (operation := operations_of(name))
    ]
    roofs = list(dict.fromkeys(roof for roof, _, _ in counted))
    ranges = profiled.values.shape[1]
    done = np.zeros((len(roofs) + 1, ranges))
    with np.errstate(over="ignore"):
        for roof, weight, c in counted:
            done[roofs.index(roof) + 1] += np.nan_to_num(profiled.values[c]) * weight
    return roofs, np.argmax(done, axis=0) - 1


def peaks_of_ranges(trace: Trace, facts: Facts, profiled: ProfiledKernels, file: str = "") -> Peaks:
    """The peaks of the devices of the ranges; none if they are of several kinds or unknown.

    A recording of counters has no kernels, so the facts know no device. ``file``: path of the
    user's own peaks.

    Raises SourceError if that file cannot be read.
    """
    listed = device_properties(trace)
    kinds = {listed.get(device) for device in unique_values(profiled.launches.device).tolist()}
    if len(kinds) != 1 or (kind := kinds.pop()) is None:
        return Peaks(None, None, "", {})
    vendor = facts.summary.vendor
    return peaks_of(kind.name, vendor, kind.multiprocessors, kind.memory, file)
