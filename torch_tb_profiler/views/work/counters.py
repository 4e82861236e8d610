"""Route ``/counters``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np

from torch_tb_profiler.analysis.counters.by_kernel import measured_kernels
from torch_tb_profiler.analysis.counters.profiled import ProfiledKernels, profiled_kernels
from torch_tb_profiler.analysis.counters.table import (
    COUNTER_SAMPLES,
    COUNTERS,
    counter_table,
    name_of,
    peaks_of_ranges,
    sample_table,
)
from torch_tb_profiler.analysis.facts.profiled_ranges import RangeMatch
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.analysis.figures.unique_labels import unique_labels
from torch_tb_profiler.analysis.timeline.counter_samples import file_counters
from torch_tb_profiler.hardware.counter_names import DRAM, counter_label, counter_unit
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.summary import Writer
from torch_tb_profiler.units import format_count, format_counted
from torch_tb_profiler.views.display_wire import table_of, wire_columns
from torch_tb_profiler.views.wire import CounterInfo, MeasuredCounters, Missing, Vocabulary, Wire
from torch_tb_profiler.views.words.recipes import recipe
from torch_tb_profiler.views.words.vocabulary import vocabulary


class CountersTablePayload(Wire, frozen=True, kw_only=True):
    """Route ``/counters``. ``values[c][i]`` is counter c of row i of ``profiled``; null: not measured.
    ``headline``: what was measured. ``matching`` says how ranges were tied to launches, and what
    did not match. ``bandwidth``: bytes/s of the memory whose traffic was counted, null not known;
    ``no_roofline``: what the recording lacks for one, empty where it can be drawn.
    """

    vocabulary: Vocabulary
    counters: list[CounterInfo]
    profiled: Annotated[dict[str, Any], table_of(COUNTERS)]
    values: list[list[float | None]]
    headline: str
    matching: str
    measured: Literal["ranges", "slices", ""]
    bandwidth: float | None
    no_roofline: str
    sampled_counters: list[CounterInfo]
    sampled: Annotated[dict[str, Any], table_of(COUNTER_SAMPLES)]
    steps: list[str]
    pooled: int
    missing: list[Missing]


_FLOP_METRICS = "kineto__cuda_core_flops"
_TRAFFIC_METRICS = "dram__bytes_read.sum and dram__bytes_write.sum"
_CONFIG = """import torch

