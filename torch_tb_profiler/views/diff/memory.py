"""Two recordings of allocations compared: by how much the peak grew, and what holds the difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from torch_tb_profiler.analysis.diff.compare import Comparison
from torch_tb_profiler.analysis.diff.memory import DIFF_MEMORY, peak_table, peaks
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.analysis.memory.live_memory import short_place
from torch_tb_profiler.store.display import DisplayTable, listed
from torch_tb_profiler.store.strings import NO_STRINGS
from torch_tb_profiler.units import format_bytes, format_share
from torch_tb_profiler.views.diff.wire import DiffPayload, MemoryDiff, PeakChange, Verdict
from torch_tb_profiler.views.display_wire import wire_columns
from torch_tb_profiler.views.memory.devices import device_names
from torch_tb_profiler.views.words.escapes import markdown_name, markdown_table, markdown_text
from torch_tb_profiler.views.words.vocabulary import vocabulary

Payload = TypeVar("Payload", bound=DiffPayload)
_TITLES = {"line": "Alive at the peak, by line", "operator": "Alive at the peak, by operator"}
_LABELS, _NUMBERS = ("before", "after", "change"), (1, 2, 3)
_REFUSED = (
    "One recording holds allocations alone and the other none: nothing can be compared. Record the trace with"
    " profile_memory=True, or compare two memory snapshots."
)


def memory_diff(both: Comparison, most: int) -> MemoryDiff | None:
    """The peaks of both, where a side holds nothing but allocations, else None; at most ``most`` rows."""
    sides = both.a, both.b
    alone = ["events" in absent(side.facts) for side in sides]
    if not any(alone):
        return None
    a, b = (side.insight for side in sides)
    found, only = peaks(a, b)
    titles = [
        device_names(side.insight["memory_devices"], vocabulary(side.facts)) for side in sides
    ]
    names = [titles[0][one.device[0]] for one in found]
    rows = peak_table(a, b, found, names) if all(alone) else DIFF_MEMORY.joined([])
    devices = [
        PeakChange(device=name, before_bytes=one.before, after_bytes=one.after)
        for one, name in zip(found, names, strict=True)
    ]
    notes = [
        f"Only the recording {when} has {', '.join(titles[side][row] for row in lacking)}."
        for side, (when, lacking) in enumerate(zip(("before", "after"), only, strict=True))
        if lacking and found
    ]
    if not all(alone) and found:
        notes.append(
            "One recording holds allocations alone and the other is a trace: only their peaks are compared."
            " That of the trace counts what was alive while it was recorded."
        )
    return MemoryDiff(
        devices=devices,
        rows={name: listed(of) for name, of in wire_columns(rows.take(slice(most))).items()},
        verdict=_verdict(devices, rows),
        notes=notes,
    )


def with_memory(payload: Payload, memory: MemoryDiff | None) -> Payload:
    """The payload with what the peaks say in place of what steps would."""
    if memory is None:
        return payload
    said = memory.verdict
    return msgspec.structs.replace(
        payload,
        headline=[said.sentence, *filter(None, [said.because])],
        verdict=said,
        notes=memory.notes,
        missing=[],
        memory=memory,
    )


def joined_memory(workers: Sequence[tuple[str, MemoryDiff | None]]) -> MemoryDiff | None:
    """Of several workers, whose names stand before their devices; None if one has steps."""
    parts = [(name, memory) for name, memory in workers if memory]
    if not parts or len(parts) < len(workers):
        return None
    devices = [
        msgspec.structs.replace(one, device=f"{name} · {one.device}")
        for name, memory in parts
        for one in memory.devices
    ]
    columns: dict[str, list[Any]] = {column: [] for column in parts[0][1].rows}
    for name, memory in parts:
        for column, values in memory.rows.items():
            columns[column] += (
                [f"{name} · {one}" for one in values] if column == "device" else values
            )
    notes = [note for _, memory in parts for note in memory.notes]
    table = DIFF_MEMORY.build(NO_STRINGS, **columns)
    return MemoryDiff(
        devices=devices,
        rows=columns,
        verdict=_verdict(devices, table),
        notes=list(dict.fromkeys(notes)),
    )


def _verdict(devices: Sequence[PeakChange], rows: DisplayTable) -> Verdict:
    """Of the device whose peak grew by the largest share."""
    if not devices:
        return Verdict(sentence=_REFUSED)
    shares = [(one.after_bytes - one.before_bytes) / max(one.before_bytes, 1) for one in devices]
    share, one = max(zip(shares, devices, strict=True), key=lambda pair: pair[0])
    delta = one.after_bytes - one.before_bytes
    before, after = format_bytes(one.before_bytes), format_bytes(one.after_bytes)
    if not delta:
        return Verdict(
            sentence=f"{one.device} peaks at {after}, as before.", share=0.0, changed=False
        )
    size = f"{format_bytes(abs(delta))} {'more' if delta > 0 else 'less'} than before"
    shown = f"{'+' if share > 0 else ''}{format_share(share)}"
    return Verdict(
        sentence=f"{one.device} peaks at {after}, {size} ({before}; {shown}).",
        because=_because(rows, one.device, delta),
        share=share,
        changed=True,
    )


def _because(rows: DisplayTable, device: str, delta: int) -> str:
    """Where the largest part of the difference was allocated; "most" is more than half of it."""
    lines = zip(*(rows[name] for name in ("table", "device", "name", "delta_bytes")), strict=True)
    grown = [
        (int(change) / delta, name, place)
        for place, (table, of, name, change) in enumerate(lines)
        if table == "line" and of == device and change
    ]
    if not grown:
        return ""
    share, name, place = max(grown, key=lambda one: one[0])
    part = "All of it" if share == 1 else "Most of it" if share > 0.5 else "The largest part"
    sizes = (format_bytes(int(rows[key][place])) for key in ("before_bytes", "after_bytes"))
    where = f"is held by {short_place(name)}" if name else "has no known line"
    return f"{part} {where}: {' → '.join(sizes)}."


def memory_markdown(payload: DiffPayload, memory: MemoryDiff, most: int) -> str:
    """The answer, the peak of each device, notes, and at most ``most`` rows by line and by operator."""
    said = memory.verdict
    lines = [f"**{markdown_text(said.sentence)}**", ""]
    lines += [markdown_text(said.because), ""] if said.because else []
    for when, side in (("before", payload.a), ("after", payload.b)):
        lines.append(f"- {when}: {markdown_name(side.label)}")
    lines += [f"- {markdown_text(note)}" for note in memory.notes]
    peaks_of = [
        _cells(markdown_text(one.device), one.before_bytes, one.after_bytes)
        for one in memory.devices
    ]
    lines += ["", *markdown_table(("peak of", *_LABELS), peaks_of, _NUMBERS)]
    for table in _TITLES if most else ():
        lines += _table(memory, table, most)
    return "\n".join([*lines, ""])


def _table(memory: MemoryDiff, table: str, most: int) -> list[str]:
    rows = memory.rows
    chosen = [i for i, key in enumerate(rows["table"]) if key == table and rows["delta_bytes"][i]]
    if not chosen:
        return []
    cells, several = [], len(memory.devices) > 1
    for i in chosen[:most]:
        name = markdown_name(rows["name"][i] or "unknown")
        of = f"{markdown_text(rows['device'][i])}: " if several else ""
        cells.append(_cells(f"{of}{name}", rows["before_bytes"][i], rows["after_bytes"][i]))
    if left := chosen[most:]:
        sums = (sum(rows[f"{when}_bytes"][i] for i in left) for when in ("before", "after"))
        cells.append(_cells("others", *sums))
    lines = markdown_table(("name", *_LABELS), cells, _NUMBERS)
    return ["", f"### {_TITLES[table]}", "", *lines]


def _cells(name: str, before: int, after: int) -> tuple[str, ...]:
    sign = "+" if after > before else "−" if after < before else ""
    change = f"{sign}{format_bytes(abs(after - before))}"
    return name, format_bytes(before), format_bytes(after), change
