"""The headline of a recording of allocations alone: the failed allocation, else the peak, and who holds it."""

from __future__ import annotations

from collections.abc import Iterator

from torch_tb_profiler.analysis.memory.failures import failed_allocations
from torch_tb_profiler.analysis.memory.live_memory import LiveMemory, live_memory_at, places_of
from torch_tb_profiler.analysis.memory.shortage import HOLDERS, shortage_of, shortage_sentences
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.units import format_bytes, format_ns
from torch_tb_profiler.views.memory.devices import HOST, device_names, in_order
from torch_tb_profiler.views.words.vocabulary import vocabulary

_UNTIMED = "memory_record_without_time"
"""The defect of records whose times are made up."""


def memory_headline(trace: Trace, facts: Facts, insight: Insight) -> tuple[str, str]:
    """Of a failed allocation what was asked for and free, then what held the rest and why; else the peak of the device that
    allocated most, when, and where most of it was allocated.
    """
    failures, count = failed_allocations(trace, facts, insight, 1)
    devices = insight["memory_devices"]
    names = device_names(devices, vocabulary(facts))
    if failures:
        first, *rest = shortage_sentences(shortage_of(trace, insight, failures[0]), count)
        return first, " ".join(rest)
    if not devices.n:
        return "The file holds no allocation.", ""
    first, *rest = _peaks(insight, names, not trace.defects[_UNTIMED])
    return first, " ".join(rest)


def _peaks(insight: Insight, names: list[str], timed: bool) -> Iterator[str]:
    devices = insight["memory_devices"]
    row, *others = in_order(devices)
    peak, reserved = int(devices["peak"][row]), int(devices["peak_reserved"][row])
    held = live_memory_at(insight, row, None)
    when = ", at an unknown time" if devices["records"][row] else ", without a history"
    if devices["records"][row] and timed:
        when = f" {format_ns(int(devices['peak_time'][row]))} after the first record"
    at_most = f" (at most {format_bytes(reserved)} reserved)" if reserved > 0 else ""
    yield f"{names[row]} holds at most {format_bytes(peak)}{at_most}{when}."
    if holders := _holders(insight, held):
        yield f"Most is held by {', '.join(holders)}."
    also = [other for other in others if devices["type"][other] != HOST and devices["peak"][other]]
    if also:
        listed = ", ".join(
            f"{names[other]} {format_bytes(int(devices['peak'][other]))}"
            for other in also[:HOLDERS]
        )
        more = f" and {len(also) - HOLDERS} more" if len(also) > HOLDERS else ""
        yield f"At most on others: {listed}{more}."


def _holders(insight: Insight, held: LiveMemory) -> list[str]:
    """``forward at model.py:12 (14.0 MiB)``, the largest first."""
    return [f"{place} ({format_bytes(size)})" for place, size in places_of(insight, held, HOLDERS)]
