"""What stands under "This recording": how busy the devices are, how many kernels there are, and what was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torch_tb_profiler.analysis.figures.kernels import kernel_rows
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.units import format_count, format_ns, format_share
from torch_tb_profiler.views.wire import DeviceSummary, Fact, Vocabulary
from torch_tb_profiler.views.words.texts import capitalised


def recording_facts(
    facts: Facts, selection: Selection, devices: Sequence[DeviceSummary], words: Vocabulary
) -> list[Fact]:
    """Figures of the selected steps, and what the recording holds; a line only for what is known."""
    return [
        Fact(label=label, value=value, hint=hint)
        for label, value, hint in (*_of_devices(facts, selection, devices, words), _held(facts))
        if value
    ]


def _of_devices(
    facts: Facts, selection: Selection, devices: Sequence[DeviceSummary], words: Vocabulary
) -> Iterator[tuple[str, str, str]]:
    if not devices:
        return
    busy = _range([device.utilization for device in devices])
    yield f"{words.device} busy", busy, "Share of the selected steps in which a kernel runs."
    matrix = _range([device.matrix_core_share for device in devices])
    hint = "Known from the names of kernels: at least so much."
    yield capitalised(words.matrix_cores), matrix and f"{matrix} of kernel time", hint
    kernels = kernel_rows(facts, selection, "name")
    calls, time = int(kernels["calls"].sum()), int(kernels["total_ns"].sum())
    told = f"{format_count(calls)}, {format_ns(time)}" if calls else ""
    yield "Kernels", told, "Of the selected steps: how many, and how long they take in all."


def _range(shares: Sequence[float | None]) -> str:
    known = [share for share in shares if share is not None]
    if not known:
        return ""
    low, high = format_share(min(known)), format_share(max(known))
    return low if low == high else f"{low} to {high}"


def _held(facts: Facts) -> tuple[str, str, str]:
    summary = facts.summary
    held = {
        "kernels": summary.has_device,
        "operators": facts["operators"].n > 0,
        "shapes": summary.has_shapes,
        "stacks": summary.has_stacks,
        "memory": summary.has_memory,
    }
    return "Recorded", ", ".join(name for name, there in held.items() if there), ""
