"""The headline of a recording of allocations alone: the failed allocation, else the peak, and who holds it."""

from __future__ import annotations

from collections.abc import Iterator

from torch_tb_profiler.analysis.memory.failures import failed_allocations
from torch_tb_profiler.analysis.memory.holding import HOLDERS, holding_sentences
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


def call_for_history(trace: Trace, insight: Insight) -> str:
    """The sentence that says how to record a history; empty where the file has one, or is no snapshot."""
    if insight.about["memory_source"] != "snapshot" or insight["memory_devices"]["records"].any():
        return ""
    call = _CALLS.get(trace.header.get("memory_backend", ""), _CALLS["cuda"])
    return f"Call {call} first: it records every allocation with its stack."


def _peaks(insight: Insight, names: list[str], timed: bool, call: str) -> Iterator[str]:
    devices = insight["memory_devices"]
    row, *others = in_order(devices)
    peak, reserved = int(devices["peak"][row]), int(devices["peak_reserved"][row])
    most, when = "at most ", ", at an unknown time"
    if not devices["records"][row]:
        most, when = ("", " now, without a history") if call else (most, ", without a history")
    elif timed:
        when = f" {format_ns(int(devices['peak_time'][row]))} after the first record"
    at_most = f" ({most}{format_bytes(reserved)} reserved)" if reserved > 0 else ""
    yield f"{names[row]} holds {most}{format_bytes(peak)}{at_most}{when}."
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
