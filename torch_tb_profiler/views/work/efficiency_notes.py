"""Sentences of the Efficiency view: the answer, and caveats about its figures."""

from __future__ import annotations

from typing import Any

import numpy as np

from torch_tb_profiler.analysis.efficiency.device import Peaks, busiest_device
from torch_tb_profiler.analysis.efficiency.families import Totals, not_modelled_kernels
from torch_tb_profiler.analysis.efficiency.rates import Rows, Shares
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.units import format_count, format_ns, format_rate, format_share
from torch_tb_profiler.views.work.efficiency_wire import EfficiencyPayload

ABOVE = 1.005
"""Share from which a row is reported as above a peak; below is rounding."""
MOSTLY_MODELLED = 0.9
"""Share of the computation that must be modelled for its FLOPs to stand for all of it."""
_MICROSECOND = 1000
GIVE = (
    'Give them in a file: TORCH_TB_PROFILER_PEAKS=peaks.json with {"device name, * for anything":'
    ' {"bandwidth_gbps": 3350, "peaks": {"matrix_bf16": 989.4, "vector_fp32": 67}, "source": "data'
    ' sheet"}}.'
)

MUCH = 0.1
"""Share of the time that a row must take for the answer to be about it alone."""


def headline(payload: EfficiencyPayload, totals: Totals) -> list[str]:
    """The answer in at most twelve words, then what the steps reach in all."""
    return [_answer(payload), *_of_the_steps(payload, totals), *_modelled(totals)]


def _answer(payload: EfficiencyPayload) -> str:
    """Of the row that is furthest over its roof, where it takes much of the time; else of all rows with a roof, if they take
    most of it, or of the longest row."""
    rows, time = payload.rows, payload.time_ns
    own = range(len(rows["time_ns"]) - (payload.pooled > 0))
    if not own:
        return ""
    times, over = rows["time_ns"], rows["over_roof_ns"]
    known = [row for row in own if rows["roof"][row] is not None]
    most = max(known, key=lambda row: int(over[row] or 0), default=-1)
    if known and int(times[most]) >= MUCH * time:
        took = int(times[most])
        roof = "memory" if rows["roof"][most] == "memory" else "compute"
        at_roof = format_ns(took - int(over[most] or 0))
        return f"{_name(rows, most)} takes {format_ns(took)}; its {roof} roof is {at_roof}."
    took = sum(int(times[row]) for row in known)
    if 2 * took >= time:
        at_roof = format_ns(took - sum(int(over[row] or 0) for row in known))
        return f"Work with a known roof takes {format_ns(took)}; its roofs are {at_roof}."
    longest = max(own, key=lambda row: int(times[row]))
    where = payload.vocabulary.device if payload.has_device else "CPU"
    took = int(times[longest])
    return f"{_name(rows, longest)} takes {format_ns(took)} of {format_ns(time)} on the {where}."


def _name(rows: dict[str, Any], row: int) -> str:
    """The operator or kernel of a row, which is only one shape of it where others have its name."""
    column = next((key for key in ("name", "kernel") if rows[key][row] is not None), None)
    if column is None:
        return "One row"
    name = rows[column if column == "name" else "short_name"][row]
    several = sum(other == rows[column][row] for other in rows[column]) > 1
    return f"{name} (one shape)" if several else str(name)


def _of_the_steps(payload: EfficiencyPayload, totals: Totals) -> list[str]:
    """How much of the device they use: MFU, or at least the rate."""
    flops, wall = (
        sum(getattr(step, key) for step in payload.steps) for key in ("flops", "wall_ns")
    )
    if flops <= 0 or wall <= 0:
        return []
    # What is not modelled may have done more.
    whole = totals.modelled >= MOSTLY_MODELLED * totals.computation
    least = "" if whole else "at least "
    rate = format_rate(flops * 1e9 / wall, "FLOP/s")
    steps = "step" if len(payload.steps) == 1 else "steps"
    if payload.mfu is not None:
        name = payload.device.name or f"the {payload.vocabulary.device}"
        return [f"MFU of the {steps}: {least}{format_share(payload.mfu)} of {name}, {rate}."]
    return [f"Rate of the {steps}: {least}{rate}."]


def _modelled(totals: Totals) -> list[str]:
    if totals.modelled <= 0:
        return ["No operator of the steps could be modelled."]
    besides = f" (without {' and '.join(totals.aside)})" if totals.aside else ""
    share = format_share(totals.modelled / totals.computation)
    return [f"{share} of the computation{besides} is modelled."]