metrics = ["kineto__cuda_core_flops", "dram__bytes_read.sum", "dram__bytes_write.sum"]
per_kernel = torch.profiler._ExperimentalConfig(
    profiler_metrics=metrics, profiler_measure_per_kernel=True
)
"""
_WHY = (
    "The trace holds neither profiled ranges nor counter samples: no metrics were asked for"
    " (profiler_metrics). Counters need NVIDIA's CUPTI and the right to read them; every kernel"
    " is then replayed, and no kernel's time is recorded."
)

_NOT_IN_FILE = "The file has neither profiled ranges nor counter samples."


def no_counters(trace: Trace, facts: Facts) -> list[Missing]:
    """Why there are no hardware counters; nothing where there are some."""
    has = facts.summary.profiled_ranges or next(iter(file_counters(trace)), None)
    return [] if has else [_counters(facts)]


def _counters(facts: Facts) -> Missing:
    """Why there are none and how to record them, where the program has a way to."""
    writer = facts.summary.writer
    if writer in (Writer.TORCH_NPU, Writer.OTHER):
        return Missing(key="counters", what="Hardware counters", why=_NOT_IN_FILE, call="")
    call = recipe(writer, "experimental_config=per_kernel")
    server = " A server cannot be asked for them: record its model in a script." if not call else ""
    return Missing(
        key="counters",
        what="Hardware counters",
        why=_WHY + server,
        call=_CONFIG + (call or recipe(Writer.SCRIPT, "experimental_config=per_kernel")),
    )


def counters_table_payload(
    trace: Trace, facts: Facts, insight: Insight, selection: Selection, limit: int, file: str = ""
) -> CountersTablePayload:
    """Profiled ranges and sampled counters of the selected steps.

    A range whose step is not known counts only where everything is selected. ``file``: path of the
    user's own figures of devices, empty none.

    Raises:
        SourceError: that file cannot be read, or is none.
    """
    profiled = profiled_kernels(trace, facts)
    peaks = peaks_of_ranges(trace, facts, profiled, file)
    chosen = np.flatnonzero(mask(selection, profiled.step))
    has = len(profiled.launches.row) or insight["counter_steps"].n
    samples = sample_table(insight, selection)
    sampled = [name for name in dict.fromkeys(samples.texts("counter")) if name]
    bandwidth = peaks.bandwidth if profiled.traffic == DRAM else None
    return CountersTablePayload(
        vocabulary=vocabulary(facts),
        counters=[_info(name) for name in profiled.counters],
        profiled=wire_columns(counter_table(trace, profiled, chosen[:limit], peaks)),
        values=profiled.values[:, chosen[:limit]].tolist(),
        headline=_headline(len(chosen), len(profiled.counters), len(sampled)),
        matching=matching_text(profiled),
        measured=_measured(profiled),
        bandwidth=bandwidth,
        no_roofline=_no_roofline(profiled, bandwidth),
        sampled_counters=[_info(name) for name in sampled],
        sampled=wire_columns(samples),
        steps=facts.strings.many(facts["steps"]["name"]),
        pooled=max(len(chosen) - limit, 0),
        missing=[] if has else [_counters(facts)],
    )


def _headline(kernels: int, counters: int, sampled: int) -> str:
    """What was measured; empty where nothing was."""

    parts = []
    if kernels:
        parts.append(
            f"{format_counted(kernels, 'kernel')} measured with {format_counted(counters, 'counter')} each"
        )
    if sampled:
        parts.append(f"{format_counted(sampled, 'counter')} sampled over time")
    return "; ".join(parts)


def measured_counters(trace: Trace, facts: Facts, selection: Selection) -> MeasuredCounters:
    """The counters of kernels by name, as the page gets them."""
    found = measured_kernels(trace, facts, selection)
    return MeasuredCounters(
        name=found.names,
        short_name=unique_labels(found.names, [name_of(name) for name in found.names]),
        calls=found.calls.tolist(),
        counters=[_info(name) for name in found.counters],
        values=found.means.tolist(),
    )


def _info(name: str) -> CounterInfo:
    return CounterInfo(name=name, label=counter_label(name), unit=counter_unit(name))


def _measured(profiled: ProfiledKernels) -> Literal["ranges", "slices", ""]:
    if not len(profiled.launches.row):
        return ""
    return "slices" if profiled.launches.slices.all() else "ranges"


def _no_roofline(profiled: ProfiledKernels, bandwidth: float | None) -> str:
    """What is missing to draw ranges by their intensity, below what the device can do; empty where
    nothing is, or nothing was profiled.
    """
    figures = (
        ("FLOPs", _FLOP_METRICS, profiled.flops),
        ("memory traffic", _TRAFFIC_METRICS, profiled.bytes),
    )
    lacks = [words for *words, values in figures if not (values > 0).any()]
    why = ""
    if lacks:
        what, metrics = zip(*lacks, strict=True)
        why = (
            f"{' and '.join(what)} {'are' if 'FLOPs' in what else 'is'} not known: record"
            f" {' and '.join(metrics)}"
        )
    elif not ((profiled.flops > 0) & (profiled.bytes > 0)).any():
        why = "of no kernel both FLOPs and memory traffic are known"
    elif bandwidth is None and not (profiled.time > 0).any():
        why = (
            "no times were measured, and the bandwidth of the"
            f" {'device' if profiled.traffic == DRAM else 'cache'} is not known"
        )
    return f"No roofline is drawn: {why}." if why and len(profiled.launches.row) else ""


def matching_text(profiled: ProfiledKernels) -> str:
    """How the ranges were tied to launches and what the figures are of, in sentences; empty without
    a range.
    """
    launches = profiled.launches
    n = len(launches.row)
    if not n:
        return ""
    count = {tie: int((launches.how == tie).sum()) for tie in RangeMatch}
    sentences = [
        sentence for tie, sentence in _sentences(n, count, launches.spare).items() if count[tie]
    ]
    if launches.slices.any():
        sentences.append(
            "The file gives each range an equal slice of the window, not the time at which its"
            " kernel ran: there are no times."
        )
    if profiled.traffic == "l2":
        sentences.append(
            "Memory traffic is that of the L2 cache: traffic of the device's memory was not"
            " counted."
        )
    if (profiled.flops >= 0).any() and (profiled.flops < 0).any():
        sentences.append(
            "FLOPs are unknown where a kernel used matrix cores whose operations were not counted"
            " (sm__ops_path_tensor_…), or where not all instructions of its precision were."
        )
    return " ".join(sentences)


def _sentences(n: int, count: dict[RangeMatch, int], spare: int) -> dict[RangeMatch, str]:
    lost, begun = count[RangeMatch.NO_LAUNCH], count[RangeMatch.BY_BEGIN]
    return {
        RangeMatch.BY_ORDER: (
            f"{format_count(count[RangeMatch.BY_ORDER])} of {format_count(n)} ranges were tied to their launches by order: the"
            " first to the first kernel launched, and so on."
        ),
        RangeMatch.BY_NAME: (
            f"{format_count(count[RangeMatch.BY_NAME])} of {format_count(n)} ranges were tied to their launches by the names of"
            " the kernels."
        ),
        RangeMatch.BY_BEGIN: (
            f"Ranges: {format_count(n)}, kernel launches: {format_count(begun + spare)}. The first {format_count(begun)} of each were"
            " tied by order; what is missing may be anywhere, so the operators may be those of a"
            " neighbour."
        ),
        RangeMatch.WHOLE: (
            "The range stands for every kernel that ran in it (profiler_measure_per_kernel was"
            " off), so it has no operator."
        ),
        RangeMatch.NO_LAUNCH: (
            f"{format_count(lost)} {'ranges have' if lost > 1 else 'range has'} no launch, so no operator."
        ),
        RangeMatch.SEVERAL_DEVICES: (
            "Several devices were measured, and nothing in the trace says which launch was for"
            " which, so the ranges have no operators."
        ),
    }
