"""The headline of a recording of allocations alone: the failed allocation, else the peak, and who holds it."""

from __future__ import annotations

from collections.abc import Iterator

from torch_tb_profiler.analysis.memory.failures import failed_allocations
from torch_tb_profiler.analysis.memory.holding import HOLDERS, holding_sentences
from torch_tb_profiler.analysis.memory.live_memory import live_memory_at
from torch_tb_profiler.analysis.memory.shortage import shortage_of, shortage_sentences
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.units import format_bytes, format_ns
from torch_tb_profiler.views.memory.devices import HOST, device_names, in_order
from torch_tb_profiler.views.words.vocabulary import vocabulary

_UNTIMED = "memory_record_without_time"
"""The defect of records whose times are made up."""
_CALLS = {
    "cuda": "torch.cuda.memory._record_memory_history()",
    "xpu": "torch.xpu.memory._record_memory_history()",
    "npu": "torch_npu.npu.memory._record_memory_history()",
    "mtia": "torch.mtia.record_memory_history()",
}
"""What records a history, by the allocator that wrote the snapshot; ROCm's is that of CUDA."""


def memory_about(trace: Trace, facts: Facts, insight: Insight) -> str:
    """``GPU 0 at its peak, 1.30 ms after the first record · memory snapshot``: what the headline is of."""
    failures, _ = failed_allocations(trace, facts, insight, 1)
    devices = insight["memory_devices"]
    if not devices.n:
        return ""
    row = in_order(devices)[0]
    if failures:
        row = failures[0].device if failures[0].device >= 0 else row
        when = ", when the allocation failed"
    elif not devices["records"][row]:
        when = ", when the file was written"
    else:
        after = f", {format_ns(int(devices['peak_time'][row]))} after the first record"
        when = f" at its peak{'' if trace.defects[_UNTIMED] else after}"
    file = "memory snapshot" if insight.about["memory_source"] == "snapshot" else "memory records"
    return f"{device_names(devices, vocabulary(facts))[row]}{when} · {file}"


def memory_headline(trace: Trace, facts: Facts, insight: Insight) -> tuple[str, str]:
    """Of a failed allocation what was asked for and free, then what held the rest and why; else the peak of the device that
    allocated most, when, and what holds it; of a file without a history the call that records one.
    """
    failures, count = failed_allocations(trace, facts, insight, 1)
    devices = insight["memory_devices"]
    names = device_names(devices, vocabulary(facts))
    if failures:
        first, *rest = shortage_sentences(shortage_of(trace, insight, failures[0]), count)
        return first, " ".join(rest)
    if not devices.n:
        return "The file holds no allocation.", ""
    first, *rest = _peaks(
        insight, names, not trace.defects[_UNTIMED], call_for_history(trace, insight)
    )
    return first, " ".join(rest)


def peak_sentence(
    insight: Insight, row: int, name: str, capacity: int | None, timed: bool = True
) -> str:
    """``GPU 0 peaked at 51.1 GiB of 79.2 GiB (56.9 GiB reserved).``; ``capacity``: what the device has, bytes."""
    devices, reserved = insight["memory_devices"], reserved_then(insight, row)
    recorded = bool(devices["records"][row])
    of_all = f" of {format_bytes(capacity)}" if capacity else ""
    beside = f" ({format_bytes(reserved)} reserved)" if reserved > 0 else ""
    holds = "peaked at" if recorded else "holds"
    now = " now" if insight.about["memory_source"] == "snapshot" else ""
    when = ("" if timed else ", at an unknown time") if recorded else f"{now}, without a history"
    return f"{name} {holds} {format_bytes(int(devices['peak'][row]))}{of_all}{beside}{when}."


def reserved_then(insight: Insight, row: int) -> int:
    """Bytes that a device had reserved when it held most; of a file without a history the most that is known."""
    devices = insight["memory_devices"]
    recorded = bool(devices["records"][row])
    return (
        live_memory_at(insight, row, None).reserved
        if recorded
        else int(devices["peak_reserved"][row])
    )


def call_for_history(trace: Trace, insight: Insight) -> str:
    """The sentence that says how to record a history; empty where the file has one, or is no snapshot."""
    if insight.about["memory_source"] != "snapshot" or insight["memory_devices"]["records"].any():
        return ""
    call = _CALLS.get(trace.header.get("memory_backend", ""), _CALLS["cuda"])
    return f"Call {call} first: it records every allocation with its stack."


def _peaks(insight: Insight, names: list[str], timed: bool, call: str) -> Iterator[str]:
    devices = insight["memory_devices"]
    row, *others = in_order(devices)
    yield peak_sentence(insight, row, names[row], None, timed)
    if call:
        yield call
    if not call or (insight["allocations"]["line"] >= 0).any():
        yield from holding_sentences(insight, row, None)
    also = [other for other in others if devices["type"][other] != HOST and devices["peak"][other]]
    if also:
        listed = ", ".join(
            f"{names[other]} {format_bytes(int(devices['peak'][other]))}"
            for other in also[:HOLDERS]
        )
        more = f" and {len(also) - HOLDERS} more" if len(also) > HOLDERS else ""
        yield f"At most on others: {listed}{more}."