def notes(
    facts: Facts, insight: Insight, selection: Selection, rows: Rows, rates: Shares, peaks: Peaks
) -> list[str]:
    """What is to be said about these rows."""
    return [
        *_about_devices(facts, peaks),
        *_beyond_peaks(insight, rows, rates),
        *_without_share(facts, insight, selection, rows, rates, peaks),
    ]


def _about_devices(facts: Facts, peaks: Peaks) -> list[str]:
    sentences = []
    devices = facts["devices"]
    names = sorted(
        {facts.strings[int(number)] or "one without a name" for number in devices["name"].tolist()}
    )
    if len(names) > 1:
        sentences.append(
            f"The trace has devices of several kinds ({', '.join(names)}): all work is measured by"
            " the peaks of the busiest one."
        )
    if devices.n and peaks.entry is None:
        name = facts.strings[int(devices["name"][busiest_device(facts)])]
        sentences.append(
            "The device table has no figures for"
            f" {name or 'the device, which the trace does not name'}: shares of peaks are not"
            f" known. {GIVE}"
        )
    return sentences


def _beyond_peaks(insight: Insight, rows: Rows, rates: Shares) -> list[str]:
    sentences = []
    for share, text in (
        (
            rates.flops_share,
            (
                "the arithmetic peak: the clock was higher than the vendor states, or less was"
                " computed than the shapes say"
            ),
        ),
        (
            rates.bytes_share,
            (
                "the memory bandwidth: what one kernel leaves in a cache the next one need not"
                f" read from memory{_roughness(insight)}"
            ),
        ),
    ):
        above = share > ABOVE
        if above.any():
            many = int(above.sum())
            sentences.append(
                f"{format_count(many)} {'row reaches' if many == 1 else 'rows reach'}"
                f" ({format_ns(int(rows.time[above].sum()))} in all) more than {text}."
            )
    return sentences


def _without_share(
    facts: Facts, insight: Insight, selection: Selection, rows: Rows, rates: Shares, peaks: Peaks
) -> list[str]:
    sentences = []
    if rows.fast.any():
        many = int(rows.fast.sum())
        sentences.append(
            f"{format_count(many)} {'row is' if many == 1 else 'rows are'}"
            f" ({format_ns(int(rows.time[rows.fast].sum()))} in all) convolutions by Winograd's"
            " algorithm or Fourier transforms, which need fewer operations than the formula"
            " counts: FLOP/s is by the formula, and no share of the peak is shown."
        )
    kernels = insight["workload_kernels"]
    computes = not_modelled_kernels(facts, insight)[kernels["kernel"]] < 0
    lost = int(
        kernels["total"][
            mask(selection, kernels["step"]) & (kernels["workload"] < 0) & computes
        ].sum()
    )
    if lost:
        sentences.append(
            f"{format_ns(lost)} of computation was launched by no recorded operator (graph replays"
            " among them): nothing is known of its shapes."
        )
    types = insight["workloads"]["types"]
    untyped = (rows.flops > 0) & np.isnan(rates.flops_share) & (rows.workload >= 0)
    untyped[untyped] = types[rows.workload[untyped]] < 0
    if peaks.entry is not None and untyped.any():
        sentences.append(
            f"{format_ns(int(rows.time[untyped].sum()))} are operators whose element types were not"
            " recorded (emit_nvtx writes shapes alone): which peak counts, and how many bytes they"
            " move, is not known, so they have no share and no place in the roofline."
        )
    if np.any(rows.link):
        sentences.append(
            "Copies from or to the host are limited by the link between them, whose peak is not"
            " known: they have no share."
        )
    return sentences


def _roughness(insight: Insight) -> str:
    """What else an old recording leaves open: whether an input was expanded, and how long the
    shortest kernels took.
    """
    total = insight["workload_kernels"]["total"]
    sentence = (
        ""
        if np.any(insight["workloads"]["strides"] >= 0)
        else "; strides were not recorded, so that an expanded input counts in full"
    )
    return (
        sentence
        if np.any(total % _MICROSECOND)
        else (
            f"{sentence}; durations are whole microseconds, so that rates of the shortest kernels are"
            " rough"
        )
    )


def unmodelled_products(time: int) -> str:
    """``time``: ns of calls that multiply matrices and have no model."""
    return (
        f"{format_ns(time)} are matrix products, convolutions or attention whose work is not known,"
        " because their inputs or their kernels were not recorded in full or no model knows them:"
        " the share of the peak of the steps counts the others only."
    )
